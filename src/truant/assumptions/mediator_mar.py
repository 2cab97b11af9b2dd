"""`mediator-mar`: as `mar`, with mediators missing too, independently of their value given the arm.

Q ⟂ M given A, and Q ⟂ Y given A, M, O: pulls with the mediator seen are a fair sample, so all is done on
them. Dividing by all pulls instead would shrink the value by P(Q=1). Data contradict it where, within an arm,
outcomes seen with and without their mediator differ more than O's dependence on Q explains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import BY_FOLLOW_UPS, Advice, Assumption, Curve, Estimate, Inquiry
from truant.assumptions.borrowing import borrowing_curve
from truant.assumptions.cells import Cells, same_within_levels
from truant.assumptions.evidence import (
    LATE_AT_SEEN_LEVEL,
    ArmTables,
    ChiSquare,
    Concern,
    SameAs,
    drawn_statistics,
    independence,
    observed_and_missing,
    without_missing_mediators,
)
from truant.counts import Counts
from truant.setting import FloatArray, Setting, positive_number, share


@dataclass(frozen=True)
class MediatorMar(Assumption):
    """Outcome missing at random given the mediator, and the mediator itself missing at random.

    Parameters
    ----------
    kappa : Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.
    floor : Smallest share of its own variance that an estimate keeps if arms and mediator levels share information;
        only for choosing arms.
    """

    needs = "rows with the mediator seen, and among them an observed outcome at each level that occurs"
    meaning = "as mar, and mediators are missing by chance"
    advice = Advice(
        "The outcome is missing as under mar, and the mediator is missing by accident.",
        "The report of who opened the mail is lost for a random part of the customers. One of the clinics does not "
        "write down who came to the check-up, and its patients are like all others.",
        "Rows with a recorded mediator, and among them an observed outcome at each mediator level that occurs in an "
        "arm.",
        "The data can contradict that the mediator is missing by accident. They cannot contradict mar. "
        + BY_FOLLOW_UPS,
    )
    inquiry = Inquiry(("no,yes,no,no,accident",))
    late_comparison = LATE_AT_SEEN_LEVEL
    listing_order = 3
    forbids = (("Y", "O"), ("M", "Q"), ("Y", "Q"))
    kappa: float = 1.0  # pseudo-observations per cell at the centre, when choosing (fewer if noise is small)
    floor: float = 0.8  # share of the plain variance that borrowing between cells must leave, when choosing

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)
        share("floor", self.floor)

    def check(self, setting: Setting) -> None:
        """No requirements."""

    def curve(self, setting: Setting) -> Curve:
        """The curve of `mar` on the pulls with the mediator seen."""
        return borrowing_curve(setting, self.kappa, self.floor, setting.mediators)

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """sum_m p_m mu_m, p_m the share among pulls with the mediator seen."""
        return self._cells(counts, arm, setting).plug_in()

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> list[Concern]:
        """As those of `mar`."""
        return self._cells(counts, arm, setting).concerns()

    def _cells(self, counts: Counts, arm: int, setting: Setting) -> Cells:
        return Cells.of(counts, arm, setting, "mediator-mar", seen_mediators_only=True)

    def tests(self, counts: Counts, setting: Setting) -> list[ChiSquare]:
        """Its strong form, whether the mediator is seen says nothing about whether the outcome is; and follow-ups."""
        question = "Is the mediator missing equally often with and without an outcome?"
        by_follow_ups = (
            same_within_levels("mediator-mar", counts, seen_mediators_only=True)
            if self.same_as(counts) is None
            else []
        )
        tables = [np.stack([arm[:-1].sum(axis=0), arm[-1]]) for arm in observed_and_missing(counts)]
        shares = [
            ChiSquare(question, *independence(table), arm, drawn_statistics([table]))
            for arm, table in enumerate(tables)
        ]
        return [*shares, *by_follow_ups]

    def same_as(self, counts: Counts) -> SameAs | None:
        """`mar`, if no mediator is missing."""
        return without_missing_mediators(counts, "mar")

    def weighted_cells(self, sums: FloatArray) -> FloatArray:
        """Each mediator level that was seen."""
        return sums[:-1]

    def efficient_variance(self, tables: ArmTables) -> float:
        """As `mar`, over P(Q=1): the variance on pulls whose mediator was seen (the others could add a little)."""
        gamma = tables.gamma_by_mediator()
        return (tables.variance_within(gamma) + tables.variance_between) / tables.mediator_seen()


parts = {"mediator-mar": MediatorMar}

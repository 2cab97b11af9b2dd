"""`mar`: outcomes are missing at random given the mediator, O ⟂ Y given A, M.

A missing mediator is one more level here (which is harmless where mediators are always seen). Data cannot
contradict it, unless missing outcomes are followed up: what is missing within a mediator level is never seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truant.assumptions.assumption import BY_FOLLOW_UPS, Advice, Assumption, Curve, Estimate, Inquiry
from truant.assumptions.borrowing import borrowing_curve
from truant.assumptions.cells import Cells, same_within_levels
from truant.assumptions.evidence import LATE_AT_LEVEL, ArmTables, ChiSquare, Concern, NoTest
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, unknown
from truant.setting import FloatArray, Setting, finite, positive_number, probabilities, share, switch

ESTIMATORS = ("plug-in", "horvitz-thompson", "aipw")
Estimator = Literal["plug-in", "horvitz-thompson", "aipw"]


@dataclass(frozen=True)
class Mar(Assumption):
    """Missing at random given the mediator: reweights the mediator levels to how often they occur.

    Parameters
    ----------
    kappa : Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.
    known : Whether the distribution of the mediator in each arm is known instead of estimated.
    estimator : Estimator of the mean in reports: plug-in, horvitz-thompson or aipw.
    observation_probabilities : Probability that an outcome is observed, for each arm and mediator level; estimated
        unless set.
    outcome_means : Mean outcome for each arm and mediator level, for aipw; estimated unless set.
    floor : Smallest share of its own variance that an estimate keeps if arms and mediator levels share information;
        only for choosing arms.
    """

    needs = "an observed outcome at each mediator level that occurs"
    meaning = "outcomes are missing by chance among rows with the same arm and mediator level"
    advice = Advice(
        "Whether an outcome is observed may depend on the arm and the mediator. Given these, it does not depend on "
        "the outcome itself.",
        "Customers who did not open the mail seldom answer the survey. Among those who opened it, satisfied and "
        "dissatisfied customers answer equally often. A patient who missed the check-up often has no final "
        "measurement, whether ill or well.",
        "An observed outcome at each mediator level that occurs in an arm.",
        "No test of the same table can contradict mar. " + BY_FOLLOW_UPS,
    )
    inquiry = Inquiry(("no,yes,no,yes",))
    is_naive_without_mediator = True
    late_comparison = LATE_AT_LEVEL
    listing_order = 2
    forbids = (("Y", "O"),)
    kappa: float = 1.0
    known: bool = False
    estimator: Estimator = "plug-in"
    observation_probabilities: FloatArray | None = None
    outcome_means: FloatArray | None = None
    floor: float = 0.8

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)
        share("floor", self.floor)
        switch("known", self.known)
        if self.estimator not in ESTIMATORS:
            raise unknown("estimator", str(self.estimator), ESTIMATORS)
        for name in ("observation_probabilities", "outcome_means"):
            given = getattr(self, name)
            if given is not None and np.ndim(finite(name, given)) != 2:
                raise InvalidValue(f"{name} must have shape (arms, K), got {np.shape(given)}.")

    @property
    def needs_more_than_counts(self) -> bool:
        """P(M|a), if it is to be known."""
        return self.known

    def check(self, setting: Setting) -> None:
        """Known p must be given."""
        if self.known and setting.mediator_probabilities is None:
            raise NotIdentified(
                "{assumption} needs mediator_probabilities, P(M=m|a); use mar to estimate them.",
                assumption="mar-known",
            )

    def curve(self, setting: Setting) -> Curve:
        """Cell means that borrow strength from each other, weighted by estimated or known probabilities."""
        self.check(setting)
        shares = setting.mediator_probabilities if self.known else None
        return borrowing_curve(setting, self.kappa, self.floor, setting.mediators + 1, shares)

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """sum_m p_m mu_m with the curve of its first three moments, or another estimator of the same."""
        self.check(setting)
        cells = Cells.of(counts, arm, setting)
        if self.known or self.estimator == "plug-in":
            return cells.plug_in(self._known_shares(arm, setting))
        gamma = _row("observation_probabilities", self.observation_probabilities, arm, cells)
        if gamma is not None:
            probabilities("observation_probabilities", gamma, positive=True)
        means = _row("outcome_means", self.outcome_means, arm, cells)
        if self.estimator == "horvitz-thompson":
            return cells.augmented(gamma, np.zeros(len(cells.pulls)))
        return cells.augmented(gamma, means)

    def tests(self, counts: Counts, setting: Setting) -> Sequence[ChiSquare | NoTest]:
        """None without follow-ups: the outcomes that it is about are never seen."""
        found = same_within_levels("mar", counts)
        return found or [
            NoTest("within a mediator level, missing outcomes cannot be compared with the observed ones")
        ]

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> list[Concern]:
        """Levels without an outcome, few outcomes, or outcomes too skewed for the interval."""
        if self.observation_probabilities is not None and self.estimator != "plug-in":
            return []  # the interval is that of given weights
        return Cells.of(counts, arm, setting).concerns(self._known_shares(arm, setting))

    def _known_shares(self, arm: int, setting: Setting) -> FloatArray | None:
        """P(M|a) with a last entry for missing mediators; None if it is to be estimated."""
        if not self.known:
            return None
        p = setting.mediator_probabilities
        assert p is not None
        return np.append(p[arm], 0.0)

    def weighted_cells(self, sums: FloatArray) -> FloatArray | None:
        """Each mediator level, missing mediators among them; for the plug-in alone."""
        return None if self.known or self.estimator != "plug-in" else sums

    def efficient_variance(self, tables: ArmTables) -> float:
        """sum_m p_m s_m^2 / gamma_m + Var(mu_M); without the last term if P(M|a) is known."""
        gamma = tables.gamma_by_mediator()
        tables.need_mediators()
        within = tables.variance_within(gamma)
        return within if self.known else within + tables.variance_between


def mar_known(kappa: float = 1.0) -> Mar:
    """Missing at random given the mediator, whose distribution in each arm is known.

    Parameters
    ----------
    kappa : Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.
    """
    return Mar(kappa=kappa, known=True)


def _row(name: str, values: FloatArray | None, arm: int, cells: Cells) -> FloatArray | None:
    """A given table's row for the arm, with a last entry for missing mediators where it has none."""
    if values is None:
        return None
    row: FloatArray = np.asarray(values, np.float64)[arm]
    if len(row) == len(cells.pulls) - 1:
        if cells.pulls[-1] > 0:
            raise NotIdentified(
                f"{name} must also have a column for missing mediators, since some are missing."
            )
        row = np.append(row, 1.0)
    if len(row) != len(cells.pulls):
        raise InvalidValue(f"{name} must have {len(cells.pulls) - 1} columns, got {len(row)}.")
    return row


parts = {"mar": Mar, "mar-known": mar_known}

"""`mcar`: outcomes are missing completely at random (or, weaker, independently of Y given the arm).

Data contradict it where the share of missing outcomes differs between mediator levels of an arm that also differ
in their outcomes, and where missing outcomes that were followed up differ from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import (
    CONTRIBUTE,
    KNOWN,
    SCORE_ARM,
    Advice,
    Assumption,
    Curve,
    Estimate,
    Inquiry,
)
from truant.assumptions.cells import Cells, same_in_arm
from truant.assumptions.evidence import (
    LATE_IN_ARM,
    ArmTables,
    ChiSquare,
    Concern,
    drawn_statistics,
    independence,
    observed_and_missing,
)
from truant.assumptions.robust import (
    CENTRE,
    FIRST_PULLS,
    GROWTH,
    POOLED,
    RANGE,
    SCALE,
    contribution,
    lent_variance,
    moments_within,
    own_jump,
    parameters_of,
    pooled_noise,
    pseudo_observations,
    square_outside,
    width,
)
from truant.compile import heavy, hot, lean
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number

MCAR = "mcar"


@dataclass(frozen=True)
class Mcar(Assumption):
    """Missing completely at random: the mean of the observed outcomes is the arm's value.

    Parameters
    ----------
    kappa : Number of made-up outcomes, at the middle of the range, in each estimate; only for choosing arms.
    """

    needs = "an observed outcome in each arm"
    meaning = "outcomes are missing by chance alone"
    advice = Advice(
        "Within an arm, outcomes are missing by accident: whether one is observed depends on neither the mediator "
        "nor the outcome.",
        "The server that records purchases was down for two hours. A laboratory lost a box of blood samples.",
        "An observed outcome in each arm.",
        "If you have a mediator, give it to `truant analyze` with `--mediator`: the data can then contradict mcar. "
        "Or follow up some missing outcomes.",
    )
    inquiry = Inquiry(("yes",))
    is_naive_without_mediator = True
    late_comparison = LATE_IN_ARM
    listing_order = 1
    forbids = (("M", "O"), ("Y", "O"))
    kappa: float = (
        1.0  # pseudo-observations at the centre of the range when choosing (fewer if noise is small)
    )

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)

    def check(self, setting: Setting) -> None:
        """No requirements."""

    def curve(self, setting: Setting) -> Curve:
        """Shrunk mean of the observed, with the pooled scale."""
        return Curve(
            score_arm=score_arm,
            contribute=contribute,
            known=known,
            parameters=parameters_of(setting, self.kappa),
            linear=False,
            first_pulls=FIRST_PULLS,
            growth=GROWTH,
            pooled=POOLED,
        )

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """S/n; its variance is s^2/n."""
        return self._cell(counts, arm, setting).plug_in()

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> list[Concern]:
        """Few outcomes, or outcomes too skewed for the interval."""
        return self._cell(counts, arm, setting).concerns()

    def _cell(self, counts: Counts, arm: int, setting: Setting) -> Cells:
        """All outcomes of the arm as one cell, with at least one observed."""
        cell = Cells.of(counts, arm, setting, MCAR, together=True)
        if cell.observed.sum() == 0:
            raise NotIdentified("none of the outcomes of {arm} was observed.", arm=arm, assumption=MCAR)
        return cell

    def tests(self, counts: Counts, setting: Setting) -> list[ChiSquare]:
        """Within an arm, all mediator levels have equal shares of missing outcomes, and follow-ups its mean.

        That arms differ is no contradiction: given the arm, its mean of the observed is right all the same.
        """
        seen = observed_and_missing(counts)
        arms = seen.sum(axis=1)
        statistic, freedom = np.sum([independence(arm) for arm in seen], axis=0)
        return [
            ChiSquare(
                "Is the outcome missing equally often in every arm?",
                *independence(arms),
                null=drawn_statistics([arms]),
                contradicts=False,
                remark="A difference between arms alone does not contradict mcar.",
            ),
            ChiSquare(
                "Within each arm, is the outcome missing equally often at every mediator level?",
                float(statistic),
                int(freedom),
                null=drawn_statistics(seen),
            ),
            *same_in_arm(MCAR, counts),
        ]

    def weighted_cells(self, sums: FloatArray) -> FloatArray:
        """All rows of the arm as one cell."""
        together: FloatArray = sums.sum(axis=0, keepdims=True)
        return together

    def efficient_variance(self, tables: ArmTables) -> float:
        """Var(Y) / gamma."""
        return tables.variance / tables.gamma()


@hot
def totals(row: FloatArray) -> tuple[float, float, float, float, float]:
    """Pulls, observed outcomes and the sums of their powers, over all mediator levels."""
    pulls = n = total = squares = cubes = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
        n += row[m, OBSERVED]
        total += row[m, SUM]
        squares += row[m, SQUARES]
        cubes += row[m, CUBES]
    return pulls, n, total, squares, cubes


@heavy(CONTRIBUTE)
def contribute(row: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """Moments of the observed outcomes, which are one cell."""
    pulls, n, total, squares, cubes = totals(row)
    within = cubed = freedom = 0.0
    if n > 1.0:
        within, cubed = moments_within(n, total, squares, cubes)
        freedom = n - 1.0
    contribution(within, freedom, cubed, pulls, 0.0, 0.0, parameters[SCALE], out)


@lean
def shrunk(
    row: FloatArray, shared: FloatArray, parameters: FloatArray
) -> tuple[float, float, float, float, float]:
    """Mean (S + kappa c)/(n + kappa) about the centre c, v = s^2/(n + kappa), known outcomes, phi, half the jump."""
    _, n, total, squares, cubes = totals(row)
    within = cubed = freedom = 0.0
    if n > 1.0:
        within, cubed = moments_within(n, total, squares, cubes)
        freedom = n - 1.0
    everyone, jump, worth = pooled_noise(shared, parameters[SCALE], parameters[RANGE])
    stray = square_outside(n, total, everyone, parameters)
    if stray > 0.0:
        within += stray
        freedom += 1.0
    variance, freedom = lent_variance(shared, within, freedom, everyone, worth)
    thickness = n + pseudo_observations(parameters, variance)
    known = min(1.0, everyone / variance) * thickness
    waiting = own_jump(within, cubed, everyone, jump) / (2.0 * (n + 1.0))
    return total / thickness, variance / thickness, known, freedom, waiting


@heavy(KNOWN)
def known(row: FloatArray, shared: FloatArray, parameters: FloatArray) -> float:
    """The observed outcomes and kappa; less for an arm that is noisier than the others."""
    return shrunk(row, shared, parameters)[2]


@heavy(SCORE_ARM)
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) of the one cell that all observed outcomes are."""
    mean, v, _, freedom, jump = shrunk(row, shared, parameters)
    for k in range(len(z_grid)):
        values[k] = parameters[CENTRE] + mean + width(z_grid[k], v, freedom, jump)


parts = {MCAR: Mcar}

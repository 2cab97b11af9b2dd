"""`mnar`: whether the outcome is seen depends on the outcome itself, and the mediator is its shadow.

O ⟂ M given A, Y. A missing mediator is one more level here, as in `mar`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.linear import LinearSolution, solve_mnar
from truant.assumptions.profile import GROWTH, LikelihoodFit, fill_from_likelihood, likelihood_curve
from truant.compile import lean
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number, switch


@dataclass(frozen=True)
class Mnar(Assumption):
    """Outcome missing not at random: whether it is seen depends on its value, the mediator tells how.

    Parameters
    ----------
    allow_unidentified : go on although K < L, where the likelihood cannot tell outcomes apart.
    growth : refit an arm when its pulls grew by this share.
    """

    needs = "a discrete outcome with L levels, each seen at times, and K >= L mediator levels that tell them apart"
    allow_unidentified: bool = False
    growth: float = GROWTH

    def __post_init__(self) -> None:
        positive_number("growth", self.growth, or_zero=True)
        switch("allow_unidentified", self.allow_unidentified)

    def check(self, setting: Setting) -> None:
        """A discrete outcome with no more levels than the mediator has."""
        need_levels("mnar", setting)
        K, L = setting.mediators, setting.outcomes
        if K < L and not self.allow_unidentified:
            raise NotIdentified(
                f"mnar needs at least as many mediator levels as outcome levels, got K={K} < L={L}; "
                "merge outcome levels, use a finer mediator, or set allow_unidentified=True."
            )

    def curve(self, setting: Setting) -> Curve:
        """Profile-likelihood limits of the arm's table."""
        self.check(setting)
        return likelihood_curve(fill, setting, setting.mediators + 1, True, self.growth)

    def fit(self, counts: Counts, arm: int) -> LikelihoodFit:
        """The maximum of the arm's likelihood."""
        table = arm_table("mnar", counts, arm)
        return LikelihoodFit(with_missing_as_level(table), np.asarray(counts.levels), True)

    def linear(self, counts: Counts, arm: int) -> LinearSolution:
        """The paper's solution, with the joint frequencies."""
        table = arm_table("mnar", counts, arm)
        return solve_mnar(with_missing_as_level(table), np.asarray(counts.levels))

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The maximum and its profile limits."""
        self.check(setting)
        return self.fit(counts, arm).estimate()


def need_levels(name: str, setting: Setting) -> None:
    """Refuse real outcomes."""
    if setting.levels is None:
        raise NotIdentified(
            f"{name} needs a discrete outcome, and this one is real; give its levels, or cut it into a few."
        )


def arm_table(name: str, counts: Counts, arm: int) -> FloatArray:
    """The arm's table, with at least one outcome seen."""
    if counts.levels is None:
        raise NotIdentified(f"{name} needs counts of a discrete outcome, and these are of a real one.")
    table: FloatArray = counts.table[arm]
    if table[:, :-1].sum() == 0:
        raise NotIdentified(f"{name}: none of the outcomes of arm {arm} was observed.")
    return table


def with_missing_as_level(row: FloatArray) -> FloatArray:
    """The table with its missing mediators, if any, as one more level, and an empty last row."""
    rows = row.shape[0] if row[-1].sum() > 0 else row.shape[0] - 1
    return np.vstack([row[:rows], np.zeros(row.shape[1])])


@lean
def fill(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) by profile likelihood; parameters are the outcome levels."""
    K, width = row.shape[0] - 1, row.shape[1]
    rows = K + 1 if row[K].sum() > 0.0 else K
    table = shared[: (rows + 1) * width].reshape(rows + 1, width)  # as with_missing_as_level
    for m in range(rows):
        for y in range(width):
            table[m, y] = row[m, y]
    table[rows] = 0.0
    fill_from_likelihood(table, True, memory, parameters, knots, values, shared[table.size :])


parts = {"mnar": Mnar}

"""`both-mnar`: the outcome's being seen depends on the outcome, the mediator's on the mediator.

O ⟂ (M, Q) given A, Y; Q ⟂ (Y, O) given A, M. The paper promises this case and does not give it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.linear import LinearSolution, solve_both_mnar
from truant.assumptions.mnar import arm_table, need_levels
from truant.assumptions.profile import GROWTH, LikelihoodFit, fill_from_likelihood, likelihood_curve
from truant.compile import lean
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number, switch


@dataclass(frozen=True)
class BothMnar(Assumption):
    """Outcome and mediator both missing not at random, each depending on its own value.

    Parameters
    ----------
    allow_unidentified : go on although K is not L.
    growth : refit an arm when its pulls grew by this share.
    """

    needs = "a discrete outcome with as many levels as the mediator, each telling the other apart and seen at times"
    allow_unidentified: bool = False
    growth: float = GROWTH

    def __post_init__(self) -> None:
        positive_number("growth", self.growth, or_zero=True)
        switch("allow_unidentified", self.allow_unidentified)

    def check(self, setting: Setting) -> None:
        """A discrete outcome with as many levels as the mediator has."""
        need_levels("both-mnar", setting)
        K, L = setting.mediators, setting.outcomes
        if K != L and not self.allow_unidentified:
            raise NotIdentified(
                f"both-mnar needs as many mediator levels as outcome levels, got K={K} and L={L}; "
                "merge levels of one, or set allow_unidentified=True."
            )

    def curve(self, setting: Setting) -> Curve:
        """Profile-likelihood limits of the arm's table."""
        self.check(setting)
        return likelihood_curve(fill, setting, setting.mediators, True, self.growth)

    def fit(self, counts: Counts, arm: int) -> LikelihoodFit:
        """The maximum of the arm's likelihood."""
        return LikelihoodFit(arm_table("both-mnar", counts, arm), np.asarray(counts.levels), True)

    def linear(self, counts: Counts, arm: int) -> LinearSolution:
        """Both odds systems at once."""
        return solve_both_mnar(arm_table("both-mnar", counts, arm), np.asarray(counts.levels))

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The maximum and its profile limits."""
        self.check(setting)
        return self.fit(counts, arm).estimate()


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
    fill_from_likelihood(row, True, memory, parameters, knots, values, shared)


parts = {"both-mnar": BothMnar}

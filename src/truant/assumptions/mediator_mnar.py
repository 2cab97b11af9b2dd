"""`mediator-mnar`: whether mediator and outcome are seen depends on the mediator, which is missing too.

Y, O, Q are mutually independent given A, M.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.linear import LinearSolution, solve_mediator_mnar
from truant.assumptions.mnar import arm_table, need_levels
from truant.assumptions.profile import GROWTH, LikelihoodFit, fill_from_likelihood, likelihood_curve
from truant.compile import lean
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number, switch


@dataclass(frozen=True)
class MediatorMnar(Assumption):
    """Mediator missing depending on its own value; the outcome missing at random given it.

    Parameters
    ----------
    allow_unidentified : go on although L < K, where the outcome cannot tell the mediators apart.
    growth : refit an arm when its pulls grew by this share.
    """

    needs = "a discrete outcome with L >= K levels that tell the K mediator levels apart, each seen at times"
    allow_unidentified: bool = False
    growth: float = GROWTH

    def __post_init__(self) -> None:
        positive_number("growth", self.growth, or_zero=True)
        switch("allow_unidentified", self.allow_unidentified)

    def check(self, setting: Setting) -> None:
        """A discrete outcome with no fewer levels than the mediator has."""
        need_levels("mediator-mnar", setting)
        K, L = setting.mediators, setting.outcomes
        if L < K and not self.allow_unidentified:
            raise NotIdentified(
                f"mediator-mnar needs at least as many outcome levels as mediator levels, got L={L} < K={K}; "
                "merge mediator levels, use finer outcome levels, or set allow_unidentified=True."
            )

    def curve(self, setting: Setting) -> Curve:
        """Profile-likelihood limits of the arm's table."""
        self.check(setting)
        return likelihood_curve(fill, setting, setting.mediators, False, self.growth)

    def fit(self, counts: Counts, arm: int) -> LikelihoodFit:
        """The maximum of the arm's likelihood."""
        return LikelihoodFit(arm_table("mediator-mnar", counts, arm), np.asarray(counts.levels), False)

    def linear(self, counts: Counts, arm: int) -> LinearSolution:
        """The paper's solution, with its system transposed."""
        return solve_mediator_mnar(arm_table("mediator-mnar", counts, arm), np.asarray(counts.levels))

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
    fill_from_likelihood(row, False, memory, parameters, knots, values, shared)


parts = {"mediator-mnar": MediatorMnar}

"""What the three MNAR assumptions share: a table with holes, its likelihood, and the paper's linear solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate, per_arm
from truant.assumptions.exact import LikelihoodFit
from truant.assumptions.likelihood import size, work_size
from truant.assumptions.linear import LinearSolution
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number, switch

FIRST_PULLS = 10  # of each arm, before its likelihood is looked at
GROWTH = (
    0.1  # an arm is refitted when its pulls grew by this share; .05 costs twice the time and gains nothing
)


@dataclass(frozen=True, kw_only=True)
class ByLikelihood(Assumption):
    """An assumption whose estimate is the maximum of a likelihood, with profile limits.

    Parameters
    ----------
    name, needs : for messages and listings.
    misfit : what is wrong with K mediator and L outcome levels; empty if nothing is.
    score_arm : compiled, for the loop.
    solve : the linear solution of an arm's table.
    by_outcome : whether the outcome's being seen depends on the outcome, or on the mediator.
    missing_is_level : a missing mediator is one more level, not a hole.
    allow_unidentified : go on in spite of a misfit.
    growth : refit an arm when its pulls grew by this share.
    """

    name: str
    needs: str  # type: ignore[misc]
    misfit: Callable[[int, int], str] = field(repr=False)
    score_arm: Callable[..., None] = field(repr=False)
    solve: Callable[[FloatArray, FloatArray], LinearSolution] = field(repr=False)
    by_outcome: bool
    missing_is_level: bool = False
    allow_unidentified: bool = False
    growth: float = GROWTH

    def __post_init__(self) -> None:
        positive_number("growth", self.growth, or_zero=True)
        switch("allow_unidentified", self.allow_unidentified)

    def check(self, setting: Setting) -> None:
        """A discrete outcome, and numbers of levels that can be told apart."""
        if setting.levels is None:
            raise NotIdentified(
                f"{self.name} needs a discrete outcome, and this one is real; give its levels, or cut it into a few."
            )
        misfit = self.misfit(setting.mediators, setting.outcomes)
        if misfit and not self.allow_unidentified:
            raise NotIdentified(f"{self.name} needs {misfit}, or set allow_unidentified=True.")

    def curve(self, setting: Setting) -> Curve:
        """Profile-likelihood limits of the arm's table."""
        self.check(setting)
        K, L = setting.mediators + self.missing_is_level, setting.outcomes
        P = size(K, L, self.by_outcome)
        return Curve(
            score_arm=self.score_arm,
            parameters=per_arm(setting, setting.levels),
            discrete=True,
            linear=False,
            first_pulls=FIRST_PULLS,
            growth=self.growth,
            memory=lambda points: 1 + P + points * (1 + P),
            scratch=work_size(K, L, self.by_outcome) + (K + 1) * (L + 1),
        )

    def fit(self, counts: Counts, arm: int) -> LikelihoodFit:
        """The maximum of the arm's likelihood."""
        return LikelihoodFit(self._table(counts, arm), np.asarray(counts.levels), self.by_outcome)

    def linear(self, counts: Counts, arm: int) -> LinearSolution:
        """The paper's solution, corrected; with whether it is feasible, and its condition number."""
        return self.solve(self._table(counts, arm), np.asarray(counts.levels))

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """The maximum and its profile limits."""
        self.check(setting)
        fit = self.fit(counts, arm)
        return Estimate(fit.mean, fit.at)

    def _table(self, counts: Counts, arm: int) -> FloatArray:
        """The arm's table, with at least one outcome seen."""
        if counts.levels is None:
            raise NotIdentified(
                f"{self.name} needs counts of a discrete outcome, and these are of a real one."
            )
        table: FloatArray = counts.table[arm]
        if table[:, :-1].sum() == 0:
            raise NotIdentified(f"{self.name}: none of the outcomes of arm {arm} was observed.")
        if self.missing_is_level:  # an empty last row is then the one of missing mediators
            rows = len(table) if table[-1].sum() > 0 else len(table) - 1
            table = np.vstack([table[:rows], np.zeros(table.shape[1])])
        return table

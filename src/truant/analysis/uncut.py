"""The counts of a real outcome before it was cut into levels, whose values are means and so have errors of their own.

Naive means and worst-case bounds are those of the outcome as it was. Estimates under an assumption are those of the
levels: sum over y of p_y v_y. Within level y the outcomes of an arm scatter about v_y with variance s_y^2, so that the
mean of its n_y observed ones is known to s_y^2 / n_y; the sum of p_y^2 s_y^2 / n_y is added to the variance of the
estimate. Under `mcar` the standard error is then that of the outcome before the cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truant.analysis.clusters import Clusters
from truant.analysis.estimates import Belief
from truant.assumptions import Estimate
from truant.counts import Counts
from truant.setting import FloatArray, Setting

STEP = 1e-3  # of the distance to the nearest level, over which the derivative by a level's value is taken


@dataclass(frozen=True, eq=False)
class Uncut:
    """Counts and setting of the real outcome, the clusters of these counts, and the variance within each level."""

    counts: Counts
    setting: Setting
    clusters: Clusters | None = None
    within: FloatArray = field(default_factory=lambda: np.zeros(0))  # s_y^2 of each level

    def of_arms(self, arms: Sequence[int]) -> Uncut:
        """The same with these arms only; the clusters are left out."""
        return replace(
            self,
            counts=replace(self.counts, table=self.counts.table[list(arms)]),
            setting=replace(self.setting, arms=len(arms)),
            clusters=None,
        )

    def with_direction(self, minimize: bool) -> Uncut:
        """The same, with less or more being better."""
        return replace(self, setting=replace(self.setting, minimize=minimize))

    def belief(self, belief: Belief, counts: Counts, setting: Setting) -> Belief:
        """What an assumption makes of all arms of the cut outcome, with intervals that allow for the cut."""
        estimates = tuple(
            _widened(estimate, math.sqrt(self._variance(belief, counts, setting, arm)))
            for arm, estimate in enumerate(belief.estimates)
        )
        return replace(belief, estimates=estimates)

    def _variance(self, belief: Belief, counts: Counts, setting: Setting, arm: int) -> float:
        """The sum of p_y^2 s_y^2 / n_y; p_y is the derivative of the estimate by the level's value."""
        assert counts.levels is not None
        observed = counts.table[arm, :, :-1].sum(axis=0)
        steps = STEP * np.diff(counts.levels)
        variance, mean = 0.0, belief.means[arm]
        for y, step in enumerate([*steps, steps[-1]]):  # to the right: the levels stay in order
            levels = tuple(value + step * (i == y) for i, value in enumerate(counts.levels))
            moved = belief.assumption.estimate(
                replace(counts, levels=levels), arm, replace(setting, levels=levels)
            )
            variance += ((moved.mean - mean) / step) ** 2 * self.within[y] / max(observed[y], 1.0)
        return variance


def _widened(estimate: Estimate, error: float) -> Estimate:
    """The estimate with an independent error added: distances from the mean add up in squares."""

    def at(z: float) -> float:
        if not z:
            return estimate.at(z)
        return estimate.mean + math.copysign(math.hypot(estimate.at(z) - estimate.mean, z * error), z)

    return Estimate(estimate.mean, at)

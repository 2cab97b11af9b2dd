"""The counts of a real outcome before it was cut into levels, whose values are means and so have errors of their own.

Naive means, worst-case bounds and `follow-up` are those of the outcome as it was. Estimates under an assumption are
those of the levels: sum over y of p_y v_y, with values v_y common to all arms. Their variance is what the assumption
says, plus
- the sum of p_y^2 s_y^2 / n_y: the n_y observed outcomes of the arm in level y scatter with variance s_y^2;
- the square of sum p_y (v_ay - v_y), less what chance adds to it: the arm's own mean v_ay of the level may not be the
  common one.
Without such differences, the standard error under `mcar` is that of the outcome before the cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truant.analysis.clusters import Clusters
from truant.analysis.estimates import FOLLOW_UP, Belief, Infeasible, beliefs
from truant.analysis.labels import Labels
from truant.assumptions import Estimate
from truant.assumptions.follow_up import FollowUp
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
    level_means: FloatArray = field(
        default_factory=lambda: np.zeros((0, 0))
    )  # v_ay by arm; NaN if none was observed

    def of_arms(self, arms: Sequence[int]) -> Uncut:
        """The same with these arms only; the clusters are left out."""
        return replace(
            self,
            counts=counts_of_arms(self.counts, arms),
            setting=replace(self.setting, arms=len(arms)),
            clusters=None,
            level_means=self.level_means[list(arms)],
        )

    def with_direction(self, minimize: bool) -> Uncut:
        """The same, with less or more being better."""
        return replace(self, setting=replace(self.setting, minimize=minimize))

    def beliefs(
        self, found: Sequence[Belief], counts: Counts, setting: Setting, labels: Labels
    ) -> tuple[list[Belief], list[Infeasible]]:
        """What the assumptions make of all arms; `follow-up`, which needs no levels, of the outcome as it was."""
        plain = [belief.name for belief in found if belief.part == FOLLOW_UP]
        cut = [self.belief(belief, counts, setting) for belief in found if belief.part != FOLLOW_UP]
        if not plain:
            return cut, []
        failures = next(one.assumption for one in found if one.name == plain[0])
        assert isinstance(failures, FollowUp)
        uncut, impossible = beliefs(self.counts, self.setting, labels, plain, failures.failures)
        return [*cut, *uncut], impossible

    def belief(self, belief: Belief, counts: Counts, setting: Setting) -> Belief:
        """What an assumption makes of all arms of the cut outcome, with intervals that allow for the cut."""
        estimates = tuple(
            _widened(estimate, math.sqrt(self._variance(belief, counts, setting, arm)))
            for arm, estimate in enumerate(belief.estimates)
        )
        return replace(belief, estimates=estimates)

    def _variance(self, belief: Belief, counts: Counts, setting: Setting, arm: int) -> float:
        """What the cut adds to the variance of the estimate."""
        assert counts.levels is not None
        share = _shares(belief, counts, setting, arm)
        own, all_arms = counts.table[arm, :, :-1].sum(axis=0), counts.table[..., :-1].sum(axis=(0, 1))
        scatter = share**2 * self.within / np.maximum(own, 1.0)
        moved = np.nan_to_num(share * (self.level_means[arm] - np.asarray(counts.levels)), nan=0.0)
        by_chance = scatter * (1 - own / np.maximum(all_arms, 1.0)) * (own > 0)
        return float(scatter.sum() + max(moved.sum() ** 2 - by_chance.sum(), 0.0))


def counts_of_arms(counts: Counts, arms: Sequence[int]) -> Counts:
    """The counts of these arms only."""
    some = list(arms)
    followed_up = None if counts.followed_up is None else counts.followed_up[some]
    return replace(counts, table=counts.table[some], followed_up=followed_up)


def _shares(belief: Belief, counts: Counts, setting: Setting, arm: int) -> FloatArray:
    """p_y, the derivative of the estimate by the value of each level."""
    assert counts.levels is not None
    steps = STEP * np.diff(counts.levels)
    mean = belief.assumption.estimate(counts, arm, setting).mean  # a report's may be corrected
    shares = []
    for y, step in enumerate([*steps, steps[-1]]):  # upwards: the levels stay in order
        levels = tuple(value + step * (i == y) for i, value in enumerate(counts.levels))
        some = replace(counts, levels=levels)
        moved = belief.assumption.estimate(some, arm, replace(setting, levels=levels))
        shares.append((moved.mean - mean) / step)
    return np.array(shares)


def _widened(estimate: Estimate, error: float) -> Estimate:
    """The estimate with an independent error added: distances from the mean add up in squares."""

    def at(z: float) -> float:
        if not z:
            return estimate.at(z)
        return estimate.mean + math.copysign(math.hypot(estimate.at(z) - estimate.mean, z * error), z)

    return Estimate(estimate.mean, at)

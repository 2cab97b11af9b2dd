"""Clustered errors: rows of one unit (a customer, a patient) are alike, and say less than as many units would.

An estimate is a function of counts. Its derivative by each kind of row, taken over steps of a standard error, says how
far a row moves it, and so how far a whole unit does: D_i, the sum over the unit's rows. The variance with units
independent is G/(G-1) sum (D_i - mean)^2, that with rows independent is the same sum over rows. The square root of
their ratio, the factor f, stretches the assumption's own curve: at(f t(z)), with t(z) the quantile of Student's t with
G - 1 degrees of freedom that z is of the normal distribution. So intervals keep their shape, and with one row for each
unit nothing changes but chance.

The counts of a real outcome before it was cut into levels, whose values are means and so have errors of their own.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truant.assumptions import Estimate
from truant.assumptions.follow_up import FOLLOW_UP, FollowedUp
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue
from truant.estimates.beliefs import Belief, Caution, Infeasible, Labels, beliefs
from truant.setting import FloatArray, IntArray, Setting

FEW_UNITS = 30  # in an arm, below which an estimated variance is itself a rough guess
Mean = Callable[[Counts], float]  # an arm's estimate, as a function of the counts


@dataclass(frozen=True, eq=False)
class ArmUnits:
    """The rows of one arm by group of units: which entry of the arm's table each group adds how much to."""

    units: int
    group: IntArray
    entry: IntArray  # of the flattened table
    amount: FloatArray

    @property
    def groups(self) -> int:
        """Groups that have rows of the arm."""
        return len(np.unique(self.group))


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which rows belong to one unit: per arm, units put into groups, which are independent of each other."""

    column: str
    units: int
    in_several_arms: int  # units
    alike: float  # sum of squares of the rows of a unit, over their sum: rows that count as one if all are copies
    arms: tuple[ArmUnits, ...]

    def of_arms(self, arms: Sequence[int]) -> Clusters:
        """The same with these arms only."""
        return replace(self, arms=tuple(self.arms[arm] for arm in arms))

    def check(self, labels: Labels) -> None:
        """At least two units in each arm, or raises InvalidValue."""
        for name, arm in zip(labels.arms, self.arms, strict=True):
            if arm.groups < 2:
                raise InvalidValue(
                    f"Arm {name!r} has rows of one unit only; errors by {self.column!r} need at least two in each arm."
                )

    def stretched(self, estimate: Estimate, counts: Counts, arm: int, mean: Mean) -> Estimate:
        """The estimate with a curve that takes units as independent, and not rows."""
        factor, freedom = self.factor(counts, arm, mean), self.arms[arm].groups - 1
        return Estimate(estimate.mean, lambda z: estimate.at(factor * student(z, freedom)))

    def belief(self, belief: Belief, counts: Counts, setting: Setting) -> Belief:
        """What an assumption makes of all arms, with units independent."""

        def mean(arm: int) -> Mean:
            return lambda some: belief.assumption.estimate(some, arm, setting).mean

        estimates = tuple(
            self.stretched(estimate, counts, arm, mean(arm)) for arm, estimate in enumerate(belief.estimates)
        )
        return replace(belief, estimates=estimates)

    def factor(self, counts: Counts, arm: int, mean: Mean) -> float:
        """Standard error with units independent, over that with rows independent."""
        own = self.arms[arm]
        derivative, rows = _derivative(counts, arm, mean)
        moved = np.bincount(own.group, weights=derivative.ravel()[own.entry] * own.amount)
        moved = moved[np.unique(own.group)]
        by_unit = moved.var(ddof=1) * len(moved)
        return math.sqrt(by_unit / rows) if rows > 0 else 1.0

    def warnings(self, labels: Labels) -> list[Caution]:
        """What to know of the units before relying on an interval."""
        found = []
        if self.in_several_arms:
            share = self.in_several_arms / self.units
            facts = {"column": self.column, "units": self.units, "in_several_arms": self.in_several_arms}
            found.append(Caution("units-in-several-arms", value=share, facts=facts))
        for name, arm in zip(labels.arms, self.arms, strict=True):
            if arm.units < FEW_UNITS:
                facts = {"column": self.column, "least": FEW_UNITS}
                found.append(Caution("few-units", name, float(arm.units), facts))
        return found


def student(z: float, freedom: float) -> float:
    """The quantile of Student's t that z is of the normal distribution."""
    from scipy.stats import norm, t

    return float(math.copysign(t.isf(norm.sf(abs(z)), freedom), z)) if z else 0.0


def _derivative(counts: Counts, arm: int, mean: Mean) -> tuple[FloatArray, float]:
    """By each entry of the arm's table; and the estimate's variance if rows are independent."""
    table = counts.table[arm]
    slope, total = np.zeros_like(table), table.sum() if counts.levels is not None else table[:, PULLS].sum()
    if counts.levels is not None:
        for cell in map(tuple, np.argwhere(table > 0)):
            slope[cell] = _slope(counts, arm, mean, {cell: 1.0}, _step(table[cell]))
        return slope, _variance(float((slope * table).sum()), float((slope**2 * table).sum()), total)
    first = second = 0.0
    for m, row in enumerate(table):
        seen, hidden = row[OBSERVED], row[PULLS] - row[OBSERVED]
        average = row[SUM] / seen if seen else 0.0
        within = max(row[SQUARES] - seen * average**2, 0.0) if seen else 0.0
        unseen = _slope(counts, arm, mean, {(m, PULLS): 1.0}, _step(hidden)) if hidden else 0.0
        kind = {
            (m, PULLS): 1.0,
            (m, OBSERVED): 1.0,
            (m, SUM): average,
            (m, SQUARES): average**2,
        }
        typical = _slope(counts, arm, mean, kind, _step(seen)) if seen else 0.0
        by_sum = _slope(counts, arm, mean, {(m, SUM): 1.0}, math.sqrt(within)) if within > 0 else 0.0
        slope[m, [PULLS, OBSERVED, SUM]] = unseen, typical - unseen - by_sum * average, by_sum
        first += hidden * unseen + seen * typical
        second += hidden * unseen**2 + seen * typical**2 + by_sum**2 * within
    return slope, _variance(first, second, total)


def _slope(counts: Counts, arm: int, mean: Mean, kind: Mapping[Any, float], step: float) -> float:
    """How far one more row of a kind moves the estimate, over a step to both sides."""
    ends = []
    for sign in (1.0, -1.0):
        table = counts.table.copy()
        for place, amount in kind.items():
            table[(arm, *place)] += sign * step * amount
        ends.append(mean(replace(counts, table=table)))
    return (ends[0] - ends[1]) / (2 * step)


def _step(number: float) -> float:
    """About the standard error of a number of rows: closer, a fit's tolerance would show; half of them can go."""
    return min(math.sqrt(number), number / 2)


def _variance(first: float, second: float, rows: float) -> float:
    """n/(n-1) sum (d - mean)^2 of the sums of d and of d^2."""
    return max(second - first**2 / rows, 0.0) * rows / (rows - 1) if rows > 1 else 0.0


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
        assert isinstance(failures, FollowedUp)
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

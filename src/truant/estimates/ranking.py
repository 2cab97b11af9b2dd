"""How the arms compare under one assumption: probability of being best, expected loss of choosing one now, and how many
more rows or follow-ups make the leader clear, if the present estimates are right.

Each arm's value is at(Z), Z ~ N(0, 1), by quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truant.assumptions import Estimate
from truant.assumptions.follow_up import FollowedUp, cells_of
from truant.compile import link
from truant.counts import Counts
from truant.estimates.beliefs import FEW_ARMS, Belief, Direction, each_arm
from truant.indices.index import best, z_grid_of
from truant.setting import FloatArray, Setting

Z_GRID = z_grid_of(linear=False)
EXACT_AT = (-3.5, -1.0, 0.0, 1.0, 3.5)
FAR_BEHIND = 8.0  # standard errors of a difference, beyond which an arm is not the best


def best_probabilities(estimates: Sequence[Estimate]) -> tuple[FloatArray, float]:
    """P(arm is best) for each arm, and E[max_a V_a - V_leader], the expected loss if the leader is chosen now.

    All of them are nan where an arm has no interval.
    """
    if not all(math.isfinite(estimate.standard_error) for estimate in estimates):
        return np.full(len(estimates), np.nan), math.nan
    return best_of(curves_of(estimates))


def curves_of(estimates: Sequence[Estimate]) -> FloatArray:
    """at(z) of each arm on the grid, shape (arms, z).

    Of many arms, those that are far behind the leader get a straight line, and the others two exact points on each
    side: a limit of a likelihood takes milliseconds.
    """
    many = len(estimates) > FEW_ARMS
    behind = _far_behind(estimates) if many else [False] * len(estimates)

    def curve(item: tuple[Estimate, bool]) -> list[float]:
        estimate, straight = item
        if straight:
            return [estimate.mean + z * estimate.standard_error for z in Z_GRID]
        if many:
            return _through([estimate.at(z) for z in EXACT_AT])
        return [estimate.at(float(z)) for z in Z_GRID]

    return np.array(each_arm(curve, zip(estimates, behind, strict=True)))


def _through(values: Sequence[float]) -> list[float]:
    """On the grid, straight lines through the values at `EXACT_AT`, which go on beyond them."""
    found = []
    for z in Z_GRID:
        k = min(max(int(np.searchsorted(EXACT_AT, z)), 1), len(EXACT_AT) - 1)
        share = (z - EXACT_AT[k - 1]) / (EXACT_AT[k] - EXACT_AT[k - 1])
        found.append(float(values[k - 1] + share * (values[k] - values[k - 1])))
    return found


def _far_behind(estimates: Sequence[Estimate]) -> list[bool]:
    means = np.array([estimate.mean for estimate in estimates])
    errors = np.array([estimate.standard_error for estimate in estimates])
    leader = int(np.argmax(means))
    away = (means[leader] - means) / np.maximum(np.hypot(errors, errors[leader]), 1e-300)
    return [bool(one) for one in away > FAR_BEHIND]


def best_of(values: FloatArray, leader: int | None = None) -> tuple[FloatArray, float]:
    """The same of curves on the grid; the leader has the highest best guess unless given."""
    if leader is None:
        leader = int(np.argmax(values[:, len(Z_GRID) // 2]))
    probabilities = np.zeros(len(values))
    loss = link(_best_of, best=best)(values, Z_GRID, leader, probabilities)
    return probabilities, max(float(loss), 0.0)


def _best_of(values: FloatArray, z_grid: FloatArray, leader: int, out: FloatArray) -> float:
    return best(values, z_grid, leader, out)


ENOUGH_ARMS = 3  # below, the spread between arms says nothing about how much arms differ
NEAR_NOISE = (
    1.0  # variance between arms over that of their estimates, below which chance makes most of the leader
)


@dataclass(frozen=True, eq=False)
class Ranking:
    """What one assumption says of all arms; values are such that more is better."""

    belief: Belief
    probabilities: FloatArray  # of being best; nan where an arm has no interval
    curves: FloatArray | None  # at(z) on the grid; None where an arm has no interval

    @property
    def leader(self) -> int:
        """The arm with the best value."""
        return self.belief.winner

    def expected_loss(self, arm: int) -> float:
        """E[max_a V_a - V_arm], the expected loss of choosing the arm now; nan where it is not known."""
        return math.nan if self.curves is None else best_of(self.curves, arm)[1]

    def shrunk_probability(self) -> float | None:
        """The leader's probability of being best if the arms' means are shrunk to each other as far as they agree.

        None where arms differ clearly more than chance makes them, or are too few to tell: then the plain
        probability, which takes every mean as possible, is not too sure of the leader.
        """
        if self.curves is None or len(self.probabilities) < ENOUGH_ARMS:
            return None
        return _shrunk(self.belief.estimates, self.leader)


def ranking(belief: Belief) -> Ranking:
    """The ranking of a belief whose values are such that more is better."""
    errors = each_arm(lambda estimate: estimate.standard_error, belief.estimates)
    if not all(map(math.isfinite, errors)):
        return Ranking(belief, np.full(len(belief.estimates), np.nan), None)
    curves = curves_of(belief.estimates)
    return Ranking(belief, best_of(curves)[0], curves)


def _shrunk(estimates: Sequence[Estimate], leader: int) -> float | None:
    """Empirical Bayes with normal means: tau^2 by the method of moments (DerSimonian and Laird, 1986)."""
    errors = np.array([estimate.standard_error for estimate in estimates])
    if np.any(errors == 0):
        return None
    unit = errors.max()  # so that squares are numbers, whatever the unit of the outcome
    means = np.array([(estimate.mean - estimates[leader].mean) / unit for estimate in estimates])
    squares = (errors / unit) ** 2
    weights = 1 / squares
    middle = float(weights @ means / weights.sum())
    excess = float(weights @ (means - middle) ** 2) - (len(means) - 1)
    tau = max(excess / (weights.sum() - (weights**2).sum() / weights.sum()), 0.0)
    typical = float(np.median(squares))
    if tau >= NEAR_NOISE * typical:
        return None
    kept = tau / (tau + squares)
    centre = float(np.sum(means / (tau + squares)) / np.sum(1 / (tau + squares)))
    shrunk = [
        Estimate.normal(m, v) for m, v in zip(centre + kept * (means - centre), kept * squares, strict=True)
    ]
    return float(best_of(curves_of(shrunk))[0][leader])


MOST_GROWTH = 1e6  # times the rows that there are; what takes more is out of reach
MIDDLE = len(Z_GRID) // 2


@dataclass(frozen=True)
class MoreRows:
    """Rows to add, at the present shares, until the leader's probability of being best reaches the level.

    0: it has reached it already; None: no number of rows that anybody could collect will do it.
    """

    assumption: str  # name of the assumption
    arm: str  # the leader under it
    rows: int | None  # rows to add; 0 if the leader is clear already, None if no practical number is enough


def more_rows(ranked: Ranking, arms: Sequence[str], rows: int, level: float) -> MoreRows | None:
    """With F times the rows, every interval is 1/sqrt(F) as wide; None where an arm has no interval."""
    if ranked.curves is None:
        return None
    values, leader = ranked.curves, ranked.leader

    def reached(growth: float) -> bool:
        return bool(best_of(_narrowed(values, growth))[0][leader] >= level)

    return MoreRows(ranked.belief.name, arms[leader], _needed(reached, rows))


def _narrowed(values: FloatArray, growth: float) -> FloatArray:
    middle = values[:, MIDDLE, None]
    narrowed: FloatArray = middle + (values - middle) / np.sqrt(growth)
    return narrowed


def _needed(reached: Callable[[float], bool], rows: int) -> int | None:
    if reached(1.0):
        return 0
    if not reached(MOST_GROWTH):
        return None
    low, high = 0.0, math.log(MOST_GROWTH)
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp(middle)) else (middle, high)
    return max(1, round(rows * math.expm1(high)))


STEPS = 12  # of the bisection: the number is a guess


def more_follow_ups(ranked: Ranking, counts: Counts, setting: Setting, level: float) -> int | None:
    """Follow-ups to add, at the present shares of arms and levels; None if following up all that is missing won't do.

    F times the answers of an arm, with the same means and variances, make the part of its variance that is due to
    missing outcomes 1/F as large. No arm has more follow-ups than missing outcomes.
    """
    asked = counts.follow_ups.astype(np.float64)
    most = np.maximum(counts.missing_by_cell().sum(axis=1) / np.maximum(asked, 1.0), 1.0)

    def reached(growth: float) -> bool:
        curves = curves_of(_grown(ranked.belief, counts, setting, np.minimum(growth, most)))
        return bool(best_of(curves)[0][ranked.leader] >= level)

    growth = _least(reached, float(most.max()))
    if growth is None:
        return None
    return max(1, math.ceil(float(asked @ (np.minimum(growth, most) - 1))))


def _grown(belief: Belief, counts: Counts, setting: Setting, growth: FloatArray) -> list[Estimate]:
    """The estimates with so many times the answers, such that more is better."""
    assert isinstance(belief.assumption, FollowedUp)
    ignorable = belief.assumption.failures == "ignorable"
    estimates = []
    for arm, factor in enumerate(growth):
        cells = cells_of(counts, arm, setting, ignorable)
        times = np.where(
            np.arange(len(cells.pulls)) < counts.table.shape[1], 1.0, factor
        )  # seen at once, then others
        columns = {name: getattr(cells, name) * times for name in ("observed", "squares", "cubes")}
        estimates.append(replace(cells, **columns).plug_in())
    return list(Direction(setting.minimize).belief(replace(belief, estimates=tuple(estimates))).estimates)


def _least(reached: Callable[[float], bool], most: float) -> float | None:
    """The least growth that reaches it, to within a few per cent."""
    if not reached(most):
        return None
    low, high = 0.0, math.log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp(middle)) else (middle, high)
    return math.exp(high)

"""The tipping point: how far the missing outcomes must be from what an assumption says, for the winner to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.envelope import FloatOrNaN
from truant.estimates.beliefs import Belief, Labels
from truant.setting import FloatArray, Setting

CURVE_POINTS = 41


@dataclass(frozen=True)
class Tipping:
    """Lower the winner's missing outcomes by `shift`, and it is no better than the runner-up.

    A shift is None where nothing of that arm is missing; `possible` is whether missing outcomes can be so far off
    and still lie in the range (None if the range is not known).
    """

    assumption: str  # name of the assumption
    winner: str  # the arm with the best mean under it
    runner_up: str  # the arm with the second best mean
    gap: float  # difference of their means
    # shift of the winner's missing outcomes that closes the gap, in units of the outcome; None if none of its outcomes
    # is missing
    shift: float | None
    # the same in standard deviations of the outcome; None if there is no shift, or no spread
    shift_in_sd: float | None
    # whether missing outcomes can be shifted that far within the range of the outcome; None if the range is not known
    # or there is no shift
    possible: bool | None
    # shift of the runner-up's missing outcomes that closes the gap, in the other direction; None if none is missing
    runner_up_shift: float | None
    # the same in standard deviations of the outcome; None if there is no shift, or no spread
    runner_up_shift_in_sd: float | None
    # whether that is possible within the range of the outcome; None if the range is not known or there is no shift
    runner_up_possible: bool | None


class ShiftedMean(NamedTuple):
    """A point of a tipping curve: the winner's mean with its missing outcomes shifted."""

    shift: float  # shift of the missing outcomes against the winner, in units of the outcome
    value: float  # mean of the winner with this shift
    low: FloatOrNaN  # lower end of its confidence interval; NaN if there is none
    high: FloatOrNaN  # upper end of its confidence interval; NaN if there is none
    runner_up: float  # mean of the runner-up, which stays the same

    def reflected(self) -> ShiftedMean:
        """The point for -Y."""
        return ShiftedMean(self.shift, -self.value, -self.high, -self.low, -self.runner_up)


def tipping(belief: Belief, counts: Counts, setting: Setting, labels: Labels) -> Tipping | None:
    """delta* = gap / missing share; None with a single arm."""
    order = _ranked(belief)
    if len(order) < 2:
        return None
    winner, runner_up = order[:2]
    gap = belief.means[winner] - belief.means[runner_up]
    sd = pooled_sd(counts)
    down = _side(belief, counts, setting, winner, -gap)
    up = _side(belief, counts, setting, runner_up, gap)
    return Tipping(
        belief.name,
        labels.arms[winner],
        labels.arms[runner_up],
        gap,
        down[0],
        _in_sd(down[0], sd),
        down[1],
        up[0],
        _in_sd(up[0], sd),
        up[1],
    )


def _ranked(belief: Belief) -> list[int]:
    """The arms from best to worst; of equal ones the first is the winner, as everywhere."""
    return [int(arm) for arm in np.argsort(-np.array(belief.means), kind="stable")]


def _side(
    belief: Belief, counts: Counts, setting: Setting, arm: int, change: float
) -> tuple[float | None, bool | None]:
    """How far the arm's missing outcomes must move for its value to change by that much, and whether they can."""
    share = missing_shares(counts)[arm]
    if share == 0:
        return None, None
    shift = abs(change) / share
    moved = missing_mean(belief, counts, arm) + np.copysign(shift, change)
    return float(shift), bool(setting.low <= moved <= setting.high) if setting.range_known else None


def _in_sd(shift: float | None, sd: float) -> float | None:
    return shift / sd if shift is not None and sd > 0 else None


def tipping_curve(belief: Belief, counts: Counts, level_z: float) -> list[ShiftedMean]:
    """The winner's value with its limits as its missing outcomes are lowered, and the runner-up's, which stays."""
    order = _ranked(belief)
    if len(order) < 2:
        return []
    winner, runner_up = order[:2]
    share = missing_shares(counts)[winner]
    if share == 0:
        return []
    top = belief.estimates[winner]
    reach = 2 * max(belief.means[winner] - belief.means[runner_up], top.standard_error) / share
    low, high = top.at(-level_z), top.at(level_z)
    return [
        ShiftedMean(shift, top.mean - fall, low - fall, high - fall, belief.means[runner_up])
        for shift in np.linspace(0.0, reach, CURVE_POINTS).tolist()
        for fall in (shift * share,)
    ]


def missing_shares(counts: Counts) -> FloatArray:
    """Share of pulls whose outcome is missing, for each arm."""
    return 1 - counts.observed / np.maximum(counts.pulls, 1)


def missing_mean(belief: Belief, counts: Counts, arm: int) -> float:
    """What the assumption takes the missing outcomes' mean to be: (N mu - S)/(N - n)."""
    row = counts.real_row(arm).sum(axis=0)
    N, n, total = row[[PULLS, OBSERVED, SUM]]
    return float(counts.centre + (N * (belief.means[arm] - counts.centre) - total) / (N - n))


def pooled_sd(counts: Counts) -> float:
    """Standard deviation of an observed outcome within arms."""
    rows = counts.real().table.sum(axis=1)
    n, total, squares = rows[:, OBSERVED], rows[:, SUM], rows[:, SQUARES]
    used = n > 0
    within = np.maximum(squares[used] - total[used] ** 2 / n[used], 0.0).sum()
    freedom = (n[used] - 1).sum()
    return float(np.sqrt(within / freedom)) if freedom > 0 else 0.0

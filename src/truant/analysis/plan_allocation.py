"""How many follow-ups from which arm and mediator level: Neyman's allocation, in whole numbers.

The part of an arm's variance that follow-ups reduce is sum_m (N0_m/N)^2 s0_m^2/n_m. For a given number of follow-ups it
is least with n_m proportional to N0_m s0_m; it is then C^2/n with C = sum_m N0_m s0_m/N. Between arms, the sum of
w C^2/n is made as small as can be, with w the probability that the arm is one of the two best: a difference between
two arms that cannot be the best decides nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from truant.analysis.plan_cells import PlanCells
from truant.assumptions.follow_up_cells import THIN
from truant.setting import FloatArray

CHANCE = 0.8  # with which a plan must reach what it is for
Whole = npt.NDArray[np.int64]
LEAST_ANSWERS = 10  # of an arm with as many missing outcomes, below which an analysis calls no winner clear


def least_follow_ups(cells: PlanCells, success: float, chance: float = CHANCE) -> Whole:
    """Of each arm, so many that LEAST_ANSWERS come, or as many as there are.

    If not all are answered, the number of answers is binomial: each arm has enough with such a probability that all
    have them with (1 + chance)/2 at least, which leaves as much for the rest of what `chance` is asked for.
    """
    wanted = np.maximum(LEAST_ANSWERS - cells.answered.sum(axis=1), 0.0)
    if success < 1:
        enough = 1 - (1 - chance) / (2 * len(wanted))
        wanted = np.array([_calls_for(int(number), success, enough) for number in wanted], np.float64)
    least: Whole = np.minimum(wanted, cells.available.sum(axis=1)).astype(np.int64)
    return least


def _calls_for(answers: int, success: float, enough: float) -> int:
    """The least number of calls of which so many are answered with a probability of at least `enough`."""
    if answers == 0:
        return 0
    low, high = answers - 1, answers
    while bdtrc(answers - 1, high, success) < enough:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtrc(answers - 1, middle, success) >= enough else (middle, high)
    return high


def allocate(
    cells: PlanCells, total: int, importance: FloatArray, success: float = 1.0, chance: float = CHANCE
) -> Whole:
    """The best use of so many follow-ups: how many of each arm and mediator level, shape (arms, K+1).

    Parameters
    ----------
    cells : what is known.
    total : number of follow-ups; at most those that are available.
    importance : w of each arm.
    success : share of follow-ups that are answered.
    chance : with which each arm is to have enough answers, see `least_follow_ups`.
    """
    spread = cells.missing * np.sqrt(cells.variances)
    weight = np.sqrt(np.maximum(importance, 1e-12)) * spread.sum(axis=1) / cells.totals[:, 0]
    by_arm = shared_out(
        total,
        weight,
        least_follow_ups(cells, success, chance),
        cells.available.sum(axis=1),
        cells.answered.sum(axis=1),
        success,
    )
    rows = [
        _within_arm(int(n), spread[a], cells.missing[a], cells.available[a], cells.answered[a], success)
        for a, n in enumerate(by_arm)
    ]
    return np.array(rows, np.int64).reshape(cells.missing.shape)


def _within_arm(
    total: int,
    spread: FloatArray,
    missing: FloatArray,
    available: FloatArray,
    answered: FloatArray,
    success: float,
) -> Whole:
    """By level if each can have THIN answers; else in proportion to what is missing, since levels are then merged."""
    wanted = np.where(missing > 0, np.maximum(np.minimum(THIN, missing) - answered, 0.0), 0.0)
    least = np.minimum(np.ceil(wanted / success - 1e-9), available).astype(np.int64)
    if total >= least.sum():
        return shared_out(total, spread, least, available, answered, success)
    return in_proportion(total, available)


def shared_out(
    total: int,
    weight: FloatArray,
    least: npt.NDArray[np.int64],
    most: FloatArray,
    before: FloatArray,
    success: float = 1.0,
) -> Whole:
    """The whole numbers n with sum `total`, least <= n <= most, for which sum weight^2/(before + success n) is least.

    Where `total` is less than the sum of `least`, it is shared out in equal parts as far as these go.
    """
    least = np.asarray(least, np.int64)
    largest: Whole = np.asarray(most).astype(np.int64)
    if total < least.sum():
        return _equal_parts(total, least)
    n = _by_level_of_water(total, weight, least, largest, before, success)
    left = total - int(n.sum())
    for _ in range(left):
        now, then = before + success * n, before + success * (n + 1)
        gain = np.where(
            n < largest, np.square(weight) / np.maximum(now, 1e-9) - np.square(weight) / then, -1.0
        )
        n[int(np.argmax(gain))] += 1
    return n


def _by_level_of_water(
    total: int, weight: FloatArray, least: Whole, most: Whole, before: FloatArray, success: float
) -> Whole:
    """A little less than the solution in real numbers, n = (level x weight - before)/success within its limits.

    It is two less where it can be, so that single steps decide the last few.
    """

    def at(level: float) -> FloatArray:
        return np.clip((level * weight - before) / success, least, most)

    used = weight > 0
    low, high = 0.0, float(np.max((success * (most + 2) + before)[used] / weight[used], initial=0.0))
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() <= total else (low, middle)
    found: Whole = np.clip(np.floor(at(low)) - 2, least, most).astype(np.int64)
    return found


def _equal_parts(total: int, limits: Whole) -> Whole:
    """Equal parts up to these limits; what is left over goes to the first."""
    n = np.zeros_like(limits)
    while total > 0:
        open_ = np.flatnonzero(n < limits)
        part = max(total // len(open_), 1)
        for place in open_[: total if part == 1 else None]:
            given = min(part, int(limits[place] - n[place]), total)
            n[place] += given
            total -= given
    return n


def in_proportion(total: int, sizes: FloatArray) -> Whole:
    """In proportion to the sizes, rounded by largest remainders."""
    exact = total * sizes / max(sizes.sum(), 1.0)
    n: Whole = np.floor(exact).astype(np.int64)
    for place in np.argsort(n - exact, kind="stable")[: total - int(n.sum())]:
        n[place] += 1
    return n

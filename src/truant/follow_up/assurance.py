"""How many follow-ups from which arm and mediator level: Neyman's allocation, in whole numbers.

The part of an arm's variance that follow-ups reduce is sum_m (N0_m/N)^2 s0_m^2/n_m. For a given number of follow-ups it
is least with n_m proportional to N0_m s0_m; it is then C^2/n with C = sum_m N0_m s0_m/N. Between arms, the sum of
w C^2/n is made as small as can be, with w the probability that the arm is one of the two best: a difference between
two arms that cannot be the best decides nothing.

The probability that follow-ups make the leader clear: the follow-up analysis, simulated before any call is made.

Given the table, only the answers are random. In each simulation the mean of the missing outcomes of an arm and level is
drawn (around the mean of the outcomes seen, which is uncertain itself, plus the arm's difference), then the answers;
the estimates, their curves at(z) and the leader's probability of being the best follow as in the analysis
(`assumptions/cells.py`, `assumptions/assumption.py`), for all simulations at once. How many calls are answered is
random, too; outcomes of failed calls may have any value, or are like the answers, as the analysis will take them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc

from truant.assumptions.follow_up import THIN
from truant.follow_up.cells import ArmMoments, PlanCells, leaders
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


MOST_RUNS, LEAST_RUNS = 2000, 400
MOST_NUMBERS = 4_000_000  # of one kind that are drawn: with many arms and levels there are fewer simulations
SMALL = 1e-12


@dataclass(frozen=True, eq=False)
class Draws:
    """Random numbers, the same for every number of follow-ups, so that more of them is never worse by luck."""

    means: FloatArray  # of the outcomes seen, shape (runs, arms, K+1), as the next
    answers: FloatArray
    variances: FloatArray
    differences: FloatArray  # shape (runs, arms, 1)
    answering: FloatArray  # uniform, how many calls are answered; shape (runs, arms, K+1)

    @classmethod
    def of(cls, cells: PlanCells, seed: int = 0) -> Draws:
        """As many as memory allows."""
        arms, levels = cells.rows.shape
        runs = int(np.clip(MOST_NUMBERS // (arms * levels), LEAST_RUNS, MOST_RUNS))
        rng = np.random.default_rng(seed)
        shape = (runs, arms, levels)
        three = [rng.standard_normal(shape) for _ in range(3)]
        differences = rng.standard_normal((runs, arms, 1))
        return cls(three[0], three[1], three[2], differences, rng.random(shape))

    def answers_to(self, calls: Whole, success: float) -> FloatArray:
        """Binomial numbers of answered calls, shape (runs, arms, K+1); one for all runs if all are answered."""
        if success == 1:
            return calls.astype(np.float64)[None]
        found = np.empty(self.answering.shape)
        for number in np.unique(calls):
            some = calls == number
            below = bdtr(np.arange(number), number, success)
            found[:, some] = np.searchsorted(below, self.answering[:, some])
        return found


def missing_means(cells: PlanCells, draws: Draws, differ: float) -> FloatArray:
    """Means of the missing outcomes of each arm and level, drawn; shape (runs, arms, K+1).

    Parameters
    ----------
    cells, draws : what is known, and the numbers.
    differ : standard deviation of the difference between missing and seen outcomes of an arm. Answers that are there
        narrow it down; with 0 and answers, missing outcomes are like the answers.
    """
    truth = cells.seen_means + draws.means * np.sqrt(cells.mean_variances)
    n = cells.answered.sum(axis=1, keepdims=True)
    away = (cells.answered * (cells.answer_means - cells.seen_means)).sum(axis=1, keepdims=True) / np.maximum(
        n, 1
    )
    noise = (cells.answered * cells.variances).sum(axis=1, keepdims=True) / np.maximum(n, 1) ** 2
    prior = differ**2
    kept = prior / np.maximum(prior + noise, SMALL) if prior > 0 else np.ones_like(noise)
    middle = np.where(n > 0, kept * away, 0.0)
    spread = np.sqrt(np.where(n > 0, kept * noise, prior))
    return np.clip(truth + middle + draws.differences * spread, cells.low, cells.high)


def arm_means(cells: PlanCells, missing: FloatArray) -> FloatArray:
    """The mean of each arm in each simulation, if the missing outcomes have these means; shape (runs, arms)."""
    means: FloatArray = (cells.seen * cells.seen_means + cells.missing * missing).sum(axis=2) / cells.totals[
        :, 0
    ]
    return means


def clear_probability(
    cells: PlanCells,
    draws: Draws,
    missing: FloatArray,
    answers: FloatArray,
    level: float,
    calls: Whole | None = None,
) -> float:
    """The share of simulations in which the analysis calls the leader clear.

    Its probability of being the best reaches the level, every arm with missing outcomes has an answer, and the leader
    and the arm nearest to it have LEAST_ANSWERS.

    Parameters
    ----------
    missing : means of the missing outcomes, from `missing_means`.
    answers : further answers of each arm and level, from `Draws.answers_to`.
    level : from which on the leader is clear.
    calls : further follow-ups, if the outcomes of those that fail may have any value; None: they are like the answers.
    """
    answered = (cells.answered + answers).sum(axis=2)
    left = cells.missing.sum(axis=1)
    refused = np.any((answered == 0) & (left > 0), axis=1)
    if refused.all():
        return 0.0
    probability, leader, rival = leaders(simulated_moments(cells, draws, missing, answers, calls), cells)
    few = answered < np.minimum(LEAST_ANSWERS, left)
    few |= answered + cells.seen.sum(axis=1) < LEAST_ANSWERS
    few = np.broadcast_to(few, (len(probability), few.shape[1]))
    every = np.arange(len(probability))
    doubtful = few[every, leader] | few[every, rival]
    return float(np.mean((probability >= level) & ~doubtful & ~refused))


def simulated_moments(
    cells: PlanCells, draws: Draws, missing: FloatArray, answers: FloatArray, calls: Whole | None = None
) -> ArmMoments:
    """Moments of each arm's follow-up estimate in each simulation; parameters are those of `clear_probability`."""
    n, means, squares = _answered(cells, draws, missing, answers.reshape(-1, *cells.rows.shape))
    thin = _thin_levels(cells.missing, n)
    pool = _pooled(cells, thin, n, means, squares)
    own = np.where((cells.missing > 0) & ~thin, cells.missing, 0.0)
    runs = len(means)
    seen = [np.broadcast_to(part, (runs, *part.shape)) for part in (cells.seen_means, cells.seen_squares)]
    at_once = np.broadcast_to(cells.seen, n.shape)
    outcomes = np.concatenate([at_once, n, pool[1]], axis=2)
    every_mean = np.concatenate([seen[0], means, pool[2]], axis=2)
    every_square = np.concatenate([seen[1], squares, pool[3]], axis=2)
    cubes = np.broadcast_to(cells.thirds, n.shape)
    thirds = np.concatenate([cubes, cubes, pool[4]], axis=2)

    def moments(levels: FloatArray, together: FloatArray) -> ArmMoments:
        pulls = np.concatenate([at_once, levels, together], axis=2)
        used = np.where(pulls > 0, outcomes, 0.0)
        return ArmMoments.of(pulls, used, every_mean, every_square, thirds, cells)

    if calls is None:
        return moments(own, pool[0])
    asked = np.broadcast_to(cells.asked + calls, n.shape)
    by_level = _failing(asked, n)
    of_thin = _failing(*(np.where(thin, part, 0.0).sum(axis=2, keepdims=True) for part in (asked, n)))
    failed = (own * by_level).sum(axis=2) + (pool[0] * of_thin)[..., 0]
    if not failed.any():
        return moments(own, pool[0])
    others = moments(own * (1 - by_level), pool[0] * (1 - of_thin))
    return replace(
        others,
        failed=np.broadcast_to(failed / cells.totals[:, 0], others.mean.shape),
        best_guess=moments(own, pool[0]).mean,
    )


def _failing(asked: FloatArray, answered: FloatArray) -> FloatArray:
    """Share of the follow-ups that failed."""
    return np.divide(asked - answered, asked, out=np.zeros_like(answered), where=asked > 0)


def _answered(
    cells: PlanCells, draws: Draws, missing: FloatArray, answers: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number of answers, old and new, their means and squares about the mean."""
    old, new = cells.answered, answers  # of these, one for all runs or one for each
    n = old + new
    noise = np.broadcast_to(cells.variances, missing.shape)
    if np.isfinite(
        cells.low
    ):  # the variance of an outcome in a range is at most this; with two levels it is this
        largest = (missing - cells.low) * (cells.high - missing)
        noise = largest if cells.two_level else np.minimum(noise, largest)
    fresh = missing + draws.answers * np.sqrt(np.maximum(noise, 0.0) / np.maximum(new, 1.0))
    if np.isfinite(cells.low):
        fresh = np.clip(fresh, cells.low, cells.high)
    means = (old * cells.answer_means + new * fresh) / np.maximum(n, SMALL)
    if cells.two_level:
        return n, means, n * (means - cells.low) * (cells.high - means)
    freedom = np.maximum(new - 1, 0.0)
    # Wilson and Hilferty's approximation of a chi-square over its degrees of freedom
    part = 2 / (9 * np.maximum(freedom, 1.0))
    estimated = noise * np.maximum(1 - part + draws.variances * np.sqrt(part), 0.0) ** 3
    squares = cells.answer_squares + freedom * estimated
    squares = squares + old * new / np.maximum(n, 1.0) * (fresh - cells.answer_means) ** 2
    return n, means, squares


def _thin_levels(missing: FloatArray, answered: FloatArray) -> npt.NDArray[np.bool_]:
    """Levels that the analysis takes together, as `assumptions/follow_up.py` does; shape of `answered`.

    If these have too few answers even together, the level with the fewest of the others joins them, which is enough.
    """
    thin: npt.NDArray[np.bool_] = (missing > 0) & (answered < THIN)
    others = (missing > 0) & ~thin
    joins = thin.any(axis=2) & (np.where(thin, answered, 0.0).sum(axis=2) < THIN) & others.any(axis=2)
    fewest = np.argmin(np.where(others, answered, np.inf), axis=2)
    run, arm = np.nonzero(joins)
    thin[run, arm, fewest[run, arm]] = True
    return thin


def _pooled(
    cells: PlanCells, thin: npt.NDArray[np.bool_], n: FloatArray, means: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Missing outcomes, answers, mean, squares and third moment of the levels that are taken together, as one cell."""
    missing, answers = np.where(thin, cells.missing, 0.0), np.where(thin, n, 0.0)
    total = answers.sum(axis=2, keepdims=True)
    left = missing.sum(axis=2, keepdims=True)
    away = means - cells.seen_means
    shift = (answers * away).sum(axis=2, keepdims=True) / np.maximum(total, SMALL)
    base = (missing * cells.seen_means).sum(axis=2, keepdims=True) / np.maximum(left, 1.0)
    mean = np.clip(base + shift, cells.low, cells.high) if cells.two_level else base + shift
    within = np.where(thin, squares, 0.0) + answers * (away - shift) ** 2
    third = (missing * cells.thirds).sum(axis=2, keepdims=True) / np.maximum(left, 1.0)
    return left, total, mean, within.sum(axis=2, keepdims=True), third

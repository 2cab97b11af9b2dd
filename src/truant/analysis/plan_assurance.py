"""The probability that follow-ups make the leader clear: the follow-up analysis, simulated before any call is made.

Given the table, only the answers are random. In each simulation the mean of the missing outcomes of an arm and level is
drawn (around the mean of the outcomes seen, which is uncertain itself, plus the arm's difference), then the answers;
the estimates, their curves at(z) and the leader's probability of being the best follow as in the analysis
(`assumptions/cells.py`, `assumptions/tilted.py`), for all simulations at once. How many calls are answered is random,
too; outcomes of failed calls may have any value, or are like the answers, as the analysis will take them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from truant.analysis.plan_allocation import LEAST_ANSWERS, Whole
from truant.analysis.plan_cells import PlanCells
from truant.analysis.plan_curves import ArmMoments, leaders
from truant.assumptions.follow_up_cells import THIN
from truant.setting import FloatArray

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
    """Levels that the analysis takes together, as `assumptions/follow_up_cells.py` does; shape of `answered`.

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

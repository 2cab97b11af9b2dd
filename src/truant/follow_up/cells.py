"""What is known of each arm and mediator level before missing outcomes are followed up.

Notation, for an arm and mediator level: N rows, n1 outcomes seen at once with mean r1, N0 missing at first, of which n0
were followed up and answered with mean r0. The variance of a missing outcome, s0^2, is taken from the answers if
there are any, and else from the outcomes that were seen.

Curves at(z) and the leader's probability of being the best, for many simulated analyses at once.

The formulas are those of `assumptions/cells.py` (moments) and `assumptions/assumption.py` (curves); a curve is straight
between the points of a grid, as in `best.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from truant.assumptions.assumption import SHORT_SIDE, TAIL_SIDE, UNSEEN_TAIL
from truant.assumptions.cells import BORROWED, moments_within
from truant.counts import OBSERVED, PULLS, Counts
from truant.errors import NotIdentified
from truant.estimates.ranking import FAR_BEHIND, Z_GRID
from truant.setting import FloatArray, IntArray, Setting

LENT = 4.0  # outcomes that the variance of the outcomes seen counts for beside that of the answers
FEW = 4  # degrees of freedom of an arm, below which it borrows the variance of all arms
LEAST_SPREAD = 0.05  # standard deviation of a missing outcome, at least, as a share of that of all outcomes


@dataclass(frozen=True, eq=False)
class PlanCells:
    """Counts of all arms and levels, shape (arms, K+1), such that more is better; outcomes are about a centre."""

    rows: FloatArray
    seen: FloatArray
    seen_means: FloatArray  # of the arm, where the level has no outcome
    seen_squares: FloatArray  # about the mean
    seen_cubes: FloatArray
    missing: FloatArray  # at first
    asked: FloatArray  # follow-ups so far
    answered: FloatArray
    answer_means: FloatArray  # 0 without answers
    answer_squares: FloatArray
    mean_variances: FloatArray  # of `seen_means` as estimates of the means of such outcomes
    variances: FloatArray  # s0^2
    thirds: FloatArray  # third central moment of a missing outcome
    outcome_sd: float
    low: float  # of the range about the centre; -inf if it is not known
    high: float
    two_level: bool

    @property
    def available(self) -> FloatArray:
        """Missing outcomes that were not followed up yet."""
        return self.missing - self.asked

    @property
    def totals(self) -> FloatArray:
        """Rows of each arm, shape (arms, 1)."""
        totals: FloatArray = self.rows.sum(axis=1, keepdims=True)
        return totals


def plan_cells(counts: Counts, setting: Setting) -> PlanCells:
    """The cells of counts whose outcomes are such that more is better; or raises NotIdentified."""
    real = counts.real()
    blocks = [real.table, np.zeros_like(real.table) if real.followed_up is None else real.followed_up]
    seen, later = (
        [np.stack(part) for part in zip(*map(moments_within, block), strict=True)] for block in blocks
    )
    n1, n0 = seen[0], later[0]
    for arm in np.flatnonzero((n1 + n0).sum(axis=1) == 0):
        raise NotIdentified(
            "{arm} has no observed outcome, so the spread of its outcomes is unknown; leave it out (--where) or "
            "follow up a few of its missing outcomes first.",
            arm=int(arm),
        )
    r1, r0 = (np.where(part[0] > 0, part[1], 0.0) for part in (seen, later))
    known = n1.sum(axis=1) > 0
    overall = np.where(known, _mean(n1, r1), _mean(n0, r0))[:, None]
    ends = (setting.low - real.centre, setting.high - real.centre)
    means = np.where(n1 > 0, r1, overall)
    variances, pooled, sd = _variances(
        n1, means, seen[2], n0, r0, later[2], ends if setting.outcomes == 2 else None
    )
    apart = np.where(n1 > 0, 0.0, pooled + _between(n1, r1))
    low, high = ends if setting.range_known or setting.outcomes == 2 else (-np.inf, np.inf)
    return PlanCells(
        rows=real.table[..., PULLS],
        seen=n1,
        seen_means=means,
        seen_squares=seen[2],
        seen_cubes=seen[3],
        missing=real.table[..., PULLS] - real.table[..., OBSERVED],
        asked=real.follow_ups_by_cell(),
        answered=n0,
        answer_means=r0,
        answer_squares=later[2],
        mean_variances=variances / np.maximum(n1, 1.0) + apart,
        variances=variances,
        thirds=_thirds(seen, later),
        outcome_sd=sd,
        low=low,
        high=high,
        two_level=setting.outcomes == 2,
    )


def _mean(n: FloatArray, means: FloatArray) -> FloatArray:
    mean: FloatArray = (n * means).sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    return mean


def _between(n: FloatArray, means: FloatArray) -> FloatArray:
    """Variance between the levels of an arm, shape (arms, 1): how far off a level without outcomes may be."""
    middle = _mean(n, means)[:, None]
    return _mean(n, (means - middle) ** 2)[:, None]


def _variances(
    n1: FloatArray,
    r1: FloatArray,
    squares1: FloatArray,
    n0: FloatArray,
    r0: FloatArray,
    squares0: FloatArray,
    ends: tuple[float, float] | None,
) -> tuple[FloatArray, FloatArray, float]:
    """s0^2 of each cell, the variance within levels of each arm, shape (arms, 1), and the sd of all outcomes."""
    freedom = np.maximum(n1 - 1, 0.0) + np.maximum(n0 - 1, 0.0)
    everyone = (squares1 + squares0).sum() / max(freedom.sum(), 1.0)
    sd = float(np.sqrt(everyone + (n1 * (r1 - _mean(n1, r1)[:, None]) ** 2).sum() / max(n1.sum(), 1.0)))
    own = (squares1 + squares0).sum(axis=1) / np.maximum(freedom.sum(axis=1), 1.0)
    pooled = np.where(freedom.sum(axis=1) >= FEW, own, everyone)[:, None]
    if ends is not None:
        low, high = ends
        # towards the arm by an outcome, and into the inside: other outcomes may still come
        total = _mean(n1 + n0, np.where(n0 > 0, (n1 * r1 + n0 * r0) / np.maximum(n1 + n0, 1.0), r1))[:, None]
        mean = (n1 * r1 + LENT * n0 * r0 + total + (low + high) / 2) / (n1 + LENT * n0 + 2)
        return (mean - low) * (high - mean), (total - low) * (high - total), max(sd, (high - low) / 10)
    before = (squares1 + pooled) / np.maximum(n1, 1.0)
    variances = np.where(n0 > 1, (squares0 + LENT * before) / np.maximum(n0 - 1 + LENT, 1.0), before)
    return np.maximum(variances, (LEAST_SPREAD * sd) ** 2), pooled, sd


def _thirds(seen: list[FloatArray], later: list[FloatArray]) -> FloatArray:
    """Third central moment within levels: of each level with enough outcomes, and else of its arm."""
    n, cubes = seen[0] + later[0], seen[3] + later[3]
    of_arm = cubes.sum(axis=1, keepdims=True) / np.maximum(n.sum(axis=1, keepdims=True), 1.0)
    return np.where(n >= 2 * FEW, cubes / np.maximum(n, 1.0), of_arm)


# nodes of a quadrature over Z ~ N(0, 1); with failed follow-ups curves jump at 0, where no node may be then
SMOOTH, JUMPING = (np.polynomial.hermite_e.hermegauss(number) for number in (31, 32))
SMALL = 1e-300
NO_ROWS = 1e-9


@dataclass(frozen=True, eq=False)
class ArmMoments:
    """Mean, variance, third cumulant and degrees of freedom of each arm's estimate, shape (runs, arms).

    Where follow-ups fail and their outcomes may have any value, these are of the other rows; `failed` is the share of
    the rows that the failures stand for, and `best_guess` the mean if they are like the answers.
    """

    mean: FloatArray
    variance: FloatArray
    third: FloatArray
    freedom: FloatArray
    failed: FloatArray | None = None
    best_guess: FloatArray | None = None

    @property
    def guess(self) -> FloatArray:
        """The mean that says which arm leads."""
        return self.mean if self.best_guess is None else self.best_guess

    def widths(self, cells: PlanCells) -> tuple[FloatArray, FloatArray]:
        """How far failed follow-ups may move each mean down and up, as in `Cells.plug_in`."""
        if self.failed is None:
            return np.zeros_like(self.mean), np.zeros_like(self.mean)
        filled = np.clip(self.mean, cells.low, cells.high)
        return self.failed * (filled - cells.low), self.failed * (cells.high - filled)

    @classmethod
    def of(
        cls,
        pulls: FloatArray,
        n: FloatArray,
        means: FloatArray,
        squares: FloatArray,
        thirds: FloatArray,
        cells: PlanCells,
    ) -> ArmMoments:
        """Of cells with so many pulls and outcomes, means and squares; (runs, arms, cells), or 1 for all runs."""
        rows = np.maximum(pulls.sum(axis=2), NO_ROWS)
        p = pulls / rows[..., None]
        mean = (p * means).sum(axis=2)
        variances, pooled = _within(n, means, squares, cells)
        per = np.where(n > 0, 1 / np.maximum(n, 1.0), 0.0)
        parts, usual = p**2 * variances * per, p**2 * pooled * per
        away = np.where(p > 0, means - mean[..., None], 0.0)
        levels = (p * away**2).sum(axis=2) / rows
        if cells.two_level:
            thirds = variances * (cells.low + cells.high - 2 * means)
        third = (
            p**3 * thirds * per**2 + 3 * parts * away / rows[..., None] + p * away**3 / rows[..., None] ** 2
        ).sum(axis=2)
        freedom = np.maximum(n - 1, 1.0)
        degrees = [_welch(some, freedom, levels, np.maximum(rows - 1, 1.0)) for some in (parts, usual)]
        return cls(mean, parts.sum(axis=2) + levels, third, np.minimum(*degrees))


def _within(
    n: FloatArray, means: FloatArray, squares: FloatArray, cells: PlanCells
) -> tuple[FloatArray, FloatArray]:
    """Variance of each cell, with the arm's, which counts as one outcome; and the arm's."""
    if cells.two_level:
        everyone = (n * means).sum(axis=2, keepdims=True) / np.maximum(n.sum(axis=2, keepdims=True), 1.0)
        moved = (n * means + BORROWED * everyone) / (n + BORROWED)
        return (moved - cells.low) * (cells.high - moved), (everyone - cells.low) * (cells.high - everyone)
    freedom = np.maximum(n - 1, 0.0).sum(axis=2, keepdims=True)
    used = np.where(n > 0, squares, 0.0)
    pooled = used.sum(axis=2, keepdims=True) / np.maximum(freedom, 1.0)
    return (used + BORROWED * pooled) / np.maximum(n - 1 + BORROWED, 1.0), pooled


def _welch(parts: FloatArray, freedom: FloatArray, levels: FloatArray, of_levels: FloatArray) -> FloatArray:
    total = np.maximum(parts.sum(axis=2) + levels, SMALL)
    sum_ = ((parts / total[..., None]) ** 2 / freedom).sum(axis=2) + (levels / total) ** 2 / of_levels
    degrees: FloatArray = 1 / np.maximum(sum_, SMALL)
    return degrees


def curves(moments: ArmMoments, cells: PlanCells) -> FloatArray:
    """at(z) on the grid, shape (runs, arms, z); with failed follow-ups it jumps at 0, as in the analysis."""
    others = _of_others(moments, cells)
    if moments.failed is None:
        return others
    kept, mean = 1 - moments.failed[..., None], moments.mean[..., None]
    down, up = (width[..., None] for width in moments.widths(cells))
    filled = np.clip(mean, cells.low, cells.high)
    moved = kept * others + (1 - kept) * filled + np.where(Z_GRID > 0, up, -down)
    jumping: FloatArray = np.where(Z_GRID == 0, moments.guess[..., None], moved)
    return jumping


def _of_others(moments: ArmMoments, cells: PlanCells) -> FloatArray:
    """The same of the rows that no failed follow-up stands for."""
    variance = np.maximum(moments.variance, SMALL)
    slope = (moments.third / variance)[..., None]
    z, mean = Z_GRID, moments.mean[..., None]
    if cells.two_level:
        inside = np.maximum((moments.mean - cells.low) * (cells.high - moments.mean), SMALL)
        shift, bend = slope * z * z / 2, 1 + z * z * (variance / inside)[..., None]
        away = np.sqrt(shift**2 + z * z * variance[..., None] * bend)
        within: FloatArray = np.clip(mean + (shift + np.sign(z) * away) / bend, cells.low, cells.high)
        return within
    freedom = moments.freedom[..., None]
    tail = TAIL_SIDE + UNSEEN_TAIL / freedom
    shift = np.where(slope * z > 0, tail, SHORT_SIDE) * slope * z * z
    away = np.hypot(shift, _student(z, freedom) * np.sqrt(variance)[..., None])
    curved: FloatArray = mean + shift + np.sign(z) * away
    return curved


def _student(z: FloatArray, freedom: FloatArray) -> FloatArray:
    """Quantiles of Student's t (Wallace, 1959): within 1% from three degrees of freedom on."""
    scaled = z * (8 * freedom + 3) / (8 * freedom + 1)
    quantiles: FloatArray = np.sqrt(freedom * np.expm1(np.minimum(scaled**2 / freedom, 600.0)))
    return quantiles


def leader_probability(moments: ArmMoments, cells: PlanCells) -> FloatArray:
    """Of each simulation, the probability that the arm with the highest mean is the best."""
    return leaders(moments, cells)[0]


def leaders(moments: ArmMoments, cells: PlanCells) -> tuple[FloatArray, IntArray, IntArray]:
    """Of each simulation, the leader's probability of being the best, the leader, and the arm that is nearest to it."""
    runs, arms = moments.mean.shape
    drawn = curves(moments, cells)
    leader = np.argmax(moments.guess, axis=1)
    every = np.arange(runs)
    nodes, weights = SMOOTH if moments.failed is None else JUMPING
    weights = weights / weights.sum()
    x = _along(drawn[every, leader], nodes)
    errors = np.sqrt(moments.variance)
    down, up = moments.widths(cells)
    below = np.ones_like(x)
    beaten = np.where(np.arange(arms) == leader[:, None], np.inf, 1.0)  # each arm by the leader
    for arm in range(arms):
        gap = moments.mean[every, leader] - moments.mean[:, arm] - down[every, leader] - up[:, arm]
        near = (leader != arm) & (gap < FAR_BEHIND * np.hypot(errors[every, leader], errors[:, arm]))
        if near.any():
            lower = ndtr(_inverse(drawn[near, arm], x[near]))
            below[near] *= lower
            beaten[near, arm] = lower @ weights
    return below @ weights, leader, np.argmin(beaten, axis=1)


def _along(values: FloatArray, z: FloatArray) -> FloatArray:
    """The curves' values at other z, shape (runs, z)."""
    place = np.clip(np.searchsorted(Z_GRID, z), 1, len(Z_GRID) - 1)
    share = (z - Z_GRID[place - 1]) / (Z_GRID[place] - Z_GRID[place - 1])
    found: FloatArray = values[:, place - 1] + share * (values[:, place] - values[:, place - 1])
    return found


def _inverse(values: FloatArray, x: FloatArray) -> FloatArray:
    """The z at which each curve has these values; the ends of the grid beyond it."""
    z = np.full_like(x, Z_GRID[0])
    for k in range(len(Z_GRID) - 1):
        low, high = values[:, k, None], values[:, k + 1, None]
        z += np.clip((x - low) / np.maximum(high - low, SMALL), 0.0, 1.0) * (Z_GRID[k + 1] - Z_GRID[k])
    return z

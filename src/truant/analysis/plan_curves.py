"""Curves at(z) and the leader's probability of being the best, for many simulated analyses at once.

The formulas are those of `assumptions/cells.py` (moments) and `assumptions/tilted.py` (curves); a curve is straight
between the points of a grid, as in `best.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from truant.analysis.best import FAR_BEHIND, Z_GRID
from truant.analysis.plan_cells import PlanCells
from truant.assumptions.cells import BORROWED
from truant.assumptions.tilted import SHORT_SIDE, TAIL_SIDE, UNSEEN_TAIL
from truant.setting import FloatArray, IntArray

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

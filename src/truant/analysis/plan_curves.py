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
from truant.setting import FloatArray

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
SMALL = 1e-300


@dataclass(frozen=True, eq=False)
class ArmMoments:
    """Mean, variance, third cumulant and degrees of freedom of each arm's estimate, shape (runs, arms)."""

    mean: FloatArray
    variance: FloatArray
    third: FloatArray
    freedom: FloatArray

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
        """Of cells with so many pulls and outcomes (arms, cells), means and squares (runs, arms, cells)."""
        rows = pulls.sum(axis=1)
        p = pulls / rows[:, None]
        mean = (p * means).sum(axis=2)
        variances, pooled = _within(n, means, squares, cells)
        per = np.where(n > 0, 1 / np.maximum(n, 1.0), 0.0)
        parts, usual = p**2 * variances * per, p**2 * pooled * per
        away = np.where(p > 0, means - mean[..., None], 0.0)
        levels = (p * away**2).sum(axis=2) / rows
        if cells.two_level:
            thirds = variances * (cells.low + cells.high - 2 * means)
        third = (
            p**3 * thirds * per**2 + 3 * parts * away / rows[:, None] + p * away**3 / rows[:, None] ** 2
        ).sum(axis=2)
        freedom = np.maximum(n - 1, 1.0)
        degrees = [_welch(some, freedom, levels, np.maximum(rows - 1, 1.0)) for some in (parts, usual)]
        return cls(mean, parts.sum(axis=2) + levels, third, np.minimum(*degrees))


def _within(
    n: FloatArray, means: FloatArray, squares: FloatArray, cells: PlanCells
) -> tuple[FloatArray, FloatArray]:
    """Variance of each cell, with the arm's, which counts as one outcome; and the arm's."""
    if cells.two_level:
        everyone = (n * means).sum(axis=2, keepdims=True) / np.maximum(n.sum(axis=1), 1.0)[:, None]
        moved = (n * means + BORROWED * everyone) / (n + BORROWED)
        return (moved - cells.low) * (cells.high - moved), (everyone - cells.low) * (cells.high - everyone)
    freedom = np.maximum(n - 1, 0.0).sum(axis=1)
    used = np.where(n > 0, squares, 0.0)
    pooled = used.sum(axis=2, keepdims=True) / np.maximum(freedom, 1.0)[:, None]
    return (used + BORROWED * pooled) / np.maximum(n - 1 + BORROWED, 1.0), pooled


def _welch(parts: FloatArray, freedom: FloatArray, levels: FloatArray, of_levels: FloatArray) -> FloatArray:
    total = np.maximum(parts.sum(axis=2) + levels, SMALL)
    sum_ = ((parts / total[..., None]) ** 2 / freedom).sum(axis=2) + (levels / total) ** 2 / of_levels
    degrees: FloatArray = 1 / np.maximum(sum_, SMALL)
    return degrees


def curves(moments: ArmMoments, cells: PlanCells) -> FloatArray:
    """at(z) on the grid, shape (runs, arms, z)."""
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
    runs, arms = moments.mean.shape
    drawn = curves(moments, cells)
    leader = np.argmax(moments.mean, axis=1)
    every = np.arange(runs)
    x = _along(drawn[every, leader], NODES)
    errors = np.sqrt(moments.variance)
    below = np.ones_like(x)
    for arm in range(arms):
        gap = moments.mean[every, leader] - moments.mean[:, arm]
        near = (leader != arm) & (gap < FAR_BEHIND * np.hypot(errors[every, leader], errors[:, arm]))
        if near.any():
            below[near] *= ndtr(_inverse(drawn[near, arm], x[near]))
    probability: FloatArray = below @ WEIGHTS
    return probability


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

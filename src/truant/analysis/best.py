"""Probability of being best and loss of stopping now: each arm's value is at(Z), Z ~ N(0, 1), by quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from truant.analysis.parallel import FEW_ARMS, each_arm
from truant.assumptions import Estimate
from truant.compile import link
from truant.indices.best import best
from truant.indices.index import z_grid_of
from truant.setting import FloatArray

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

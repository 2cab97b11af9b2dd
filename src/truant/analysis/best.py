"""Probability of being best and loss of stopping now: each arm's value is at(Z), Z ~ N(0, 1), by quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from truant.assumptions import Estimate
from truant.compile import link
from truant.indices.best import best
from truant.indices.index import z_grid_of
from truant.setting import FloatArray

Z_GRID = z_grid_of(linear=False)
FEW_ARMS = 50  # up to which every arm's curve is looked at
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

    Of many arms, those that are far behind the leader get a straight line: a limit of a likelihood takes milliseconds,
    and theirs decide nothing.
    """
    behind = _far_behind(estimates) if len(estimates) > FEW_ARMS else [False] * len(estimates)
    return np.array(
        [
            [
                estimate.mean + z * estimate.standard_error if straight else estimate.at(float(z))
                for z in Z_GRID
            ]
            for estimate, straight in zip(estimates, behind, strict=True)
        ]
    )


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

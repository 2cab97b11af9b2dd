"""Scores of all arms from their counts, by the functions that the loop calls: contribute, known, aim and score_arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truant.assumptions import Curve
from truant.compile import hot, link
from truant.indices import Index
from truant.policies import Policy
from truant.setting import Setting

FloatArray = npt.NDArray[np.float64]
contribute = known = aim = score_arm = None  # bound by link


class Scores(NamedTuple):
    """Of each arm: at(z), the z it was asked for, and how many outcomes the estimate is worth."""

    values: FloatArray
    z: FloatArray
    known: FloatArray


@hot
def leave_knots(worth, log_horizon, parameters, z_grid):
    """Looks at the z that it is given."""


def score_arms(
    table, memory, shared, part, parameters, log_horizon, index_parameters, first, z_grid, values, z, worth
):
    """All arms from their counts; the z_grid from number `first` on are those that the index aims at."""
    for k in range(len(part)):
        shared[k] = 0.0
    for a in range(table.shape[0]):
        contribute(table[a], parameters[a], part)
        for k in range(len(part)):
            shared[k] += part[k]
    for a in range(table.shape[0]):
        worth[a] = known(table[a], shared, parameters[a])
        aim(worth[a], log_horizon, index_parameters, z_grid[first:])
        score_arm(table[a], memory[a], shared, parameters[a], z_grid, values[a])
        for k in range(len(z_grid)):
            z[a, k] = z_grid[k]


def score(
    curve: Curve,
    table: FloatArray,
    z_grid: FloatArray,
    index: Index | None = None,
    horizon: int = 1000,
    memory: FloatArray | None = None,
    first: int = 0,
) -> Scores:
    """Every arm's at(z) at the z_grid, or where the index aims; `memory` is changed as the loop would."""
    arms, z_grid = len(table), np.array(z_grid, np.float64)
    if memory is None:
        memory = np.zeros((arms, curve.memory(len(z_grid))))
    values, z, worth = np.full((arms, len(z_grid)), np.nan), np.zeros((arms, len(z_grid))), np.zeros(arms)
    shared = np.full(curve.pooled + curve.scratch, np.nan)  # nobody may rely on what was left in it
    compiled: Any = link(
        score_arms,
        contribute=curve.contribute,
        known=curve.known,
        aim=leave_knots if index is None else index.aim,
        score_arm=curve.score_arm,
    )
    compiled(
        np.ascontiguousarray(table),
        memory,
        shared,
        np.zeros(curve.pooled),
        np.ascontiguousarray(curve.parameters),
        float(np.log(horizon)),
        np.zeros(1) if index is None else index.parameters(),
        first,
        z_grid,
        values,
        z,
        worth,
    )
    return Scores(values, z, worth)


def guess_and_scores(policy: Policy, table: FloatArray, setting: Setting, horizon: int) -> FloatArray:
    """Each arm's best guess, then at(z) where the policy's index looks."""
    curve = policy.curve(setting, horizon)
    z_grid = np.append(0.0, policy.index.z_grid(curve.linear))
    return score(curve, table, z_grid, policy.index, horizon, first=1).values

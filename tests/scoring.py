"""Scores of all arms from their counts, by the functions that the loop calls: contribute, known, aim and fill."""

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
contribute = known = aim = fill = None  # bound by link


class Scores(NamedTuple):
    """Of each arm: at(z), the z it was asked for, and how many outcomes the estimate is worth."""

    values: FloatArray
    z: FloatArray
    known: FloatArray


@hot
def leave_knots(worth, log_horizon, parameters, knots):
    """Looks at the z that it is given."""


def score_arms(
    table, memory, shared, part, parameters, log_horizon, index_parameters, first, knots, values, z, worth
):
    """All arms from their counts; the knots from number `first` on are those that the index aims at."""
    for k in range(len(part)):
        shared[k] = 0.0
    for a in range(table.shape[0]):
        contribute(table[a], parameters[a], part)
        for k in range(len(part)):
            shared[k] += part[k]
    for a in range(table.shape[0]):
        worth[a] = known(table[a], shared, parameters[a])
        aim(worth[a], log_horizon, index_parameters, knots[first:])
        fill(table[a], memory[a], shared, parameters[a], knots, values[a])
        for k in range(len(knots)):
            z[a, k] = knots[k]


def score(
    curve: Curve,
    table: FloatArray,
    knots: FloatArray,
    index: Index | None = None,
    horizon: int = 1000,
    memory: FloatArray | None = None,
    first: int = 0,
) -> Scores:
    """Every arm's at(z) at the knots, or where the index aims; `memory` is changed as the loop would."""
    arms, knots = len(table), np.array(knots, np.float64)
    if memory is None:
        memory = np.zeros((arms, curve.memory(len(knots))))
    values, z, worth = np.full((arms, len(knots)), np.nan), np.zeros((arms, len(knots))), np.zeros(arms)
    shared = np.full(curve.pooled + curve.scratch, np.nan)  # nobody may rely on what was left in it
    compiled: Any = link(
        score_arms,
        contribute=curve.contribute,
        known=curve.known,
        aim=leave_knots if index is None else index.aim,
        fill=curve.fill,
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
        knots,
        values,
        z,
        worth,
    )
    return Scores(values, z, worth)


def guess_and_scores(policy: Policy, table: FloatArray, setting: Setting, horizon: int) -> FloatArray:
    """Each arm's best guess, then at(z) where the policy's index looks."""
    curve = policy.curve(setting, horizon)
    knots = np.append(0.0, policy.index.knots(curve.linear))
    return score(curve, table, knots, policy.index, horizon, first=1).values

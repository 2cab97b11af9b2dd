"""The one compiled loop: every world, assumption and index runs through it.

`run` is a template: `truant.compile.link` binds draw, record, follow, fill and choose to a world's, a
layout's, a curve's and an index's compiled functions, and numba inlines them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truant.compile import hot
from truant.counts import record_level, record_real
from truant.setting import FloatArray, IntArray

# Each returns the outcome as it was counted: about the centre, or its level.


@hot
def record_real_outcome(row: FloatArray, mediator: int, outcome: float, about: FloatArray) -> float:
    """A real outcome into real counts; `about` is the centre."""
    record_real(row, mediator, outcome - about[0])
    return float(outcome - about[0])


@hot
def record_level_as_real(row: FloatArray, mediator: int, level: int, about: FloatArray) -> float:
    """A level into real counts; `about` has the levels' values about the centre, NaN for missing."""
    record_real(row, mediator, about[level])
    return float(about[level])


@hot
def record_level_outcome(row: FloatArray, mediator: int, level: int, about: FloatArray) -> int:
    """A level into discrete counts."""
    record_level(row, mediator, level)
    return level


def _unbound(*arguments: Any) -> Any:
    raise AssertionError("bound by link")


FINISHED, STOPPED, NO_SUCH_ARM = 0, 1, 2

draw = record = follow = fill = choose = _unbound


def run(
    rng: np.random.Generator,
    tables: Any,  # of the world's draw
    gaps: FloatArray,  # (arms,)
    about: FloatArray,
    first_pulls: int,
    growth: float,
    parameters: FloatArray,  # (arms, any) of the curve
    memory: FloatArray,  # (arms, any) of the curve
    shared: FloatArray,
    knots: FloatArray,
    values: FloatArray,  # (arms, knots), at(z) of each arm
    due: IntArray,  # (arms,), pulls at which an arm is next estimated
    index_parameters: FloatArray,
    index_memory: FloatArray,
    counts: FloatArray,  # (arms, K+1, columns), filled here
    pulls: IntArray,  # (arms,), filled here
    checkpoints: IntArray,  # rounds after which regret is noted
    regret: FloatArray,  # (checkpoints,), filled here
    progress: IntArray,  # (1,), checkpoints done, for whoever watches
    stop: IntArray,  # (1,), set by whoever wants it to end
) -> int:
    """Play until the last checkpoint; returns FINISHED, STOPPED or NO_SUCH_ARM. Makes no arrays (see `lean`)."""
    arms = len(gaps)
    last = -1
    t = 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            if t < arms * first_pulls:
                arm = t % arms
            else:
                arm = choose(values, knots, index_parameters, index_memory, last, t + 1, rng)
                if arm < 0 or arm >= arms:  # the rest would write beyond its arrays
                    return NO_SUCH_ARM
                last = arm
            mediator, outcome = draw(rng, arm, tables)
            follow(counts[arm], memory[arm], mediator, record(counts[arm], mediator, outcome, about))
            pulls[arm] += 1
            t += 1
            if pulls[arm] >= due[arm]:
                fill(counts[arm], memory[arm], shared, parameters[arm], knots, values[arm])
                if growth > 0.0:
                    due[arm] = pulls[arm] + max(np.int64(1), np.int64(growth * pulls[arm]))
        total = 0.0
        for a in range(arms):
            total += pulls[a] * gaps[a]
        regret[c] = total
        progress[0] = c + 1
        if stop[0] and c + 1 < len(checkpoints):
            return STOPPED
    return FINISHED

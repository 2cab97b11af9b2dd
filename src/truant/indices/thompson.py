"""`thompson`: look at a random z, so that an arm is pulled as often as it may be the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.compile import hot
from truant.indices.best import best
from truant.indices.contenders import (
    ACTIVE,
    MANY,
    contenders_memory,
    highest_of_contenders,
    update_contenders,
)
from truant.indices.index import Index, read, z_grid_of
from truant.setting import FloatArray


@hot
def choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(z), z ~ N(0, 1) for each arm."""
    if values.shape[0] >= MANY and memory[ACTIVE] == 1.0:
        return highest_of_contenders(values, z_grid, memory, rng)
    best, ties, top = 0, 0, -np.inf
    for a in range(values.shape[0]):
        score = read(values[a], z_grid, rng.standard_normal())
        if score > top:
            best, ties, top = a, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    return best


@hot
def update(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    arm: int,
    rng: np.random.Generator,
) -> None:
    """Keep account of which arms may be the highest, where there are many."""
    if values.shape[0] >= MANY:
        update_contenders(values, z_grid, memory, arm)


@hot
def probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    """How likely each arm is to be the best."""
    best(values, z_grid, -1, out)


@dataclass(frozen=True)
class Thompson(Index):
    """A draw from what each arm may be worth: at(z) with z ~ N(0, 1); explores while outcomes are late."""

    choose = staticmethod(choose)
    update = staticmethod(update)
    probabilities = staticmethod(probabilities)

    def z_grid(self, linear: bool) -> FloatArray:
        """Enough to read any z."""
        return z_grid_of(linear)

    def memory(self, arms: int) -> int:
        """What many arms need."""
        return contenders_memory(arms)


parts = {"thompson": Thompson}

"""What every index offers, and what the compiled ones share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from truant.compile import hot
from truant.setting import FloatArray

STRAIGHT = (0.0, 1.0)  # two knots say all of a straight at(z)
CURVED = (-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5)


class Index(ABC):
    """Which arm to pull, given every arm's at(z).

    `choose(values, knots, parameters, memory, last, t, rng)` is compiled and returns an arm. `values` has
    at(z) of each arm at the knots; only the row of `last` changed since the round before (all of them if
    `last` is -1); `t` counts rounds from 1; `memory` is the index's own, zeros at first.
    """

    choose: ClassVar[Callable[..., int]]
    memory: ClassVar[int] = 0

    @abstractmethod
    def knots(self, horizon: int, linear: bool) -> FloatArray:
        """The z at which at(z) is wanted; two are enough where it is a straight line."""

    def parameters(self, horizon: int) -> FloatArray:
        """Numbers that `choose` needs."""
        return np.zeros(1)


def knots_of(linear: bool) -> FloatArray:
    """Knots from which at(z) can be read anywhere."""
    return np.asarray(STRAIGHT if linear else CURVED)


@hot
def read(values: FloatArray, knots: FloatArray, z: float) -> float:
    """at(z) between the knots, by straight lines (and beyond them)."""
    k = 1
    while k < len(knots) - 1 and z > knots[k]:
        k += 1
    if values[k] == np.inf:
        return np.inf
    slope = (values[k] - values[k - 1]) / (knots[k] - knots[k - 1])
    return float(values[k - 1] + slope * (z - knots[k - 1]))


@hot
def highest(values: FloatArray, memory: FloatArray, last: int, rng: np.random.Generator) -> int:
    """The arm with the highest first value; ties are broken at random.

    Memory holds the arm last found highest and the value of the second: while it is that arm that is pulled and
    it still beats the second, nothing needs comparing, since no other arm's value has changed.
    """
    if last >= 0 and memory[1] == last and values[last, 0] > memory[0]:
        return last
    best, ties, second = 0, 1, -np.inf
    for a in range(1, values.shape[0]):
        if values[a, 0] > values[best, 0]:
            best, ties, second = a, 1, values[best, 0]
        elif values[a, 0] == values[best, 0]:
            ties, second = ties + 1, values[a, 0]
            if rng.random() * ties < 1.0:
                best = a
        else:
            second = max(second, values[a, 0])
    memory[0], memory[1] = second, best
    return best


@hot
def highest_read(
    values: FloatArray, knots: FloatArray, z: float, randomly: bool, rng: np.random.Generator
) -> int:
    """The arm with the highest at(z), or at(Z) with Z ~ N(0, 1) for each arm; ties are broken at random."""
    best, ties, top = 0, 0, -np.inf
    for a in range(values.shape[0]):
        score = read(values[a], knots, rng.standard_normal() if randomly else z)
        if score > top:
            best, ties, top = a, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    return best

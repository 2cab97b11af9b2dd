"""`thompson`: look at a random z, so that an arm is pulled as often as it may be the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.compile import hot
from truant.indices.index import Index, highest_read, knots_of
from truant.setting import FloatArray


@hot
def choose(
    values: FloatArray,
    knots: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    last: int,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(z), z ~ N(0, 1) for each arm."""
    return highest_read(values, knots, 0.0, True, rng)


@dataclass(frozen=True)
class Thompson(Index):
    """A draw from what each arm may be worth: at(z) with z ~ N(0, 1); explores while outcomes are late."""

    choose = staticmethod(choose)

    def knots(self, horizon: int, linear: bool) -> FloatArray:
        """Enough to read any z."""
        return knots_of(linear)


parts = {"thompson": Thompson}

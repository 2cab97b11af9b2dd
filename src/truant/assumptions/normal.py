"""A straight at(z), for estimates that are taken as normal."""

from __future__ import annotations

import math

from truant.compile import hot
from truant.setting import FloatArray


@hot
def straight(mean: float, variance: float, z_grid: FloatArray, values: FloatArray) -> None:
    """at(z) = mean + z sqrt(variance)."""
    sd = math.sqrt(variance)
    for k in range(len(z_grid)):
        values[k] = mean + z_grid[k] * sd

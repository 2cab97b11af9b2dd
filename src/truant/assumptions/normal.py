"""What the nearly normal assumptions share: the pooled scale of an outcome, and a straight at(z)."""

from __future__ import annotations

import numpy as np

from truant.compile import hot
from truant.setting import FloatArray

ARM_WEIGHT = 10.0  # degrees of freedom that the pooled scale counts for in an arm's own
PRIOR_WEIGHT = 2.0  # degrees of freedom that the stated scale counts for in the pooled one


@hot
def pooled_variance(
    memory: FloatArray, shared: FloatArray, squares: float, freedom: float, prior: float
) -> float:
    """An arm's outcome variance, pulled towards that of all arms.

    s^2 = (SS_a + 10 s_all^2)/(df_a + 10), s_all^2 = (sum SS + 2 s_0^2)/(sum df + 2).
    `memory` holds the arm's part of the totals in `shared`.
    """
    shared[0] += squares - memory[0]
    shared[1] += freedom - memory[1]
    memory[0] = squares
    memory[1] = freedom
    pooled = (shared[0] + PRIOR_WEIGHT * prior) / (shared[1] + PRIOR_WEIGHT)
    return float((squares + ARM_WEIGHT * pooled) / (freedom + ARM_WEIGHT))


@hot
def straight(mean: float, variance: float, knots: FloatArray, values: FloatArray) -> None:
    """at(z) = mean + z sqrt(variance)."""
    sd = np.sqrt(variance)
    for k in range(len(knots)):
        values[k] = mean + knots[k] * sd

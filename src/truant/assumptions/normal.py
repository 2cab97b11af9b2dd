"""What the nearly normal assumptions share: the pooled scale of an outcome, and a straight at(z)."""

from __future__ import annotations

import numpy as np

from truant.assumptions.assumption import per_arm
from truant.compile import hot
from truant.setting import FloatArray, Setting

ARM_WEIGHT = 10.0  # degrees of freedom that the pooled scale counts for in an arm's own
PRIOR_WEIGHT = 2.0  # degrees of freedom that the stated scale counts for in the pooled one


def shrinking(setting: Setting, kappa: float) -> FloatArray:
    """The parameters of a shrunk estimate, for each arm: centre, kappa, s_0^2 and the square of half the range."""
    half = (setting.high - setting.low) / 2
    return per_arm(setting, setting.centre, kappa, setting.outcome_scale**2, half**2)


@hot
def pseudo_observations(parameters: FloatArray, variance: float) -> float:
    """How many observations the centre of the range counts for: kappa, and less where noise is small.

    A cell's mean can be half the range away from the centre. Where outcomes are less noisy than that, a whole
    pseudo-observation would pull a thin cell to the centre with more certainty than there is, and a good arm
    would never be looked at again; kappa s^2/h^2 amounts to a prior as wide as the range.
    """
    return float(parameters[1] * min(1.0, variance / parameters[3]))


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

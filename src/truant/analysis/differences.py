"""Differences to a control arm, with intervals that hold for all arms at once.

The interval of a difference of two independent values is put together from their own (the method of variance
estimates recovery): d - sqrt((a - a_low)^2 + (c_high - c)^2), which is the usual one where both are normal. The
width is that of Dunnett: all comparisons share the control, so that less than Bonferroni's allowance will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truant.assumptions import Estimate
from truant.setting import FloatArray


@dataclass(frozen=True)
class Difference:
    """An arm's value minus the control's."""

    mean: float
    low: float
    high: float


def differences(estimates: Sequence[Estimate], control: int, level: float) -> list[Difference | None]:
    """For each arm but the control, with simultaneous intervals of the level."""
    errors = np.array([estimate.standard_error for estimate in estimates])
    z = common_width(np.delete(errors, control), errors[control], level)
    ends = [(estimate.at(-z), estimate.at(z)) for estimate in estimates]
    found: list[Difference | None] = []
    for arm, estimate in enumerate(estimates):
        if arm == control:
            found.append(None)
            continue
        mean = estimate.mean - estimates[control].mean
        below = np.hypot(estimate.mean - ends[arm][0], ends[control][1] - estimates[control].mean)
        above = np.hypot(ends[arm][1] - estimate.mean, estimates[control].mean - ends[control][0])
        found.append(Difference(mean, float(mean - below), float(mean + above)))
    return found


def common_width(errors: FloatArray, control: float, level: float) -> float:
    """The z with P(|V_a - V_c| <= z sd(V_a - V_c) for all a) = level, by quadrature over the control's error."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    spread = np.hypot(errors, control)
    if np.any(spread == 0):  # nothing is uncertain
        return float(norm.ppf((1 + level) / 2))
    x = np.linspace(-8.0, 8.0, 2001)
    weights = norm.pdf(x) / norm.pdf(x).sum()
    scale = np.maximum(errors, 1e-12 * spread)[:, None]
    shift = control * x / scale

    def shortfall(z: float) -> float:
        reach = z * spread[:, None] / scale
        inside = norm.cdf(reach + shift) - norm.cdf(shift - reach)
        return float(weights @ inside.prod(axis=0)) - level

    alone = float(norm.ppf((1 + level) / 2))
    if len(errors) == 1:
        return alone
    share = (1 - level) / len(errors)
    return float(brentq(shortfall, alone * 0.99, norm.ppf(1 - share / 2) * 1.01))

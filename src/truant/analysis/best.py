"""Probability of being best and loss of stopping now: each arm's value is at(Z), Z ~ N(0, 1), by quadrature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truant.assumptions import Estimate
from truant.setting import FloatArray

KNOTS = np.array([-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5])
GRID = np.linspace(-8.0, 8.0, 4001)  # fine enough for arms of very different certainty


def best_probabilities(estimates: Sequence[Estimate]) -> tuple[FloatArray, float]:
    """P(arm is best) for each arm, and E[max_a V_a - V_leader], the loss of settling for the leader now."""
    from scipy.stats import norm

    curves = [np.array([estimate.at(float(z)) for z in KNOTS]) for estimate in estimates]
    weights = norm.pdf(GRID)
    weights /= weights.sum()
    values = [_read(GRID, curve) for curve in curves]
    probabilities = np.zeros(len(curves))
    highest = 0.0  # E[max]
    for a, own in enumerate(values):
        beats = weights.copy()
        for b, other in enumerate(curves):
            if b != a:
                beats *= norm.cdf(_where(own, other))
        probabilities[a] = beats.sum()
        highest += float(beats @ own)
    leader = int(np.argmax([estimate.mean for estimate in estimates]))
    total = probabilities.sum()  # off 1 by the quadrature, and by ties at the ends of a range
    return probabilities / total, max(float(highest / total - weights @ values[leader]), 0.0)


def _read(z: FloatArray, curve: FloatArray) -> FloatArray:
    """at(z) between the knots and, along the last slopes, beyond them."""
    inside = np.interp(z, KNOTS, curve)
    first = (curve[1] - curve[0]) / (KNOTS[1] - KNOTS[0])
    last = (curve[-1] - curve[-2]) / (KNOTS[-1] - KNOTS[-2])
    below, above = np.minimum(z - KNOTS[0], 0.0), np.maximum(z - KNOTS[-1], 0.0)
    result: FloatArray = inside + below * first + above * last
    return result


def _where(values: FloatArray, curve: FloatArray) -> FloatArray:
    """The z at which an arm's at(z) is a value: `_read` the other way round."""
    rising = curve + np.arange(len(curve)) * 1e-12 * max(float(np.ptp(curve)), 1e-300)
    steep_first = (rising[1] - rising[0]) / (KNOTS[1] - KNOTS[0])
    steep_last = (rising[-1] - rising[-2]) / (KNOTS[-1] - KNOTS[-2])
    inside = np.interp(values, rising, KNOTS)
    below = np.minimum(values - rising[0], 0.0) / max(steep_first, 1e-300)
    above = np.maximum(values - rising[-1], 0.0) / max(steep_last, 1e-300)
    result: FloatArray = np.clip(inside + below + above, -40.0, 40.0)
    return result

"""at(z) of a mean with skewed outcomes and an estimated variance: one formula for every estimate made of cell means.

With v the variance of the estimate, c its third cumulant, J = c/v, phi its degrees of freedom and t(z) the quantile of
Student's t with phi degrees of freedom that z is of the normal distribution,

    at(z) = mean + a J z^2 + sign(z) sqrt((a J z^2)^2 + t(z)^2 v).

J is how fast the variance changes with the mean if outcomes become larger by exponential tilting (k3/k2). A score
interval, (u - mean)^2 = z^2 (v + J (u - mean)), has a = 1/2 on both sides. To first order the right shift is a = 1/3
(Hall, 1992), which is taken on the short side. Samples show less skewness than there is, since the tail is seen last,
and small ones much less: on the side of the tail a = 1 + 15/phi. Without skewness this is Welch's interval.

Outcomes with two levels have a variance that follows from the mean. There the score interval is right on both sides,
with -(u - mean)^2/n added to the variance (n the effective number of outcomes); for a single cell it is Wilson's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from truant.assumptions.assumption import Estimate

SHORT_SIDE = 1 / 3
TAIL_SIDE = 1.0
UNSEEN_TAIL = 15.0  # over the degrees of freedom, what is added on the side of the tail
FARTHEST = 10.0  # z beyond which quantiles are a straight line: the probability is below 1e-23


class Moments(NamedTuple):
    """Of an estimate: mean, variance, third cumulant, and the degrees of freedom of the variance."""

    mean: float
    variance: float
    third: float
    freedom: float

    @property
    def skewness(self) -> float:
        """Of the estimate itself; with one cell, that of an outcome over sqrt(n)."""
        return self.third / self.variance**1.5 if self.variance > 0 else 0.0


def tilted(moments: Moments) -> Estimate:
    """The estimate of any real outcome."""
    mean, variance, third, freedom = (float(number) for number in moments)
    slope = third / variance if variance > 0 else 0.0
    error, tail = math.sqrt(variance), TAIL_SIDE + UNSEEN_TAIL / freedom

    def at(z: float) -> float:
        if z == 0:
            return mean
        shift = (tail if slope * z > 0 else SHORT_SIDE) * slope * z * z
        away = math.hypot(shift, student(z, freedom) * error)
        return mean + shift + math.copysign(away, z)

    return Estimate(mean, at)


def two_level(moments: Moments, low: float, high: float) -> Estimate:
    """The estimate of an outcome that is `low` or `high`, never beyond them."""
    mean, variance, third, _ = (float(number) for number in moments)
    slope = third / variance
    effective = (mean - low) * (high - mean) / variance

    def at(z: float) -> float:
        if z == 0:
            return mean
        shift, bend = slope * z * z / 2, 1 + z * z / effective
        away = math.sqrt(shift * shift + z * z * variance * bend)
        return min(max(mean + (shift + math.copysign(away, z)) / bend, low), high)

    return Estimate(mean, at)


def all_alike(mean: float, effective: float, low: float, high: float) -> Estimate:
    """Outcomes that were all the same, in a range where others may still come: Wilson's limits of their share.

    They are taken to be at the ends of the range; where the mean is an end, nothing can come beyond it.
    """

    def at(z: float) -> float:
        share = z * z / (effective + z * z)
        return mean + share * ((high if z > 0 else low) - mean) if z else mean

    return Estimate(mean, at)


def widened(estimate: Estimate, below: float, above: float) -> Estimate:
    """The estimate with so much added below and above, at any z but 0."""

    def at(z: float) -> float:
        return estimate.at(z) + (above if z > 0 else -below if z < 0 else 0.0)

    return Estimate(estimate.mean, at)


def without_interval(mean: float) -> Estimate:
    """A mean of which nobody can say how sure it is."""
    return Estimate(mean, lambda z: math.nan if z else mean)


def student(z: float, freedom: float) -> float:
    """The quantile of Student's t that z is of the normal distribution."""
    from scipy.special import ndtr, stdtrit

    away = min(abs(z), FARTHEST)
    quantile = -float(stdtrit(freedom, float(ndtr(-away))))
    return math.copysign(quantile * max(abs(z) / FARTHEST, 1.0), z)

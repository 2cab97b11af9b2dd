"""Confidence sequences: intervals that hold whenever a policy that is not known stopped looking at an arm.

The normal mixture of Robbins: after N rows, the root z of an arm's true value exceeds sqrt(2 beta_N) at any time with
probability alpha at most, beta_N = (1 + 1/(N r)) log(sqrt(N r + 1)/alpha), and r = RATE/N_0 makes it tightest at N_0
rows. Nobody knows beforehand how many rows an arm will have, and an N_0 that is read off the data would void the
guarantee. So all powers of ten from 10 to 10^8 stand for N_0, with equal weights: a mixture of mixtures, which is again
a martingale. It costs 15 to 20% of width beside the best N_0, which nobody knows. The estimate is taken as normal, as
everywhere.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import numpy as np

from truant.assumptions import Estimate
from truant.setting import FloatArray

ORDERS = 10.0 ** np.arange(1, 9)  # N_0
_SURPRISE = math.log(1 / 0.05**2)
RATE = _SURPRISE + math.log(1 + _SURPRISE)  # N_0 r: tightest for 95%
FARTHEST = 1e6  # a root that no level needs


@functools.lru_cache(maxsize=100_000)
def sequence_root(z: float, rows: float) -> float:
    """The root that is exceeded at any number of rows no more often than z by one normal variable."""
    if z == 0 or rows <= 0:
        return 0.0
    # log 2 P(Z > |z|); far out from the series of Mills' ratio, where erfc is rounded to 0
    size = abs(z)
    log_alpha = math.log(math.erfc(size / math.sqrt(2))) if size < 30 else -size * size / 2 - math.log(size)
    spent: FloatArray = np.asarray(rows * RATE / ORDERS)
    low, high = 0.0, 2.0
    while _log_martingale(high, spent) < -log_alpha and high < FARTHEST:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _log_martingale(middle, spent) < -log_alpha:
            low = middle
        else:
            high = middle
    return math.copysign(high, z)


def in_sequence(estimate: Estimate, rows: float) -> Estimate:
    """The estimate with the limits of a confidence sequence; its mean stays."""
    if not math.isfinite(estimate.at(1.0)):  # an arm without an interval
        return estimate
    return Estimate(estimate.mean, lambda z: estimate.at(sequence_root(z, rows)) if z else estimate.mean)


def sequence_level(level: float, rows: float) -> float:
    """The level whose fixed-sample interval is as wide as the confidence sequence of `level`."""
    normal = NormalDist()
    return min(2 * normal.cdf(sequence_root(normal.inv_cdf((1 + level) / 2), rows)) - 1, 1 - 1e-15)


def _log_martingale(root: float, spent: FloatArray) -> float:
    """Log of the mixture over N_0 of (1 + N r)^(-1/2) exp(root^2 N r / (2 (1 + N r)))."""
    terms = root * root * spent / (2 * (1 + spent)) - np.log1p(spent) / 2
    top = float(terms.max())
    return top + math.log(float(np.mean(np.exp(terms - top))))

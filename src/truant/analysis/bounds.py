"""What can be said with no assumption at all: every missing outcome as low, or as high, as an outcome can be."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.setting import Setting


@dataclass(frozen=True)
class Bounds:
    """The worst and the best case of an arm, and how far each may be off by sampling."""

    low: float
    high: float
    low_limit: float  # one-sided confidence limits
    high_limit: float


def worst_case(counts: Counts, setting: Setting, arm: int, level: float) -> Bounds:
    """(S + (N-n) y)/N with y the lowest and the highest outcome; a filled-in outcome varies like any other."""
    row = counts.real().table[arm].sum(axis=0)
    N, n, total, squares = row[[PULLS, OBSERVED, SUM, SQUARES]]
    z = NormalDist().inv_cdf(level)
    ends = []
    for value in (setting.low - counts.centre, setting.high - counts.centre):
        mean = (total + (N - n) * value) / N
        variance = max((squares + (N - n) * value**2) / N - mean**2, 0.0)
        ends.append((counts.centre + mean, np.sqrt(variance / N)))
    (low, low_error), (high, high_error) = ends
    return Bounds(
        float(low),
        float(high),
        float(max(low - z * low_error, setting.low)),
        float(min(high + z * high_error, setting.high)),
    )

"""What can be said with no assumption at all: every missing outcome as low, or as high, as an outcome can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

from truant.analysis.clusters import Clusters
from truant.assumptions import Estimate
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.setting import Setting


@dataclass(frozen=True)
class Bounds:
    """The worst and the best case of an arm, and how far each may be off by sampling."""

    low: float
    high: float
    low_limit: float  # one-sided confidence limits
    high_limit: float


def worst_case(
    counts: Counts, setting: Setting, arm: int, level: float, clusters: Clusters | None = None
) -> Bounds:
    """(S + (N-n) y)/N with y the lowest and the highest outcome; a filled-in outcome varies like any other."""
    row = counts.real().table[arm].sum(axis=0)
    N, n, squares = row[[PULLS, OBSERVED, SQUARES]]
    z = NormalDist().inv_cdf(level)
    ends = []
    for value in (setting.low - counts.centre, setting.high - counts.centre):
        mean = _filled(counts, arm, value)
        variance = max((squares + (N - n) * value**2) / N - mean**2, 0.0)
        estimate = Estimate.normal(counts.centre + mean, variance / N)
        if clusters is not None:
            estimate = clusters.stretched(estimate, counts, arm, partial(_filled, arm=arm, value=value))
        ends.append(estimate)
    low, high = ends
    return Bounds(
        float(low.mean),
        float(high.mean),
        float(max(low.at(-z), setting.low)),
        float(min(high.at(z), setting.high)),
    )


def _filled(counts: Counts, arm: int, value: float) -> float:
    """The mean about the centre with every missing outcome filled in."""
    N, n, total = counts.real().table[arm].sum(axis=0)[[PULLS, OBSERVED, SUM]]
    return float((total + (N - n) * value) / N)

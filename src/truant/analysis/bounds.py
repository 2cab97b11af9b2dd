"""What can be said with no assumption at all: every missing outcome as low, or as high, as an outcome can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

from truant.analysis.clusters import Clusters
from truant.assumptions.mcar import Mcar
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.setting import Setting


@dataclass(frozen=True)
class Bounds:
    """The worst and the best case of an arm, and how far each may be off by sampling."""

    low: float
    high: float
    low_limit: float  # the interval that holds the mean, whatever is missing
    high_limit: float


def worst_case(
    counts: Counts, setting: Setting, arm: int, level: float, clusters: Clusters | None = None
) -> Bounds:
    """(S + (N-n) y)/N with y the lowest and the highest outcome; a filled-in outcome varies like any other.

    The limits hold the mean, wherever it lies between the bounds, with the stated confidence (Imbens and Manski,
    2004): at(-c) of the low end and at(c) of the high one, with Phi(c + width/error) - Phi(-c) = level, error the
    larger of the two standard errors. So c is two-sided where nothing is missing, one-sided where much is. The mean of
    an arm without rows may be anywhere in the range.
    """
    if counts.pulls[arm] == 0:
        return Bounds(setting.low, setting.high, setting.low, setting.high)
    ends = []
    for value in (setting.low, setting.high):
        estimate = Mcar().estimate(_filled(counts, arm, value), 0, setting)
        if clusters is not None:
            estimate = clusters.stretched(estimate, counts, arm, partial(_filled_mean, arm=arm, value=value))
        ends.append(estimate)
    low, high = ends
    c = two_ends(level, high.mean - low.mean, max(low.standard_error, high.standard_error))
    return Bounds(
        float(low.mean),
        float(high.mean),
        float(max(low.at(-c), setting.low)),
        float(min(high.at(c), setting.high)),
    )


def two_ends(level: float, width: float, error: float) -> float:
    """The c with Phi(c + width/error) - Phi(-c) = level; between the one-sided and the two-sided quantile."""
    normal = NormalDist()
    low, high = normal.inv_cdf(level), normal.inv_cdf((1 + level) / 2)
    apart = min(width / error, 40.0) if error > 0 else 40.0
    for _ in range(60):
        middle = (low + high) / 2
        if normal.cdf(middle + apart) - normal.cdf(-middle) < level:
            low = middle
        else:
            high = middle
    return high


def _filled(counts: Counts, arm: int, value: float) -> Counts:
    """The arm's counts with every missing outcome filled in, as one cell."""
    row = counts.real_row(arm).sum(axis=0)
    missing, about = row[PULLS] - row[OBSERVED], value - counts.centre
    row[OBSERVED] += missing
    for column, power in ((SUM, 1), (SQUARES, 2), (CUBES, 3)):
        row[column] += missing * about**power
    return Counts(row[None, None].repeat(2, axis=1) * [[[1.0], [0.0]]], None, counts.centre)


def _filled_mean(counts: Counts, arm: int, value: float) -> float:
    """The mean with every missing outcome filled in."""
    row = counts.real_row(arm).sum(axis=0)
    return float((row[SUM] + (row[PULLS] - row[OBSERVED]) * (value - counts.centre)) / row[PULLS])

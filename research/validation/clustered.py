"""Shares and medians of intervals that share a run or an instance: their errors are over these, not over intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from research.figures import Figure, plus_minus
from research.markdown import standard_error

RESAMPLES = 200

Groups = Sequence[Sequence[bool | None]]  # of each run, of its intervals; None: there is none


def clustered_share(held: Groups) -> tuple[float, float]:
    """Share of the intervals that have a property, and its standard error over runs."""
    known = [[one for one in group if one is not None] for group in held]
    sizes = np.array([len(group) for group in known], np.float64)
    sums = np.array([sum(group) for group in known], np.float64)
    mean = sums.sum() / max(sizes.sum(), 1.0)
    return float(mean), float(standard_error(sums - mean * sizes) / max(sizes.mean(), 1e-12))


def clustered_percentage(held: Groups) -> Figure:
    """The share in percent."""
    value, error = clustered_share(held)
    return plus_minus(value, error, size=len(held), text=f"{value:.1%}")


def clustered_median(groups: Sequence[Sequence[float]], text: str) -> Figure:
    """The median of all values, and its standard error by a bootstrap of the groups."""
    arrays = [np.asarray(group, np.float64) for group in groups if len(group)]
    rng = np.random.default_rng(1)
    medians = [
        np.median(np.concatenate([arrays[i] for i in rng.integers(len(arrays), size=len(arrays))]))
        for _ in range(RESAMPLES)
    ]
    value = float(np.median(np.concatenate(arrays)))
    return plus_minus(value, float(np.std(medians)), size=len(arrays), text=text.format(value))

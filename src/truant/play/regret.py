"""The regret of many runs in a few figures, and the difference of two policies run by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.setting import FloatArray


@dataclass(frozen=True)
class RegretSummary:
    """Regret at the horizon over runs, which are the last axis of what it is made from.

    Each figure has the shape of the other axes: a number for one policy, shape (P,) for P policies.
    """

    runs: int
    mean: Any
    sd: Any  # 0 for one run
    se: Any  # of the mean; NaN for one run, which says nothing about how far runs differ
    median: Any
    p90: Any  # 90th percentile
    share_above_10x_median: Any  # of the runs
    first_half_mean: Any  # at half of the horizon


def summarize_regret(final: FloatArray, first_half: FloatArray) -> RegretSummary:
    """The figures of regret at the horizon and at half of it, both of shape (..., runs)."""
    runs = final.shape[-1]
    sd = standard_deviation(final)
    median = np.median(final, axis=-1, keepdims=True)
    return RegretSummary(
        runs=runs,
        mean=final.mean(axis=-1),
        sd=sd,
        se=_standard_error(sd, runs),
        median=median[..., 0],
        p90=np.quantile(final, 0.9, axis=-1),
        share_above_10x_median=(final > 10 * median).mean(axis=-1),
        first_half_mean=first_half.mean(axis=-1),
    )


def paired_difference(final: FloatArray, other: FloatArray) -> tuple[Any, Any]:
    """How much more regret than another policy, run by run: mean and its standard error (NaN for one run)."""
    difference = final - other
    return difference.mean(axis=-1), _standard_error(standard_deviation(difference), final.shape[-1])


def second_half_ratio(first_half_mean: float, final_mean: float) -> float:
    """Regret of the second half of the rounds over that of the first: 1 if linear; NaN if the first has none."""
    if not first_half_mean > 0:
        return float("nan")
    return float((final_mean - first_half_mean) / first_half_mean)


def standard_deviation(values: FloatArray, axis: int = -1) -> Any:
    """Over runs; 0 for one run."""
    if values.shape[axis] == 1:
        return np.zeros_like(values.take(0, axis))
    return values.std(axis=axis, ddof=1)


def _standard_error(sd: Any, runs: int) -> Any:
    return sd / np.sqrt(runs) if runs > 1 else np.full_like(sd, np.nan)

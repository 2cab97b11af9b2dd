"""What one way to treat missing outcomes says of each mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truant.demo.table import TableResult
from truant.demo.words import named_by

if TYPE_CHECKING:
    from truant.logs.log_analysis import LogAnalysis


@dataclass(frozen=True)
class Means:
    """What one way to treat missing outcomes says of each mail.

    Parameters
    ----------
    means : by mail; empty if there are only intervals.
    intervals : by mail; empty if there are none.
    named : the mail that it names, or None.
    """

    means: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    named: str | None


def dropped_means(result: TableResult) -> Means:
    """The means of the rows with an outcome."""
    known = [(arm.arm, arm.naive) for arm in result.by_mediator.arms if arm.naive is not None]
    means = {arm: naive.mean for arm, naive in known}
    return Means(means, {arm: (naive.low, naive.high) for arm, naive in known}, result.dropping_names)


def estimated_means(analysis: LogAnalysis, assumption: str) -> Means:
    """The estimates under an assumption, with their intervals, and the mail that is named."""
    found = {arm.arm: arm.estimates[assumption] for arm in analysis.arms}
    means = {arm: estimate.mean for arm, estimate in found.items()}
    ends = {arm: (estimate.low, estimate.high) for arm, estimate in found.items()}
    return Means(means, ends, named_by(analysis))

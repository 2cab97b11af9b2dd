"""What data can say about an assumption: tests that it can fail, concerns about an arm, and what it repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truant.counts import OBSERVED, PULLS, Counts
from truant.setting import FloatArray


@dataclass(frozen=True)
class ChiSquare:
    """A statistic that is chi-square distributed if the assumption holds."""

    question: str  # for reports; a small p-value answers it with no
    statistic: float
    freedom: int  # degrees of freedom; without any the test is left out
    arm: int | None = None  # None: about all arms together


@dataclass(frozen=True)
class NoTest:
    """Why data of this kind cannot contradict the assumption."""

    reason: str  # a clause without a capital letter and a full stop


@dataclass(frozen=True)
class Concern:
    """What to know of an arm's counts before relying on the assumption's estimate."""

    code: str  # one for all concerns of its kind
    text: str  # a sentence with places {assumption} and {arm}
    value: float | None = None
    rank: int = 0  # concerns of a lower rank are listed first


class SameAs(NamedTuple):
    """Another assumption that says the same on given counts."""

    assumption: str
    because: str  # a clause with a capital letter


def without_missing_mediators(counts: Counts, simpler: str) -> SameAs | None:
    """The simpler assumption says the same, if no mediator is missing."""
    if counts.table[:, -1].sum() > 0:
        return None
    return SameAs(simpler, "No mediator is missing")


def independence(table: FloatArray) -> tuple[float, int]:
    """The statistic 2 sum C log(C/E) of a contingency table, and its degrees of freedom (empty lines dropped)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return 0.0, 0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    return float(2 * np.sum(table * np.log(ratio))), (table.shape[0] - 1) * (table.shape[1] - 1)


def observed_and_missing(counts: Counts) -> FloatArray:
    """Pulls with the outcome observed and missing, shape (arms, K+1, 2)."""
    table = counts.real().table
    return np.stack([table[..., OBSERVED], table[..., PULLS] - table[..., OBSERVED]], axis=-1)

"""What data can say about an assumption: tests that it can fail, concerns about an arm, and what it repeats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truant.counts import OBSERVED, PULLS, Counts
from truant.setting import FloatArray

ENOUGH = 5  # pulls expected in a cell, from which on chi-square will do
DRAWS, LEAST_DRAWS, MOST_CELLS = 999, 20, 2_000_000  # of tables under an assumption, and cells in all
SEED = 20260101


@dataclass(frozen=True)
class ChiSquare:
    """A statistic that is chi-square distributed if the assumption holds and counts are large."""

    question: str  # for reports; a small p-value answers it with no
    statistic: float
    freedom: int  # degrees of freedom; without any the test is left out
    arm: int | None = None  # None: about all arms together
    null: tuple[float, ...] = ()  # statistics of tables drawn under the assumption, where counts are small
    contradicts: bool = True  # whether a small p-value speaks against the assumption, or is only good to know
    remark: str = ""  # what else to know of the answer, a sentence


@dataclass(frozen=True)
class NoTest:
    """Why data of this kind cannot contradict the assumption."""

    reason: str  # a clause without a capital letter and a full stop


@dataclass(frozen=True)
class Concern:
    """What to know of an arm's counts before relying on the assumption's estimate."""

    code: str  # one for all concerns of its kind
    text: str  # a sentence with places {assumption}, {arm} and, if it is about one, {mediator}
    value: float | None = None
    rank: int = 0  # concerns of a lower rank are listed first
    mediator: int | None = None  # the number of the level


class SameAs(NamedTuple):
    """Another assumption that says the same on given counts."""

    assumption: str
    because: str  # a clause with a capital letter


def without_missing_mediators(counts: Counts, simpler: str) -> SameAs | None:
    """The simpler assumption says the same, if no mediator is missing."""
    rows = counts.table[:, -1] if counts.levels is not None else counts.table[:, -1, PULLS]
    if rows.sum() > 0:
        return None
    return SameAs(simpler, "No value of the mediator is missing")


def independence(table: FloatArray) -> tuple[float, int]:
    """The statistic 2 sum C log(C/E) of a contingency table, and its degrees of freedom (empty lines dropped)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return 0.0, 0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    return float(2 * np.sum(table * np.log(ratio))), (table.shape[0] - 1) * (table.shape[1] - 1)


def drawn_statistics(tables: Iterable[FloatArray]) -> tuple[float, ...]:
    """Sums of the statistics of tables with two columns, drawn with their margins as they are; none if cells are full.

    Conditional on the margins, a column of a table without dependence is multivariate hypergeometric. The draws have a
    fixed seed; there are fewer of them where tables are large.
    """
    kept = [table[table.sum(axis=1) > 0] for table in tables if np.all(table.sum(axis=0) > 0)]
    kept = [table for table in kept if len(table) > 1]
    if not any(_sparse(table) for table in kept):
        return ()
    draws = min(DRAWS, max(LEAST_DRAWS, MOST_CELLS // sum(len(table) for table in kept)))
    rng = np.random.default_rng(SEED)
    total = np.zeros(draws)
    for table in kept:
        rows, seen = table.sum(axis=1), table[:, 0].sum()
        first = rng.multivariate_hypergeometric(
            rows.astype(np.int64), int(seen), size=draws, method="marginals"
        )
        for column, size in ((first.astype(np.float64), seen), (rows - first, rows.sum() - seen)):
            expected = rows * size / rows.sum()
            total += 2 * xlogy(column, column / expected).sum(axis=1)
    return tuple(total)


def _sparse(table: FloatArray) -> bool:
    """Whether a cell is expected to have fewer than five pulls."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return bool(expected.min() < ENOUGH)


def xlogy(x: FloatArray, y: FloatArray) -> FloatArray:
    """X log y, which is 0 at x = 0."""
    found: FloatArray = x * np.log(np.where(x > 0, y, 1.0))
    return found


def observed_and_missing(counts: Counts) -> FloatArray:
    """Pulls with the outcome observed and missing, shape (arms, K+1, 2)."""
    table = counts.real().table
    return np.stack([table[..., OBSERVED], table[..., PULLS] - table[..., OBSERVED]], axis=-1)

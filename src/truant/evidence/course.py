"""The course over time: shares, missing outcomes and means of each arm by period, and warnings about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from truant.estimates.beliefs import Caution
from truant.evidence.warnings import UNEVEN
from truant.setting import FloatArray

LEAST_EXPECTED = 5.0  # rows of an arm in a period, below which neighbouring periods are one
LEAST_MOVE = 0.02  # Cramér's V below which shares that differ do not matter
LEAST_RISE = 0.05  # in the missing share, below which it does not
ENOUGH = 20  # rows of a period, below which its missing share is chance


@dataclass(frozen=True)
class ArmPeriod:
    """An arm in one period."""

    period: int  # number of the period, from 0
    start: str  # start of the period, as a condition can be written
    arm: str  # name of the arm
    rows: int  # rows of this arm in the period
    share: float | None  # share of the period's rows that have this arm; None if the period has no rows
    observed: int  # rows whose outcome was observed
    missing_share: float | None  # share of outcomes that are missing; None if there are no rows
    mean: float | None  # mean of the observed outcomes; None if there are none


@dataclass(frozen=True)
class OverTime:
    """All arms by period, in the order of time."""

    column: str  # the time column
    length: str  # length of a period, in words
    numeric: bool  # whether times are plain numbers instead of dates
    left_out: int  # rows without a time
    starts: tuple[float, ...]  # start of each period: seconds since 1970 in UTC, or a plain number
    periods: tuple[ArmPeriod, ...]  # one entry for each period and arm
    running: bool = field(default=False, repr=False)  # more rows come, and pending ones are not counted

    def rows_by_period(self) -> FloatArray:
        """Rows, shape (periods, arms)."""
        return self._table([float(one.rows) for one in self.periods])

    def missing_by_period(self) -> FloatArray:
        """Rows and missing outcomes of all arms, shape (periods, 2)."""
        missing = self._table([float(one.rows - one.observed) for one in self.periods])
        return np.stack([self.rows_by_period().sum(axis=1), missing.sum(axis=1)], axis=1)

    def warnings(self, alike: float = 1.0, adaptive: bool = False) -> list[Caution]:
        """Shares that move (unless a policy chose them), and outcomes that may be pending.

        `alike` is how many rows count as one.
        """
        return [*([] if adaptive else _shares_move(self, alike)), *_recent_missing(self, alike)]

    def _table(self, values: list[float]) -> FloatArray:
        return np.array(values).reshape(len(self.starts), -1)


def _shares_move(over_time: OverTime, alike: float) -> list[Caution]:
    from scipy.stats import chi2

    table = _merged(over_time.rows_by_period())
    if min(table.shape) < 2:
        return []
    total = table.sum()
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / total
    statistic = float(((table - expected) ** 2 / expected).sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    p = float(chi2.sf(statistic / alike, freedom))
    strength = np.sqrt(statistic / total / (min(table.shape) - 1))
    if p >= UNEVEN or strength < LEAST_MOVE:
        return []
    shares = table / table.sum(axis=1, keepdims=True)
    arm = int(np.argmax(np.abs(shares[-1] - shares[0])))
    facts = {"first": float(shares[0, arm]), "last": float(shares[-1, arm])}
    return [Caution("shares-move", over_time.periods[arm].arm, p, facts)]


def _merged(rows: FloatArray) -> FloatArray:
    """Neighbouring periods put together until every arm is expected often enough in each."""
    least = rows.sum(axis=0).min() / max(rows.sum(), 1.0)
    merged: list[FloatArray] = []
    waiting = np.zeros(rows.shape[1])
    for period in rows:
        waiting = waiting + period
        if waiting.sum() * least >= LEAST_EXPECTED:
            merged.append(waiting)
            waiting = np.zeros(rows.shape[1])
    if merged:
        merged[-1] = merged[-1] + waiting
    return np.array(merged).reshape(len(merged), rows.shape[1])


def _recent_missing(over_time: OverTime, alike: float) -> list[Caution]:
    """The end, up to half of the periods, that differs most from what was before, if every share in it is higher."""
    from scipy.stats import norm

    rows, missing = over_time.missing_by_period().T
    share = np.divide(missing, rows, out=np.zeros_like(rows), where=rows > 0)
    overall = missing.sum() / max(rows.sum(), 1.0)
    most = len(rows) // 2
    found = []
    for first in range(len(rows) - most, len(rows)):
        big = rows[:first] >= ENOUGH
        if not big.any() or rows[first:].min() == 0 or share[first:].min() <= share[:first][big].max():
            continue
        n, m = rows[:first].sum(), rows[first:].sum()
        before, after = missing[:first].sum() / n, missing[first:].sum() / m
        z = (after - before) / np.sqrt(overall * (1 - overall) * (1 / n + 1 / m) * alike)
        if norm.sf(z) * most < UNEVEN and after - before >= LEAST_RISE:
            found.append((z, first, before, after))
    if not found:
        return []
    _, first, before, after = max(found)
    start = next(one.start for one in over_time.periods if one.period == first)
    facts = {"before": before, "start": start, "over_time": over_time, "exact": over_time.starts[first]}
    return [Caution("recent-missing", value=after, facts=facts)]

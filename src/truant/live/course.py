"""The course of an experiment by day: shares, missing outcomes and means, and whether means drift while shares do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from truant.analysis import Analysis
from truant.counts import OBSERVED, SQUARES, SUM
from truant.envelope import Time
from truant.estimates.beliefs import Caution
from truant.evidence.course import ArmPeriod, OverTime
from truant.live import counting
from truant.live.configuration import Configuration
from truant.live.times import DAY, SECOND, as_datetime, shown
from truant.setting import FloatArray

if TYPE_CHECKING:
    from truant.live.configuration import Configuration
    from truant.live.store import Transaction

MOST_PERIODS = 40
MOST_POINTS = 200


@dataclass(frozen=True)
class AllocationPoint:
    """The probabilities of the arms from a moment on."""

    at: Time  # from when on they hold
    probabilities: dict[str, float]  # probability of each arm, by its name


def allocation_course(
    transaction: Transaction, experiment: int, configuration: Configuration
) -> list[AllocationPoint]:
    """The allocations over time, thinned out evenly if there are many; the first and the last are among them."""
    from truant.live.store import statements

    last = statements.head_of(transaction, experiment).allocation
    step = max(1, -(-last // MOST_POINTS))
    versions = sorted({*range(1, last + 1, step), last})
    return [
        AllocationPoint(shown(one.at), dict(zip(configuration.arms, one.probabilities, strict=False)))
        for one in statements.allocations(transaction, experiment, versions)
    ]


def course_by_day(cells: counting.Cells, configuration: Configuration) -> OverTime | None:
    """Settled decisions by day of asking, several days together where there are many; None for a single day."""
    setting = configuration.setting()
    days = sorted(day for kind, day in cells if kind == counting.SETTLED)
    if len(days) < 2:
        return None
    length = -(-(days[-1] - days[0] + 1) // MOST_PERIODS)
    number = (days[-1] - days[0]) // length + 1
    periods = []
    for period in range(number):
        first = days[0] + period * length
        own = {key: table for key, table in cells.items() if first <= key[1] < first + length}
        counts = counting.total_counts(own, configuration)
        pulls, observed = counts.pulls, counts.observed
        sums = counts.real().table[..., 2].sum(axis=1)
        start = as_datetime(first * DAY).strftime("%Y-%m-%d")
        for arm in range(setting.arms):
            rows, seen = int(pulls[arm]), int(observed[arm])
            total = int(pulls.sum())
            periods.append(
                ArmPeriod(
                    period,
                    start,
                    configuration.arms[arm],
                    rows,
                    rows / total if total else None,
                    seen,
                    1 - seen / rows if rows else None,
                    float(sums[arm]) / seen + counts.centre if seen else None,
                )
            )
    starts = tuple(float((days[0] + period * length) * DAY // SECOND) for period in range(number))
    words = f"{length} day" + ("s" if length > 1 else "")
    return OverTime("asked", words, False, 0, starts, tuple(periods), running=True)


PERIODS = 8  # into which the days are put together
LEAST_OUTCOMES = 5  # of an arm and mediator level in a period
UNLIKELY = 0.001  # status is looked at often
LEAST_MOVE = 0.1  # of an arm's share between two periods
ENOUGH_ROWS = 20  # of a period, for its shares


@dataclass(frozen=True)
class Drift:
    """Means that change over time, and how far the share of an arm has moved meanwhile."""

    p_value: float
    moved: float

    @property
    def matters(self) -> bool:
        """Whether both change, so that arms are compared on different days."""
        return self.p_value < UNLIKELY and self.moved >= LEAST_MOVE


def find_drift(cells: counting.Cells, configuration: Configuration) -> Drift:
    """The test over periods of days: chi-square of the period means within arm and mediator level."""
    periods = _periods(cells, configuration)  # (periods, arms, K+1, columns)
    n, total, squares = (periods[..., column] for column in (OBSERVED, SUM, SQUARES))
    used = n >= LEAST_OUTCOMES
    n = np.where(used, n, 0.0)
    means = np.divide(total, n, out=np.zeros_like(total), where=used)
    within = np.where(used, np.maximum(squares - n * means**2, 0.0), 0.0).sum(axis=0)
    freedom = np.where(used, n - 1, 0.0).sum(axis=0)
    overall = np.divide(
        (n * means).sum(axis=0), n.sum(axis=0), out=np.zeros_like(within), where=n.sum(axis=0) > 0
    )
    between = (n * (means - overall) ** 2).sum(axis=0)
    steps = np.maximum(used.sum(axis=0) - 1, 0)
    variance = np.divide(within, freedom, out=np.zeros_like(within), where=freedom > 0)
    known = (variance > 0) & (steps > 0)
    statistic = float((between[known] / variance[known]).sum())
    return Drift(_tail(statistic, int(steps[known].sum())), _moved(periods))


def _periods(cells: counting.Cells, configuration: Configuration) -> FloatArray:
    days = sorted({day for kind, day in cells if kind == counting.SETTLED})
    found = []
    for some in np.array_split(np.array(days), min(PERIODS, max(len(days), 1))):
        own = {key: table for key, table in cells.items() if key[1] in set(some.tolist())}
        found.append(counting.total_counts(own, configuration).real().table)
    return np.array(found)


def _tail(statistic: float, freedom: int) -> float:
    if not freedom:
        return 1.0
    from scipy.stats import chi2

    return float(chi2.sf(statistic, freedom))


def _moved(periods: FloatArray) -> float:
    rows = periods[..., 0].sum(axis=2)  # (periods, arms)
    big = rows[rows.sum(axis=1) >= ENOUGH_ROWS]
    if len(big) < 2:
        return 0.0
    shares = big / big.sum(axis=1, keepdims=True)
    return float((shares.max(axis=0) - shares.min(axis=0)).max())


def without_clear_winner(analysis: Analysis, drift: Drift) -> Analysis:
    """The same analysis with a warning, and no winner that is clear."""
    warning = Caution("drift", value=drift.p_value)
    verdict = analysis.verdict
    if verdict.kind == "clear":
        leading = tuple(arm.arm for arm in analysis.arms)
        verdict = replace(verdict, kind="unsettled", doubtful_arms=leading, by_follow_up=False)
    return replace(analysis, verdict=verdict, warnings=(warning, *analysis.warnings))

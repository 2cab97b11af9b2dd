"""The course of an experiment: shares, missing outcomes and means by day, and its allocations over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from truant.analysis.over_time import ArmPeriod, OverTime
from truant.live import counting
from truant.live.times import DAY, SECOND, as_datetime, shown

if TYPE_CHECKING:
    from truant.live.configuration import Configuration
    from truant.live.store import Transaction

MOST_PERIODS = 40
MOST_POINTS = 200


@dataclass(frozen=True)
class AllocationPoint:
    """The probabilities of the arms from a moment on."""

    at: str
    probabilities: dict[str, float]


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
    return OverTime("asked", words, False, 0, starts, tuple(periods))

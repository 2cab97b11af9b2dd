"""Numbers that probably stand for missing: -99 among ages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truant.analysis.diagnosis import Warning
from truant.logs.aggregate import Aggregate
from truant.logs.query import Cuts, QueryColumns
from truant.logs.source import Source
from truant.tables.request import Request

LONG = {sign * float(digit * n) for sign in (1, -1) for digit in "789" for n in (2, 3, 4, 5, 6)}
SHORT = {9.0, -9.0, 8.0, -8.0}  # only beside 0 and 1
TIMES = 2  # that it must occur


def warnings(
    source: Source, request: Request, columns: QueryColumns, cuts: Cuts, aggregate: Aggregate
) -> list[Warning]:
    """Of the outcome, unless it was said what it can be, and of mediators that are cut."""
    found = []
    if not request.levels and request.range is None and aggregate.by_outcome:
        rows: Counter[float] = Counter()
        for cell in aggregate.rows:
            rows[cell["outcome"]] += cell["pulls"]
        del rows[None]
        found += _in_counts(request.outcome, rows)
    elif not request.levels and request.range is None:
        ends = [cell[end] for cell in aggregate.rows if cell["observed"] for end in ("low", "high")]
        found += _in_column(source, columns.table.clean, request.outcome, (min(ends), max(ends)))
    for i, (part, cut) in enumerate(zip(request.mediators, cuts, strict=True)):
        if part.classes:
            found += _in_column(source, columns.table[f"number_mediator_{i}"], part.column, cut.ends)
    return found


def _in_counts(column: str, rows: Mapping[float, int]) -> list[Warning]:
    """Of a column with few values, those that are far outside the others."""
    suspect = {value: times for value, times in rows.items() if value in LONG | SHORT and times >= TIMES}
    return _warnings(column, suspect, sorted(set(rows) - set(suspect)))


def _in_column(source: Source, values: Any, column: str, ends: Sequence[float]) -> list[Warning]:
    """Of a column with many values; asks again only where its lowest or highest is suspect."""
    import ibis

    if not LONG.intersection(ends):
        return []
    table = values.as_table().select(x=values)
    table = table.filter(table.x.notnull())
    suspect = ibis.ifelse(table.x.isin(sorted(LONG)), table.x, None)
    found = table.group_by(suspect=suspect).aggregate(
        rows=table.count(), low=table.x.min(), high=table.x.max()
    )
    rows = {row["suspect"]: row for row in source.run(found)}
    others = rows.pop(None, None)
    if others is None:
        return []
    often = {value: row["rows"] for value, row in rows.items() if row["rows"] >= TIMES}
    return _warnings(column, often, [others["low"], others["high"]])


def _warnings(column: str, suspect: Mapping[float, int], others: Sequence[float]) -> list[Warning]:
    found = []
    for value, times in sorted(suspect.items()):
        if not others or not _far_outside(value, others[0], others[-1]):
            continue
        message = (
            f"{column!r} is {value:g} in {times:,} rows and {others[0]:g} to {others[-1]:g} in all others: "
            f"if {value:g} stands for missing, say missing_values=[{value:g}] (--missing-values={value:g})."
        )
        found.append(Warning("sentinel", message, value=value))
    return found


def _far_outside(value: float, low: float, high: float) -> bool:
    """Further from the others than they are apart; three times as far above, where 99 may be a price."""
    if low == high or (value in SHORT and (low, high) != (0, 1)):
        return False
    return low - value > high - low or value - high > 3 * (high - low)

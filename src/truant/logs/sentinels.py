"""Numbers that probably stand for missing: -99 among ages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truant.analysis.diagnosis import Warning
from truant.logs.aggregate import Aggregate
from truant.logs.query import Cuts, QueryColumns
from truant.logs.source import Source
from truant.tables.request import Request

LONG = {sign * float(digit * n) for sign in (1, -1) for digit in "789" for n in (2, 3, 4, 5, 6)}
SHORT = {9.0, -9.0, 8.0, -8.0, -1.0}  # only beside a few whole numbers in a row
NINES = {sign * float("9" * n) for sign in (1, -1) for n in (1, 2, 3, 4, 5, 6)}
BESIDE = {nines: [nines - math.copysign(k, nines) for k in (1, 2, 3)] for nines in NINES}  # 98, 97, 96 of 99
TIMES = 2  # that they must occur


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
    return _warnings(column, _codes(rows, LONG | SHORT), rows, few=True)


def _in_column(source: Source, values: Any, column: str, ends: Sequence[float]) -> list[Warning]:
    """Of a column with many values; asks again only where its lowest or highest is suspect."""
    import ibis

    if not LONG.intersection(ends):
        return []
    asked = sorted(LONG.union(*(BESIDE[nines] for nines in NINES & LONG)))
    table = values.as_table().select(x=values)
    table = table.filter(table.x.notnull())
    suspect = ibis.ifelse(table.x.isin(asked), table.x, None)
    found = table.group_by(suspect=suspect).aggregate(
        rows=table.count(), low=table.x.min(), high=table.x.max()
    )
    rows = {row["suspect"]: row for row in source.run(found)}
    others = rows.pop(None, None)
    if others is None:
        return []
    counts = {value: int(row["rows"]) for value, row in rows.items()}
    return _warnings(column, _codes(counts, LONG), counts | {others["low"]: 1, others["high"]: 1}, few=False)


def _codes(rows: Mapping[float, int], codes: set[float]) -> set[float]:
    """The values that may stand for missing: 98 only beside 99."""
    found = codes & set(rows)
    return found.union(*(set(BESIDE[nines]) & set(rows) for nines in found & NINES))


def _warnings(column: str, codes: set[float], rows: Mapping[float, int], few: bool) -> list[Warning]:
    """Codes beyond the others: from the one that is far outside all before it to the last."""
    others = sorted(set(rows) - codes)
    if not others:
        return []
    found: list[float] = []
    for sign in (1, -1):
        beyond = sorted((v for v in codes if sign * v > max(sign * other for other in others)), key=abs)
        for i, value in enumerate(beyond):
            rest = sorted(v for v in rows if others[0] <= v <= others[-1] or v in beyond[:i])
            if _far_outside(value, rest, few) and sum(rows[v] for v in beyond[i:]) >= TIMES:
                found += beyond[i:]
                break
    kept = sorted(set(rows) - set(found))
    return [
        Warning(
            "sentinel",
            f"{column!r} is {value:g} in {rows[value]:,} rows and {kept[0]:g} to {kept[-1]:g} in all others: "
            f"if {value:g} stands for missing, say missing_values=[{value:g}] (--missing-values={value:g}).",
            value=value,
        )
        for value in sorted(found)
    ]


def _far_outside(value: float, rest: Sequence[float], few: bool) -> bool:
    """Further from the rest than they are apart; three times as far above, where 99 may be a price."""
    low, high = rest[0], rest[-1]
    if low == high:
        return False
    if abs(value) < 10:  # beyond a gap of levels that else have none; or -1 beside 0 and 1
        in_a_row = few and list(rest) == [low + k for k in range(len(rest))]
        gap = low - value >= 2 or value - high >= 3 or (value, *rest) == (-1, 0, 1)
        return in_a_row and gap
    if few and value > 0 and all(round(price * 100) % 10 == 9 or price % 10 == 9 for price in rest if price):
        return False
    return low - value > high - low or value - high > 3 * (high - low)

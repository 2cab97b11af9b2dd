"""From the rows of the aggregate query to counts: codes, labels, setting; and a note on numbers that probably stand for
missing, such as -99 among ages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlglot import exp

from truant.counts import COLUMNS, CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.estimates.clusters import Uncut
from truant.logs import cut_outcome, query
from truant.logs import statement as sql
from truant.logs.forms import Shape, dates, not_numbers
from truant.logs.log import Log
from truant.logs.query import YES_OR_NO, Cuts, QueryColumns
from truant.logs.rows import strip_labels
from truant.logs.source import Source
from truant.logs.statement import Kind, Rows
from truant.logs.values import Rules, check_arms_read, check_follow_ups, count_markers, mark_missing, split
from truant.setting import LARGEST_OUTCOME, FloatArray, Setting
from truant.tables.request import (
    MOST_ARMS,
    MOST_LEVELS,
    MOST_MEDIATORS,
    Request,
    check_arms,
    check_distinct,
    check_identifiers,
    in_order,
    mediator_levels,
)

MOST_GROUPS = 50


def check_types(request: Request, picked: Rows, durations: Collection[str] = ()) -> None:
    """Numbers where numbers are needed, plain values elsewhere; `durations` look like numbers and are none."""
    numeric = {"outcome", "observed", "followed_up", "probability", *request.cut_roles}
    for role, name in request.names().items():
        column = picked.columns[role]
        kind = column.kind
        fits = kind in (Kind.BOOLEAN, Kind.TEXT, Kind.NOTHING) or kind.is_number
        if role == "followed_up" and (not fits or name in durations):
            raise InvalidValue(
                f"Column {name!r} of followed_up must be yes or no, true or false, or 1 or 0; got {column.type}."
            )
        if role in numeric and name in durations:
            raise InvalidValue(dates(name, "got a duration"))
        if role in numeric and (kind.is_time or kind is Kind.SPAN):
            raise InvalidValue(dates(name, f"got {column.type}"))
        if role in numeric and not fits:
            raise InvalidValue(f"Column {name!r} must be numbers, got {column.type}; name another column.")
        if kind is Kind.NESTED:
            raise InvalidValue(
                f"Column {name!r} must hold plain values, got {column.type}; name another column."
            )
        if kind is Kind.BINARY:
            raise InvalidValue(
                f"Column {name!r} must hold numbers or texts, it holds binary values ({column.type}); name another "
                "column, or make them texts in the database."
            )


def check_finite(outcome: str, low: float, high: float) -> None:
    """Outcomes whose squares are numbers."""
    if math.isinf(low) or math.isinf(high):
        raise InvalidValue(
            f"Outcomes must be finite numbers or missing, {outcome!r} holds an infinite one; "
            "if that stands for missing, say so with missing_values."
        )
    if max(abs(low), abs(high)) > LARGEST_OUTCOME:
        raise InvalidValue(
            f"Outcomes must be missing or within ±{LARGEST_OUTCOME:g}, {outcome!r} holds "
            f"{low if abs(low) > LARGEST_OUTCOME else high:g}."
        )


def check_range(request: Request, low: float, high: float) -> None:
    """All outcomes within the range that was given; and a range at all, if none was."""
    if request.range is not None:
        least, most = request.range
        if low < least or high > most:
            came = low if low < least else high
            raise InvalidValue(
                f"Outcomes must be within the range {least:g} to {most:g}, {request.outcome!r} holds {came!r}; "
                "widen the range, or list the value in missing_values if it stands for missing."
            )
    elif low == high:
        raise InvalidValue(
            f"All observed outcomes of {request.outcome!r} are {low:g}; say what else they could be, "
            "with levels or range."
        )


def check_levels(request: Request, seen: Sequence[float]) -> None:
    """No outcome beside the levels that were given."""
    others = [value for value in seen if value not in (request.levels or ())]
    if others:
        levels = ", ".join(f"{level:g}" for level in request.levels or ())
        raise InvalidValue(
            f"Outcomes must be one of the levels {levels}; {request.outcome!r} holds {others[0]!r}; "
            "add the level, or list the value in missing_values if it stands for missing."
        )


def check_groups(request: Request, groups: int) -> None:
    """Not more groups than a page can show."""
    if groups > MOST_GROUPS:
        raise InvalidValue(
            f"At most {MOST_GROUPS} groups can be analysed side by side, column {request.by!r} of by holds more; "
            "name a column with fewer values, or keep some of them with where."
        )


def stray_texts(request: Request, cells: Sequence[Mapping[str, Any]], rules: Rules) -> dict[str, set[str]]:
    """By role, the texts that are neither missing nor what is needed there."""
    found: dict[str, set[str]] = {}
    for role in request.names():
        if cells and f"unread_{role}" in cells[0]:
            texts = {cell[f"unread_{role}"] for cell in cells} - {None}
            found[role] = {text for text in texts if not rules.is_missing(text)}
    return {role: texts for role, texts in found.items() if texts}


def check_strays(request: Request, cells: Sequence[Mapping[str, Any]], rules: Rules) -> None:
    """No text where numbers are needed, nothing but 0 and 1 in `observed` and `followed_up`."""
    for role, found in stray_texts(request, cells, rules).items():
        strays = [Shape(re.sub("[0-9]", "9", text), 1, text, text) for text in sorted(found)]
        raise InvalidValue(not_numbers(request.names()[role], strays, strays, role in YES_OR_NO))


@dataclass(frozen=True)
class Aggregate:
    """The rows of the aggregate, and how they were made."""

    rows: list[dict[str, Any]]
    by_outcome: bool
    pivot: float  # what the sums are about
    outcome_points: tuple[float, ...] = ()  # where a real outcome was cut
    notes: tuple[str, ...] = ()  # how labels were read


def collect(source: Source, request: Request, columns: query.QueryColumns) -> Aggregate:
    """Run the aggregate; by outcome if that is discrete, as was said or as the first rows look.

    An outcome that is to be cut has sums for each of its classes.
    """
    look = query.first_look(source, columns)
    distinct = [look[key] for key in columns.keys]
    if distinct[0] > MOST_ARMS or max(distinct[1:], default=0) > MOST_MEDIATORS:
        check_identifiers(request, distinct, look["rows"])
    check_distinct(request, *distinct)
    check_groups(request, look.get("group", 0))
    low, high = (0.0, 0.0) if look["low"] is None else (look["low"], look["high"])
    check_finite(request.outcome, low, high)
    pivot = sum(request.range or (low, high)) / 2
    by_outcome = bool(request.levels)
    columns, outcome_points = query.find_outcome_cut(source, request, columns)
    if request.levels is None and request.cut_outcome is None:
        # a range that the values do not span by themselves means a real outcome
        by_outcome = look["clean"] <= MOST_LEVELS and request.range in (None, (low, high))
    with_nan = look["nan"] > 0 or request.cut_outcome is not None
    rows = query.reduce(source, columns, by_outcome, pivot, with_nan)
    if by_outcome and not request.levels and len({row["outcome"] for row in rows} - {None}) > MOST_LEVELS:
        by_outcome = False  # the first rows misled
        rows = query.reduce(source, columns, by_outcome, pivot, look["nan"] > 0)
    if len(rows) > query.MOST_CELLS:
        check_strays(request, rows, columns.rules)
        raise InvalidValue(
            f"The columns have more than {query.MOST_CELLS:,} combinations; "
            "name columns with fewer values, or cut mediators, as in 'NAME:3'."
        )
    if "id" in columns.table:
        for row in rows:
            row["raw"] = tuple(row[key] for key in columns.keys)
    return Aggregate(rows, by_outcome, pivot, outcome_points, tuple(strip_labels(request, rows)))


def assemble(request: Request, cuts: query.Cuts, aggregate: Aggregate, rules: Rules, untyped: bool) -> Log:
    """The counts, and what their codes mean."""
    check_strays(request, aggregate.rows, rules)
    rows = sum(cell["pulls"] for cell in aggregate.rows)
    mark_missing(request, aggregate.rows, rules)
    found = count_markers(aggregate.rows)
    kept = [cell for cell in aggregate.rows if cell["arm"] is not None]
    arms = in_order({cell["arm"] for cell in kept}, untyped)
    check_arms_read(request, list(arms.values()), found)
    check_arms(request, list(arms.values()), rows, at_least=1)
    mediators = _mediators(request, cuts, kept, untyped)
    check_distinct(request, len(arms), len(mediators))
    keys = [f"mediator_{i}" for i, _ in enumerate(request.mediators)]
    distinct = [len({cell[key] for cell in kept} - {None}) for key in keys]
    check_identifiers(request, [len(arms), *distinct], sum(cell["pulls"] for cell in kept))
    arm_code = {value: code for code, value in enumerate(arms)}
    level_code = {level: code for code, level in enumerate(mediators)}
    levels = _levels(request, kept)
    for cell, level in zip(kept, levels, strict=True):
        # its place in the counts; the last row of an arm is "mediator missing"
        cell["place"] = arm_code[cell["arm"]], level_code.get(level, len(mediators))
    check_follow_ups(request, kept)
    make = _discrete if aggregate.by_outcome else _real
    counts, setting = make(request, aggregate, kept, (len(arms), len(mediators) + 1))
    parts = request.mediators
    log = Log(
        counts=counts,
        setting=setting,
        arms=tuple(arms.values()),
        mediators=tuple(mediators.values()),
        rows=rows,
        skipped=rows - sum(cell["pulls"] for cell in kept),
        mediator_column=parts[0].column if len(parts) == 1 and not parts[0].classes else "",
        missing_markers=found,
    )
    if request.cut_outcome is None:
        return log
    uncut, counts, setting = _cut(request, aggregate, kept, counts, setting)
    points = aggregate.outcome_points
    cut = cut_outcome.cut_of(request.outcome, points, log.arms, counts, uncut.counts)
    return replace(log, counts=counts, setting=setting, uncut=uncut, cut_outcome=cut)


def _levels(request: Request, kept: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The mediator level of each cell."""
    if not request.mediators:
        return [()] * len(kept)
    columns = [[cell[f"mediator_{i}"] for cell in kept] for i in range(len(request.mediators))]
    return list(zip(*columns, strict=True))


def _mediators(
    request: Request, cuts: query.Cuts, kept: list[dict[str, Any]], untyped: bool
) -> dict[tuple[Any, ...], str]:
    if not request.mediators:
        return {(): "all"}
    levels = {level for level in set(_levels(request, kept)) if None not in level}
    if not levels:
        names = " or ".join(repr(part.column) for part in request.mediators)
        raise InvalidValue(
            f"The mediator is missing in every row: {names}; check the columns, or leave it out."
        )
    return mediator_levels(levels, request.mediators, [cut.points for cut in cuts], untyped)


def counts_of(cells: Iterable[dict[str, Any]], setting: Setting, pivot: float) -> Counts:
    """The counts of these cells of an aggregate, by their places."""
    shape = setting.arms, setting.mediators + 1
    if setting.levels is None:
        return _real_counts(cells, shape, pivot).about(setting.centre)
    kept, asked = split(cells)
    counts = Counts.empty(setting)
    _add_levels(counts.table, kept, setting.levels)
    if asked:
        counts.followed_up = np.zeros_like(counts.table)
        _add_levels(counts.followed_up, asked, setting.levels)
    return counts


def _real_counts(cells: Iterable[dict[str, Any]], shape: tuple[int, int], pivot: float) -> Counts:
    """Sums about the pivot."""
    kept, asked = split(cells)
    return Counts(_real_table(kept, shape), None, pivot, _real_table(asked, shape) if asked else None)


def _add_levels(table: FloatArray, cells: Iterable[dict[str, Any]], levels: Sequence[float]) -> None:
    column = {level: code for code, level in enumerate(levels)}
    kept = [(*cell["place"], column.get(cell["outcome"], len(column)), cell["pulls"]) for cell in cells]
    arms, rows, places, pulls = np.array(kept, np.int64).reshape(-1, 4).T
    np.add.at(table, (arms, rows, places), pulls)


def _real_table(cells: Sequence[dict[str, Any]], shape: tuple[int, int]) -> FloatArray:
    table = np.zeros((*shape, COLUMNS))
    arms, rows = (np.array([cell["place"][i] for cell in cells], np.int64) for i in (0, 1))
    names = {PULLS: "pulls", OBSERVED: "observed", SUM: "sum", SQUARES: "squares", CUBES: "cubes"}
    for column, name in names.items():  # sums of none are NULL
        values = np.array([cell[name] or 0.0 for cell in cells], np.float64)
        np.add.at(table[..., column], (arms, rows), values)
    return table


def _discrete(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], shape: tuple[int, int]
) -> tuple[Counts, Setting]:
    seen = sorted({cell["outcome"] for cell in kept} - {None})
    _check_seen(request, seen, kept)
    if request.levels:
        check_levels(request, seen)
    else:
        check_range(request, seen[0], seen[-1])
    setting = Setting(
        arms=shape[0],
        mediators=shape[1] - 1,
        levels=request.levels or tuple(seen),
        range_known=bool(request.levels) or request.range is not None or _is_scale(seen),
    )
    return counts_of(kept, setting, aggregate.pivot), setting


def _is_scale(levels: Sequence[float]) -> bool:
    """Whether levels that were found look like all there are: 0 and 1, whole numbers from 0 or 1 on, or equal shares.

    A few amounts of money, or the two best of five marks, do not: others may not have come up yet.
    """
    values = np.asarray(levels)
    if len(values) == 2 or values[-1] <= 1:
        return bool(values[0] == 0 and values[-1] == 1 and np.allclose(np.diff(values), values[1], rtol=1e-6))
    return bool(values[0] in (0, 1) and np.all(np.diff(values) == 1))


def _real(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], shape: tuple[int, int]
) -> tuple[Counts, Setting]:
    seen = [cell for cell in kept if cell["observed"]]
    low, high = (min((c["low"] for c in seen), default=0.0), max((c["high"] for c in seen), default=0.0))
    _check_seen(request, [low, high] if seen else [], kept)
    check_range(request, low, high)
    if any(cell["sum"] is None for cell in seen):
        raise InvalidValue(
            f"Column {request.outcome!r} holds NaN, which the database treats as a number; write NULL instead."
        )
    counts = _real_counts(kept, shape, aggregate.pivot)
    low, high = request.range or (low, high)
    setting = Setting(
        arms=shape[0],
        mediators=shape[1] - 1,
        low=low,
        high=high,
        range_known=request.range is not None,
        scale=_spread(counts.table, (high - low) / 2),
    )
    return counts.about(setting.centre), setting


def _cut(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], real: Counts, setting: Setting
) -> tuple[Uncut, Counts, Setting]:
    """What the outcome was, and the counts and the setting of its classes."""
    points, pivot = aggregate.outcome_points, aggregate.pivot
    levels, within = cut_outcome.give_levels(request, points, kept, pivot, setting.mediators)
    cut = Setting(arms=setting.arms, mediators=setting.mediators, levels=levels)
    means = cut_outcome.level_means(kept, cut.arms, levels, pivot)
    return Uncut(real, setting, within=within, level_means=means), counts_of(kept, cut, pivot), cut


def check_seen(request: Request, observed: float, pulls: float) -> None:
    """At least one outcome."""
    if not observed:
        raise InvalidValue(
            f"All {pulls:.0f} outcomes in column {request.outcome!r} are missing; at least one must be observed."
        )


def _check_seen(request: Request, seen: Sequence[float], kept: list[dict[str, Any]]) -> None:
    check_seen(request, len(seen), sum(cell["pulls"] for cell in kept))
    check_finite(request.outcome, seen[0], seen[-1])


def _spread(table: FloatArray, otherwise: float) -> float:
    """The standard deviation of outcomes within arms, pooled."""
    n, total, squares = (table[..., column].sum(axis=1) for column in (OBSERVED, SUM, SQUARES))
    within = squares - total**2 / np.maximum(n, 1)
    spread = float(np.sqrt(max(within.sum(), 0.0) / n.sum()))
    return spread if spread > 0 else otherwise


LONG = {sign * float(digit * n) for sign in (1, -1) for digit in "789" for n in (2, 3, 4, 5, 6)}
SHORT = {9.0, -9.0, 8.0, -8.0, -1.0}  # only beside a few whole numbers in a row
NINES = {sign * float("9" * n) for sign in (1, -1) for n in (1, 2, 3, 4, 5, 6)}
BESIDE = {nines: [nines - math.copysign(k, nines) for k in (1, 2, 3)] for nines in NINES}  # 98, 97, 96 of 99
TIMES = 2  # that they must occur


def sentinel_warnings(
    source: Source, request: Request, columns: QueryColumns, cuts: Cuts, aggregate: Aggregate
) -> list[Caution]:
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
        found += _in_column(source, columns, "clean", request.outcome, (min(ends), max(ends)))
    for i, (part, cut) in enumerate(zip(request.mediators, cuts, strict=True)):
        if part.classes:
            found += _in_column(source, columns, f"number_mediator_{i}", part.column, cut.ends)
    return found


def _in_counts(column: str, rows: Mapping[float, int]) -> list[Caution]:
    """Of a column with few values, those that are far outside the others."""
    return _warnings(column, _codes(rows, LONG | SHORT), rows, few=True)


def _in_column(
    source: Source, columns: QueryColumns, name: str, column: str, ends: Sequence[float]
) -> list[Caution]:
    """Of a column with many values; asks again only where its lowest or highest is suspect."""
    if not LONG.intersection(ends):
        return []
    asked = sorted(LONG.union(*(BESIDE[nines] for nines in NINES & LONG)))
    values = columns.table.where(sql.known(columns.table[name])).taking({"x": columns.table[name]})
    x = values["x"]
    found = values.grouped(
        {"suspect": sql.if_else(sql.is_in(x, asked), x)},
        {"rows": sql.count(), "low": exp.Min(this=x), "high": exp.Max(this=x)},
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


def _warnings(column: str, codes: set[float], rows: Mapping[float, int], few: bool) -> list[Caution]:
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
    facts = {"column": column, "low": kept[0], "high": kept[-1]}
    return [Caution("sentinel", value=value, facts=facts | {"rows": rows[value]}) for value in sorted(found)]


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

"""Divides the rows of a log into about ten periods of equal length, by a column of dates, moments or numbers."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from truant.errors import InvalidValue
from truant.evidence.course import ArmPeriod, OverTime
from truant.logs import statement as sql
from truant.logs.log import Log
from truant.logs.moments import FORMS, find_dates, iso_of, known_of, no_dates, seconds, with_iso
from truant.logs.query import QueryColumns
from truant.logs.source import Source
from truant.logs.statement import Kind, Rows, Sql
from truant.logs.values import Rules, seen_at_first
from truant.setting import LARGEST_OUTCOME

PERIODS = 10
DAY = 86_400.0
CALENDAR = (-62_135_596_800.0, 253_402_300_799.0)  # seconds from 1970: the years 1 to 9999
UNITS = ((DAY, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Periods:
    """The rows with the number of their period, and what the numbers mean."""

    table: Rows
    column: str
    numeric: bool
    start: float  # of the first period: seconds since 1970, or a number
    length: float
    number: int
    unit: str  # what lengths are counted in; empty for numbers
    notes: tuple[str, ...] = ()  # how times were read

    def over_time(
        self, source: Source, columns: QueryColumns, arms: Mapping[Any, str]
    ) -> dict[Any, OverTime]:
        """The course over time, by value of `by` (... without it); `arms` are the labels of their values, in order."""
        group = [key for key in columns.dividing if key == "group"]
        table = columns.table.adding({"arm": columns.rules.known(columns.table.columns["arm"])})
        table = table.where(sql.known(table["arm"]))
        outcome = seen_at_first(table)
        sums = {"rows": sql.count(), "observed": sql.count(outcome), "average": exp.Avg(this=outcome)}
        cells = source.run(table.grouped(table.by(*group, "period", "arm"), sums))
        found: dict[Any, dict[tuple[Any, Any], dict[str, Any]]] = {}
        for cell in cells:
            found.setdefault(cell["group"] if group else ..., {})[cell["period"], cell["arm"]] = cell
        return {value: self._of(own, arms) for value, own in found.items()}

    def _of(self, cells: dict[tuple[Any, Any], dict[str, Any]], arms: Mapping[Any, str]) -> OverTime:
        periods = []
        arms = {arm: label for arm, label in arms.items() if any(key[1] == arm for key in cells)}
        for number in range(self.number):
            own = [cells.get((number, arm)) for arm in arms]
            total = sum(cell["rows"] for cell in own if cell)
            for label, cell in zip(arms.values(), own, strict=True):
                rows, observed = (int(cell["rows"]), int(cell["observed"])) if cell else (0, 0)
                periods.append(
                    ArmPeriod(
                        number,
                        self._written(number),
                        label,
                        rows,
                        rows / total if total else None,
                        observed,
                        1 - observed / rows if rows else None,
                        float(cell["average"]) if cell and observed else None,
                    )
                )
        left_out = sum(cell["rows"] for (period, _), cell in cells.items() if period is None)
        starts = tuple(self.start + number * self.length for number in range(self.number))
        return OverTime(self.column, self._length(), self.numeric, left_out, starts, tuple(periods))

    def _written(self, number: int) -> str:
        value = self.start + number * self.length
        if self.numeric:
            return f"{value:.12g}"
        moment = datetime.datetime.fromtimestamp(value, datetime.UTC)
        return moment.strftime("%Y-%m-%d" if self.unit == "day" else "%Y-%m-%d %H:%M:%S")

    def _length(self) -> str:
        if self.numeric:
            return f"{self.length:.6g}"
        count = round(self.length / {name: size for size, name in UNITS}[self.unit])
        return f"{count} {self.unit}" + ("s" if count > 1 else "")


@dataclass(frozen=True)
class _Times:
    """The times of a column as numbers."""

    value: Sql
    numeric: bool = False  # plain numbers, no dates
    days: bool = False  # whole ones
    note: str = ""  # how texts were read
    rows: Rows | None = None  # with the columns that the value is made of, if they have further ones


def find_periods(source: Source, picked: Rows, rules: Rules, column: str) -> Periods:
    """The rows with a column `period`; or raises InvalidValue where times cannot be read."""
    times = _times(source, picked, rules, column)
    value, numeric = times.value, times.numeric
    rows = picked if times.rows is None else times.rows
    look = source.run(rows.grouped({}, {"low": exp.Min(this=value), "high": exp.Max(this=value)}))[0]
    if look["low"] is None or look["low"] == look["high"]:
        came = "has no time in any row" if look["low"] is None else "has the same time in every row"
        raise InvalidValue(f"The course over time needs at least two times, column {column!r} {came}.")
    low, high = float(look["low"]), float(look["high"])
    _check_times(column, low, high, numeric)
    start, length, unit = _division(low, high, numeric, times.days)
    number = int((high - start) // length) + 1
    code = sql.floor(sql.over(sql.minus(value, sql.real(start)), sql.real(length)))
    notes = (times.note,) if times.note else ()
    return Periods(
        rows.taking({**picked.columns, "period": code}), column, numeric, start, length, number, unit, notes
    )


def _times(source: Source, picked: Rows, rules: Rules, column: str) -> _Times:
    time = picked.columns["time"]
    kind = time.kind
    if kind.is_time:
        return _Times(seconds(rules.known(time), source.dialect), days=kind is Kind.DAY)
    if kind.is_number:
        return _Times(rules.number(time), numeric=True)
    if kind is Kind.NOTHING:
        return _Times(sql.double(time.sql), numeric=True)
    if kind is not Kind.TEXT:
        raise InvalidValue(
            f"Column {column!r} must hold dates, times or numbers, got {time.type}; name another column."
        )
    there, number = rules.known(time).sql, rules.number(time)
    found = source.run(picked.grouped({}, {"known": sql.count(there), "numbers": sql.count(number)}))[0]
    if found["known"] and found["numbers"] == found["known"]:
        return _Times(number, numeric=True)
    dates = find_dates(source, picked, "time", rules, column)
    rows = with_iso(picked, "time", rules, dates)
    about = {
        "stray": exp.Min(this=no_dates(rows, "time")),
        "longest": exp.Max(this=exp.Length(this=rows[known_of("time")])),
    }
    found = source.run(rows.grouped({}, about))[0]
    if found["stray"] is not None:
        raise InvalidValue(
            f"Column {column!r} must hold times such as {FORMS}, or numbers; it holds {found['stray']!r}."
        )
    days = (found["longest"] or 0) <= len("2024-03-01")
    value = seconds(rows.columns[iso_of("time")], source.dialect)
    return _Times(value, days=days, note=dates.note, rows=rows)


def _check_times(column: str, low: float, high: float, numeric: bool) -> None:
    """Times that a calendar or a division into periods can hold."""
    first, last = (-LARGEST_OUTCOME, LARGEST_OUTCOME) if numeric else CALENDAR
    if not first <= low <= high <= last:
        came = low if not low >= first else high
        between = f"within ±{LARGEST_OUTCOME:g}" if numeric else "in the years 1 to 9999"
        raise InvalidValue(
            f"Column {column!r} must hold times {between}, it holds {came:g}{'' if numeric else ' seconds from 1970'}; "
            "leave these rows out with where, or list the value in missing_values if it stands for missing."
        )


def _division(low: float, high: float, numeric: bool, days: bool) -> tuple[float, float, str]:
    """Start and length of the periods: whole days, hours, minutes or numbers where these are enough for ten."""
    span = high - low
    if numeric:
        whole = low == math.floor(low) and high == math.floor(high) and span >= PERIODS
        return low, float(math.ceil((span + 1) / PERIODS)) if whole else span / PERIODS * (1 + 1e-9), ""
    size, unit = next(((s, u) for s, u in UNITS if span >= PERIODS * s or (days and s == DAY)), UNITS[-1])
    start = math.floor(low / size) * size
    return start, math.ceil(((high - start) // size + 1) / PERIODS) * size, unit


def arm_labels(log: Log, cells: Iterable[dict[str, Any]]) -> dict[Any, str]:
    """The label of each value of the arm's column, in order of their codes."""
    codes = {cell["arm"]: cell["place"][0] for cell in cells if cell["arm"] is not None}
    return {value: str(log.arms[code]) for value, code in sorted(codes.items(), key=lambda item: item[1])}


def with_course(log: Log, found: Mapping[Any, OverTime]) -> Log:
    """The log, or its groups, with the course over time."""
    if not log.groups:
        return replace(log, over_time=found.get(...))
    groups = tuple(
        group
        if group.log is None
        else replace(
            group, log=replace(group.log, over_time=_of_arms(found.get(group.value), group.log.arms))
        )
        for group in log.groups
    )
    return replace(log, groups=groups)


def _of_arms(course: OverTime | None, arms: Sequence[Any]) -> OverTime | None:
    """The course of these arms alone, with their shares of their own rows."""
    if course is None:
        return None
    kept = [one for one in course.periods if one.arm in set(map(str, arms))]
    if len(kept) == len(course.periods):
        return course
    totals: dict[int, int] = {}
    for one in kept:
        totals[one.period] = totals.get(one.period, 0) + one.rows
    shared = [replace(p, share=p.rows / totals[p.period] if totals[p.period] else None) for p in kept]
    return replace(course, periods=tuple(shared))

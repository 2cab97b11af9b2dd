"""Divides the rows of a log into about ten periods of equal length, by a column of dates, moments or numbers."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from truant.analysis.over_time import ArmPeriod, OverTime
from truant.errors import InvalidValue
from truant.logs.follow_ups import seen_at_first
from truant.logs.log import Log
from truant.logs.moments import FORMS, iso_texts, moments
from truant.logs.query import QueryColumns
from truant.logs.source import Source
from truant.logs.values import Rules
from truant.setting import LARGEST_OUTCOME

if TYPE_CHECKING:
    import ibis.expr.types as ir

PERIODS = 10
DAY = 86_400.0
CALENDAR = (-62_135_596_800.0, 253_402_300_799.0)  # seconds from 1970: the years 1 to 9999
UNITS = ((DAY, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Periods:
    """The rows with the number of their period, and what the numbers mean."""

    table: ir.Table
    column: str
    numeric: bool
    start: float  # of the first period: seconds since 1970, or a number
    length: float
    number: int
    unit: str  # what lengths are counted in; empty for numbers

    def over_time(
        self, source: Source, columns: QueryColumns, arms: Mapping[Any, str]
    ) -> dict[Any, OverTime]:
        """The course over time, by value of `by` (... without it); `arms` are the labels of their values, in order."""
        group = [key for key in columns.dividing if key == "group"]
        table = columns.table.mutate(arm=columns.known(columns.table, "arm"))
        table = table.filter(table.arm.notnull())
        outcome = seen_at_first(table)
        sums = {"rows": table.count(), "observed": outcome.count(), "average": outcome.mean()}
        cells = source.run(table.group_by(*group, "period", "arm").aggregate(**sums))
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


def find_periods(source: Source, picked: ir.Table, rules: Rules, column: str) -> Periods:
    """The rows with a column `period`; or raises InvalidValue where times cannot be read."""
    value, numeric, days = _times(source, picked, rules, column)
    look = source.run(picked.aggregate(low=value.min(), high=value.max()))[0]
    if look["low"] is None or look["low"] == look["high"]:
        came = "has no time in any row" if look["low"] is None else "has the same time in every row"
        raise InvalidValue(f"The course over time needs at least two times, column {column!r} {came}.")
    low, high = float(look["low"]), float(look["high"])
    _check_times(column, low, high, numeric)
    start, length, unit = _division(low, high, numeric, days)
    number = int((high - start) // length) + 1
    code = ((value - start) / length).floor()
    return Periods(picked.mutate(period=code.cast("int64")), column, numeric, start, length, number, unit)


def _times(source: Source, picked: ir.Table, rules: Rules, column: str) -> tuple[Any, bool, bool]:
    """The times as numbers, whether they are plain numbers, and whether they are whole days."""
    time = picked.time
    kind = time.type()
    if kind.is_date() or kind.is_timestamp():
        return _seconds(rules.known(time)), False, bool(kind.is_date())
    if kind.is_numeric():
        return rules.number(time), True, False
    if kind.is_null():
        return time.cast("float64"), True, False
    if not kind.is_string():
        raise InvalidValue(
            f"Column {column!r} must hold dates, times or numbers, got {kind}; name another column."
        )
    known, number = rules.known(time), rules.number(time)
    text, stray = iso_texts(time, rules)
    about = {
        "known": known.count(),
        "numbers": number.count(),
        "stray": stray.min(),
        "longest": known.length().max(),
    }
    found = source.run(picked.aggregate(**about))[0]
    if found["known"] and found["numbers"] == found["known"]:
        return number, True, False
    if found["stray"] is not None:
        raise InvalidValue(
            f"Column {column!r} must hold times such as {FORMS}, or numbers; it holds {found['stray']!r}."
        )
    return _seconds(moments(text)), False, (found["longest"] or 0) <= len("2024-03-01")


def _seconds(moment: Any) -> Any:
    return moment.cast("timestamp").epoch_seconds().cast("float64")


def _check_times(column: str, low: float, high: float, numeric: bool) -> None:
    """Times that a calendar or a division into periods can hold."""
    first, last = (-LARGEST_OUTCOME, LARGEST_OUTCOME) if numeric else CALENDAR
    if not first <= low <= high <= last:
        came = low if not low >= first else high
        between = f"within ±{LARGEST_OUTCOME:g}" if numeric else "in the years 1 to 9999"
        raise InvalidValue(
            f"Column {column!r} must hold times {between}, it holds {came:g}{'' if numeric else ' seconds from 1970'}; "
            "leave these rows out with filter, or list the value in missing_values if it stands for missing."
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
        else replace(group, log=replace(group.log, over_time=found.get(group.value)))
        for group in log.groups
    )
    return replace(log, groups=groups)

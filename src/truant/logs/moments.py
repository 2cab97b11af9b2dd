"""Texts that are dates and times: as ISO 8601 writes them, or with the day or the month first, which are made ISO."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from truant.errors import InvalidValue
from truant.logs import statement as sql
from truant.logs.statement import Column, Kind, Rows, Sql
from truant.logs.values import Rules

if TYPE_CHECKING:
    from truant.logs.source import Source  # which needs the functions of this file

_YEAR = "[1-9][0-9]{3}"
_LEAP = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
_DATE = (
    rf"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    rf"02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?"
_ZONE = "(Z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])"
ZONED = f"{_ZONE}$"
ISO = rf"^{_DATE}([T ]{_TIME}{_ZONE}?)?$"  # of days that there are: 2024-02-30 is none
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
OTHER_DATE = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?")
FORMS = "2024-03-01 or 2024-03-01 18:30:00"
_PAIR, _REST = "[0-9][0-9]", "([T ].*)?$"  # parts have leading zeros: substrings are then enough
DOTTED = f"^{_PAIR}[.]{_PAIR}[.]{_YEAR}{_REST}"
SLASHED = f"^{_PAIR}/{_PAIR}/{_YEAR}{_REST}"
MOST_MONTHS = "12"


@dataclass(frozen=True)
class DateForm:
    """How the dates of a text column are written, beside ISO: 01.10.2026, and 10/01/2026 in one of two orders."""

    dotted: bool = False
    slashed: bool = False
    day_first: bool = False  # in dates with slashes; with dots it always is
    note: str = ""  # what was done, for the report

    def iso(self, written: Sql) -> Sql:
        """Texts of a column, without blanks around them, with these dates as ISO writes them."""
        forms = [(sql.matches(written, DOTTED), _turned(written, True))] if self.dotted else []
        forms += [(sql.matches(written, SLASHED), _turned(written, self.day_first))] if self.slashed else []
        return sql.cases(*forms, otherwise=written) if forms else written


ISO_ALONE = DateForm()


def find_dates(source: Source, rows: Rows, role: str, rules: Rules, name: str) -> DateForm:
    """How the dates of a text column are written; or raises InvalidValue where that differs from row to row.

    Of 03/04/2026 the whole column decides: a first part above 12 is a day, and so is a second one. Where no part is,
    the month is taken to come first, with a note that says so.
    """
    plain = with_iso(rows, role, rules, ISO_ALONE)
    if source.run(plain.grouped({}, {"other": exp.Min(this=no_dates(plain, role))}))[0]["other"] is None:
        return ISO_ALONE
    rows, written = plain, plain[known_of(role)]
    first, second = _part(written, 1, 2), _part(written, 4, 2)
    dotted, slashed = sql.matches(written, DOTTED), sql.matches(written, SLASHED)
    first_is_day, second_is_day = (part > MOST_MONTHS for part in (first, second))
    asked = {
        "dotted": dotted,
        "slashed": slashed,
        "day": exp.and_(slashed, first_is_day, exp.not_(second_is_day)),
        "month": exp.and_(slashed, second_is_day, exp.not_(first_is_day)),
        "either": exp.and_(slashed, first.neq(second)),
    }
    examples = {key: exp.Min(this=sql.if_else(fits, written)) for key, fits in asked.items()}
    found = source.run(rows.grouped({}, examples))[0]
    if found["day"] and found["month"]:
        raise InvalidValue(
            f"Column {name!r} mixes dates with the day first, such as {found['day']!r}, and with the month first, such "
            f"as {found['month']!r}; write them as 2024-03-01."
        )
    form = DateForm(found["dotted"] is not None, found["slashed"] is not None, found["day"] is not None)
    return replace(form, note=_date_note(name, form, found))


def _date_note(name: str, form: DateForm, found: Mapping[str, Any]) -> str:
    """What was done, with an example of each form."""
    said = []
    if form.dotted:
        said.append(f"{found['dotted'][:10]} was read as {_in_words(found['dotted'], True)}, the day first")
    if form.slashed:
        decided = found["day"] or found["month"]
        example = decided or found["either"] or found["slashed"]
        shown = f"{example[:10]} was read as {_in_words(example, form.day_first)}"
        order = f"the {'day' if form.day_first else 'month'} first"
        doubt = (
            ""
            if decided
            else ", since no part is above 12; if the day comes first, write dates as 2024-03-01"
        )
        said.append(f"{shown}, {order}{doubt}")
    return f"{name!r}: {'; '.join(said)}" if said else ""


def _in_words(example: str, day_first: bool) -> str:
    """As 'March 4, 2026', so that no order is in doubt; as it stands if there is no such day."""
    one, other = example[:2], example[3:5]
    day, month = (one, other) if day_first else (other, one)
    try:
        date = datetime.date(int(example[6:10]), int(month), int(day))
    except ValueError:  # which is refused later, with the text
        return example[:10]
    return f"{MONTHS[date.month - 1]} {date.day}, {date.year}"


MONTHS = (  # in English, whatever the locale
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _turned(written: Sql, day_first: bool) -> Sql:
    """01.10.2026 18:30 as 2026-10-01 18:30, by the places of its parts."""
    month, day = (4, 1) if day_first else (1, 4)
    hyphen = sql.text("-")
    parts = [_part(written, 7, 4), hyphen, _part(written, month, 2), hyphen, _part(written, day, 2)]
    return exp.Concat(expressions=[*parts, _part(written, 11)])


def _part(written: Sql, start: int, length: int | None = None) -> Sql:
    """Some characters of a text, from a place counted from 1."""
    size = None if length is None else sql.whole(length)
    return exp.Substring(this=written, start=sql.whole(start), length=size)


def is_iso(text: object) -> bool:
    """Whether a text is a date or a time."""
    return isinstance(text, str) and re.fullmatch(ISO, text.strip()) is not None


def moment(text: str) -> datetime.datetime:
    """When that is, in UTC and without a zone; or raises ValueError."""
    found = datetime.datetime.fromisoformat(text.strip())
    return found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)


def with_iso(rows: Rows, role: str, rules: Rules, form: DateForm) -> Rows:
    """The rows with two more columns of a text column: what is not missing of it, and that as ISO, or NULL.

    Each in a step of its own: texts are turned and matched once, however often they are compared.
    """
    known, turned, iso = known_of(role), f"turned_{role}", iso_of(role)
    rows = rows.adding({known: rules.known(rows.columns[role])})
    rows = rows.adding({turned: Column(form.iso(rows[known]), Kind.TEXT)})
    fitting = Column(sql.if_else(sql.matches(rows[turned], ISO), rows[turned]), Kind.TEXT)
    return rows.adding({iso: fitting}, fenced=True)


def known_of(role: str) -> str:
    """The column with what is not missing."""
    return f"known_{role}"


def iso_of(role: str) -> str:
    """The column with the dates and times."""
    return f"iso_{role}"


def no_dates(rows: Rows, role: str) -> Sql:
    """Of rows with such columns, the texts that are neither missing nor dates or times."""
    known = rows[known_of(role)]
    return sql.if_else(exp.and_(sql.known(known), sql.is_null(rows[iso_of(role)])), known)


def seconds(column: Column, dialect: str) -> Sql:
    """Seconds from 1970 in UTC, of days and moments or of ISO texts; a moment without a zone is one in UTC."""
    return _SECONDS[dialect](column)


def _of_duckdb(column: Column) -> Sql:
    return sql.double(exp.Anonymous(this="EPOCH", expressions=[_moment(column)]))


def _of_postgres(column: Column) -> Sql:
    return sql.double(exp.Extract(this=exp.var("EPOCH"), expression=_moment(column)))


def _moment(column: Column) -> Sql:
    if column.kind is Kind.TEXT:
        return exp.cast(_with_zone(column.sql), "timestamptz")
    return column.sql if column.kind is Kind.INSTANT else exp.cast(column.sql, "timestamp")


def _of_spark(column: Column) -> Sql:
    if column.kind is Kind.DAY:
        return sql.times(exp.func("UNIX_DATE", column.sql), sql.real(DAY_SECONDS))
    if column.kind is Kind.MOMENT:
        whole = exp.Anonymous(
            this="DATE_FORMAT", expressions=[column.sql, sql.text("yyyy-MM-dd HH:mm:ss.SSSSSS")]
        )
        return seconds(Column(whole, Kind.TEXT), "spark")
    moment = column.sql
    if column.kind is Kind.TEXT:
        moment = exp.cast(_with_zone(_with_seconds(column.sql)), "timestamptz")
    return sql.over(exp.Anonymous(this="UNIX_MICROS", expressions=[moment]), sql.real(1e6))


def _of_sqlite(column: Column) -> Sql:
    return exp.Anonymous(this=SECONDS, expressions=[column.sql])


def _with_zone(iso: Sql) -> Sql:
    """An ISO text with its zone, which is UTC where it has none."""
    midnight = sql.if_else(_has_time(iso), sql.text("+00:00"), sql.text(" 00:00:00+00:00"))
    zoned = exp.and_(_has_time(iso), sql.matches(iso, ZONED))
    return sql.if_else(zoned, iso, exp.Concat(expressions=[iso, midnight]))


def _with_seconds(iso: Sql) -> Sql:
    """An ISO text whose time, if it has one, has seconds: Spark reads none without where a zone follows."""
    short = exp.and_(_has_time(iso), _part(iso, 17, 1).neq(":"))
    longer = exp.Concat(expressions=[_part(iso, 1, 16), sql.text(":00"), _part(iso, 17)])
    return sql.if_else(short, longer, iso)


def _has_time(iso: Sql) -> Sql:
    return exp.Length(this=iso) > len("2024-03-01")


SECONDS = "truant_seconds"  # the function that SQLite is given
DAY_SECONDS = 86_400.0
_SECONDS: dict[str, Callable[[Column], Sql]] = {
    "duckdb": _of_duckdb,
    "postgres": _of_postgres,
    "spark": _of_spark,
    "sqlite": _of_sqlite,
}


def seconds_of(iso: str) -> float:
    """Seconds from 1970 of an ISO text."""
    return moment(iso).replace(tzinfo=datetime.UTC).timestamp()


def sides(column: Column, value: str, dialect: str) -> tuple[Sql, Sql]:
    """A column of times, or of ISO texts, and a date or time to compare it with: a date is the whole day."""
    when, wanted = seconds(column, dialect), seconds_of(value)
    if column.kind is Kind.DAY or DAY.fullmatch(value.strip()):
        return sql.floor(sql.over(when, sql.real(DAY_SECONDS))), sql.whole(math.floor(wanted / DAY_SECONDS))
    return when, sql.real(wanted)

"""When a value is missing, and which number it is: the rules for every column, as expressions that a database runs.

Which values were taken as missing, and in how many rows, is said in notes. Rows whose outcome was missing at first and
then followed up have one more key of the aggregate: their outcome column holds the answer; where it is missing, the
follow-up failed.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from truant.documents.cautions import AN_ARM
from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.logs import statement as sql
from truant.logs.forms import NUMBER, PLAIN, Form, listed
from truant.logs.statement import (
    Column,
    Kind,
    Rows,
    Sql,
    as_text,
    cases,
    double,
    if_else,
    is_in,
    is_nan,
    matches,
    nan,
    null_where,
    real,
    replaced,
    text,
    trimmed,
)
from truant.tables.request import MARKERS, NO, YES, Request

FOLLOWED_UP = "followed_up"  # key of the aggregate: 1 in rows that were followed up, else 0
NOTHING_SEEN = {"observed": 0, "sum": None, "squares": None, "cubes": None, "outcome": None}


def outcome_known(request: Request, rows: Rows) -> Sql:
    """Where a column says whether the outcome was observed: whether it was, or is the answer to a follow-up."""
    marks = ["observed"] if request.followed_up is None else ["observed", "followed_up"]
    return exp.or_(*(rows[f"number_{mark}"].eq(1) for mark in marks))


def seen_at_first(rows: Rows) -> Sql:
    """The outcome, NULL where it was missing at first."""
    if FOLLOWED_UP not in rows:
        return rows["clean"]
    return sql.if_else(rows[FOLLOWED_UP].eq(1), None, rows["clean"])


def split(cells: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All cells as they were at first, with the outcomes of follow-ups missing; and the cells of follow-ups."""
    kept = list(cells)
    asked = [cell for cell in kept if cell.get(FOLLOWED_UP)]
    if asked:
        kept = [cell | NOTHING_SEEN if cell.get(FOLLOWED_UP) else cell for cell in kept]
    return kept, asked


def check_follow_ups(request: Request, cells: Sequence[dict[str, Any]]) -> None:
    """Follow-ups of outcomes that were missing, some of them with an answer; or raises InvalidValue."""
    if request.followed_up is None:
        return
    name, outcome = request.followed_up, request.outcome
    asked = [cell for cell in cells if cell[FOLLOWED_UP]]
    rows = sum(cell["pulls"] for cell in asked)
    if not rows:
        raise InvalidValue(f"Column {name!r} of followed_up marks no row; leave out followed_up.")
    at_first = sum(cell["pulls"] for cell in asked if request.observed is not None and cell["seen"] == 1)
    if at_first:
        raise InvalidValue(
            f"followed_up must mark rows whose outcome was missing at first; in {at_first:,} of the {rows:,} rows that "
            f"{name!r} marks, {request.observed!r} says that it was observed."
        )
    if not sum(map(_outcomes, asked)):
        raise InvalidValue(
            f"None of the {rows:,} rows that {name!r} marks as followed up has an outcome; column {outcome!r} must "
            "hold the answers."
        )
    if not sum(_outcomes(cell) for cell in cells if not cell[FOLLOWED_UP]):
        raise InvalidValue(
            f"followed_up must mark rows whose outcome was missing at first; {name!r} marks every row that has an "
            "outcome, so it seems to mark observed rows."
        )


def _outcomes(cell: dict[str, Any]) -> int:
    """Rows of a cell that have an outcome."""
    return int(cell["observed"] if "observed" in cell else 0 if cell["outcome"] is None else cell["pulls"])


LARGEST_SINGLE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Rules:
    """Missing is NULL, NaN, or one of these numbers and texts."""

    numbers: tuple[float, ...]
    texts: tuple[str, ...]  # as they are spelled
    any_case: tuple[str, ...]  # in lower case, however they are spelled
    dialect: str

    @classmethod
    def of(
        cls,
        missing_values: Iterable[object],
        dialect: str,
        only_missing_values: Iterable[object] | None = None,
    ) -> Rules:
        """The rules for these missing values; text that is a number stands for the number too."""
        given = listed_texts("missing_values", missing_values)
        if only_missing_values is not None:
            given = (*listed_texts("only_missing_values", only_missing_values), *given)
        numbers = [number for text in given if (number := number_of(text)) is not None]
        any_case = MARKERS if only_missing_values is None else ("",)
        # in a column of single precision, -99.9 is another number
        singles = [single_precision(number) for number in numbers]
        return cls(tuple(dict.fromkeys([*numbers, *singles])), given, any_case, dialect)

    def is_missing(self, value: object) -> bool:
        """Whether a value that came to Python is missing."""
        if value is None or value != value:
            return True
        if isinstance(value, str):
            text = value.strip()
            return text in self.texts or text.lower() in self.any_case or number_of(text) in self.numbers
        return bool(self.numbers) and not isinstance(value, bool) and number_of(value) in self.numbers

    def known(self, column: Column) -> Column:
        """The column with NULL wherever it is missing, and texts without blanks around them."""
        sql, kind = column.sql, column.kind
        conditions = self._marks(sql) if kind is Kind.TEXT else []
        if kind is Kind.TEXT and self.numbers:
            conditions.append(is_in(self._parsed(sql, PLAIN), self.numbers))
        if kind.can_be_nan:
            conditions.append(is_nan(double(sql)))
        if kind.is_number and self.numbers:
            conditions.append(is_in(double(sql), self.numbers))
        return column.with_sql(null_where(conditions, trimmed(sql) if kind is Kind.TEXT else sql))

    def number(self, column: Column, but_for_nan: bool = False, form: Form = PLAIN) -> Sql:
        """The column as numbers, NULL where it is missing (NaN may be left in) or not a number."""
        sql, kind = column.sql, column.kind
        if kind is Kind.TEXT:
            value = self._parsed(sql, form)
            # of the markers, only what was listed can be a word or a number of some form
            conditions = [] if form == PLAIN or not self.texts else [is_in(trimmed(sql), self.texts)]
        else:
            value = double(exp.cast(sql, "int") if kind is Kind.BOOLEAN else sql)
            conditions = [is_nan(value)] if kind.can_be_nan and not but_for_nan else []
        if self._can_be_listed(kind, form):
            conditions.append(is_in(value, self.numbers))
        return null_where(conditions, value)

    def listed(self, column: Column, form: Form) -> Sql | None:
        """As plain text, the number that was listed as missing where the column has it in another form, as -99,00."""
        if form == PLAIN or column.kind is not Kind.TEXT or not self._can_be_listed(column.kind, form):
            return None
        value = self._parsed(column.sql, form)
        return if_else(is_in(value, self.numbers), as_text(value))

    def _can_be_listed(self, kind: Kind, form: Form) -> bool:
        """Whether the column can hold numbers that mean missing: `no` and `false` are not the number 0."""
        return bool(self.numbers) and not form.words and kind is not Kind.BOOLEAN

    def unread(self, column: Column, read: Sql, always: bool = False) -> Sql | None:
        """As text, what was not read: a marker or no number; None where that can only be NULL and NaN."""
        if column.kind is Kind.TEXT:
            return if_else(read, None, column.sql)
        if column.kind.is_number and (self.numbers or always):
            conditions = [is_nan(double(column.sql))] if column.kind.can_be_nan else []
            return null_where([read, *conditions], as_text(column.sql))
        return None

    def _marks(self, sql: Sql) -> list[Sql]:
        """When a text is a marker."""
        marks = [is_in(trimmed(sql), self.texts)] if self.texts else []
        return marks + ([is_in(exp.Lower(this=trimmed(sql)), self.any_case)] if self.any_case else [])

    def _parsed(self, sql: Sql, form: Form) -> Sql:
        """The number that a text of this form is."""
        written = replaced(trimmed(sql), form.replacements)
        if form.words:
            word = exp.Lower(this=written)
            return cases((is_in(word, YES), real(1)), (is_in(word, NO), real(0)))
        if self.dialect == "duckdb":  # three times as fast; 1_000 would be a number, and nan one
            plain = if_else(exp.func("CONTAINS", written, text("_")), None, written)
            return exp.Nullif(this=exp.TryCast(this=plain, to=exp.DataType.build("double")), expression=nan())
        # a cast would fail on the first text, or make it 0
        return if_else(matches(written, NUMBER), double(written))


def number_of(value: Any) -> float | None:
    """The number that a plain value or text is; None if it is none."""
    try:
        number = float("nan" if isinstance(value, str) and ("_" in value or not value.isascii()) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def single_precision(number: float) -> float:
    """The nearest number that a column of single precision can hold."""
    return float(np.float32(number)) if abs(number) <= LARGEST_SINGLE else number


def listed_texts(name: str, values: object) -> tuple[str, ...]:
    """These values as texts, each once; or raises InvalidValue where they are no list."""
    try:
        each = () if isinstance(values, str | bytes) else iter(values)  # type: ignore[call-overload]
    except TypeError:  # an array of no dimension is iterable by its class alone
        each = ()
    if each == ():
        raise InvalidValue(f"{name} must be a list of values, got {values!r}.")
    return tuple(dict.fromkeys(str(value).strip() for value in each))


Markers = dict[str, dict[str, int]]  # column -> marker -> rows
EMPTY = "empty"  # NULL, NaN of numbers, blanks
MOST_SHOWN = 6
# what programs and people write where something is missing, though it can be a label
DOUBTFUL = (
    r"#null! #value! #ref! #div/0! #name? #num! <na> nat (null) (blank) \n . -- – — ? ?? n.a. n/d n.d. k.a. nil "
    "undefined unknown unk missing unbekannt"
)
DOUBTFUL_WORDS = ("keine angabe", "not known", "not available", "not applicable", "not set", "(not set)")


def mark_missing(request: Request, cells: Sequence[dict[str, Any]], rules: Rules) -> None:
    """Make arms and mediators that are missing None, and keep as `missing` what stood there: column, marker, rows.

    Mediators and outcomes count only in rows that have an arm.
    """
    mediators = [(f"mediator_{i}", part) for i, part in enumerate(request.mediators)]
    roles = ["arm", *(role for role, part in mediators if not part.classes)]
    missing = {  # looked up, since there may be hundreds of thousands of cells
        role: {value for value in {cell[role] for cell in cells} if rules.is_missing(value)} for role in roles
    }
    for cell in cells:
        found: dict[str, tuple[str, int]] = {}
        has_arm = cell["arm"] not in missing["arm"]
        for role, part in mediators:
            text = cell.get(f"unread_{role}") if part.classes else cell[role]
            if cell[role] is None or (not part.classes and cell[role] in missing[role]):
                cell[role] = None
                found.setdefault(part.column, (_label(text), cell["pulls"]))
        if has_arm:
            _mark_outcome(request, cell, found)
        else:
            found = {request.arm: (_label(cell["arm"]), cell["pulls"])}
            cell["arm"] = None
        cell["missing"] = found


def _mark_outcome(request: Request, cell: dict[str, Any], found: dict[str, tuple[str, int]]) -> None:
    """Add what stood where the outcome, or the word whether it was observed, is missing."""
    if request.observed is not None and cell["seen"] is None:
        found[request.observed] = _label(cell.get("unread_observed")), cell["pulls"]
    if request.observed is None or cell["seen"] == 1 or cell.get(FOLLOWED_UP):
        hidden = cell["pulls"] - cell.get("observed", 0 if cell.get("outcome") is None else cell["pulls"])
        if hidden:
            found[request.outcome] = _label(cell.get("unread_outcome")), hidden


def count_markers(cells: Sequence[Mapping[str, Any]]) -> Markers:
    """Of each column, how many rows each marker has, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for cell in cells:
        for name, (marker, rows) in cell["missing"].items():
            found.setdefault(name, Counter())[marker] += rows
    return {
        name: dict(sorted((+counter).items(), key=lambda item: (-item[1], item[0])))
        for name, counter in found.items()
        if counter.total()
    }


def marker_notes(found: Markers) -> list[str]:
    """What was taken as missing, a short sentence for each column."""
    sentences = []
    for name, rows in found.items():
        shown = [f"{count:,} {marker}" for marker, count in list(rows.items())[:MOST_SHOWN]]
        more = [f"{len(rows) - MOST_SHOWN} more"] if len(rows) > MOST_SHOWN else []
        sentences.append(f"missing in {name!r}: {', '.join([*shown, *more])}")
    return sentences


def blanks_note(column: str) -> str:
    """What is said of a column whose texts had blanks around them."""
    return f"{column!r}: blanks around texts were left out"


def marker_doubts(request: Request, cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels that may mean missing, though they are none of the markers: a short sentence for each column."""
    roles = {"arm": request.arm}
    roles |= {f"mediator_{i}": part.column for i, part in enumerate(request.mediators) if not part.classes}
    roles |= {} if request.by is None else {"group": request.by}
    sentences, doubtful = [], {*DOUBTFUL.split(), *DOUBTFUL_WORDS}
    for role, name in roles.items():
        labels = {cell[role] for cell in cells if isinstance(cell[role], str)}
        found = sorted(label for label in labels if label.strip().lower() in doubtful)
        if found:
            option = shlex.quote("--missing-values=" + ",".join(found))
            sentences.append(
                f"{listed(found)} of {name!r} may mean missing: if so, say missing_values={found!r} ({option})"
            )
    return list(dict.fromkeys(sentences))  # a column may be mediator and `by`


def check_arms_read(request: Request, arms: Sequence[Any], found: Markers) -> None:
    """At least two arms, unless one of them is a word that was taken as missing."""
    words = _words(request, found)
    if len(arms) < 2 and words:
        held = f"only {arms[0]!r}" if arms else "nothing"
        raise InvalidValue(
            f"At least two arms are needed to compare, column {request.arm!r} holds {held} beside "
            f"{listed(words)}, which means missing; {AN_ARM}."
        )


def marker_warnings(request: Request, found: Markers, rules: Rules) -> list[Caution]:
    """Rows whose arm was taken as missing though it may be a name."""
    words = [word for word in _words(request, found) if word not in rules.texts]
    rows = sum(found[request.arm][word] for word in words)
    if not rows:
        return []
    return [Caution("missing-arm", value=float(rows), facts={"column": request.arm, "words": words})]


def _words(request: Request, found: Markers) -> list[str]:
    return [word for word in found.get(request.arm, {}) if word.lower() in MARKERS]


def _label(value: Any) -> str:
    if value is None or value != value:
        return EMPTY
    text = str(value).strip()
    return text.removesuffix(".0") or EMPTY

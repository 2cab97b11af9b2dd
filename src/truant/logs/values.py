"""When a value is missing, and which number it is: the rules for every column, as expressions that a database runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.errors import InvalidValue
from truant.logs.forms import NUMBER, PLAIN, Form
from truant.tables.words import MARKERS, NO, YES

BLANKS = " \t\n\r\v\f"  # around texts they do not count; what databases strip
LARGEST_SINGLE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Rules:
    """Missing is NULL, NaN, or one of these numbers and texts."""

    numbers: tuple[float, ...]
    texts: tuple[str, ...]  # as they are spelled
    any_case: tuple[str, ...]  # in lower case, however they are spelled
    backend: str  # its name: not all can do all

    @classmethod
    def of(
        cls,
        missing_values: Iterable[object],
        backend: str,
        only_missing_values: Iterable[object] | None = None,
    ) -> Rules:
        """The rules for these missing values; text that is a number stands for the number too."""
        given = _texts("missing_values", missing_values)
        if only_missing_values is not None:
            given = (*_texts("only_missing_values", only_missing_values), *given)
        numbers = [number for text in given if (number := number_of(text)) is not None]
        any_case = MARKERS if only_missing_values is None else ("",)
        # in a column of single precision, -99.9 is another number
        singles = [single_precision(number) for number in numbers]
        return cls(tuple(dict.fromkeys([*numbers, *singles])), given, any_case, backend)

    def is_missing(self, value: object) -> bool:
        """Whether a value that came to Python is missing."""
        if value is None or value != value:
            return True
        if isinstance(value, str):
            text = value.strip()
            return text in self.texts or text.lower() in self.any_case or number_of(text) in self.numbers
        return bool(self.numbers) and not isinstance(value, bool) and number_of(value) in self.numbers

    def known(self, column: Any) -> Any:
        """The column with NULL wherever it is missing, and texts without blanks around them."""
        kind = column.type()
        conditions = self._marks(column) if kind.is_string() else []
        if kind.is_string() and self.numbers:
            conditions.append(self._parsed(column, PLAIN).isin(self.numbers))
        if kind.is_floating():
            conditions.append(column.isnan())
        if kind.is_numeric() and self.numbers:
            conditions.append(column.cast("float64").isin(self.numbers))
        return _null_where(conditions, column.strip() if kind.is_string() else column)

    def number(self, column: Any, but_for_nan: bool = False, form: Form = PLAIN) -> Any:
        """The column as numbers, NULL where it is missing (NaN may be left in) or not a number."""
        kind = column.type()
        if kind.is_string():
            value = self._parsed(column, form)
            # of the markers, only what was listed can be a word or a number of some form
            conditions = [] if form == PLAIN or not self.texts else [column.strip().isin(self.texts)]
        else:
            value = (column.cast("int32") if kind.is_boolean() else column).cast("float64")
            can_be_nan = kind.is_floating() and not but_for_nan
            conditions = [value.isnan()] if can_be_nan else []
        if self._can_be_listed(kind, form):
            conditions.append(value.isin(self.numbers))
        return _null_where(conditions, value)

    def listed(self, column: Any, form: Form) -> Any | None:
        """As plain text, the number that was listed as missing where the column has it in another form, as -99,00."""
        import ibis

        if form == PLAIN or not column.type().is_string() or not self._can_be_listed(column.type(), form):
            return None
        value = self._parsed(column, form)
        return ibis.ifelse(value.isin(self.numbers), value.cast("string"), None)

    def _can_be_listed(self, kind: Any, form: Form) -> bool:
        """Whether the column can hold numbers that mean missing: `no` and `false` are not the number 0."""
        return bool(self.numbers) and not form.words and not kind.is_boolean()

    def unread(self, column: Any, read: Any, always: bool = False) -> Any | None:
        """As text, what was not read: a marker or no number; None where that can only be NULL and NaN."""
        import ibis

        kind = column.type()
        if kind.is_string():
            return ibis.ifelse(read, None, column)
        if kind.is_numeric() and (self.numbers or always):
            return ibis.ifelse(read, None, self._without_nan(column).cast("string"))
        return None

    def _without_nan(self, column: Any) -> Any:
        can_be_nan = column.type().is_floating()
        return _null_where([column.isnan()] if can_be_nan else [], column)

    def _marks(self, column: Any) -> list[Any]:
        """When a text is a marker."""
        text = column.strip()
        marks = [text.isin(self.texts)] if self.texts else []
        return marks + ([text.lower().isin(self.any_case)] if self.any_case else [])

    def _parsed(self, column: Any, form: Form) -> Any:
        """The number that a text of this form is."""
        import ibis

        text = column.strip()
        for old, new in form.replacements:
            text = text.replace(old, new)
        if form.words:
            word = text.lower()
            return ibis.cases((word.isin(YES), 1), (word.isin(NO), 0)).cast("float64")
        if self.backend == "duckdb":  # where NaN equals NaN; 1_000 would be a number
            return ibis.ifelse(text.contains("_"), None, text).try_cast("float64").nullif(float("nan"))
        # a cast would fail on the first text, or make it 0
        return ibis.ifelse(text.re_search(NUMBER), text, None).cast("float64")


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


def _null_where(conditions: list[Any], value: Any) -> Any:
    import ibis

    if not conditions:
        return value
    missing = conditions[0]
    for condition in conditions[1:]:
        missing = missing | condition
    return ibis.ifelse(missing, None, value)


def _texts(name: str, values: object) -> tuple[str, ...]:
    try:
        each = () if isinstance(values, str | bytes) else iter(values)  # type: ignore[call-overload]
    except TypeError:  # an array of no dimension is iterable by its class alone
        each = ()
    if each == ():
        raise InvalidValue(f"{name} must be a list of values, got {values!r}.")
    return tuple(dict.fromkeys(str(value).strip() for value in each))

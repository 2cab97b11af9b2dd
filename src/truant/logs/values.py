"""When a value is missing, and which number it is: the rules for every column, as expressions that a database runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from truant.errors import InvalidValue

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Rules:
    """Missing is NULL, NaN, blank, or one of these numbers and texts."""

    numbers: tuple[float, ...]
    texts: tuple[str, ...]
    backend: str  # its name: not all can do all

    @classmethod
    def of(cls, missing_values: Iterable[object], backend: str) -> Rules:
        """The rules for these missing values; text that is a number stands for the number too."""
        if isinstance(missing_values, str | bytes) or not isinstance(missing_values, Iterable):
            raise InvalidValue(f"missing_values must be a list of values, got {missing_values!r}.")
        texts = tuple(dict.fromkeys(str(value).strip() for value in missing_values))
        return cls(tuple(n for n in map(_number, texts) if n is not None), texts, backend)

    def known(self, column: Any) -> Any:
        """The column with NULL wherever it is missing."""
        conditions = self._conditions(column)
        return _null_where(conditions, column)

    def number(self, column: Any, but_for_nan: bool = False) -> Any:
        """The column as numbers, NULL where it is missing (NaN may be left in) or not a number."""
        kind = column.type()
        if kind.is_string():
            return _null_where(self._conditions(column), self._parsed(column))
        value = (column.cast("int8") if kind.is_boolean() else column).cast("float64")
        can_be_nan = kind.is_floating() and not but_for_nan
        return _null_where(self._conditions(value, can_be_nan), value)

    def stray(self, column: Any, allowed: Sequence[float] = ()) -> Any | None:
        """As text, what is neither missing nor a number (or not an allowed one); None where the type rules it out."""
        import ibis

        if allowed:
            value = self.number(column)
            wrong = value.notnull() & value.notin(allowed)
        else:
            wrong = None
        if column.type().is_string():
            not_a_number = self.known(column).notnull() & self._parsed(column).isnull()
            not_a_number &= column.strip().lower() != "nan"
            wrong = not_a_number if wrong is None else not_a_number | wrong
        return None if wrong is None else ibis.ifelse(wrong, column.cast("string"), None)

    def _conditions(self, column: Any, can_be_nan: bool = True) -> list[Any]:
        """When a value that is not NULL is missing all the same."""
        kind = column.type()
        conditions = []
        if kind.is_string():
            conditions.append(column.strip().isin(["", *self.texts]))
            if self.numbers:
                conditions.append(self._parsed(column).isin(self.numbers))
        if kind.is_floating() and can_be_nan and self.backend != "sqlite":  # which has no NaN
            conditions.append(column.isnan())
        if kind.is_numeric() and self.numbers:
            conditions.append(column.cast("float64").isin(self.numbers))
        return conditions

    def _parsed(self, column: Any) -> Any:
        """The number that a text is; true and false are 1 and 0."""
        import ibis

        text = column.strip()
        if self.backend == "duckdb":
            number = text.try_cast("float64")
            number = ibis.ifelse(number.isnan(), None, number)
        else:  # a cast would fail on the first text, or make it 0
            number = ibis.ifelse(text.re_search(NUMBER), text, None).cast("float64")
        return ibis.cases((text.lower() == "true", 1.0), (text.lower() == "false", 0.0), else_=number)


def _null_where(conditions: list[Any], value: Any) -> Any:
    import ibis

    if not conditions:
        return value
    missing = conditions[0]
    for condition in conditions[1:]:
        missing = missing | condition
    return ibis.ifelse(missing, None, value)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number

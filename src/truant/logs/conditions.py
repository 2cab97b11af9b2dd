"""The conditions of a filter, and the Ibis expression that they are, by the types of the columns."""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truant.errors import InvalidValue
from truant.logs.values import Rules, single_precision

Literal = str | int | float | bool
SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Condition:
    """What is asked of one column: an operator (or "in", "between", "missing") with its values."""

    column: str
    operator: str
    values: tuple[Literal, ...] = ()


@dataclass(frozen=True)
class Joined:
    """Conditions joined by "and", "or" or "not"."""

    operator: str
    parts: tuple[Condition | Joined, ...]


Tree = Condition | Joined


def conditions_in(tree: Tree) -> list[Condition]:
    """The conditions that a filter is made of."""
    return [tree] if isinstance(tree, Condition) else [c for part in tree.parts for c in conditions_in(part)]


def expression(tree: Tree, columns: Mapping[str, Any], rules: Rules) -> Any:
    """The filter as an Ibis expression on these columns."""
    import ibis

    if isinstance(tree, Condition):
        column = columns[tree.column]
        if tree.operator == "missing":
            return rules.known(column).isnull()
        return _comparison(tree.column, column, tree.operator, tree.values, rules)
    parts = [expression(part, columns, rules) for part in tree.parts]
    if tree.operator == "not":
        return ~parts[0]
    return ibis.and_(*parts) if tree.operator == "and" else ibis.or_(*parts)


def needs_numbers(column: Any, condition: Condition) -> bool:
    """Whether a text column is read as numbers in this condition."""
    return bool(column.type().is_string()) and any(not isinstance(value, str) for value in condition.values)


def _comparison(name: str, column: Any, sign: str, values: Sequence[Literal], rules: Rules) -> Any:
    """The column compared with the values, unknown where it is missing; or raises InvalidValue on a clash of types."""
    if sign == "in":
        import ibis

        return ibis.or_(*(_comparison(name, column, "=", (value,), rules) for value in values))
    if sign == "between":
        low, high = values
        return _comparison(name, column, ">=", (low,), rules) & _comparison(
            name, column, "<=", (high,), rules
        )
    left, right = _sides(name, column, values[0], rules)
    return SIGNS[sign](left, right)


def _sides(name: str, column: Any, value: Literal, rules: Rules) -> tuple[Any, Any]:
    kind = column.type()
    if kind.is_date() or kind.is_timestamp():
        return _moments(name, column, value, rules)
    if kind.is_string() and isinstance(value, str):
        return rules.known(column), value
    if not (kind.is_string() or kind.is_numeric() or kind.is_boolean()):
        raise InvalidValue(
            f"Column {name!r} of type {kind} cannot be compared in a filter, only 'is missing'."
        )
    if isinstance(value, str):
        what = "true or false" if kind.is_boolean() else "numbers"
        raise InvalidValue(
            f"Column {name!r} holds {what}, the filter compares it with the text {value!r}; "
            "write the value without quotes."
        )
    if kind.is_integer() and isinstance(value, int) and not isinstance(value, bool):
        return rules.known(column), value  # as numbers with a point, large ones would lose digits
    number = float(value)
    return rules.number_or_word(column), single_precision(number) if kind.is_float32() else number


def _moments(name: str, column: Any, value: Literal, rules: Rules) -> tuple[Any, Any]:
    """Days with days, moments with moments: '2024-03-01' is the whole day, so that <= includes it."""
    import ibis

    try:
        moment = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise InvalidValue(
            f"Column {name!r} holds dates, the filter compares it with {value!r}; write a date in single quotes, "
            "as in '2024-03-01' or '2024-03-01 18:30'."
        )
    known = rules.known(column)
    kind = column.type()
    if kind.is_timestamp() and kind.timezone is not None:
        known = known.cast("timestamp('UTC')").cast("timestamp")
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    if kind.is_date() or DAY.fullmatch(str(value)):
        return (known if kind.is_date() else known.date()), ibis.literal(moment.date())
    return known, ibis.literal(moment)

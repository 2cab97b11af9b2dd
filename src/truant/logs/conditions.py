"""The conditions of a filter, and the Ibis expression that they are, by the types of the columns."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truant.errors import InvalidValue
from truant.logs.forms import PLAIN, Form
from truant.logs.moments import DAY, OTHER_DATE, is_iso, moment, sides
from truant.logs.values import BLANKS, Rules, single_precision

Literal = str | int | float | bool
SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NO_FORMS: Mapping[str, Form] = {}


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


def expression(
    tree: Tree, columns: Mapping[str, Any], rules: Rules, forms: Mapping[str, Form] = NO_FORMS
) -> Any:
    """The filter as an Ibis expression on these columns; `forms` says how numbers in texts are written, by column."""
    import ibis

    if isinstance(tree, Condition):
        column = columns[tree.column]
        if tree.operator == "missing":
            return rules.known(column).isnull()
        return _condition(tree, column, rules, forms.get(tree.column, PLAIN))
    parts = [expression(part, columns, rules, forms) for part in tree.parts]
    if tree.operator == "not":
        return ~parts[0]
    return ibis.and_(*parts) if tree.operator == "and" else ibis.or_(*parts)


def needs_numbers(column: Any, condition: Condition) -> bool:
    """Whether a text column is read as numbers in this condition."""
    return bool(column.type().is_string()) and any(not isinstance(value, str) for value in condition.values)


def needs_times(column: Any, condition: Condition) -> bool:
    """Whether a text column is read as dates and times in this condition."""
    return bool(column.type().is_string() and condition.values) and all(map(is_iso, condition.values))


def _condition(condition: Condition, column: Any, rules: Rules, form: Form) -> Any:
    """What is asked of the column, unknown where it is missing; or raises InvalidValue on a clash of types."""
    import ibis

    sign, values = condition.operator, condition.values
    signs = {"between": (">=", "<="), "in": ("=",) * len(values)}.get(sign, (sign,))
    times = needs_times(column, condition)
    if not times and sign not in ("=", "!=", "in"):
        _check_dates(condition, column)
    parts = []
    for one, value in zip(signs, values, strict=True):
        pair = (
            sides(column, str(value), rules)
            if times
            else _sides(condition.column, column, value, rules, form)
        )
        parts.append(SIGNS[one](*pair))
    return ibis.or_(*parts) if sign == "in" else ibis.and_(*parts)


def _check_dates(condition: Condition, column: Any) -> None:
    """No order among dates whose day or month comes first."""
    for value in condition.values:
        if column.type().is_string() and isinstance(value, str) and OTHER_DATE.fullmatch(value.strip()):
            raise InvalidValue(
                f"The filter compares column {condition.column!r} with {value!r}; write dates as '2024-03-01', in the "
                "filter and in the column."
            )


def _sides(name: str, column: Any, value: Literal, rules: Rules, form: Form) -> tuple[Any, Any]:
    kind = column.type()
    if kind.is_date() or kind.is_timestamp():
        return _moments(name, column, value, rules)
    if kind.is_string() and isinstance(value, str):
        return rules.known(column), value.strip(BLANKS)
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
    return rules.number(column, form=form), single_precision(number) if kind.is_float32() else number


def _moments(name: str, column: Any, value: Literal, rules: Rules) -> tuple[Any, Any]:
    """Days with days, moments with moments: '2024-03-01' is the whole day, so that <= includes it."""
    import ibis

    try:
        when = moment(value) if isinstance(value, str) else None
    except ValueError:
        when = None
    if when is None:
        raise InvalidValue(
            f"Column {name!r} holds dates, the filter compares it with {value!r}; write a date in single quotes, "
            "as in '2024-03-01' or '2024-03-01 18:30'."
        )
    known = rules.known(column)
    kind = column.type()
    if kind.is_timestamp() and kind.timezone is not None:
        known = known.cast("timestamp('UTC')").cast("timestamp")
    if kind.is_date() or DAY.fullmatch(str(value).strip()):
        return (known if kind.is_date() else known.date()), ibis.literal(when.date())
    return known, ibis.literal(when)

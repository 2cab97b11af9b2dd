"""The values in a study file: what is set, what varies, and spans."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truant.errors import InvalidValue, unknown
from truant.setting import LARGEST, whole_number
from truant.sweeps.study import Axis, at, shown
from truant.text import label, quoted
from truant.worlds.draws import number

SPAN_KEYS = ("from", "to", "steps", "scale")
MOST_VALUES = 10_000  # of one thing that varies
DEEPEST = 10  # lists within lists


def settings_of(table: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Axis, ...]]:
    """What is set, and what varies."""
    fixed, vary = table.get("set", {}), table.get("vary", {})
    for key, value in (("set", fixed), ("vary", vary)):
        if not isinstance(value, Mapping):
            raise InvalidValue(f"{key} must be a table, e.g. {key} = {{ gamma = 0.5 }}, got {quoted(value)}.")
        for name in value:
            check_text(f"a name in {key}", name)
    fixed = {key: _checked_value(f"set.{label(key)}", value) for key, value in fixed.items()}
    axes = []
    for key, value in vary.items():
        with at(f"vary.{label(key)}"):
            names = [name.strip() for name in key.split(",")]
            if "" in names:
                raise InvalidValue(
                    'a name is empty; write the parameters with a comma between two, as in "K,L".'
                )
            axes.append(Axis(",".join(names), values_of(value)))
            check_different(axes[-1].values)
    names = [*fixed, *(name for axis in axes for name in axis.name.split(","))]
    if (twice := _first_twice(names)) is not None:
        raise InvalidValue(f"{label(twice)} is given twice; a parameter is either set or varied, once.")
    return fixed, tuple(axes)


def values_of(value: Any) -> tuple[Any, ...]:
    """A list of values, or a span {from, to, steps, scale}."""
    if isinstance(value, Mapping):
        return _span(value)
    if not isinstance(value, list) or not value:
        raise InvalidValue(
            f"must be a list of values, or {{ from = 0.1, to = 1.0, steps = 10 }}, got {quoted(value)}."
        )
    _check_number("values", len(value))
    return tuple(_checked_value("a value", item) for item in value)


def _span(table: Mapping[str, Any]) -> tuple[float, ...]:
    check_keys(table, SPAN_KEYS, "a span")
    for key in ("from", "to", "steps"):
        if key not in table:
            raise InvalidValue(f"a span needs {key}, e.g. {{ from = 0.1, to = 1.0, steps = 10 }}.")
    low, high = (number(end, table[end]) for end in ("from", "to"))
    steps = whole_number("steps", table["steps"], at_least=2)
    scale = table.get("scale", "linear")
    if not isinstance(scale, str) or scale not in ("linear", "log"):
        raise InvalidValue(f"scale must be 'linear' or 'log', got {quoted(scale)}.")
    if scale == "log" and min(low, high) <= 0:
        raise InvalidValue(f"a logarithmic span must be above 0, got {low:g} to {high:g}.")
    if not math.isfinite(high - low):
        raise InvalidValue(f"a span must have a finite width, got {low:g} to {high:g}.")
    _check_number("steps", steps)
    numbers = np.geomspace(low, high, steps) if scale == "log" else np.linspace(low, high, steps)
    rounded = [float(f"{value:.12g}") for value in numbers]  # .3 and not .30000000000000004
    # beyond LARGEST a whole number would not fit into a table
    return tuple(int(value) if value.is_integer() and abs(value) <= LARGEST else value for value in rounded)


def _check_number(what: str, count: int) -> None:
    if count > MOST_VALUES:
        raise InvalidValue(f"{what} must be at most {MOST_VALUES:,}, got {count:,}; vary it in fewer steps.")


def _checked_value(name: str, value: Any, depth: int = 0) -> Any:
    """A number, a text, true or false, or a list of them, as a tuple."""
    if isinstance(value, list):
        if depth == DEEPEST:
            raise InvalidValue(f"{name} has more than {DEEPEST} lists within each other; use fewer.")
        return tuple(_checked_value(name, item, depth + 1) for item in value)
    if isinstance(value, str):
        return check_text(name, value)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InvalidValue(f"{name} must be at most {LARGEST:,} as a whole number; write it as 1e30, or so.")
    if not isinstance(value, bool | int | float):
        raise InvalidValue(
            f"{name} must be a number, a text, true, false or a list of these, got {quoted(value)}."
        )
    return value


def check_text(name: str, value: Any) -> str:
    """The value, if it is a text that can be written to a file; or raises InvalidValue."""
    if not isinstance(value, str):
        raise InvalidValue(f"{name} must be a text, got {quoted(value)}.")
    try:
        value.encode()
    except UnicodeEncodeError:  # Python's texts may hold halves of characters
        raise InvalidValue(f"{name} must be a text that UTF-8 can write, got {quoted(value)}.") from None
    return value


def check_different(values: Sequence[Any]) -> None:
    """No value twice."""
    if (twice := _first_twice(values)) is not None:
        raise InvalidValue(f"{label(shown(twice))} is listed twice; list each once.")


def _first_twice(values: Iterable[Hashable]) -> Any:
    """The first value that was there before; None if all differ."""
    seen = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def check_keys(table: Mapping[str, Any], keys: Sequence[str], of: str) -> None:
    """No key that means nothing."""
    for key in table:
        if key not in keys:
            raise unknown(f"key of {of}:", key, keys)

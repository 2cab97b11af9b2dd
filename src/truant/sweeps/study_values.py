"""The values in a study file: what is set, what varies, and spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truant.errors import InvalidValue, unknown
from truant.setting import LARGEST, whole_number
from truant.sweeps.study import Axis, at, shown
from truant.worlds.draws import number

SPAN_KEYS = ("from", "to", "steps", "scale")
MOST_STEPS = 1_000_000  # of a span


def settings_of(table: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Axis, ...]]:
    """What is set, and what varies."""
    fixed, vary = table.get("set", {}), table.get("vary", {})
    for key, value in (("set", fixed), ("vary", vary)):
        if not isinstance(value, Mapping):
            raise InvalidValue(f"{key} must be a table, e.g. {key} = {{ gamma = 0.5 }}, got {value!r}.")
    fixed = {key: _checked_value(f"set.{key}", value) for key, value in fixed.items()}
    axes = []
    for key, value in vary.items():
        with at(f"vary.{key}"):
            axes.append(Axis(",".join(part.strip() for part in key.split(",")), values_of(value)))
            check_different(axes[-1].values)
    names = [*fixed, *(name for axis in axes for name in axis.name.split(","))]
    for name in names:
        if names.count(name) > 1:
            raise InvalidValue(f"{name} is given twice; a parameter is either set or varied, once.")
    return fixed, tuple(axes)


def values_of(value: Any) -> tuple[Any, ...]:
    """A list of values, or a span {from, to, steps, scale}."""
    if isinstance(value, Mapping):
        return _span(value)
    if not isinstance(value, list) or not value:
        raise InvalidValue(
            f"must be a list of values, or {{ from = 0.1, to = 1.0, steps = 10 }}, got {value!r}."
        )
    return tuple(_checked_value("a value", item) for item in value)


def _span(table: Mapping[str, Any]) -> tuple[float, ...]:
    check_keys(table, SPAN_KEYS, "a span")
    for key in ("from", "to", "steps"):
        if key not in table:
            raise InvalidValue(f"a span needs {key}, e.g. {{ from = 0.1, to = 1.0, steps = 10 }}.")
    low, high = (number(end, table[end]) for end in ("from", "to"))
    steps = whole_number("steps", table["steps"], at_least=2)
    scale = table.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise InvalidValue(f"scale must be 'linear' or 'log', got {scale!r}.")
    if scale == "log" and min(low, high) <= 0:
        raise InvalidValue(f"a logarithmic span must be above 0, got {low:g} to {high:g}.")
    if steps > MOST_STEPS:
        raise InvalidValue(f"steps must be at most {MOST_STEPS:,}, got {steps:,}.")
    numbers = np.geomspace(low, high, steps) if scale == "log" else np.linspace(low, high, steps)
    rounded = [float(f"{value:.12g}") for value in numbers]  # .3 and not .30000000000000004
    return tuple(int(value) if value.is_integer() else value for value in rounded)


def _checked_value(name: str, value: Any) -> Any:
    """A number, a text, true or false, or a list of them, as a tuple."""
    if isinstance(value, list):
        return tuple(_checked_value(name, item) for item in value)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InvalidValue(f"{name} must be at most {LARGEST:,} as a whole number; write it as 1e30, or so.")
    if not isinstance(value, bool | int | float | str):
        raise InvalidValue(f"{name} must be a number, a text, true, false or a list of these, got {value!r}.")
    return value


def check_different(values: Sequence[Any]) -> None:
    """No value twice."""
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise InvalidValue(f"{shown(twice)} is there twice; name each once.")


def check_keys(table: Mapping[str, Any], keys: Sequence[str], of: str) -> None:
    """No key that means nothing."""
    for key in table:
        if key not in keys:
            raise unknown(f"key of {of}:", key, keys)

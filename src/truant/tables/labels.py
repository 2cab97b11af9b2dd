"""What the codes of arms and mediator levels mean, in the user's own words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from truant.tables.request import MediatorColumn

MISSING_GROUP = "(missing)"
PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # 007 is a name


def in_order(values: Iterable[Any], untyped: bool) -> dict[Any, Any]:
    """Each value with its label, sorted by label: numbers as numbers, text as text.

    In an untyped source (CSV) values are numbers if all of them are written as different numbers.
    """
    found = list(values)
    if untyped and all(isinstance(value, str) and PLAIN_NUMBER.fullmatch(value) for value in found):
        numbers = {value: _whole_as_integer(float(value)) for value in found}
        labels = numbers if len(set(numbers.values())) == len(found) else {value: value for value in found}
    else:
        labels = {value: _whole_as_integer(value) for value in found}
    try:
        return dict(sorted(labels.items(), key=lambda item: item[1]))
    except TypeError:  # of types that do not compare
        return dict(sorted(labels.items(), key=lambda item: str(item[1])))


def group_labels(values: Iterable[Any], untyped: bool) -> dict[Any, str]:
    """Each value of a column that divides rows with its label, in order; those of missing values come last."""
    found = set(values)
    labels = {value: str(label) for value, label in in_order(found - {None}, untyped).items()}
    if None in found:
        labels[None] = MISSING_GROUP + " " * (MISSING_GROUP in labels.values())  # a text may be spelt so
    return labels


def mediator_levels(
    levels: Iterable[tuple[Any, ...]],
    mediators: Sequence[MediatorColumn],
    cuts: Sequence[tuple[float, ...]],
    untyped: bool,
) -> dict[tuple[Any, ...], str]:
    """Each combination that occurs with its label, in order of the first column, then the second, ..."""
    found = list(levels)
    words: list[dict[Any, str]] = []
    for i, mediator in enumerate(mediators):
        labels = in_order({level[i] for level in found}, untyped and not mediator.classes)
        if mediator.classes:
            words.append({code: interval(mediator.column, cuts[i], code) for code in labels})
        elif len(mediators) == 1:
            words.append({value: str(label) for value, label in labels.items()})
        else:
            words.append({value: f"{mediator.column}={label}" for value, label in labels.items()})
    ranks = [{value: rank for rank, value in enumerate(labels)} for labels in words]
    found.sort(key=lambda level: [ranks[i][value] for i, value in enumerate(level)])
    return {level: ", ".join(words[i][value] for i, value in enumerate(level)) for level in found}


def interval(column: str, points: Sequence[float], code: int) -> str:
    """The class in words, such as `286 < cd420 <= 377`."""
    if not points:
        return column
    shown = [written(point) for point in points]
    if len(set(shown)) < len(shown):
        shown = [repr(point) for point in points]
    if code == len(points):
        return f"{column} > {shown[-1]}"
    below = f"{shown[code - 1]} < " if code else ""
    return f"{below}{column} <= {shown[code]}"


def written(number: float) -> str:
    """A number as a reader would write it."""
    return str(_whole_as_integer(number)) if number == int(number) else f"{number:.6g}"


def _whole_as_integer(value: Any) -> Any:
    """Whole floats as integers: a column of 1, 2 and NaN comes as floats."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 2**53:
        return int(value)
    return value

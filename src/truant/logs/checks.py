"""What cannot be analysed, each in one sentence: what was expected, what came, what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from truant.errors import InvalidValue
from truant.logs.refusals import dates, not_numbers
from truant.logs.shapes import Shape
from truant.logs.text_columns import YES_OR_NO
from truant.logs.values import Rules
from truant.setting import LARGEST_OUTCOME
from truant.tables.request import Request

MOST_GROUPS = 50


def check_types(request: Request, picked: Any, durations: Collection[str] = ()) -> None:
    """Numbers where numbers are needed, plain values elsewhere; `durations` look like numbers and are none."""
    numeric = {
        "outcome",
        "observed",
        "followed_up",
        "probability",
        *(f"mediator_{i}" for i, part in enumerate(request.mediators) if part.classes),
    }
    for role, name in request.names().items():
        kind = picked[role].type()
        fits = kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_null()
        if role == "followed_up" and (not fits or name in durations):
            raise InvalidValue(
                f"Column {name!r} of followed_up must be yes or no, true or false, or 1 or 0; got {_plain_type(kind)}."
            )
        if role in numeric and name in durations:
            raise InvalidValue(dates(name, "got a duration"))
        if role in numeric and (kind.is_temporal() or kind.is_interval()):
            raise InvalidValue(dates(name, f"got {kind}"))
        if role in numeric and not fits:
            raise InvalidValue(
                f"Column {name!r} must be numbers, got {_plain_type(kind)}; name another column."
            )
        if kind.is_nested():
            raise InvalidValue(f"Column {name!r} must hold plain values, got {kind}; name another column.")


def _plain_type(kind: Any) -> str:
    """The type as the database calls it, where Ibis does not know it."""
    raw = getattr(kind, "raw_type", None)
    return str(getattr(raw, "sql", lambda: kind)()).lower() if kind.is_unknown() else str(kind)


def check_finite(outcome: str, low: float, high: float) -> None:
    """Outcomes whose squares are numbers."""
    if math.isinf(low) or math.isinf(high):
        raise InvalidValue(
            f"Outcomes must be finite numbers or missing, {outcome!r} holds an infinite one; "
            "if that stands for missing, say so with missing_values."
        )
    if max(abs(low), abs(high)) > LARGEST_OUTCOME:
        raise InvalidValue(
            f"Outcomes must be missing or within ±{LARGEST_OUTCOME:g}, {outcome!r} holds "
            f"{low if abs(low) > LARGEST_OUTCOME else high:g}."
        )


def check_range(request: Request, low: float, high: float) -> None:
    """All outcomes within the range that was given; and a range at all, if none was."""
    if request.range is not None:
        least, most = request.range
        if low < least or high > most:
            came = low if low < least else high
            raise InvalidValue(
                f"Outcomes must be within the range {least:g} to {most:g}, {request.outcome!r} holds {came!r}; "
                "widen the range, or list the value in missing_values if it stands for missing."
            )
    elif low == high:
        raise InvalidValue(
            f"All observed outcomes of {request.outcome!r} are {low:g}; say what else they could be, "
            "with levels or range."
        )


def check_levels(request: Request, seen: Sequence[float]) -> None:
    """No outcome beside the levels that were given."""
    others = [value for value in seen if value not in (request.levels or ())]
    if others:
        levels = ", ".join(f"{level:g}" for level in request.levels or ())
        raise InvalidValue(
            f"Outcomes must be one of the levels {levels}; {request.outcome!r} holds {others[0]!r}; "
            "add the level, or list the value in missing_values if it stands for missing."
        )


def check_groups(request: Request, groups: int) -> None:
    """Not more groups than a page can show."""
    if groups > MOST_GROUPS:
        raise InvalidValue(
            f"At most {MOST_GROUPS} groups can be analysed side by side, column {request.by!r} of by holds more; "
            "name a column with fewer values, or keep some of them with filter."
        )


def stray_texts(request: Request, cells: Sequence[Mapping[str, Any]], rules: Rules) -> dict[str, set[str]]:
    """By role, the texts that are neither missing nor what is needed there."""
    found: dict[str, set[str]] = {}
    for role in request.names():
        if cells and f"unread_{role}" in cells[0]:
            texts = {cell[f"unread_{role}"] for cell in cells} - {None}
            found[role] = {text for text in texts if not rules.is_missing(text)}
    return {role: texts for role, texts in found.items() if texts}


def check_strays(request: Request, cells: Sequence[Mapping[str, Any]], rules: Rules) -> None:
    """No text where numbers are needed, nothing but 0 and 1 in `observed` and `followed_up`."""
    for role, found in stray_texts(request, cells, rules).items():
        strays = [Shape(re.sub("[0-9]", "9", text), 1, text, text) for text in sorted(found)]
        raise InvalidValue(not_numbers(request.names()[role], strays, strays, role in YES_OR_NO))

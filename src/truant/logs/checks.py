"""What cannot be analysed, each in one sentence: what was expected, what came, what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from truant.counts import LARGEST_OUTCOME
from truant.errors import InvalidValue
from truant.tables.request import Request

MOST_ARMS = 1_000
MOST_MEDIATORS = 100


def check_types(request: Request, picked: Any) -> None:
    """Numbers where numbers are needed, plain values elsewhere."""
    numeric = {
        "outcome",
        "observed",
        *(f"mediator_{i}" for i, part in enumerate(request.parts) if part.classes),
    }
    for role, name in request.names().items():
        kind = picked[role].type()
        fits = kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_null()
        if role in numeric and not fits:
            raise InvalidValue(f"Column {name!r} must be numbers, got {kind}; name another column.")
        if kind.is_nested():
            raise InvalidValue(f"Column {name!r} must hold plain values, got {kind}; name another column.")


def check_distinct(request: Request, arms: int, *mediators: int) -> None:
    """Not too many arms, nor too many levels of a mediator."""
    if arms > MOST_ARMS:
        raise InvalidValue(
            f"At most {MOST_ARMS:,} arms can be compared, column {request.arm!r} holds more; "
            "name the column that says which treatment a row had."
        )
    if max(mediators, default=0) <= MOST_MEDIATORS:
        return
    uncut = [part.column for part in request.parts if not part.classes]
    remedy = f"cut numbers into classes, as in '{uncut[-1]}:3'" if uncut else "cut into fewer classes"
    names = " x ".join(repr(part.column) for part in request.parts)
    raise InvalidValue(f"A mediator may have at most {MOST_MEDIATORS} levels, {names} has more; {remedy}.")


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


def check_strays(request: Request, cells: Sequence[Mapping[str, Any]]) -> None:
    """No text where numbers are needed, nothing but 0 and 1 in `observed`."""
    for role, name in request.names().items():
        if f"stray_{role}_first" not in (cells[0] if cells else {}):
            continue
        found = {cell[f"stray_{role}_{end}"] for cell in cells for end in ("first", "last")} - {None}
        if not found:
            continue
        shown = sorted(found)[:3]
        came = " and ".join(repr(text) for text in shown)
        if role == "observed":
            raise InvalidValue(f"Column {name!r} must be true or false, or 1 or 0; it holds {came}.")
        raise InvalidValue(
            f"Column {name!r} must be numbers, it holds {came}; if that stands for missing, "
            f"say so: missing_values={shown!r}."
        )


def check_arms(request: Request, arms: Sequence[Any], rows: int) -> None:
    """Rows, and at least two arms to compare."""
    if rows == 0:
        raise InvalidValue("The table has no rows; there is nothing to analyse.")
    if not arms:
        raise InvalidValue(
            f"None of the {rows} rows has an arm: column {request.arm!r} is missing throughout."
        )
    if len(arms) == 1:
        raise InvalidValue(
            f"At least two arms are needed to compare, column {request.arm!r} holds only {arms[0]!r}."
        )

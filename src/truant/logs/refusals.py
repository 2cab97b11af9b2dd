"""Sentences that refuse a column whose texts are no numbers, and say what to do."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from truant.logs.shapes import DATE, UNIT, Shape

FEW = 5  # different texts beside numbers that may stand for missing


def other_decimal(name: str, value: str, decimal: str) -> str:
    """Numbers with the other decimal sign."""
    if decimal == ",":
        return (
            f"Column {name!r} must be numbers with a decimal comma, it holds {value!r}; "
            "if the dot is the decimal sign, leave out decimal=','."
        )
    return (
        f"Column {name!r} must be numbers, it holds {value!r}; "
        "if the comma is the decimal sign, say so: decimal=',' (--decimal ,)."
    )


def dates(name: str, came: str) -> str:
    """Dates where numbers are needed."""
    return (
        f"Column {name!r} must be numbers, {came}; compute a number from it first, such as days until the event; "
        f"a column that says when a row happened can be named with time={name!r} (--time {shlex.quote(name)})."
    )


def not_numbers(name: str, shapes: Sequence[Shape], strays: Sequence[Shape], observed: bool) -> str:
    """Texts where numbers are needed; what to do depends on what else the column holds."""
    found = sorted({text for shape in strays for text in (shape.low, shape.high)})
    came = f"it holds {listed(found[:3])}"
    others = sum(shape.rows for shape in shapes) - sum(shape.rows for shape in strays)
    if observed:
        return f"Column {name!r} must be yes or no, true or false, or 1 or 0; {came}."
    if not others and all(DATE.fullmatch(shape.text) for shape in strays):
        return dates(name, f"it holds dates or times such as {found[0]!r}")
    if all(UNIT.fullmatch(shape.text) for shape in strays):
        return f"Column {name!r} must be numbers, {came}; write the numbers alone, without a unit."
    if len(found) <= FEW and others >= sum(shape.rows for shape in strays):
        return f"Column {name!r} must be numbers, {came}; {_missing(found)}."
    if others or len(found) > 2 or any(shape.low != shape.high for shape in strays):
        return (
            f"Column {name!r} must be numbers, {came}; "
            "name a column of numbers, or write a number for each text first."
        )
    remedy = (
        "write 1 for one of the two and 0 for the other"
        if len(found) == 2
        else "write 1 for it, and 0 where it is known that this did not happen"
    )
    return f"Column {name!r} must be numbers, or yes and no; it holds only {listed(found)}: {remedy}."


def listed(found: Sequence[str]) -> str:
    """'a', 'b' and 'c'."""
    *before, last = map(repr, found)
    return f"{', '.join(before)} and {last}" if before else last


def _missing(found: Sequence[str]) -> str:
    option = f"missing_values={list(found)!r}"
    if not any("," in text for text in found):  # which separates on the command line
        option += f" ({shlex.quote('--missing-values=' + ','.join(found))})"
    return f"if that stands for missing, say so: {option}, else write a plain number for it"

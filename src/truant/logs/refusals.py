"""Sentences that refuse a column whose texts are no numbers, and say what to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from truant.logs.shapes import DATE, UNIT, Shape, resemblance
from truant.tables.words import NO, YES

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
    rest = [shape for shape in shapes if shape not in strays]
    words = [shape for shape in rest if shape.text.lower() in YES + NO]
    others = sum(shape.rows for shape in rest)
    if observed:
        return f"Column {name!r} must be yes or no, true or false, or 1 or 0; {came}."
    if name.strip() in found:
        return repeated_header(name)
    if not others and all(DATE.fullmatch(shape.text) for shape in strays):
        return dates(name, f"it holds dates or times such as {found[0]!r}")
    if all(UNIT.fullmatch(shape.text) for shape in strays):
        return f"Column {name!r} must be numbers, {_units(found, rest)}."
    if any("9" in shape.text or resemblance(shape.text) for shape in strays):  # never advise to drop numbers
        return f"Column {name!r} must be numbers, {_resembling(found, strays)}."
    two = sorted({text for shape in [*words, *strays] for text in (shape.low, shape.high)})
    one_word = len({shape.text.lower() in YES for shape in words}) == 1 and len(words) == len(rest)
    if len(found) <= FEW and others >= sum(shape.rows for shape in strays) and not one_word:
        return f"Column {name!r} must be numbers, {came}; {_missing(found)}."
    if (others and not one_word) or len(two) > 2:
        return (
            f"Column {name!r} must be numbers, {came}; "
            "name a column of numbers, or write a number for each text first."
        )
    remedy = (
        "write 1 for one of the two and 0 for the other"
        if len(two) == 2
        else "write 1 for it, and 0 where it is known that this did not happen"
    )
    return f"Column {name!r} must be numbers, or yes and no; it holds only {listed(two)}: {remedy}."


def repeated_header(name: str) -> str:
    """The name of the column among its values."""
    return (
        f"Column {name!r} must be numbers, it holds {name.strip()!r}: the header occurs again among the rows, "
        "as where files were joined; remove these lines."
    )


def _units(found: Sequence[str], rest: Sequence[Shape]) -> str:
    """What to do about numbers with units, which may be different ones."""
    by_unit = {re.sub(r"[\W\d_]", "", text): text for text in reversed(found)}
    examples = [*sorted(by_unit.values())[:2], *(shape.high for shape in rest[:1])]
    if len(examples) > 1:
        return f"it holds {listed(examples)}; convert all to one unit, and write the numbers alone"
    return f"it holds {listed(found[:3])}; write the numbers alone, without a unit"


def _resembling(found: Sequence[str], strays: Sequence[Shape]) -> str:
    """What to do about texts that say a number in a way that truant does not read."""
    for shape in strays:
        advice = resemblance(shape.text)
        if advice:
            return f"it holds {shape.low!r}, {advice}"
    return f"it holds {listed(found[:3])}; name a column of numbers, or write a number for each text first"


def listed(found: Sequence[str]) -> str:
    """'a', 'b' and 'c'."""
    *before, last = map(repr, found)
    return f"{', '.join(before)} and {last}" if before else last


def _missing(found: Sequence[str]) -> str:
    option = f"missing_values={list(found)!r}"
    if not any("," in text for text in found):  # which separates on the command line
        option += f" ({shlex.quote('--missing-values=' + ','.join(found))})"
    return f"if that stands for missing, say so: {option}, else write a plain number for it"

"""How the numbers of a text column are written: plainly, as yes and no, with signs of currency, thousands, percent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from truant.errors import InvalidValue
from truant.logs import refusals
from truant.logs.shapes import BLANKS, Shape, WrittenNumber, written_number
from truant.tables.words import NO, YES, mixed

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Form:
    """How to read the texts of a column: words for 1 and 0, or numbers after some replacements."""

    words: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what was done, for the report
    doubt: str = field(default="", compare=False)  # what may have been meant instead


PLAIN = Form()
WORDS = Form(words=True)


def decide(name: str, shapes: Sequence[Shape], decimal: str, observed: bool = False) -> Form:
    """The form of a column whose texts have these shapes; or raises InvalidValue."""
    words = [shape for shape in shapes if shape.text.lower() in YES + NO]
    others = [shape for shape in shapes if shape.text.lower() not in YES + NO]
    found = [written_number(shape, decimal) for shape in others]
    strays = [shape for shape, number in zip(others, found, strict=True) if number is None]
    if strays:
        _check_decimal(name, others, decimal)
        raise InvalidValue(refusals.not_numbers(name, shapes, strays, observed))
    if words and others and {text for shape in words for text in (shape.low, shape.high)} == {name.strip()}:
        raise InvalidValue(refusals.repeated_header(name))
    if words and others:
        raise InvalidValue(mixed(name, "words and numbers", words[0].low, others[0].low))
    if words:
        blanks = {blank for shape in words for blank in BLANKS if blank in shape.low}
        return Form(True, tuple((blank, "") for blank in sorted(blanks)), _words_note(name, words))
    doubt = _thousands_doubt(name, others) if decimal == "." else ""
    return replace(_number_form(name, [number for number in found if number is not None]), doubt=doubt)


def _thousands_doubt(name: str, shapes: Sequence[Shape]) -> str:
    """Where every dot stands before three digits, and all numbers without one are below a thousand."""
    dotted = [shape for shape in shapes if "." in shape.text]
    whole = [shape for shape in shapes if "." not in shape.text]
    if (
        not dotted
        or not whole
        or not all(re.fullmatch(r"[+-]?9{1,3}\.9{3}", shape.text) for shape in dotted)
        or not all(re.fullmatch(r"[+-]?9{1,3}", shape.text) for shape in whole)
        or any(shape.low.lstrip("+-").startswith("0") for shape in dotted)
    ):
        return ""
    return (
        f"Every dot in {name!r} stands before three digits, as in {dotted[0].low!r} beside {whole[0].high!r}: if dots "
        "stand between thousands, say decimal=',' (--decimal ,)."
    )


def _check_decimal(name: str, shapes: Iterable[Shape], decimal: str) -> None:
    """No number with the other decimal sign."""
    other = "." if decimal == "," else ","
    either = [(shape, written_number(shape, decimal), written_number(shape, other)) for shape in shapes]
    swapped = [shape.low for shape, ours, theirs in either if theirs and not ours]
    only_ours = [shape.low for shape, ours, theirs in either if ours and not theirs]
    if swapped and only_ours:
        raise InvalidValue(mixed(name, "decimal signs", swapped[0], only_ours[0]))
    if swapped:
        raise InvalidValue(refusals.other_decimal(name, swapped[0], decimal))


def _number_form(name: str, found: Sequence[WrittenNumber]) -> Form:
    if all(number.plain for number in found):
        return PLAIN
    currencies = {number.currency.lower(): number.example for number in found if number.currency}
    if len(currencies) > 1:
        raise InvalidValue(mixed(name, "currencies", *list(currencies.values())[:2]))
    percent = [number.example for number in found if number.percent]
    bare = [number.example for number in found if not number.percent]
    if percent and bare:
        raise InvalidValue(mixed(name, "numbers with and without %", percent[0], bare[0]))
    left_out = {text for number in found for text in (number.currency, number.thousands, *number.blanks)}
    left_out |= {"%"} if percent else set()
    replacements = [(text, "") for text in sorted(left_out - {""}, key=lambda text: (-len(text), text))]
    replacements += [(minus, "-") for minus in sorted({number.minus for number in found} - {""})]
    if any(number.brackets for number in found):
        replacements += [("(", "-"), (")", "")]
    if any(number.comma for number in found):
        replacements.append((",", "."))
    return Form(replacements=tuple(replacements), note=_number_note(name, found, replacements))


def _words_note(name: str, shapes: Iterable[Shape]) -> str:
    found = {shape.text.lower() for shape in shapes}
    ones, zeros = (" and ".join(word for word in words if word in found) for words in (YES, NO))
    if not zeros or not ones:
        return f"{name!r}: {ones or zeros} was read as {1 if ones else 0}"
    return f"{name!r}: {ones} was read as 1 and {zeros} as 0"


THOUSANDS = {",": "commas", ".": "dots", "'": "apostrophes", "\u2019": "apostrophes"}


def _number_note(name: str, found: Sequence[WrittenNumber], replacements: Iterable[tuple[str, str]]) -> str:
    """What was done, with the longest text as an example."""
    left_out = [f"the sign {sign!r}" for sign in sorted({number.currency for number in found} - {""})]
    left_out += ["the sign '%'"] if any(number.percent for number in found) else []
    marks = {number.thousands for number in found} - {""}
    left_out += [f"{word} between thousands" for word in sorted({THOUSANDS.get(m, "blanks") for m in marks})]
    said = [f"left out {' and '.join(left_out)}"] if left_out else []
    said += ["read the comma as the decimal sign"] if any(number.comma for number in found) else []
    signs = sorted({number.minus for number in found} - {""})
    signs += ["(...)"] if any(number.brackets for number in found) else []
    said += [f"read {refusals.listed(signs)} as minus"] if signs else []
    if not said:  # but for blanks that other programs take for no blanks
        return ""
    example = max((number.example for number in found if not number.plain), key=len)
    value = example
    for old, new in replacements:
        value = value.replace(old, new)
    shown = "".join(" " if sign in BLANKS else sign for sign in example.strip())
    return f"{name!r}: {', '.join(said)} ({shown!r} is {value})"

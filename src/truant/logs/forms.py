"""How the numbers of a text column are written: plainly, as yes and no, with signs of currency, thousands, percent.

Millions of texts have a few forms once their digits are made alike ('$1,234.50' is `$9,999.99`), so that a database can
list all forms and Python can decide how to read them. A column whose texts are no numbers is refused with what to do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.tables.request import NO, YES, mixed

MINUS = "\u2212\u2013"  # the minus of typesetters, and what word processors make of a hyphen
BLANKS = " \t\u00a0\u202f\u2009\u2007"
APOSTROPHES = "'\u2019"
CODES = (
    "USD EUR GBP CHF JPY CNY INR BRL SEK NOK DKK ISK PLN CZK HUF RON AUD CAD NZD MXN ZAR TRY "
    "kr. kr zł Kč Ft lei Fr. Fr Rs. Rs US$ A$ AU$ C$ CA$ NZ$ HK$ S$ R$ MX$"
)
SIGNS = "$£¥฿\u20a0-\u20cf\uff04\uffe5"
CURRENCY = f"(?:{'|'.join(map(re.escape, CODES.split()))}|[{SIGNS}])"
# not between digits, or after an abbreviation
LOOSE_BLANK = re.compile(rf"(?<![9.,])[{BLANKS}]|[{BLANKS}](?![9.,])|(?<=[^\W\d]\.)[{BLANKS}]")
PATTERN = re.compile(
    rf"(?P<open>\()?(?P<sign>[+\-{MINUS}])?(?P<before>{CURRENCY}|%)?(?P<inner>[(+\-{MINUS}])?"
    rf"(?P<core>[9.,{BLANKS}{APOSTROPHES}]+?(?:[eE][+-]?9+)?)"
    rf"(?P<after>{CURRENCY}|%)?(?P<close>\))?",
    re.IGNORECASE,
)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
DATE = re.compile(
    r"9{4}[-/.]9{1,2}[-/.]9{1,2}([ T].*)?|9{1,2}[-/.]9{1,2}[-/.](9{4}|99)([ ,].*)?|9{1,2}:99(:99([.,]9+)?)?( ?[ap]m)?|"
    r"9{1,2}[- ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ](9{4}|99).*",
    re.IGNORECASE,
)
UNIT = re.compile(rf"[+-]?[9.,{BLANKS}]*9[{BLANKS}]?[^\W\d_]+")

AMOUNT = rf"{CURRENCY}?[{BLANKS}]*[+-]?[9.,{BLANKS}{APOSTROPHES}]*9"
RESEMBLANCES = (  # what a text that is no number may say, and what to do
    (
        rf"{AMOUNT}[.,][-{MINUS}]+[{BLANKS}]*{CURRENCY}?",
        "which looks like a whole amount; write it without the dash",
    ),
    (
        rf"{AMOUNT}[{BLANKS}]*[-{MINUS}][{BLANKS}]*{CURRENCY}?",
        "which looks like a negative number; write the minus in front",
    ),
    (
        rf"[<>\u2264\u2265]=?[{BLANKS}]*{AMOUNT}[{BLANKS}]*{CURRENCY}?",
        "which is a limit, not a value; decide which number stands for it, and write that",
    ),
    (
        rf"{AMOUNT}[{BLANKS}]*[*\u2020\u2021#]+",
        "which looks like a number with a mark; write the number alone",
    ),
    (
        rf"{CURRENCY}[{BLANKS}]*[-{MINUS}]+|[-{MINUS}]+[{BLANKS}]*{CURRENCY}",
        "which looks like zero as accountants write it; write 0 if it is, or leave it empty if it means missing",
    ),
)


@dataclass(frozen=True)
class Shape:
    """Texts that differ in their digits alone; in `text` each digit is a 9."""

    text: str
    rows: int
    low: str  # the first and the last of these texts
    high: str


@dataclass(frozen=True)
class WrittenNumber:
    """What a shape has beside its digits."""

    example: str
    currency: str = ""
    percent: bool = False
    thousands: str = ""
    comma: bool = False  # as the decimal sign
    brackets: bool = False  # for minus
    minus: str = ""  # that is not the hyphen
    blanks: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is a number as it stands."""
        return self == WrittenNumber(self.example)


def written_number(shape: Shape, decimal: str) -> WrittenNumber | None:
    """How a number is written; None if it is none."""
    if INFINITE.fullmatch(shape.text):
        return WrittenNumber(shape.low)  # which is refused as a number
    match = PATTERN.fullmatch(LOOSE_BLANK.sub("", shape.text))
    if match is None or not _signs_fit(match):
        return None
    marks = [mark for mark in (match["before"], match["after"]) if mark]
    thousands = _between_thousands(match["core"], decimal, _starts_with_zero(shape.low))
    if len(marks) > 1 or thousands is None:
        return None
    return WrittenNumber(
        shape.low,
        currency="" if marks in ([], ["%"]) else marks[0],
        percent=marks == ["%"],
        thousands=thousands,
        comma=decimal == "," and "," in match["core"],
        brackets=match["close"] is not None,
        minus=next((sign for sign in (match["sign"], match["inner"]) if sign and sign in MINUS), ""),
        blanks="".join(blank for blank in BLANKS if blank in shape.low),
    )


def resemblance(text: str) -> str:
    """What a shape that is no number looks like, and what to do; empty if that is not known."""
    return next((what for form, what in RESEMBLANCES if re.fullmatch(form, text, re.IGNORECASE)), "")


def _signs_fit(match: re.Match[str]) -> bool:
    """One sign or one pair of brackets at most."""
    opened = (match["open"] is not None) + (match["inner"] == "(")
    signs = (match["sign"] is not None) + (match["inner"] not in (None, "("))
    return opened == (match["close"] is not None) and opened + signs <= 1


def _starts_with_zero(text: str) -> bool:
    digit = re.search(r"[0-9]", text)
    return digit is not None and digit[0] == "0"


def _between_thousands(core: str, decimal: str, zero_first: bool) -> str | None:
    """What stands between thousands, "" for nothing; None if this is no number."""
    point = re.escape(decimal)
    if re.fullmatch(rf"(9+{point}?9*|{point}9+)([eE][+-]?9+)?", core):
        return ""
    between = re.search(r"9([^9])9{3}", core)
    if between is None or zero_first or between[1] == decimal:  # 0,125 is no thousand
        return None
    mark = re.escape(between[1])
    by_three = rf"9{{1,3}}({mark}9{{3}})+({point}9*)?"
    indian = rf"9{{1,2}}({mark}9{{2}})+{mark}9{{3}}({point}9*)?"  # 12,34,567.8
    return between[1] if re.fullmatch(f"{by_three}|{indian}", core) else None


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
    found = _ends(strays)
    rest = [shape for shape in shapes if shape not in strays]
    if observed:
        return f"Column {name!r} must be yes or no, true or false, or 1 or 0; it holds {listed(found[:3])}."
    if name.strip() in found:
        return repeated_header(name)
    if not rest and all(DATE.fullmatch(shape.text) for shape in strays):
        return dates(name, f"it holds dates or times such as {found[0]!r}")
    if all(UNIT.fullmatch(shape.text) for shape in strays):
        return f"Column {name!r} must be numbers, {_units(found, rest)}."
    if any("9" in shape.text or resemblance(shape.text) for shape in strays):  # never advise to drop numbers
        return f"Column {name!r} must be numbers, {_resembling(found, strays)}."
    return _words_alone(name, rest, strays)


def _words_alone(name: str, rest: Sequence[Shape], strays: Sequence[Shape]) -> str:
    """Words where numbers are needed, beside others that can be read."""
    found, came = _ends(strays), f"it holds {listed(_ends(strays)[:3])}"
    words = [shape for shape in rest if shape.text.lower() in YES + NO]
    others = sum(shape.rows for shape in rest)
    two = _ends([*words, *strays])
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


def _ends(shapes: Iterable[Shape]) -> list[str]:
    """The first and the last text of each."""
    return sorted({text for shape in shapes for text in (shape.low, shape.high)})


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


NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Form:
    """How to read the texts of a column: words for 1 and 0, or numbers after some replacements."""

    words: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what was done, for the report
    doubt: Caution | None = field(default=None, compare=False)  # what may have been meant instead


PLAIN = Form()
WORDS = Form(words=True)


def decide(
    name: str, shapes: Sequence[Shape], decimal: str, observed: bool = False, semicolons: bool = False
) -> Form:
    """The form of a column whose texts have these shapes; or raises InvalidValue.

    In files with semicolons, dots before three digits are in doubt whatever stands beside them.
    """
    words = [shape for shape in shapes if shape.text.lower() in YES + NO]
    others = [shape for shape in shapes if shape.text.lower() not in YES + NO]
    found = [written_number(shape, decimal) for shape in others]
    strays = [shape for shape, number in zip(others, found, strict=True) if number is None]
    if strays:
        _check_decimal(name, others, decimal)
        raise InvalidValue(not_numbers(name, shapes, strays, observed))
    if words and others and {text for shape in words for text in (shape.low, shape.high)} == {name.strip()}:
        raise InvalidValue(repeated_header(name))
    if words and others:
        raise InvalidValue(mixed(name, "words and numbers", words[0].low, others[0].low))
    if words:
        blanks = {blank for shape in words for blank in BLANKS if blank in shape.low}
        return Form(True, tuple((blank, "") for blank in sorted(blanks)), _words_note(name, words))
    doubt = _thousands_doubt(name, others, semicolons) if decimal == "." else None
    return replace(_number_form(name, [number for number in found if number is not None]), doubt=doubt)


def _thousands_doubt(name: str, shapes: Sequence[Shape], semicolons: bool) -> Caution | None:
    """Where every dot stands before three digits, and all numbers without one are below a thousand."""
    dotted = [shape for shape in shapes if "." in shape.text]
    whole = [shape for shape in shapes if "." not in shape.text]
    if (
        not dotted
        or not (whole or semicolons)
        or not all(re.fullmatch(r"[+-]?9{1,3}\.9{3}", shape.text) for shape in dotted)
        or not (semicolons or all(re.fullmatch(r"[+-]?9{1,3}", shape.text) for shape in whole))
        or any(shape.low.lstrip("+-").startswith("0") for shape in dotted)
    ):
        return None
    facts = {"column": name, "example": dotted[0].low, "whole": whole[0].high if whole else None}
    return Caution("thousands", facts=facts)


def _check_decimal(name: str, shapes: Iterable[Shape], decimal: str) -> None:
    """No number with the other decimal sign."""
    other = "." if decimal == "," else ","
    either = [(shape, written_number(shape, decimal), written_number(shape, other)) for shape in shapes]
    swapped = [shape.low for shape, ours, theirs in either if theirs and not ours]
    only_ours = [shape.low for shape, ours, theirs in either if ours and not theirs]
    if swapped and only_ours:
        raise InvalidValue(mixed(name, "decimal signs", swapped[0], only_ours[0]))
    if swapped:
        raise InvalidValue(other_decimal(name, swapped[0], decimal))


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
    said += [f"read {listed(signs)} as minus"] if signs else []
    if not said:  # but for blanks that other programs take for no blanks
        return ""
    example = max((number.example for number in found if not number.plain), key=len)
    value = example
    for old, new in replacements:
        value = value.replace(old, new)
    shown = "".join(" " if sign in BLANKS else sign for sign in example.strip())
    return f"{name!r}: {', '.join(said)} ({shown!r} is {value})"

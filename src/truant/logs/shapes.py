"""What a text looks like once its digits are made alike, and whether that is a number: '$1,234.50' is `$9,999.99`.

Millions of texts are a few shapes, so that a database can show all of them and Python can decide how to read them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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

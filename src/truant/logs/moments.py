"""Texts that are dates and times, as ISO 8601 writes them: which ones are, and when that was."""

from __future__ import annotations

import datetime
import re
from typing import Any

from truant.logs.values import Rules

_YEAR = "[1-9][0-9]{3}"
_LEAP = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
_DATE = (
    rf"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    rf"02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
_ZONE = "(Z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])"
ISO = rf"^{_DATE}([T ]{_TIME}{_ZONE}?)?$"  # of days that there are: 2024-02-30 is none
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
OTHER_DATE = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?")
FORMS = "2024-03-01 or 2024-03-01 18:30:00"


def is_iso(text: object) -> bool:
    """Whether a text is a date or a time."""
    return isinstance(text, str) and re.fullmatch(ISO, text.strip()) is not None


def moment(text: str) -> datetime.datetime:
    """When that is, in UTC and without a zone; or raises ValueError."""
    found = datetime.datetime.fromisoformat(text.strip())
    return found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)


def iso_texts(column: Any, rules: Rules) -> tuple[Any, Any]:
    """Of a text column those that are dates or times, and those that are not, though not missing."""
    import ibis

    known = rules.known(column)
    fits = known.re_search(ISO)
    return ibis.ifelse(fits, known, None), ibis.ifelse(known.notnull() & ~fits, known, None)


def moments(text: Any) -> Any:
    """ISO texts as moments in UTC, without a zone."""
    return text.cast("timestamp('UTC')").cast("timestamp")


def sides(column: Any, value: str, rules: Rules) -> tuple[Any, Any]:
    """A text column and a date or time to compare it with: a date is the whole day."""
    import ibis

    found, when = moments(iso_texts(column, rules)[0]), moment(value)
    if DAY.fullmatch(value.strip()):
        return found.date(), ibis.literal(when.date())
    return found, ibis.literal(when)

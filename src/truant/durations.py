"""Durations: read from texts such as 45s, 30m, 12h, 7d and 2w, kept as whole microseconds, written as text again."""

from __future__ import annotations

import re
from datetime import timedelta

from truant.errors import InvalidValue, quoted

MICROSECOND = timedelta(microseconds=1)
SECOND = 10**6  # in microseconds
DAY = 86_400 * SECOND
LONGEST = 365_000 * DAY  # about a thousand years: a date that far ahead can still be written
UNITS = {"w": 7 * DAY, "d": DAY, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND}
WRITTEN = ("d", "h", "m")  # units of a written duration, before the seconds
MOST_LETTERS = 60
_TEXT = re.compile(r"\s*".join(rf"(?:([0-9]+)(?:\.([0-9]+))?\s*{unit})?" for unit in UNITS))


def duration(name: str, value: object) -> int:
    """The duration in microseconds; or raises InvalidValue.

    Parameters
    ----------
    name : what the duration is of, for the error.
    value : a timedelta, or a text: numbers with the units w, d, h, m and s, the longest first, such as "7d", "1.5h" or
        "1d 12h".

    Examples
    --------
    >>> duration("window", "7d")
    604800000000
    """
    found = None
    if isinstance(value, timedelta):
        found = value // MICROSECOND
    elif isinstance(value, str) and len(value) <= MOST_LETTERS:
        found = _read(value.strip())
    if found is None or not 0 <= found <= LONGEST:
        raise InvalidValue(
            f"{name} must be a duration such as '45s', '30m', '12h', '7d', '2w' or '1d 12h', from 0s to "
            f"{duration_text(LONGEST)}, or a timedelta, got {quoted(value)}."
        )
    return found


def _read(text: str) -> int | None:
    """The microseconds that a text says; None if it says none, or a part of one."""
    match = _TEXT.fullmatch(text) if text else None
    if match is None:
        return None
    total = 0
    for place, size in enumerate(UNITS.values()):
        whole, decimals = match[2 * place + 1], match[2 * place + 2] or ""
        if whole is not None:
            number, rest = divmod(int(whole + decimals) * size, 10 ** len(decimals))
            if rest:
                return None
            total += number
    return total


def duration_text(microseconds: int) -> str:
    """The duration as `duration` reads it, such as "7d", "1d 12h" or "1.5s".

    Examples
    --------
    >>> duration_text(129_600_000_000)
    '1d 12h'
    """
    if microseconds < 0:
        raise InvalidValue(f"A duration must be at least 0 microseconds, got {microseconds}.")
    rest, parts = microseconds, []
    for unit in WRITTEN:
        number, rest = divmod(rest, UNITS[unit])
        if number:
            parts.append(f"{number}{unit}")
    seconds, below = divmod(rest, SECOND)
    if rest or not parts:
        decimals = f".{below:06d}".rstrip("0") if below else ""
        parts.append(f"{seconds}{decimals}s")
    return " ".join(parts)

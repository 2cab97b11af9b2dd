"""Moments in time: kept as whole microseconds since 1970 (UTC), read from and shown as ordinary dates."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from truant.durations import duration
from truant.errors import InvalidValue, quoted

SECOND = 1_000_000
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST, LATEST = 0, 4_102_444_800 * SECOND  # 1970 and 2100: what is outside is a mistake of units

Clock = Callable[[], int]


def host_clock() -> int:
    """The time of this machine, in microseconds: the only place where its clock is read."""
    return time.time_ns() // 1000


_STEADY = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))  # which count sleep, too


def passed() -> int:
    """Microseconds on a clock that nobody sets; only differences mean something."""
    return (time.monotonic_ns() if _STEADY is None else time.clock_gettime_ns(_STEADY)) // 1000


class ManualClock:
    """A clock that stands still until it is moved, for tests, guides and rehearsals.

    Parameters
    ----------
    start : a datetime or a text such as "2026-03-02 09:00"; without a time zone it is UTC.

    Examples
    --------
    >>> clock = ManualClock("2026-03-02 09:00")
    >>> clock.advance("7d")
    >>> print(shown(clock()))
    2026-03-09T09:00:00Z
    """

    def __init__(self, start: datetime | str) -> None:
        self._now = moment("start", start)

    def __call__(self) -> int:
        """The time, in microseconds."""
        return self._now

    def __repr__(self) -> str:
        return f"<ManualClock {shown(self._now)}>"

    def advance(self, by: str | timedelta | int) -> None:
        """Move on by a duration such as "7d"; a whole number is taken as microseconds."""
        self._now += by if isinstance(by, int) else duration("by", by)

    def set(self, to: datetime | str) -> None:
        """Jump to a moment, also an earlier one."""
        self._now = moment("to", to)


def moment(name: str, value: object) -> int:
    """A datetime, or a text that reads as one, in microseconds; or raises InvalidValue."""
    found = value
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            found = None
    if not isinstance(found, datetime):
        raise InvalidValue(
            f"{name} must be a date and time such as '2026-03-02 09:00' (UTC) or '2026-03-02T09:00:00+01:00', "
            f"got {quoted(value)}."
        )
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    whole = (found - EPOCH) // timedelta(microseconds=1)
    if not EARLIEST <= whole <= LATEST:
        raise InvalidValue(f"{name} must be between the years 1970 and 2100, got {quoted(value)}.")
    return whole


def as_datetime(microseconds: int) -> datetime:
    """The moment as a datetime in UTC."""
    return EPOCH + timedelta(microseconds=microseconds)


def shown(microseconds: int) -> str:
    """The moment as JSON and tables show it: 2026-11-23T07:00:00Z, with a fraction only if there is one."""
    return as_datetime(microseconds).isoformat().replace("+00:00", "Z")


def in_minutes(microseconds: int) -> str:
    """The moment in a heading: 2026-11-23 07:00 UTC."""
    return f"{as_datetime(microseconds):%Y-%m-%d %H:%M} UTC"


def in_words(microseconds: int) -> str:
    """The moment in a sentence: Monday 23 November 2026, 07:00 UTC."""
    when = as_datetime(microseconds)
    return f"{when:%A} {when.day} {when:%B %Y, %H:%M} UTC"

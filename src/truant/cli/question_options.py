"""Click options from the fields of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from typing import Any

import click
from click.shell_completion import CompletionItem

from truant.cli.base import given_once, integer, number, numbers
from truant.errors import InvalidValue, quoted
from truant.questions import Option


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [part.strip() for part in text.split(",")]


KINDS = {  # of fields by their type
    "bool": "flag",
    "int": "integer",
    "float": "number",
    "tuple[float, float]": "numbers",
    "Sequence[float]": "numbers",
    "Sequence[str]": "names",
}


def values(text: str) -> list[str]:
    """Values with commas between them, as they stand; none if there is no text."""
    return text.split(",") if text else []


def cut(text: str) -> Any:
    """A number of classes, or points with commas between them or behind."""
    return numbers(text.removesuffix(",")) if "," in text else integer(text)


TYPES: dict[str, Any] = {
    "text": None,
    "number": number,
    "integer": integer,
    "numbers": numbers,
    "names": names,
    "once": None,
    "cut": cut,
    "values": values,
    "shares": None,
}


def question_options(
    question: Any, only: Iterable[str] | None = None, *, defaults: bool = True
) -> Callable[[Any], Any]:
    """The options of a question as one decorator, in the order of its fields.

    Parameters
    ----------
    question : its class.
    only : the fields that get an option, in this order; all of them unless given.
    defaults : options have the defaults of their fields; if not, None says that an option was not given.
    """
    known = {one.name: one for one in fields(question) if "option" in one.metadata}
    made = [
        _option(
            known[name], known[name].metadata["option"], defaults, getattr(question, "refuses_texts", False)
        )
        for name in (known if only is None else only)
        if known[name].metadata["option"].flags != ()
    ]

    def decorate(function: Any) -> Any:
        for option in reversed(made):
            function = option(function)
        return function

    return decorate


def _option(field: Field[Any], option: Option, defaults: bool, refuses_texts: bool) -> Callable[[Any], Any]:
    name, default = field.name, field.default
    kind = option.kind or KINDS.get(str(field.type).removesuffix(" | None"), "text")
    flags = option.flags or (f"--{name.replace('_', '-')}",)
    help = option.command_help()
    if option.default_words is not None:
        help += f"  [default: {option.default_words}]"
    said: dict[str, Any] = {"help": help}
    if kind == "flag":
        said |= {"is_flag": True, "default": default, "flag_value": not default}
    else:
        said |= {"type": TYPES[kind], "metavar": option.metavar, "multiple": option.several}
        if kind == "numbers" and not refuses_texts:  # else the same sentence as in Python
            said["callback"] = _refuse_texts
        if kind == "once":
            said |= {"multiple": True, "callback": given_once}
        if default is MISSING:
            said["required"] = True
        elif defaults and option.default_words is None and not option.several and default not in (None, ()):
            said |= {"default": default, "show_default": True}
    if option.complete is not None:
        said["shell_complete"] = _completer(option.complete)
    return click.option(*flags, name, **said)


def _completer(kind: str) -> Callable[..., list[CompletionItem]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from truant import registry
        from truant.policies import policy_names

        known = policy_names() if kind == "policy" else registry.names(kind)
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]

    return complete


def _refuse_texts(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """A list of numbers as it was typed; a text that is none would be taken letter by letter."""
    if isinstance(value, str) and value:
        raise InvalidValue(f"{option.opts[0]} must be numbers with commas between them, got {quoted(value)}.")
    return value

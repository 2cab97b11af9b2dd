"""What `truant analyze` and `truant plan` share: options of a question, and the file that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from truant.cli.base import removed
from truant.cli.question_options import question_options
from truant.logs.places import is_url, without_password
from truant.logs.question import PlanQuestion, Question

Kind = type[Question] | type[PlanQuestion]
REMOVED = ("--filter", "--where", "which takes one condition in SQL words; join several with 'and'")


def table_options(kind: Kind) -> Callable[[Any], Any]:
    """DATA, the options of the question, and those of its file."""

    def read(ctx: click.Context, parameter: click.Parameter, path: str | None) -> dict[str, Any]:
        if path is None:
            return {}
        from truant.logs.question_file import read_question

        table = read_question(path, kind)
        needed = {one.name for one in ctx.command.params if one.required}
        ctx.default_map = {name: value for name, value in table.items() if name in needed}
        return table

    def decorate(function: Any) -> Any:
        for option in (
            click.option(
                "--save-question",
                type=click.Path(path_type=str),
                help="Write DATA and these options to a file for --question: .toml.",
            ),
            click.option(
                "--question",
                "file",
                type=click.Path(path_type=str),
                is_eager=True,
                callback=read,
                help="Read options, and DATA if it is left out, from a file that --save-question wrote; options given "
                "beside it win.",
            ),
            removed(*REMOVED),
            question_options(kind),
            click.argument("data"),
        ):
            function = option(function)
        return function

    return decorate


def stated_options(file: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says, and the options that were given on the command line, which win."""
    context = click.get_current_context()
    typed = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return {name: value for name, value in file.items() if name in options} | typed


def save_question_file(data: str, asked: Mapping[str, Any], path: str) -> Path:
    """Write DATA, without a password, and what was asked of it."""
    from truant.logs.question_file import DATA, save_question

    return save_question({DATA: shown_data(data)} | dict(asked), path)


def shown_data(data: str) -> str:
    """DATA, without the password of a database."""
    return without_password(data) if is_url(data) else data

"""docs/commands.md: every command with its usage and options, from its own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from research.figures import table
from research.reference.anchors import anchor, made_by
from truant.cli import cli
from truant.cli.base import in_sections

PROGRAM = "truant"
OPENING = """# Commands

{made_by}

Every command says the same with `--help`. `python -m truant` is the same as `truant`. Where a command takes `--json`,
[JSON documents](json.md) says what it prints; errors then are JSON, too. The exit code is 0 if all went well, 2 if the
command refused what it was asked, and 130 if it was stopped with Ctrl-C; where another code has a meaning, the command
says so below."""


def page() -> str:
    """The whole page."""
    sections = _sections()
    parts = [OPENING.format(made_by=made_by("the help of the commands"))]
    for heading, commands in sections.items():
        rows = [[f"[`{_title(ctx)}`](#{anchor(_title(ctx))})", _summary(ctx.command)] for ctx in commands]
        parts += [f"**{heading}**", table(["command", "what it does"], rows)]
    for heading, commands in sections.items():
        parts.append(f"## {heading}")
        for ctx in commands:
            parts += _section(ctx)
    return "\n\n".join(parts) + "\n"


def _sections() -> dict[str, list[click.Context]]:
    """The commands by the heading that help lists them under, in the order of help."""
    top = click.Context(cli, info_name=PROGRAM)
    names = [name for name in cli.list_commands(top) if not cli.commands[name].hidden]
    return {
        heading: [ctx for name in listed for ctx in _commands(name, cli.commands[name], top)]
        for heading, listed in in_sections(names).items()
    }


def _commands(name: str, command: click.Command, parent: click.Context) -> Iterator[click.Context]:
    """A command; or those of a group, such as `arm add`."""
    ctx = click.Context(command, parent=parent, info_name=name)
    if isinstance(command, click.Group):
        for inner, part in command.commands.items():
            yield from _commands(inner, part, ctx)
    else:
        yield ctx


def _title(ctx: click.Context) -> str:
    return ctx.command_path


def _summary(command: click.Command) -> str:
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


def _section(ctx: click.Context) -> list[str]:
    usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])
    parts = [f"### {_title(ctx)}", f"`{usage}`", *_paragraphs(ctx.command.help)]
    records = [one.get_help_record(ctx) for one in ctx.command.params]
    rows = [[f"`{record[0]}`", _words(record[1])] for record in records if record and record[1]]
    parts += [table(["option", "meaning"], rows)] if rows else []
    return parts + _paragraphs(ctx.command.epilog)


def _words(meaning: str) -> str:
    return re.sub(r"\s+", " ", meaning).strip()


def _paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a help text; one that keeps its lines is shown as it is."""
    return [
        _lines(part.removeprefix("\b\n")) if part.startswith("\b") else " ".join(part.split())
        for part in inspect.cleandoc(text or "").split("\n\n")
        if part.strip()
    ]


def _lines(part: str) -> str:
    """Lines such as examples: a heading if the first ends with a colon, then the lines as code."""
    lines = part.splitlines()
    heading = f"{lines.pop(0)}\n\n" if lines[0].endswith(":") else ""
    return f"{heading}```sh\n{inspect.cleandoc(chr(10).join(lines))}\n```"

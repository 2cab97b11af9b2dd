"""The commands that list what there is by name."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from truant.cli.base import as_json, cli, console
from truant.documents import document
from truant.errors import InvalidValue

PLURALS = {"assumption": "assumptions", "index": "indices", "policy": "policies", "world": "worlds"}


def _listing(kind: str, summary: str) -> None:
    """Add the command that lists the parts of a kind."""

    @cli.command(PLURALS[kind], help=summary)
    @as_json
    def command(as_json: bool) -> None:
        rows = list(_policies()) if kind == "policy" else list(_parts(kind))
        if as_json:
            fields = {PLURALS[kind]: rows}
            click.echo(json.dumps(document(PLURALS[kind], 1, fields), indent=2, default=str))
        else:
            _show(rows)
            if kind == "policy":  # said once, for all
                click.echo("All take first_pulls=N as well: pulls of each arm before any choice.")


def _parts(kind: str) -> Iterable[dict[str, Any]]:
    from truant import registry

    for name in registry.names(kind):
        try:
            part = registry.find(kind, name)
        except InvalidValue as error:  # a broken part of another package; the others are still good
            yield {"name": name, "summary": str(error), "parameters": {}}
            continue
        needs = {"needs": part.build().needs} if kind == "assumption" else {}
        yield {"name": name, "summary": part.summary, **needs, "parameters": part.parameters}


def _policies() -> Iterable[dict[str, Any]]:
    from truant import registry
    from truant.policies import named
    from truant.policies.policy import FIRST_PULLS

    for_all = {FIRST_PULLS: None}  # None: the policy's own number
    assumptions, indices = list(_parts("assumption")), list(_parts("index"))
    for assumption in assumptions:
        for index in indices:
            name = f"{assumption['name']}-{index['name']}"
            if name in registry.names("policy"):  # it has a way of its own
                continue
            parameters = assumption["parameters"] | index["parameters"] | for_all
            yield {"name": name, "summary": named(name).summary, "parameters": parameters}
    for row in _parts("policy"):
        yield row | {"parameters": row["parameters"] | for_all}


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    lines = []
    for row in rows:
        settable = {key: value for key, value in row["parameters"].items() if value is not None}
        settings = " ".join(f"{key}={_value(value)}" for key, value in settable.items())
        needs = f" Needs {row['needs']}." if row.get("needs") else ""
        lines.append(Text.assemble(row["summary"], needs, "  ", (settings, "dim")))
    width = max(len(row["name"]) for row in rows)
    if not sys.stdout.isatty():  # one line each, however long
        for row, line in zip(rows, lines, strict=True):
            click.echo(f"{row['name']:<{width}}  {line.plain.rstrip()}")
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    for row, line in zip(rows, lines, strict=True):
        grid.add_row(row["name"], line)
    console().print(grid)


def _value(value: Any) -> str:
    return ",".join(map(_value, value)) if isinstance(value, tuple | list) else str(value)


_listing("world", "List the worlds and what can be set.")
_listing("policy", "List the policies: ours, the paper's, baselines.")
_listing("assumption", "List why outcomes may be missing.")
_listing("index", "List how an estimate becomes a choice.")

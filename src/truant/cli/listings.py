"""The commands that list what there is by name."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

from truant.cli.base import as_json, cli, console, is_terminal, say
from truant.documents import document
from truant.text import visible

PLURALS = {"assumption": "assumptions", "index": "indices", "policy": "policies", "world": "worlds"}


def _listing(kind: str, summary: str) -> None:
    """Add the command that lists the parts of a kind."""

    @cli.command(PLURALS[kind], help=summary)
    @as_json
    def command(as_json: bool) -> None:
        rows, problems = _policies() if kind == "policy" else _parts(kind)
        if as_json:
            fields = {PLURALS[kind]: rows, "warnings": problems}
            click.echo(json.dumps(document(PLURALS[kind], 1, fields), indent=2))
        else:
            for problem in problems:  # parts of other packages that cannot be used
                say(problem, err=True)
            _show(rows)
            if kind == "policy":  # said once, for all
                click.echo("All take first_pulls=N as well: pulls of each arm before any choice.")


def _parts(kind: str, reserved: Sequence[str] = ()) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each part that can be used, and a sentence about each that cannot."""
    from truant import registry

    def row(part: registry.Part) -> dict[str, Any]:
        needs = {"needs": str(part.build().needs)} if kind == "assumption" else {}
        return {"name": part.name, "summary": part.summary, **needs, "parameters": _plain(part.parameters)}

    return registry.described(kind, row, reserved)


def _policies() -> tuple[list[dict[str, Any]], list[str]]:
    from truant.policies.policy import FIRST_PULLS, built_in_pairs

    for_all = {FIRST_PULLS: None}  # None: the policy's own number
    kinds = {"assumption": (), "index": (), "policy": built_in_pairs()}
    listed = {kind: _parts(kind, reserved) for kind, reserved in kinds.items()}
    (assumptions, _), (indices, _), (own, _) = listed.values()
    names = {row["name"] for row in own}  # they have a way of their own
    rows = [
        {
            "name": f"{assumption['name']}-{index['name']}",
            "summary": f"{assumption['name']} with {index['name']}: {assumption['summary']}",
            "parameters": assumption["parameters"] | index["parameters"] | for_all,
        }
        for assumption in assumptions
        for index in indices
        if f"{assumption['name']}-{index['name']}" not in names
    ]
    rows += [row | {"parameters": row["parameters"] | for_all} for row in own]
    return rows, [problem for _, problems in listed.values() for problem in problems]


def _plain(value: Any) -> Any:
    """A default as JSON knows it; whatever else it is, as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    lines = []
    for row in rows:
        settable = {key: value for key, value in row["parameters"].items() if value is not None}
        settings = " ".join(f"{key}={_value(value)}" for key, value in settable.items())
        needs = f" Needs {row['needs']}." if row.get("needs") else ""
        lines.append(Text.assemble(visible(row["summary"] + needs), "  ", (visible(settings), "dim")))
    width = max(len(row["name"]) for row in rows)
    if not is_terminal():  # one line each, however long
        for row, line in zip(rows, lines, strict=True):
            say(f"{row['name']:<{width}}  {line.plain.rstrip()}")
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    for row, line in zip(rows, lines, strict=True):
        grid.add_row(row["name"], line)
    console().print(grid)


def _value(value: Any) -> str:
    return ",".join(map(_value, value)) if isinstance(value, tuple | list) else str(value)


_listing("world", "List the worlds of simulations and their parameters.")
_listing("policy", "List the policies, which choose arms.")
_listing("assumption", "List the assumptions about why outcomes are missing.")
_listing("index", "List the indices, which turn estimates into choices.")

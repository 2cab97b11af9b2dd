"""The commands that list what there is by name, and explain the parameters; and `truant completion`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from truant.cli.base import as_json, cli, console, is_terminal, print_document, say
from truant.documents import document
from truant.errors import InvalidValue, visible

PLURALS = {"assumption": "assumptions", "index": "indices", "policy": "policies", "world": "worlds"}
SYMBOLS = (
    "Symbols: a arm, M mediator, m one of its K levels, Y outcome, L number of its levels, O=1 outcome observed,\n"
    "Q=1 mediator observed, P probability, E mean, U[low, high] uniform, N(mean, sd) normal, Dirichlet(weights)\n"
    "random probabilities that sum to 1."
)
Row = dict[str, Any]


def _listing(kind: str, summary: str, more: str) -> None:
    """Add the command that lists the parts of a kind."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from truant import registry
        from truant.policies import policy_names

        known = policy_names() if kind == "policy" else registry.names(kind)
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]

    @cli.command(PLURALS[kind], help=f"{summary}\n\n{more}")
    @click.argument("name", required=False, shell_complete=complete)
    @as_json
    def command(name: str | None, as_json: bool) -> None:
        rows, problems = _policies() if kind == "policy" else _parts(kind)
        if name is not None:
            rows = [_chosen(kind, name, rows)]
        if as_json:
            shown = [{key: value for key, value in row.items() if key != "details"} for row in rows]
            fields = {PLURALS[kind]: shown, "warnings": problems}
            print_document(document(PLURALS[kind], 1, fields))
            return
        for problem in problems:  # parts of other packages that cannot be used
            say(problem, err=True)
        if name is not None:
            _show_one(kind, rows[0])
        else:
            _show(rows)
            _show_meanings(kind, rows)


def _chosen(kind: str, name: str, rows: list[Row]) -> Row:
    """The row of that name; or raises UnknownName."""
    from truant.errors import unknown

    for row in rows:
        if row["name"] == name:
            return row
    raise unknown(kind, name, [row["name"] for row in rows])


def _parts(kind: str, reserved: Sequence[str] = ()) -> tuple[list[Row], list[str]]:
    """A row for each part that can be used, and a sentence about each that cannot."""
    from truant import registry

    def row(part: registry.Part) -> Row:
        needs = {"needs": str(part.build().needs)} if kind == "assumption" else {}
        return {
            "name": part.name,
            "summary": part.summary,
            "details": part.details,
            **needs,
            "parameters": _plain(part.parameters),
            "meanings": part.meanings,
        }

    return registry.described(kind, row, reserved)


def _policies() -> tuple[list[Row], list[str]]:
    from truant.policies.policy import COMMON, built_in_pairs

    for_all = {  # None: not set
        "parameters": dict.fromkeys(COMMON),
        "meanings": COMMON,
    }
    kinds = {"assumption": (), "index": (), "policy": built_in_pairs()}
    listed = {kind: _parts(kind, reserved) for kind, reserved in kinds.items()}
    (assumptions, _), (indices, _), (own, _) = listed.values()
    names = {row["name"] for row in own}  # they have a way of their own
    rows = [
        {
            "name": f"{assumption['name']}-{index['name']}",
            "summary": f"{assumption['name']} with {index['name']}: {assumption['summary']}",
            "details": f"{index['name']}: {index['summary']}",
            **{field: assumption[field] | index[field] | for_all[field] for field in for_all},
        }
        for assumption in assumptions
        for index in indices
        if f"{assumption['name']}-{index['name']}" not in names
    ]
    rows += [row | {field: row[field] | for_all[field] for field in for_all} for row in own]
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


def _show(rows: list[Row]) -> None:
    from rich.text import Text

    lines = []
    for row in rows:
        settable = {key: value for key, value in row["parameters"].items() if value is not None}
        settings = " ".join(f"{key}={_value(value)}" for key, value in settable.items())
        needs = f" Needs {row['needs']}." if row.get("needs") else ""
        lines.append(Text.assemble(visible(row["summary"] + needs), "  ", (visible(settings), "dim")))
    _print_aligned([(row["name"], line) for row, line in zip(rows, lines, strict=True)])


def _show_meanings(kind: str, rows: list[Row]) -> None:
    """Explain each parameter once, below the list."""
    from truant import registry

    said = {name: text for row in rows for name, text in row["meanings"].items()}
    general = {name: text for name, text in registry.general_meanings(kind).items() if name in said}
    click.echo("\nParameters:")
    _print_aligned(list((general | {name: said[name] for name in said if name not in general}).items()))
    click.echo(f"\nFor one of them in detail: truant {PLURALS[kind]} NAME")


def _show_one(kind: str, row: Row) -> None:
    """A part with its description, and each parameter with its default and meaning."""
    say(f"{row['name']}: {row['summary']}")
    if row.get("needs"):
        say(f"Needs {row['needs']}.")
    if row["details"]:
        click.echo()
        for line in row["details"].splitlines():
            say(line)
        if kind == "world":
            click.echo(f"\n{SYMBOLS}")
    if not row["parameters"]:
        click.echo("\nIt has no parameters.")
        return
    click.echo("\nParameters with their defaults:")
    parameters = {name: _setting(name, value) for name, value in row["parameters"].items()}
    _print_aligned([(setting, row["meanings"][name]) for name, setting in parameters.items()])
    numeric = [name for name, value in row["parameters"].items() if _is_numeric(value)]
    if numeric:
        example = parameters["gamma" if "gamma" in numeric else numeric[0]]
        click.echo()
        world = f"truant simulate --world {row['name']} --set {example}"
        say(f"To set one: {world if kind == 'world' else row['name'] + ':' + example}")


def _setting(name: str, value: Any) -> str:
    return name if value is None else f"{name}={_value(value)}"


def _is_numeric(value: Any) -> bool:
    several = value if isinstance(value, list) else [value]
    return bool(several) and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in several
    )


def _print_aligned(rows: Sequence[tuple[str, Any]]) -> None:
    """Names and what is said of them side by side; in a terminal the texts are wrapped."""
    width = max(len(name) for name, _ in rows)
    if not is_terminal():  # one line each, however long
        for name, line in rows:
            say(f"{name:<{width}}  {str(line).rstrip()}")
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    for name, line in rows:
        grid.add_row(visible(name), line if isinstance(line, Text) else Text(visible(line)))
    console().print(grid)


def _value(value: Any) -> str:
    return ",".join(map(_value, value)) if isinstance(value, tuple | list) else str(value)


_listing(
    "world",
    "List the worlds of simulations and their parameters.",
    "A world is a model that draws outcomes and decides which of them are missing. With NAME, one world in detail.",
)
_listing(
    "policy",
    "List the policies, which choose arms.",
    "Most combine an assumption about missing outcomes with an index. With NAME, one policy in detail.",
)
_listing(
    "assumption",
    "List the assumptions about why outcomes are missing.",
    "`truant which` helps to choose one. With NAME, one assumption in detail.",
)
_listing(
    "index",
    "List the indices, which turn estimates into choices.",
    "With NAME, one index in detail.",
)


SHELLS = ("bash", "zsh", "fish")


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print a script that lets a shell complete names.

    For bash, put  eval "$(truant completion bash)"  into ~/.bashrc; for zsh, the same with zsh into ~/.zshrc; for fish,
    run  truant completion fish > ~/.config/fish/completions/truant.fish
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise InvalidValue(f"The shell must be {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, got {shell!r}.")
    click.echo(found(cli, {}, "truant", "_TRUANT_COMPLETE").source())

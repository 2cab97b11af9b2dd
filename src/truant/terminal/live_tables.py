"""Live experiments as tables: what was created, the experiments of a store, and events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from truant.terminal.decisions import in_seconds
from truant.terminal.plain import plain
from truant.text import label

MOST_BODY = 80  # characters of what an event holds
OUTCOME = ("low", "high", "levels")  # shown as one setting


@dataclass(frozen=True)
class ExperimentDisplay:
    """What was created: its name, every setting that it has, and when it can learn."""

    fields: Mapping[str, Any]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain(f"Experiment {self.fields['name']}", "bold")
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, value in settings(self.fields["configuration"]).items():
            grid.add_row(Text(name), plain(value))
        yield grid
        yield plain("")
        yield plain(self.fields["learning"])


def settings(configuration: Mapping[str, Any]) -> dict[str, str]:
    """The settings of an experiment that are set, in words."""
    outcome = configuration["levels"]
    shown = {"arms": ", ".join(configuration["arms"])}
    if configuration["mediator_levels"]:
        shown["mediator"] = ", ".join(configuration["mediator_levels"])
    if outcome is None:
        shown["outcome"] = f"{configuration['low']:g} to {configuration['high']:g}"
    else:
        shown["outcome"] = ", ".join(f"{value:g}" for value in outcome)
    if configuration["minimize"]:
        shown["outcome"] += ", lower is better"
    left_out = {*OUTCOME, "arms", "mediator_levels", "mediator_cuts", "minimize", "settle"}
    if configuration["settle"] == "on_arrival":
        shown["counted"] = "when the outcome is told"
    for name, value in configuration.items():
        if name not in left_out and value not in (None, [], 0, "0s"):
            shown[name.replace("_", " ")] = _setting(value)
    return shown


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_setting, value))
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def experiments_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The experiments of a store."""
    table = _table("name", "status", "revision", "created")
    for row in rows:
        tone = "" if row["status"] == "running" else "dim"
        table.add_row(
            Text(label(row["name"]), tone),
            Text(row["status"], tone),
            f"{row['revision']}",
            in_seconds(row["created"]),
        )
    return table


def events_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Events, oldest first."""
    table = _table("number", "at", "what", "by", "why", "details")
    for row in rows:
        table.add_row(
            str(row["number"]),
            in_seconds(row["at"]),
            Text(row["kind"]),
            Text(label(row["actor"] or "")),
            Text(label(row["why"] or "")),
            Text(label(_body(row), MOST_BODY), "dim"),
        )
    return table


@dataclass(frozen=True)
class FollowUpsDisplay:
    """The decisions that were picked for follow-up, and what to know of them."""

    fields: Mapping[str, Any]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        picked, available = self.fields["follow_ups"], self.fields["available"]
        outcomes = "1 missing outcome" if available == 1 else f"{available:,} missing outcomes"
        yield plain(f"{len(picked):,} of {outcomes} picked for follow-up", "bold")
        if picked:
            mediated = any(one["mediator"] is not None for one in picked)
            table = _table("id", "arm", *(["mediator"] if mediated else []), "asked", "pick probability")
            for one in picked:
                mediator = [Text(label(one["mediator"] or "–"))] if mediated else []
                probability = f"{one['pick_probability']:.3g}"
                table.add_row(
                    one["id"], Text(label(one["arm"])), *mediator, in_seconds(one["asked"]), probability
                )
            yield table
        for note in self.fields["notes"]:
            yield plain(note)


def _body(row: Mapping[str, Any]) -> str:
    return "" if not row["body"] else json.dumps(row["body"], ensure_ascii=False)


def _table(*heads: str) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", collapse_padding=True
    )
    for head in heads:
        numeric = head in ("number", "revision", "pick probability")
        table.add_column(head, justify="right" if numeric else "left", overflow="fold")
    return table

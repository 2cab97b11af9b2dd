"""Lists of live experiments: decisions, what was created, experiments, events, follow-ups, and verdicts on a file.

What answers at once (decisions, verdicts) is made of plain lines, without rich.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from truant.documents.blocks import Block, Cell, Column, Document, Facts, On, Sentence, Table
from truant.errors import counted, label, visible

MOST_BODY = 80  # characters of what an event holds
MOST_LINES = 50  # of verdicts on a file
OUTCOME = ("low", "high", "levels")  # shown as one setting
HEADS = ("id", "arm", "probability", "deadline", "")
NOTES = {
    "repeated": "asked before",
    "holdout": "holdout",
    "fallback": "fallback: outside the experiment",
}


def decision_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A heading and a line for each decision, in columns."""
    cells = [HEADS, *(_decision_cells(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEADS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def in_seconds(moment: str) -> str:
    """A moment without fractions of a second."""
    return f"{moment[:19]}Z" if len(moment) > 19 else moment


def pending_text(pending: int, with_outcome: int) -> str:
    """How many decisions are pending, and how many of these have an outcome."""
    return f"{pending:,} pending" + (f" ({with_outcome:,} with an outcome already)" if with_outcome else "")


def _decision_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    probability = "–" if row["probability"] is None else f"{row['probability']:.4g}"
    notes = ", ".join(words for field, words in NOTES.items() if row[field])
    return row["id"] or "–", label(row["arm"]), probability, in_seconds(row["deadline"] or "–"), notes


def created_document(fields: Mapping[str, Any]) -> Document:
    """What was created: its name, every setting that it has, and when it can learn."""
    facts = list(settings(fields["configuration"]).items())
    blocks: list[Block] = [Facts(facts, on=On.ALL), Sentence(""), Sentence(fields["learning"])]
    return Document(f"Experiment {fields['name']}", [], blocks)


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
    cells = [
        [Cell(row["name"]), Cell(row["status"]), Cell(f"{row['revision']}"), Cell(in_seconds(row["created"]))]
        for row in rows
    ]
    faint = [number for number, row in enumerate(rows) if row["status"] != "running"]
    columns = [Column(name, name != "revision") for name in ("name", "status", "revision", "created")]
    return Table("Experiments", columns, cells, tones=dict.fromkeys(faint, "faint"))


def events_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Events, oldest first."""
    cells = [
        [
            Cell(str(row["number"])),
            Cell(in_seconds(row["at"])),
            Cell(row["kind"]),
            Cell(row["actor"] or ""),
            Cell(row["why"] or ""),
            Cell("", label(json.dumps(row["body"], ensure_ascii=False), MOST_BODY) if row["body"] else ""),
        ]
        for row in rows
    ]
    names = ("number", "at", "what", "by", "why", "details")
    return Table("Events", [Column(name, name != "number") for name in names], cells)


def follow_ups_document(fields: Mapping[str, Any]) -> Document:
    """The decisions that were picked for follow-up, and what to know of them."""
    picked = fields["follow_ups"]
    mediated = any(one["mediator"] is not None for one in picked)
    names = ["id", "arm", *(["mediator"] if mediated else []), "asked", "pick probability"]
    rows = [
        [
            Cell(one["id"]),
            Cell(one["arm"]),
            *([Cell(one["mediator"] or "–")] if mediated else []),
            Cell(in_seconds(one["asked"])),
            Cell(f"{one['pick_probability']:.3g}"),
        ]
        for one in picked
    ]
    table = Table("Picked for follow-up", [Column(name, name != "pick probability") for name in names], rows)
    outcomes = counted(fields["available"], "missing outcome")
    blocks = [*([table] if picked else []), *map(Sentence, fields["notes"])]
    return Document(f"{len(picked):,} of {outcomes} picked for follow-up", [], blocks)


class LineVerdict(Protocol):
    """What became of one line of a file."""

    @property
    def line(self) -> int:
        """Its number."""

    @property
    def id(self) -> str | None:
        """The decision that it is about."""

    @property
    def key(self) -> str | None:
        """The key of the decision."""

    @property
    def verdict(self) -> str:
        """What became of it, in a word."""

    @property
    def refusal(self) -> str | None:
        """Why it was refused."""


def verdict_lines(
    verdicts: Sequence[LineVerdict], counts: Mapping[str, int], everything_written: bool
) -> list[str]:
    """The verdicts in columns, then the counts; of many lines those that were refused."""
    shown = verdicts if len(verdicts) <= MOST_LINES else [one for one in verdicts if one.refusal is not None]
    lines = [_verdict_line(one) for one in shown[:MOST_LINES]]
    left_out = len(shown) - len(lines)
    if left_out:
        where = "the file of verdicts has all" if everything_written else "--verdicts and --json have all"
        lines.append(f"{left_out:,} more lines were refused; {where}.")
    told = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    size = "1 line" if len(verdicts) == 1 else f"{len(verdicts):,} lines"
    return [
        *lines,
        f"{size}: {told}." if told else "The file has no lines below its header; nothing was told.",
    ]


def _verdict_line(one: LineVerdict) -> str:
    decision = one.id or one.key or "–"
    end = f": {visible(one.refusal)}" if one.refusal is not None else ""
    return f"line {one.line}  {label(decision)}  {one.verdict}{end}"

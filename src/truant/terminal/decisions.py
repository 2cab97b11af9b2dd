"""Decisions as lines of text: without rich, so that an answer comes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truant.text import label

HEADS = ("id", "arm", "probability", "deadline", "")
NOTES = {
    "repeated": "asked before",
    "holdout": "holdout",
    "fallback": "fallback: outside the experiment",
}


def decision_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A heading and a line for each decision, in columns."""
    cells = [HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEADS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def in_seconds(moment: str) -> str:
    """A moment without fractions of a second."""
    return f"{moment[:19]}Z" if len(moment) > 19 else moment


def pending_words(pending: int, with_outcome: int) -> str:
    """How many decisions are pending, and how many of these have an outcome."""
    return f"{pending:,} pending" + (f" ({with_outcome:,} with an outcome already)" if with_outcome else "")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    probability = "–" if row["probability"] is None else f"{row['probability']:.4g}"
    notes = ", ".join(words for field, words in NOTES.items() if row[field])
    return row["id"] or "–", label(row["arm"]), probability, in_seconds(row["deadline"] or "–"), notes

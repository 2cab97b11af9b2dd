"""Verdicts on the lines of a file as lines of text: all of a short file, refusals of a long one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from truant.text import label, visible

MOST_LINES = 50


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
    lines = [_line(one) for one in shown[:MOST_LINES]]
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


def _line(one: LineVerdict) -> str:
    decision = one.id or one.key or "–"
    end = f": {visible(one.refusal)}" if one.refusal is not None else ""
    return f"line {one.line}  {label(decision)}  {one.verdict}{end}"

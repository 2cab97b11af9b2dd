"""An analysis by the values of a column in the terminal: a table of all groups, then a compact one of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from truant.analysis import Analysis
from truant.analysis.words import Figures, group_rows, verdict_sentence
from truant.terminal.analysis import TONES, bullets, values_grid
from truant.terminal.plain import plain
from truant.text import label


@dataclass(frozen=True)
class ByDisplay:
    """A heading, the winners of all groups, the values of each, and what could not be analysed."""

    analyses: Mapping[str, Analysis]
    left_out: Sequence[tuple[str, int, str]]  # value, rows, reason
    by: str
    title: str = "Analysis"
    about: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain(self.title, "bold")
        for line in self.about:
            yield plain(line, "dim")
        yield plain("")
        yield _overview(self.analyses, self.by)
        for value, analysis in self.analyses.items():
            yield plain("")
            yield plain(f"{self.by}: {value}", "bold")
            yield values_grid(analysis, Figures.of(analysis))
            yield plain(verdict_sentence(analysis), TONES[analysis.verdict.kind])
            if analysis.warnings:
                codes = ", ".join(dict.fromkeys(warning.code for warning in analysis.warnings))
                yield plain(f"Warnings: {codes}", "yellow")
        reasons = [
            f"{value} ({rows:,} {'row' if rows == 1 else 'rows'}): {why}"
            for value, rows, why in self.left_out
        ]
        yield from bullets("Groups that could not be analysed", reasons, "yellow")


def _overview(analyses: Mapping[str, Analysis], by: str) -> Table:
    heads, rows = group_rows(analyses)
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", collapse_padding=True
    )
    for i, head in enumerate([by, *heads]):
        table.add_column(Text(label(head)), justify="right" if i in (1, 2) else "left")
    for row in rows:
        table.add_row(
            *(Text(label(text)) + plain(f" {detail}" if detail else "", "dim") for text, detail in row)
        )
    return table

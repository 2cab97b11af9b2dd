"""An analysis in the terminal: arms as rows, assumptions as columns, then its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table

from truant.analysis import Analysis
from truant.analysis.words import (
    UNKNOWN,
    Figures,
    by_code,
    certainty,
    listed,
    missing_share,
    percent,
    tipping_sentence,
    verdict,
)
from truant.terminal.grid import STAR, Grid, Value
from truant.terminal.plain import plain

SHOWN = 2  # warnings of one kind; the others are counted


@dataclass(frozen=True)
class AnalysisDisplay:
    """A heading, the table, the verdict, warnings, what would change the winner, and what could not be used."""

    analysis: Analysis
    title: str = "Analysis"
    about: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        figures = Figures.of(self.analysis)
        yield plain(self.title, "bold")
        for line in (*self.about, _facts(self.analysis)):
            yield plain(line, "dim")
        yield plain("")
        yield values_grid(self.analysis, figures)
        yield plain("")
        yield from _below(self.analysis, figures)


def _facts(analysis: Analysis) -> str:
    pulls = sum(arm.pulls for arm in analysis.arms)
    arms = "1 arm" if len(analysis.arms) == 1 else f"{len(analysis.arms):,} arms"
    rows = "1 row" if pulls == 1 else f"{pulls:,} rows"
    missing = percent(missing_share(analysis))
    return f"{rows}, {arms}, {missing} of the outcomes missing; {100 * analysis.level:.4g}% intervals"


def values_grid(analysis: Analysis, figures: Figures) -> Grid:
    """Every arm under every assumption, the winner of each marked."""
    rows = []
    for arm in analysis.arms:
        values = {}
        for name, value in (("naive", arm.naive), *arm.estimates.items()):
            best = len(analysis.arms) > 1 and analysis.winner.get(name) == arm.arm
            values[name] = (
                Value(figures.number(value.mean), figures.limits(value), best) if value else Value(UNKNOWN)
            )
        rows.append(([arm.arm, f"{arm.pulls:,}", percent(arm.missing_share)], values))
    return Grid(["arm", "pulls", "missing"], rows)


def _changes(analysis: Analysis, figures: Figures) -> Grid:
    """Every arm's difference to the control; marked where the interval leaves out zero."""
    rows = []
    for arm in analysis.arms:
        values = {}
        for name, estimate in arm.estimates.items():
            if change := estimate.difference:
                mean, limits = figures.number(change.mean, sign=True), figures.limits(change, sign=True)
                values[name] = Value(mean, limits, change.low > 0 or change.high < 0, tone="default")
        if values:
            rows.append(([arm.arm], values))
    return Grid(["arm"], rows)


def _below(analysis: Analysis, figures: Figures) -> Iterator[RenderableType]:
    several = len({analysis.winner[name] for name in analysis.assumptions}) != 1
    yield plain(verdict(analysis), "bold yellow" if several else "bold green")
    if sure := certainty(analysis, figures):
        yield plain(sure)
    if analysis.control is not None and len(analysis.arms) > 1 and analysis.assumptions:
        yield plain("")
        yield plain(f"Difference to {analysis.control}", "bold")
        yield plain(f"simultaneous intervals (Dunnett); {STAR} interval excludes zero.", "dim")
        yield _changes(analysis, figures)
    yield from bullets("Warnings", _warnings(analysis), "yellow")
    tips = [f"{tip.assumption}: {tipping_sentence(tip, figures)}" for tip in analysis.sensitivity]
    yield from bullets("Would the winner change?", tips)
    unused = [f"{item.assumption}: {item.reason_alone}" for item in analysis.infeasible]
    yield from bullets("Assumptions that could not be used", unused, "dim")


def _warnings(analysis: Analysis) -> list[str]:
    lines = []
    for code, several in by_code(analysis.warnings).items():
        lines += [f"{warning.message} [{code}]" for warning in several[:SHOWN]]
        if len(several) > SHOWN:
            arms = list(dict.fromkeys(warning.arm for warning in several[SHOWN:] if warning.arm))
            where = f", in {listed(arms)}" if arms else ""
            lines.append(f"{len(several) - SHOWN} more like this{where} [{code}]")
    return lines


def bullets(heading: str, lines: Sequence[str], style: str = "") -> Iterator[RenderableType]:
    """A heading and its lines, wrapped with a hanging indent; nothing if there are none."""
    if not lines:
        return
    yield plain("")
    yield plain(heading, "bold")
    for line in lines:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row(plain("•", style), plain(line, style))
        yield Padding(grid, (0, 0, 0, 1), expand=False)

"""An analysis in the terminal (rich): arms as rows, assumptions as columns, as much as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

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

STAR = "\N{BLACK STAR}"
SHOWN = 2  # warnings of one kind; the others are counted
Layout = Literal["wide", "tall", "stacked", "means", "stacked means"]
LAYOUTS: tuple[Layout, ...] = ("wide", "tall", "stacked", "means", "stacked means")  # the first that fits


@dataclass(frozen=True)
class Value:
    """A cell of a table: a figure with its limits, marked or not."""

    mean: str
    limits: str = ""
    marked: bool = False
    tone: str = "green"  # of a marked one


@dataclass(frozen=True)
class Grid:
    """A table that draws itself in the first layout for which there is room.

    Wide: assumptions as columns; tall: limits below the mean; stacked: assumptions as rows; means: no limits.
    """

    heads: Sequence[str]
    rows: Sequence[tuple[Sequence[str], dict[str, Value]]]  # what names an arm, and its values by assumption

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=10_000)
        for layout in LAYOUTS:
            drawn = self.draw(layout)
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn

    def draw(self, layout: Layout) -> Table:
        """The table in one layout."""
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", collapse_padding=True
        )
        names = list(dict.fromkeys(name for _, values in self.rows for name in values))
        stacked = layout.startswith("stacked")
        for i, head in enumerate([*self.heads, *(["assumption", "value"] if stacked else names)]):
            words = i == 0 or (stacked and head == "assumption")
            table.add_column(
                Text(head if words or stacked else f"{head}  "),
                justify="left" if words else "right",
                no_wrap=True,
            )
        for own, values in self.rows:
            cells = [Text(cell) for cell in own]
            if not stacked:
                table.add_row(
                    *cells, *(_cell(values[name], layout) for name in names), end_section=layout == "tall"
                )
                continue
            for name in names:
                table.add_row(
                    *cells, Text(name, "dim"), _cell(values[name], layout), end_section=name == names[-1]
                )
                cells = [Text("")] * len(cells)
        return table


def _cell(value: Value, layout: Layout) -> Text:
    """Others have a blank in the place of a marked one's star, so that figures align."""
    mark, blank = (f" {STAR}", "  ") if value.marked else ("  ", "  ")
    limits = "" if "means" in layout else value.limits
    mean = Text(value.mean, f"bold {value.tone}" if value.marked else "")
    tone = value.tone if value.marked else "dim"
    if layout == "tall":
        return mean + Text(mark, f"bold {value.tone}") + Text(f"\n{limits}{blank}", tone)
    return mean + Text(f" {limits}" if limits else "", tone) + Text(mark, f"bold {value.tone}")


@dataclass(frozen=True)
class AnalysisDisplay:
    """A heading, the table, the verdict, warnings, what would change the winner, and what could not be used."""

    analysis: Analysis
    title: str = "Analysis"
    about: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        figures = Figures.of(self.analysis)
        yield Text(self.title, "bold")
        for line in (*self.about, _facts(self.analysis)):
            yield Text(line, "dim")
        yield Text("")
        yield _values(self.analysis, figures)
        yield Text("")
        yield from _below(self.analysis, figures)


def _facts(analysis: Analysis) -> str:
    pulls = sum(arm.pulls for arm in analysis.arms)
    arms = "1 arm" if len(analysis.arms) == 1 else f"{len(analysis.arms):,} arms"
    rows = "1 row" if pulls == 1 else f"{pulls:,} rows"
    missing = percent(missing_share(analysis))
    return f"{rows}, {arms}, {missing} of the outcomes missing; {100 * analysis.level:.4g}% intervals"


def _values(analysis: Analysis, figures: Figures) -> Grid:
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
    yield Text(verdict(analysis), "bold yellow" if several else "bold green")
    if sure := certainty(analysis, figures):
        yield Text(sure)
    if analysis.control is not None and len(analysis.arms) > 1 and analysis.assumptions:
        yield Text("")
        yield Text(f"Difference to {analysis.control}", "bold")
        yield Text(f"Intervals of a column hold together (Dunnett); {STAR} leaves out zero.", "dim")
        yield _changes(analysis, figures)
    yield from _part("Warnings", _warnings(analysis), "yellow")
    tips = [f"{tip.assumption}: {tipping_sentence(tip, figures)}" for tip in analysis.sensitivity]
    yield from _part("Would the winner change?", tips)
    unused = [f"{item.assumption}: {item.reason_alone}" for item in analysis.infeasible]
    yield from _part("Assumptions that could not be used", unused, "dim")


def _warnings(analysis: Analysis) -> list[str]:
    lines = []
    for code, several in by_code(analysis.warnings).items():
        lines += [f"{warning.message} [{code}]" for warning in several[:SHOWN]]
        if len(several) > SHOWN:
            arms = list(dict.fromkeys(warning.arm for warning in several[SHOWN:] if warning.arm))
            where = f", in {listed(arms)}" if arms else ""
            lines.append(f"{len(several) - SHOWN} more like this{where} [{code}]")
    return lines


def _part(heading: str, lines: Sequence[str], style: str = "") -> Iterator[RenderableType]:
    """A heading and its lines, wrapped with a hanging indent; nothing if there are none."""
    if not lines:
        return
    yield Text("")
    yield Text(heading, "bold")
    for line in lines:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row(Text("•", style), Text(line, style))
        yield Padding(grid, (0, 0, 0, 1), expand=False)

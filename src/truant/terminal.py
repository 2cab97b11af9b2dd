"""An analysis in the terminal (rich): arms as rows, assumptions as columns, as much as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from truant.analysis import Analysis
from truant.analysis.analysis import Arm, Interval
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
SHOWN = 3  # warnings of one kind; the others are counted
Layout = Literal["limits", "means", "stacked", "stacked means"]
LAYOUTS: tuple[Layout, ...] = ("limits", "stacked", "means", "stacked means")  # the first that fits is drawn


@dataclass(frozen=True)
class AnalysisDisplay:
    """A heading, the table, the verdict, warnings, what would change the winner, and what could not be used."""

    analysis: Analysis
    title: str = "Analysis"
    about: Sequence[str] = field(default=())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        figures = Figures.of(self.analysis)
        yield Text(self.title, "bold")
        for line in self.about:
            yield Text(line, "dim")
        yield Text(_facts(self.analysis), "dim")
        yield Text("")
        unlimited = options.update(max_width=10_000)
        for layout in LAYOUTS:
            drawn = _draw(self.analysis, figures, layout)
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn
        yield Text("")
        yield from _below(self.analysis, figures)


def _facts(analysis: Analysis) -> str:
    pulls = sum(arm.pulls for arm in analysis.arms)
    arms = "1 arm" if len(analysis.arms) == 1 else f"{len(analysis.arms):,} arms"
    rows = "1 row" if pulls == 1 else f"{pulls:,} rows"
    missing = percent(missing_share(analysis))
    return f"{rows}, {arms}, {missing} of the outcomes missing; {100 * analysis.level:.4g}% intervals"


def _draw(analysis: Analysis, figures: Figures, layout: Layout) -> Table:
    """Assumptions as columns, or, where there is no room for that, as rows below the arm."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    stacked = layout.startswith("stacked")
    heads = [
        "arm",
        "pulls",
        "missing",
        *(["assumption", "value"] if stacked else ["naive", *analysis.assumptions]),
    ]
    for head in heads:
        words = head in ("arm", "assumption") and not (head in analysis.assumptions)
        table.add_column(Text(head), justify="left" if words else "right", no_wrap=True, overflow="ellipsis")
    for arm in analysis.arms:
        own = [Text(arm.arm), Text(f"{arm.pulls:,}"), Text(percent(arm.missing_share))]
        values = {name: _value(analysis, arm, name, value, figures, layout) for name, value in _values(arm)}
        if not stacked:
            table.add_row(*own, *values.values())
            continue
        for name, value in values.items():
            table.add_row(*own, Text(name, "dim"), value)
            own = [Text("")] * 3
        table.add_section()
    return table


def _values(arm: Arm) -> list[tuple[str, Interval | None]]:
    return [("naive", arm.naive), *arm.estimates.items()]


def _value(
    analysis: Analysis, arm: Arm, name: str, value: Interval | None, figures: Figures, layout: Layout
) -> Text:
    """Mean [low, high]; the column's winner has a star, and others a blank in its place, so that figures align."""
    if value is None:
        return Text(f"{UNKNOWN}  ", "dim")
    best = len(analysis.arms) > 1 and analysis.winner[name] == arm.arm
    mean, limits = figures.number(value.mean), "" if "means" in layout else f" {figures.limits(value)}"
    mark = f" {STAR}" if best else "  "
    return Text.assemble(
        (mean, "bold green" if best else ""), (limits, "green" if best else "dim"), (mark, "bold green")
    )


def _below(analysis: Analysis, figures: Figures) -> Iterator[RenderableType]:
    several = len({analysis.winner[name] for name in analysis.assumptions}) != 1
    yield Text(verdict(analysis), "bold yellow" if several else "bold green")
    if sure := certainty(analysis, figures):
        yield Text(sure)
    if analysis.control is not None and len(analysis.arms) > 1 and analysis.assumptions:
        yield from _part(
            f"Difference to {analysis.control} (intervals hold together, Dunnett)",
            _changes(analysis, figures),
        )
    yield from _part("Warnings", _warnings(analysis), "yellow")
    tips = [f"{tip.assumption}: {tipping_sentence(tip, figures)}" for tip in analysis.sensitivity]
    yield from _part("Would the winner change?", tips)
    unused = [f"{item.assumption}: {item.reason}" for item in analysis.infeasible]
    yield from _part("Assumptions that could not be used", unused, "dim")


def _changes(analysis: Analysis, figures: Figures) -> list[str]:
    """A line for each arm but the control."""
    lines = []
    for arm in analysis.arms:
        changes = {name: estimate.difference for name, estimate in arm.estimates.items()}
        parts = [
            f"{name} {figures.with_limits(c, sign=True)}" for name, c in changes.items() if c is not None
        ]
        if parts:
            lines.append(f"{arm.arm}: {', '.join(parts)}")
    return lines


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
        yield Padding(grid, (0, 0, 0, 1))

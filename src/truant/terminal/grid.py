"""A table of arms and assumptions that takes the widest layout for which there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from truant.text import label

STAR = "\N{BLACK STAR}"
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
                Text(label(head) if words or stacked else f"{label(head)}  "),
                justify="left" if words else "right",
                no_wrap=True,
            )
        for own, values in self.rows:
            cells = [Text(label(cell)) for cell in own]
            if not stacked:
                table.add_row(
                    *cells, *(_cell(values[name], layout) for name in names), end_section=layout == "tall"
                )
                continue
            for name in names:
                table.add_row(
                    *cells,
                    Text(label(name), "dim"),
                    _cell(values[name], layout),
                    end_section=name == names[-1],
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

"""A rehearsal in the terminal: a row for each variant, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from truant.terminal.plain import plain
from truant.text import label

Cells = Sequence[Mapping[str, tuple[str, str]]]  # a figure and its standard error, by column
WORDS = ("window", "assumption", "counted")
_DROPPED_FIRST = ("in window", "more", "first learning", "bias")  # on a narrow terminal; files have them all


@dataclass(frozen=True)
class RehearsalDisplay:
    """A heading, the table of variants, and the verdict."""

    cells: Cells  # of each variant
    least: int  # the variant with the least regret
    level: float
    title: str
    about: Sequence[str]
    sentences: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain(self.title, "bold")
        for line in self.about:
            yield plain(line, "dim")
        yield plain("")
        unlimited = options.update(max_width=10_000)
        for dropped in range(len(_DROPPED_FIRST) + 1):
            drawn = _table(self.cells, self.least, _DROPPED_FIRST[:dropped])
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn
        yield plain("")
        yield plain(
            "more: regret beyond that of the best variant; winner: runs in which the best arm is the clear winner; "
            "null: runs of the null world (all arms equal) with a winner; covered: intervals that contain the true "
            f"mean (nominal: {100 * self.level:.4g}%); bias: mean error of the estimates; first learning: days until "
            "shares change; in window: outcomes that arrive in their window; ±: standard error.",
            "dim",
        )
        yield plain("")
        yield plain(self.sentences[0], "bold")
        for sentence in self.sentences[1:]:
            yield plain(sentence, "")


def _table(cells: Cells, least: int, dropped: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    columns = [name for name in cells[0] if name not in dropped]
    for name in columns:
        table.add_column(name, justify="left" if name in WORDS else "right", no_wrap=True)
    for i, own in enumerate(cells):
        texts = (" ".join(filter(None, own[name])) for name in columns)
        table.add_row(*(Text(label(text)) for text in texts), style="bold" if i == least else "")
    return table

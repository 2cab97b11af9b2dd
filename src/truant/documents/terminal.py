"""Blocks in the terminal (rich): every text of users is shown as it is, never obeyed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from truant.documents import blocks
from truant.documents.words import by_code, listed
from truant.errors import label, named, visible

STAR = "\N{BLACK STAR}"
SHOWN = 2  # warnings of one kind; the others are counted
SHOWN_ARMS = 8  # names of arms in a warning that stands for several
STYLES: dict[blocks.Tone, str] = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "good": "bold green",
    "doubt": "yellow",
    "bad": "red",
}
Layout = Literal["wide", "tall", "stacked", "means", "stacked means"]
LAYOUTS: tuple[Layout, ...] = ("wide", "tall", "stacked", "means", "stacked means")  # the first that fits


def plain(text: str, style: str = "") -> Text:
    """A text without markup or control characters."""
    return Text(visible(text), style)


@dataclass(frozen=True)
class Printed:
    """A document for a console of rich."""

    document: blocks.Document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title = plain(self.document.title, "bold")
        state = self.document.state
        yield Text.assemble(title, "  ", plain(state, "dim")) if state else title
        for line in self.document.about:
            yield plain(line, "dim")
        for block in self.document.blocks:
            yield from _printed(block, True)


def text_of(document: blocks.Document, width: int = 200) -> str:
    """A document as plain text."""
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        console.print(Printed(document))
    return captured.get()


def _printed(block: blocks.Block, top: bool) -> Iterator[RenderableType]:
    """A block; those of the top stand apart from what is above them, as does everything with a heading."""
    if blocks.On.TERMINAL not in block.on:
        return
    match block:
        case blocks.Sentence():
            yield plain(block.text, STYLES[block.tone])
        case blocks.Finding():
            if top:
                yield plain("")
            yield plain(block.sentence, "bold yellow" if block.tone == "doubt" else STYLES[block.tone])
            for part in block.blocks:
                yield from _printed(part, False)
        case blocks.Facts():
            grid = RichTable.grid(padding=(0, 2))
            grid.add_column(no_wrap=True, style="dim")
            grid.add_column(overflow="fold")
            for name, figure in block.figures:
                grid.add_row(plain(name), plain(figure))
            yield grid
        case blocks.Table():
            yield from _table(block, top)
        case blocks.Bullets():
            yield from _bullets(block.heading, block.lines, STYLES[block.tone])
        case blocks.Tags():
            yield from _bullets(
                block.heading, [f"{line.code}: {line.text}" for line in block.lines], STYLES[block.tone]
            )
        case blocks.Warnings():
            yield from _bullets("Warnings", _warning_lines(block.warnings), STYLES["doubt"])
        case blocks.Code():  # in one line, to be copied
            yield Text(visible(block.text), no_wrap=True, overflow="ignore")
        case blocks.Section() | blocks.Panels():
            if isinstance(block, blocks.Section):
                yield plain("")
                yield plain(block.heading, "bold")
            for part in block.blocks:
                yield from _printed(part, False)
        case _:
            raise NotImplementedError(f"{type(block).__name__} has no form in the terminal.")


def _bullets(heading: str, lines: Sequence[str], style: str) -> Iterator[RenderableType]:
    """A heading and its lines, wrapped with a hanging indent; nothing if there are none."""
    if not lines:
        return
    if heading:
        yield plain("")
        yield plain(heading, "bold")
    for line in lines:
        grid = RichTable.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row(plain("•", style), plain(line, style))
        yield Padding(grid, (0, 0, 0, 1), expand=False)


def _warning_lines(warnings: Sequence[blocks.Tagged]) -> list[str]:
    lines = []
    for code, several in by_code(warnings).items():
        lines += [f"{warning.text} [{code}]" for warning in several[:SHOWN]]
        if len(several) > SHOWN:
            arms = list(dict.fromkeys(warning.arm for warning in several[SHOWN:] if warning.arm))
            where = f", in {listed(map(named, arms[:SHOWN_ARMS]))}" if arms else ""
            where += f" and {len(arms) - SHOWN_ARMS} more arms" if len(arms) > SHOWN_ARMS else ""
            lines.append(f"{len(several) - SHOWN} more like this{where} [{code}]")
    return lines


def _table(table: blocks.Table, top: bool) -> Iterator[RenderableType]:
    if top or table.heading:
        yield plain("")
    if table.heading:
        yield plain(table.heading, "bold")
        yield plain(table.caption, "dim")
    yield FittingTable(table)
    if table.left_out:
        yield plain(table.left_out, "dim")
    if table.legend:
        yield plain(table.legend, "dim")


@dataclass(frozen=True)
class FittingTable:
    """A table that draws itself in the widest form for which there is room.

    Columns leave one after the other; or, where they may be stacked: assumptions as columns (wide), limits below the
    mean (tall), assumptions as rows (stacked), and the same without limits (means).
    """

    table: blocks.Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=10_000)
        for drawn in self.forms():
            if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
                break
        yield drawn

    def forms(self) -> Iterator[RichTable]:
        """The table in each form, the widest first."""
        if self.table.stacked is not None:
            yield from map(self.stacked, LAYOUTS)
            return
        for turn in range(1 + max(max(column.leaves, column.brief) for column in self.table.columns)):
            yield self.dropped(turn)

    def dropped(self, turn: int) -> RichTable:
        """The table without what leaves until this turn."""
        columns = self.table.columns
        kept = [i for i, column in enumerate(columns) if not 0 < column.leaves <= turn]
        fits = any(column.leaves for column in columns)
        drawn = _empty_table(collapse_padding=not fits)
        for i in kept:
            side: Literal["left", "right"] = "left" if columns[i].words else "right"
            drawn.add_column(Text(label(columns[i].name)), justify=side, no_wrap=fits, overflow="fold")
        starry = {i for i in kept if not columns[i].words and any(row[i].star for row in self.table.rows)}
        numbers = self._numbers()
        for place, number in enumerate(numbers):
            row = self.table.rows[number]
            following = numbers[place + 1] if place + 1 < len(numbers) else None
            spans = any(cell.rows != 1 for one in self.table.rows for cell in one)
            drawn.add_row(
                *(_cell(row[i], "wide", 0 < columns[i].brief <= turn, i in starry) for i in kept),
                style=STYLES[self.table.tones.get(number, "")],
                end_section=spans and (following is None or self.table.rows[following][0].rows > 0),
            )
        return drawn

    def stacked(self, layout: Layout) -> RichTable:
        """The table in one layout."""
        first, columns = self.table.stacked or 0, self.table.columns
        drawn = _empty_table(collapse_padding=True)
        for i, column in enumerate(columns[:first]):
            drawn.add_column(
                Text(label(column.name)), justify="left" if i == 0 or column.words else "right", no_wrap=True
            )
        in_rows = layout.startswith("stacked")
        if in_rows:
            drawn.add_column(Text("assumption"), justify="left", no_wrap=True)
            drawn.add_column(Text("value"), justify="right", no_wrap=True)
        else:
            for column in columns[first:]:
                drawn.add_column(Text(f"{label(column.name)}  "), justify="right", no_wrap=True)
        for number in self._numbers():
            row = self.table.rows[number]
            heads = [Text(label(cell.text), STYLES[cell.tone]) for cell in row[:first]]
            values = [
                _cell(cell, layout, column.brief > 0, True)
                for cell, column in zip(row[first:], columns[first:], strict=True)
            ]
            if not in_rows:
                drawn.add_row(*heads, *values, end_section=layout == "tall")
                continue
            for column, value in zip(columns[first:], values, strict=True):
                drawn.add_row(
                    *heads, Text(label(column.name), "dim"), value, end_section=column is columns[-1]
                )
                heads = [Text("")] * len(heads)
        return drawn

    def _numbers(self) -> Sequence[int]:
        return range(len(self.table.rows)) if self.table.shown is None else self.table.shown


def _empty_table(collapse_padding: bool) -> RichTable:
    return RichTable(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
        collapse_padding=collapse_padding,
    )


def _cell(cell: blocks.Cell, layout: Layout, brief: bool, aligned: bool) -> Text:
    """Others have a blank in the place of a marked one's star, so that figures align."""
    if cell.rows == 0:
        return Text("")
    mark, blank = (f" {STAR}" if cell.star else "  " if aligned else ""), "  " if aligned else ""
    detail = "" if "means" in layout or brief else visible(cell.detail)
    style = STYLES[cell.tone] or ("bold" if cell.star else "")
    fine = style.removeprefix("bold ") if cell.star else "dim"
    text = Text(label(cell.text), style)
    if layout == "tall":
        return text + Text(mark, style) + Text(f"\n{detail}{blank}", fine)
    return text + Text(f" {detail}" if detail and cell.text else detail, fine) + Text(mark, style)

"""What a document is made of: small records that terminal, page and notebook render, each in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import altair as alt


class On(Flag):
    """Renderings in which a block stands."""

    TERMINAL = auto()
    PAGE = auto()
    NOTEBOOK = auto()
    HTML = PAGE | NOTEBOOK
    ALL = TERMINAL | PAGE | NOTEBOOK


# good: a winner that is clear, and nothing else; doubt: something to know before relying on a figure; bad: wrong
Tone = Literal["", "strong", "faint", "good", "doubt", "bad"]


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a document, and the renderings in which it stands."""

    on: On = On.ALL


@dataclass(frozen=True)
class Sentence(Block):
    """One or more sentences in a paragraph of their own."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Finding(Block):
    """The answer to the question of a document, with what belongs to it."""

    kind: str  # names its colours in page.css
    title: str
    sentence: str
    tone: Tone = "strong"
    blocks: Sequence[Block] = ()


@dataclass(frozen=True)
class Facts(Block):
    """Short figures, each with its name."""

    figures: Sequence[tuple[str, str]]
    on: On = field(default=On.PAGE, kw_only=True)


@dataclass(frozen=True)
class Cell:
    """A figure or a name, with what stands small beside it."""

    text: str
    detail: str = ""
    star: bool = False  # the best of its column, or what the caption says
    tone: Tone = ""
    rows: int = 1  # that it stands for; 0 where a cell above stands for this row, too


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    words: bool = False  # rather than figures
    leaves: int = 0  # its turn to leave a narrow terminal, from 1; 0: it stays
    brief: int = 0  # its turn to lose its details there; where columns are stacked, always


@dataclass(frozen=True)
class Table(Block):
    """Rows of cells; the first column names the rows.

    Parameters
    ----------
    caption : what the table has.
    columns, rows : the cells.
    heading : above it in the terminal, with the caption below; neither is shown there without.
    legend : what its columns mean, below it in the terminal.
    stacked : number of the first column that a narrow terminal may stack, with details below or as rows of their own.
    shown : numbers of the rows that the terminal shows; all unless given.
    left_out : what it says of the others, whose number is known here.
    tones : of whole rows in the terminal, by their number.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    heading: str = ""
    legend: str = ""
    stacked: int | None = None
    shown: Sequence[int] | None = None
    left_out: str = ""
    tones: Mapping[int, Tone] = field(default_factory=dict)


@dataclass(frozen=True)
class Bullets(Block):
    """A heading and a list of sentences; nothing without sentences."""

    heading: str
    lines: Sequence[str]
    tone: Tone = ""


class Tagged(NamedTuple):
    """A sentence with its code, and the arm that it is about."""

    code: str
    text: str
    arm: str = ""


@dataclass(frozen=True)
class Warnings(Block):
    """What to know before relying on a figure; of many with one code the first are shown."""

    warnings: Sequence[Tagged]


@dataclass(frozen=True)
class Tags(Block):
    """A heading and sentences, each with a tag in front."""

    heading: str
    lines: Sequence[Tagged]
    tone: Tone = ""


Place = Literal["wide", "panel", "scroll"]


@dataclass(frozen=True)
class Chart(Block):
    """A chart, drawn only where it is shown.

    Parameters
    ----------
    name : unlike that of any other chart of the document.
    maker : makes the chart; None if there is nothing to draw.
    alternative : what is said to those who do not see it.
    heading, sentence : above and below it.
    place : as wide as the page, in a panel that may stand beside others, or in a box that scrolls sideways.
    figures : what is drawn; None if another table of the document has it.
    """

    name: str
    maker: Callable[[], alt.TopLevelMixin | None]
    alternative: str
    heading: str = ""
    sentence: str = ""
    place: Place = "wide"
    figures: Callable[[], Table] | None = None
    on: On = field(default=On.PAGE, kw_only=True)


@dataclass(frozen=True)
class Drawing(Block):
    """An <svg> element that is drawn already, and its sentence."""

    svg: str
    sentence: str
    heading: str = ""
    on: On = field(default=On.PAGE, kw_only=True)


@dataclass(frozen=True)
class Code(Block):
    """Text as it is typed: a command to try, or a file."""

    text: str
    command: bool = True
    on: On = field(default=On.PAGE, kw_only=True)


@dataclass(frozen=True)
class Template(Block):
    """Text with formulas, in an HTML file beside the renderer, with what its sentences depend on."""

    name: str
    facts: dict[str, object] = field(default_factory=dict)
    on: On = field(default=On.PAGE, kw_only=True)


@dataclass(frozen=True)
class Section(Block):
    """A heading and what stands below it.

    Parameters
    ----------
    heading, blocks : its parts.
    folded : whether a page shows the heading alone until it is unfolded; `open`: it is unfolded at first.
    summary : beside the heading of a folded one.
    tone : of a panel: good, doubt or none.
    tag : beside the heading.
    """

    heading: str
    blocks: Sequence[Block]
    folded: bool = False
    open: bool = False
    summary: str = ""
    tone: Tone = ""
    tag: str = ""


@dataclass(frozen=True)
class Panels(Block):
    """Blocks that stand beside each other where there is room."""

    blocks: Sequence[Block]
    on: On = field(default=On.PAGE, kw_only=True)


class Better(NamedTuple):
    """Which way is better, in a sentence and in short."""

    sentence: str
    short: str
    down: bool


@dataclass(frozen=True)
class Document:
    """The title, lines below it, and the blocks of a result.

    Parameters
    ----------
    title : the heading.
    about : where the figures come from, a short sentence each.
    blocks : in the order in which they are read.
    state : beside the title in the terminal.
    better : which way is better; on pages below the title, and not among `about`.
    """

    title: str
    about: Sequence[str]
    blocks: Sequence[Block]
    state: str = ""
    better: Better | None = None


class ChartValue(NamedTuple):
    """A figure of a chart: where on the axis, of which line, and its value."""

    at: str
    line: str
    text: str


MOST_FIGURES = 15  # rows of a chart's table: of more, some at equal distances


def figures_table(caption: str, axis: str, figures: Iterable[ChartValue]) -> Table:
    """A row for each place on the axis, a column for each line."""
    texts = {(figure.at, figure.line): figure.text for figure in figures}
    rows, lines = (list(dict.fromkeys(key[i] for key in texts)) for i in (0, 1))
    count = min(len(rows), MOST_FIGURES)
    some = [rows[round(i * (len(rows) - 1) / max(count - 1, 1))] for i in range(count)]
    cells = [[Cell(at), *(Cell(texts.get((at, line), "–")) for line in lines)] for at in some]
    return Table(caption, [Column(axis, words=True), *map(Column, lines)], cells)

"""Figures: the numbers on the pages, each with its standard error, so that a later run can be compared with it.

A figure is the text of a table cell and the number behind it. Sections make their tables of figures; what stands
in a table is named after its row and its column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

SHARE = "share"  # of independent units: `size` of them, compared by the hypergeometric distribution
MEAN = "mean"  # with its standard error, compared by Welch's t
SPEED = "speed ratio"  # measured side by side on one machine: compared with a band, not a standard error
EXACT = "exact"  # the same in every run: losses, crashes
YES, NO = "yes", "**no**"  # whether a row meets the criterion of its table, in the last column


class Figure(str):
    """The text of a table cell, and the number behind it.

    Parameters
    ----------
    error : standard error of the value; of a share, that which `size` independent units would give.
    size : how many independent units (runs, tables, samples) the value comes from.
    """

    __slots__ = ("error", "kind", "size", "value")
    kind: str
    value: float
    error: float
    size: float

    def __new__(cls, text: str, kind: str, value: float, error: float = 0.0, size: float = 0.0) -> Figure:
        figure = super().__new__(cls, text)
        figure.kind, figure.value, figure.error, figure.size = kind, float(value), float(error), float(size)
        return figure

    def with_text(self, text: str) -> Figure:
        """The same number in other words."""
        return Figure(text, self.kind, self.value, self.error, self.size)

    @property
    def record(self) -> dict[str, Any]:
        """The figure as it is kept."""
        numbers = {"value": self.value, "error": self.error, "size": self.size}
        short = {name: float(f"{number:.6g}") for name, number in numbers.items()}
        return {"text": str(self), "kind": self.kind, **short}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Figure:
        """The figure that was kept."""
        return cls(**record)


def share(held: npt.ArrayLike, text: str = "{:.3f}", error: float | None = None) -> Figure:
    """A share of independent units.

    Parameters
    ----------
    held : whether each unit has the property.
    text : how the share is written.
    error : its standard error, where units are not independent (several arms of a table).
    """
    array = np.asarray(held, float)
    return share_of(float(array.mean()), len(array), text, error)


def share_of(value: float, size: float, text: str = "{:.3f}", error: float | None = None) -> Figure:
    """The same, where the share is known already."""
    spread = value * (1 - value)
    if error is not None and error > 0 and spread > 0:
        size = min(size, spread / error**2)  # as many independent units would have this error
    return Figure(text.format(value), SHARE, value, math.sqrt(spread / size) if size else math.nan, size)


def mean(values: npt.ArrayLike, decimals: int = 2, text: str = "") -> Figure:
    """A mean over independent units and its standard error."""
    array = np.asarray(values, float)
    error = float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else math.nan
    return plus_minus(float(array.mean()), error, decimals, len(array), text)


def plus_minus(
    value: float, error: float, decimals: int = 2, size: float = math.inf, text: str = ""
) -> Figure:
    """A figure and its standard error, from `size` independent units."""
    return Figure(text or f"{value:,.{decimals}f} ± {error:,.{decimals}f}", MEAN, value, error, size)


def median(values: npt.ArrayLike, text: str = "{:,.0f}") -> Figure:
    """A median, with the standard error that its order statistics imply."""
    array = np.sort(np.asarray(values, float))
    half = 0.98 * math.sqrt(len(array))  # half the width of the 95% interval, in ranks
    low, high = (array[int(np.clip(round(len(array) / 2 + s * half), 0, len(array) - 1))] for s in (-1, 1))
    value = float(np.median(array))
    return Figure(text.format(value), MEAN, value, float(high - low) / (2 * 1.96), len(array))


def speed_ratio(value: float, text: str = "{:.2f}") -> Figure:
    """A ratio of times that were measured side by side."""
    return Figure(text.format(value), SPEED, value)


def exact(value: float, text: str = "{:g}") -> Figure:
    """A number that every run must give again."""
    return Figure(text.format(value), EXACT, value)


class Note(str):
    """The text of a cell that is neither a figure to be compared nor part of the name of its row."""


class Table(str):
    """A Markdown table, with the figures in it by name."""

    __slots__ = ("failing", "figures", "judged")
    figures: dict[str, Figure]
    judged: int  # rows that a criterion is applied to
    failing: list[str]  # names of those that do not meet it


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """A Markdown table; a figure in it is named after the texts at the start of its row, and its column.

    Parameters
    ----------
    title : goes before the names of the figures where two tables of a section have rows of the same name.
    """
    rows = [list(row) for row in rows]
    lines = [list(columns), ["---"] * len(columns), *rows]
    escaped = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    made = Table("\n".join("| " + " | ".join(line) + " |" for line in escaped))
    made.figures, made.failing = {}, []
    made.judged = sum(row[-1] in (YES, NO) for row in rows)
    labels: list[str] = []
    for row in rows:
        labels = _labels(row, labels)
        label = f"{title} / " * bool(title) + ", ".join(text for text in labels if text)
        if row and row[-1] == NO:
            made.failing.append(label)
        for column, cell in zip(columns, row, strict=True):
            if isinstance(cell, Figure):
                name = f"{label}: {column}" if label else column
                assert name not in made.figures, f"two figures are named {name!r}"
                made.figures[name] = cell
    return made


def _labels(row: Sequence[str], above: Sequence[str]) -> list[str]:
    """The texts at the start of a row; an empty one is that of the row above."""
    first = next((place for place, cell in enumerate(row) if isinstance(cell, Figure | Note)), len(row))
    return [
        cell.strip("`*") or (above[place] if place < len(above) else "")
        for place, cell in enumerate(row[:first])
    ]


def figures_of(paragraphs: Iterable[str]) -> dict[str, Figure]:
    """The figures of all tables among the paragraphs of a section."""
    figures: dict[str, Figure] = {}
    for paragraph in paragraphs:
        if isinstance(paragraph, Table):
            twice = figures.keys() & paragraph.figures
            assert not twice, f"two tables have a figure named {sorted(twice)[0]!r}: give them titles"
            figures |= paragraph.figures
    return figures


@dataclass(frozen=True)
class Change:
    """A figure as it was recorded and as it is now."""

    section: str
    name: str
    recorded: Figure
    now: Figure

    @property
    def place(self) -> str:
        """The name among the figures of all sections."""
        return f"{self.section}: {self.name}"

    @property
    def column(self) -> str:
        """Its section and column: figures that a change of the code moves together."""
        return f"{self.section}: {self.name.rpartition(': ')[2]}"

    @property
    def labels(self) -> list[str]:
        """The texts that name its row."""
        return self.name.rpartition(": ")[0].split(", ")

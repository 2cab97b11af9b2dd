"""A sweep as its charts and its page take it: plain rows, and what varies in them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from truant.charts.style import value_text

MOST_PANELS = 6  # of one chart
MOST_VALUES = 60  # along one axis: more cannot be told apart; results.parquet has them all

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Varied:
    """Something that varies: its column in the rows, its label, and its values (numbers or texts) in order."""

    column: str
    label: str
    values: tuple[Any, ...]

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return not any(isinstance(value, str) for value in self.values)

    def text(self, value: Any) -> str:
        """A value as a chart shows it."""
        return f"{value:,}" if self.column in ("horizon", "delay") else value_text(value)


@dataclass(frozen=True)
class SweptBlock:
    """One world of a study with what varies there, and a row of figures for each point and policy.

    Parameters
    ----------
    number : its place in the study, from 1.
    title : its heading.
    world : name of the world.
    conditions : what holds at all of its points, in words.
    varied : what varies in the world, horizon and delay among it.
    varied_in_policies : what varies in the policies.
    rows : policy, family, horizon, regret_mean, regret_se, best, as_good, behind_mean and a column for each of
        the varied, None where a policy does not have it.
    """

    number: int
    title: str
    world: str
    conditions: Sequence[str]
    varied: Sequence[Varied]
    varied_in_policies: Sequence[Varied]
    rows: Sequence[Row]

    @property
    def policies(self) -> list[str]:
        """All policies in their order."""
        return list(dict.fromkeys(row["policy"] for row in self.rows))

    def chart_name(self, name: str) -> str:
        """A name for one of its charts that no other chart of the sweep has."""
        plain = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
        return f"world-{self.number}-{plain}"


@dataclass(frozen=True)
class NamedChart:
    """A chart with its name, its heading and a sentence about what it shows."""

    name: str
    heading: str
    chart: alt.TopLevelMixin
    sentence: str


def one_point_each(blocks: Sequence[SweptBlock]) -> bool:
    """Whether each block is a single point: then they are the columns of one heat map."""
    return not any(block.varied or block.varied_in_policies for block in blocks)


def thinned(block: SweptBlock) -> tuple[SweptBlock, str]:
    """The block with at most MOST_VALUES values of everything, and a sentence about those left out."""
    kept, rows, left_out = [], block.rows, ""
    for varied in block.varied:
        values = varied.values
        if len(values) > MOST_VALUES:
            values = tuple(spread_out(values, MOST_VALUES))
            rows = [row for row in rows if row[varied.column] in values]
            left_out += f" Drawn are {MOST_VALUES} of {len(varied.values):,} values of {varied.label}."
        kept.append(replace(varied, values=values))
    return replace(block, varied=kept, rows=rows), left_out


def panels_by(rows: Sequence[Row], several: Sequence[Varied]) -> tuple[list[tuple[str, Sequence[Row]]], str]:
    """The rows of each combination of values with its title, and a sentence about those left out."""
    if not several:
        return [("", rows)], ""
    by_place: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        by_place.setdefault(tuple(row[varied.column] for varied in several), []).append(row)
    panels: list[tuple[str, Sequence[Row]]] = []
    for place in itertools.product(*(varied.values for varied in several)):
        named = zip(several, place, strict=True)
        title = ", ".join(f"{varied.label} = {varied.text(value)}" for varied, value in named)
        panels.append((title, by_place[place]))
    left_out = f" Drawn are {MOST_PANELS} of {len(panels)} combinations." if len(panels) > MOST_PANELS else ""
    return (spread_out(panels, MOST_PANELS) if left_out else panels), left_out


def spread_out(values: Sequence[Any], count: int) -> list[Any]:
    """The first, the last, and some between at equal distances."""
    return [values[round(i * (len(values) - 1) / (count - 1))] for i in range(count)]

"""Regret of a sweep along what varies: a line for each policy, a panel for each combination of what else varies."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from truant.charts.columns import chart_columns, chart_data, in_order, reals
from truant.charts.regret import Extent, line_ends, line_labels, line_style, policy_looks
from truant.charts.style import Look, framed, in_rows, short, styled_axis, styled_title, value_text

WIDE = 20.0  # from the lowest to the highest, beyond which an axis is logarithmic
MOST_PANELS = 6  # of one chart
MOST_VALUES = 60  # along one axis: more cannot be told apart; results.parquet has them all
MOST_LETTERS = 60  # of all texts below an axis, beyond which they are slanted

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
    rows : policy, family, regret_mean, regret_se and a column for each of the varied, None where a policy does not
        have it.
    """

    number: int
    title: str
    world: str
    conditions: Sequence[str]
    varied: Sequence[Varied]
    varied_in_policies: Sequence[Varied]
    rows: Sequence[Row]

    @property
    def is_point(self) -> bool:
        """Whether nothing varies in it."""
        return not self.varied and not self.varied_in_policies


class SweepChart(NamedTuple):
    """What draws a chart, the number of the world that it is of (0: all of them), its heading and what it shows."""

    number: int
    heading: str
    sentence: str
    draw: Callable[[], alt.TopLevelMixin]

    @property
    def name(self) -> str:
        """What it is called among the charts of a sweep."""
        return f"world-{self.number}" if self.number else "overview"


def sweep_charts(blocks: Sequence[SweptBlock]) -> list[SweepChart]:
    """A chart of each world in which something varies; one of all of them if nothing varies in any."""
    rows = [row for block in blocks for row in block.rows]
    # a policy looks the same in all of them
    looks = policy_looks(list(dict.fromkeys(str(row[key]) for row in rows for key in ("family", "policy"))))
    if all(block.is_point for block in blocks):
        return [_worlds_chart(blocks, looks)]
    return [_block_chart(block, looks) for block in blocks if not block.is_point]


def _worlds_chart(blocks: Sequence[SweptBlock], looks: Mapping[str, Look]) -> SweepChart:
    titles = [block.title for block in blocks]
    names = [f"{one.title} ({one.number})" if titles.count(one.title) > 1 else one.title for one in blocks]
    world = Varied("name", "world", tuple(names))
    rows = [{**row, "name": name} for name, block in zip(names, blocks, strict=True) for row in block.rows]
    points = pa.Table.from_pylist(_points(rows, world, []))
    sentence = "Mean regret of each policy in each world, ± 2 standard errors."
    draw = partial(parameter_chart, points, parameter="world", looks=looks, joined=False, width=640)
    return SweepChart(0, "Regret in each world", sentence, draw)


def _block_chart(block: SweptBlock, looks: Mapping[str, Look]) -> SweepChart:
    """Regret along what has the most values; along a parameter of the policies, if something varies in them.

    Policies without that parameter are level lines.
    """
    longest_first = sorted(block.varied, key=lambda varied: -len(varied.values))
    block, values_left_out = _thinned(replace(block, varied=longest_first))
    if block.varied_in_policies:
        x, others = max(block.varied_in_policies, key=lambda varied: len(varied.values)), block.varied
    else:
        x, *others = block.varied
    panels, panels_left_out = panels_by(block.rows, others)
    named = [varied for varied in block.varied_in_policies if varied is not x]  # in the names of lines
    lines = {title: _points(rows, x, named) for title, rows in panels}
    sentence = f"Mean regret along {x.label}, ± 2 standard errors.{panels_left_out}{values_left_out}"
    draw = partial(_panels, lines, x.label, looks)
    return SweepChart(block.number, f"Regret along {x.label}", sentence, draw)


def parameter_chart(
    table: Any,
    *,
    parameter: str,
    title: str = "",
    span: tuple[float, float] | None = None,
    looks: Mapping[str, Look] | None = None,
    joined: bool = True,
    width: int = 560,
    height: int = 340,
) -> alt.LayerChart:
    """Mean regret along a parameter, a line with a band of ±2 standard errors for each policy.

    Parameters
    ----------
    table : of any library, with columns policy, x (numbers, or texts in their order), mean, low, high.
    parameter : what x is called.
    title : above the chart.
    span : lowest and highest regret on the axis, for charts that are to be compared; from the table unless given.
    looks : colour and dash of each policy; in their order unless given.
    joined : False: dots with intervals, where x has no order.
    width, height : of the plot in pixels, labels not counted.
    """
    data = chart_columns(table, "table", "policy", "x", "mean", "low", "high")
    low, high = regret_span(table) if span is None else span
    log = high > WIDE * low > 0
    extent = Extent(low / 1.15, high * 1.15, log) if log else Extent(0.0, 1.05 * high or 1.0)
    xs = in_order(data["x"])
    numeric = not any(isinstance(x, str) for x in xs)
    data["round"] = data["x"] if numeric else np.array([xs.index(x) for x in data["x"]])
    policies = in_order(data["policy"])
    if not joined:  # beside each other
        places = (np.arange(len(policies)) + 0.5) / len(policies) - 0.5
        data["round"] = data["round"] + 0.5 * places[[policies.index(policy) for policy in data["policy"]]]
    data = extent.with_heights(data)
    data["regret"] = np.array([short(mean) for mean in data["mean"]], object)
    x = (_number_axis if numeric else _text_axis)(xs, parameter)
    y = extent.axis("regret")
    style = line_style(policies, looks=looks)
    base = alt.Chart(chart_data(data)).encode(x=x, detail="policy:N")
    low_y = alt.Y("low:Q")
    if joined:
        band = base.mark_area(opacity=0.13).encode(y=low_y, y2="high:Q", fill=style["fill"])
        line = base.mark_line(strokeWidth=2.2, strokeJoin="round")
        layers = [band, line.encode(y=y, stroke=style["stroke"], strokeDash=style["dash"])]
    else:
        rule = base.mark_rule(strokeWidth=6, opacity=0.3)
        layers = [rule.encode(y=low_y, y2="high:Q", stroke=style["stroke"])]
    tips = [alt.Tooltip("policy:N"), alt.Tooltip("x:N", title=parameter), alt.Tooltip("regret:N")]
    layers.append(base.mark_circle(size=42, opacity=1).encode(y=y, fill=style["fill"], tooltip=tips))
    layers += line_labels(line_ends(data, extent, height), width, style)
    return framed(layers, title=styled_title(title, "", 14), width=width, height=height)


def regret_span(table: Any) -> tuple[float, float]:
    """The lowest positive and the highest regret of a table, bands included where they are above the means."""
    columns = chart_columns(table, "table", "mean", "high")
    means = reals(columns["mean"])
    return float(min(means[means > 0], default=0.0)), float(np.nanmax(reals(columns["high"])))


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
    if len(panels) <= MOST_PANELS:
        return panels, ""
    return spread_out(panels, MOST_PANELS), f" Drawn are {MOST_PANELS} of {len(panels)} combinations."


def spread_out(values: Sequence[Any], count: int) -> list[Any]:
    """The first, the last, and some between at equal distances."""
    return [values[round(i * (len(values) - 1) / (count - 1))] for i in range(count)]


def _thinned(block: SweptBlock) -> tuple[SweptBlock, str]:
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


def _points(rows: Sequence[Row], x: Varied, others: Sequence[Varied]) -> list[dict[str, Any]]:
    """The points of lines in the order of x, with a band of two standard errors."""
    points = []
    for row in rows:
        own = row[x.column]
        settings = [f"{v.label}={value_text(row[v.column])}" for v in others if row[v.column] is not None]
        family = str(row["family"])
        line = f"{family}{',' if ':' in family else ':'}{','.join(settings)}" if settings else family
        mean, error = row["regret_mean"], 2 * (row["regret_se"] or 0.0)
        point = {"policy": line if own is not None else row["policy"], "mean": mean}
        point |= {"low": mean - error, "high": mean + error}
        for value in dict.fromkeys((x.values[0], x.values[-1])) if own is None else [own]:
            points.append({**point, "x": float(value) if x.numeric else value})
    order = {float(value) if x.numeric else value: place for place, value in enumerate(x.values)}
    return sorted(points, key=lambda point: order[point["x"]])


def _panels(
    lines: Mapping[str, list[dict[str, Any]]], label: str, looks: Mapping[str, Look]
) -> alt.TopLevelMixin:
    """One chart, or several with the same axis in rows of two."""
    span = regret_span(pa.Table.from_pylist([point for points in lines.values() for point in points]))
    width, height = (560, 340) if len(lines) == 1 else (300, 230)
    charts = [
        parameter_chart(
            pa.Table.from_pylist(points),
            parameter=label,
            title=title,
            span=span,
            looks=looks,
            width=width,
            height=height,
        )
        for title, points in lines.items()
    ]
    return charts[0] if len(charts) == 1 else in_rows(charts, columns=2)


def _text_axis(texts: Sequence[str], parameter: str) -> alt.X:
    names = json.dumps(list(texts))
    slant = {"labelAngle": -30} if sum(map(len, texts)) > MOST_LETTERS else {}
    axis = styled_axis(
        grid=False,
        values=list(range(len(texts))),
        labelExpr=f"({names})[datum.value]",
        labelLimit=220,
        **slant,
    )
    scale = alt.Scale(domain=[-0.3, max(len(texts) - 1, 1) + 0.3], nice=False)
    return alt.X("round:Q", title=parameter, axis=axis, scale=scale)


def _number_axis(numbers: Sequence[float], parameter: str) -> alt.X:
    low, high = float(min(numbers)), float(max(numbers))
    log = low > 0 and high >= 10 * low
    options: dict[str, Any] = {"tickCount": 6}
    if len(numbers) <= 8:
        options = {"values": sorted(numbers)} | (
            {"labelExpr": "format(datum.value, '.3~g')"} if high <= 1 else {}
        )
    # some room at either side, so that the first dots do not cover the figures of the other axis
    room = (high / low) ** 0.03 if log else 0.03 * (high - low) or 1.0
    domain = [low / room, high * room] if log else [low - room, high + room]
    scale = alt.Scale(type="log" if log else "linear", domain=domain, nice=False)
    axis = styled_axis(grid=False, labelFlush=False, **options)
    return alt.X("round:Q", title=parameter, axis=axis, scale=scale)

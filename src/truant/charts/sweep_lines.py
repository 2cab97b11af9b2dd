"""Regret of a sweep as lines: along what varies in the world, or along a parameter of the policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pyarrow as pa

from truant.charts.style import Look, in_rows, value_text
from truant.charts.sweep import parameter_chart, regret_span
from truant.charts.swept import NamedChart, Row, SweptBlock, Varied, panels_by


def lines_along_world(block: SweptBlock, looks: Mapping[str, Look]) -> NamedChart:
    """A line for each policy along the first of the varied, a panel for each value of the others."""
    varied = block.varied[0]
    panels, left_out = panels_by(block.rows, block.varied[1:])
    lines = [(title, _points(rows, varied, "policy")) for title, rows in panels]
    return _named(block, "curves", varied, _line_charts(lines, varied.label, looks), left_out)


def lines_along_policies(block: SweptBlock, looks: Mapping[str, Look]) -> NamedChart:
    """A line for each policy along its parameter with the most values; policies without it are level lines."""
    varied = max(block.varied_in_policies, key=lambda each: len(each.values))
    others = [each for each in block.varied_in_policies if each is not varied]
    panels, left_out = panels_by(block.rows, block.varied)
    lines = []
    for title, rows in panels:
        own: list[Row] = [
            {**row, "line": _line_name(row, others)} for row in rows if row[varied.column] is not None
        ]
        own += [
            {**row, "line": row["policy"], varied.column: end}
            for row in rows
            if row[varied.column] is None
            for end in (varied.values[0], varied.values[-1])
        ]
        lines.append((title, _points(own, varied, "line")))
    return _named(block, varied.label, varied, _line_charts(lines, varied.label, looks), left_out)


def _named(
    block: SweptBlock, name: str, varied: Varied, chart: alt.TopLevelMixin, left_out: str
) -> NamedChart:
    sentence = f"Mean regret along {varied.label}, ± 2 standard errors." + left_out
    return NamedChart(block.chart_name(name), f"Regret along {varied.label}", chart, sentence)


def _line_name(row: Row, others: Sequence[Varied]) -> str:
    """The policy without the parameter along which the line is drawn, with what else varies in it."""
    settings = [
        f"{varied.label}={value_text(row[varied.column])}"
        for varied in others
        if row[varied.column] is not None
    ]
    family = str(row["family"])
    return f"{family}{',' if ':' in family else ':'}{','.join(settings)}" if settings else family


def _points(rows: Sequence[Row], varied: Varied, line: str) -> list[dict[str, Any]]:
    """The points of lines in the order of the values, with a band of two standard errors."""
    points = []
    for row in sorted(rows, key=lambda row: varied.values.index(row[varied.column])):
        value, mean, error = row[varied.column], row["regret_mean"], 2 * (row["regret_se"] or 0.0)
        x = float(value) if varied.numeric else value
        points.append({"policy": row[line], "x": x, "mean": mean, "low": mean - error, "high": mean + error})
    return points


def _line_charts(
    panels: Sequence[tuple[str, list[dict[str, Any]]]], label: str, looks: Mapping[str, Look]
) -> alt.TopLevelMixin:
    """One chart, or several with the same axis in rows of two."""
    every = [point for _, points in panels for point in points]
    span = regret_span(pa.Table.from_pylist(every))
    wide = len(panels) == 1
    charts = [
        parameter_chart(
            pa.Table.from_pylist(points),
            parameter=label,
            title=title,
            span=span,
            looks=looks,
            width=560 if wide else 300,
            height=340 if wide else 230,
        )
        for title, points in panels
    ]
    return charts[0] if wide else in_rows(charts, columns=2)

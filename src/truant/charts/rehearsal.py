"""Charts of a rehearsal: a figure with its sampling error for each window, a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import chart_columns, chart_data, in_order, reals, with_visible_labels
from truant.charts.style import RULE, Width, framed, series_scales, short, styled_axis, styled_legend

ERRORS = 2.0  # standard errors on either side
OFFSET = 0.35  # of a window's place on the axis, over which the points of several series are spread


def windows_chart(
    rows: Any, *, figure: str, zero_line: bool = False, width: Width = 560, height: int = 260
) -> alt.LayerChart:
    """A point with a bar of two standard errors on either side for each window and series.

    Parameters
    ----------
    rows : table of any library with columns window, series, value and error; windows in the order of the axis. Values
        that are not known are left out.
    figure : what the values are, beside the axis.
    zero_line : mark 0.
    width, height : of the plot in pixels; the width may be "container".
    """
    given = with_visible_labels(chart_columns(rows, "rows", "window", "series", "value", "error"))
    value, error = reals(given["value"]), np.nan_to_num(reals(given["error"]))
    text = [_text(v, e) for v, e in zip(value, error, strict=True)]
    ends = {"low": value - ERRORS * error, "high": value + ERRORS * error}
    data = chart_data(
        {"window": given["window"], "series": given["series"], "value": value, **ends, "text": text}
    )
    x = alt.X("window:N", title="window", sort=in_order(given["window"]), scale=alt.Scale(paddingOuter=0.3))
    x = x.axis(styled_axis(grid=False, labelAngle=0, labelExpr="datum.value"))
    y = alt.Y("value:Q", title=figure, scale=alt.Scale(zero=zero_line, nice=True))
    y = y.axis(styled_axis(tickCount=6, domain=False, ticks=False))
    layers = _points(alt.Chart(data).encode(x=x), in_order(given["series"]), y, figure)
    if zero_line:
        zero = alt.Chart(chart_data({"y": [0.0]})).mark_rule(stroke=RULE, strokeDash=[4, 3])
        layers.insert(0, zero.encode(y="y:Q"))
    return framed(layers, width=width, height=height)


def _points(base: alt.Chart, series: Sequence[str], y: alt.Y, figure: str) -> list[alt.Chart]:
    """Points with bars, and lines between those of a series; several series stand beside each other."""
    colours, dashes, shapes = series_scales(series)
    legend = None
    if len(series) > 1:
        places = alt.Scale(domain=series, paddingOuter=1 - OFFSET)
        base = base.encode(xOffset=alt.XOffset("series:N", sort=series, scale=places))
        legend = styled_legend(
            direction="horizontal",
            columns=2,
            labelLimit=300,
            symbolSize=90,
            symbolOpacity=1,  # not that of the lines
        )
    stroke = alt.Stroke("series:N", scale=colours, legend=legend)
    tips = [
        alt.Tooltip("window:N"),
        alt.Tooltip("series:N", title="variant"),
        alt.Tooltip("text:N", title=figure),
    ]
    line = base.mark_line(strokeWidth=1.5, opacity=0.6)
    bar = base.mark_rule(strokeWidth=2)
    point = base.mark_point(filled=True, size=80, opacity=1)
    return [
        line.encode(y=y, stroke=stroke, strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None)),
        bar.encode(y=alt.Y("low:Q", title=figure), y2="high:Q", stroke=stroke),
        point.encode(
            y=y,
            fill=alt.Fill("series:N", scale=colours, legend=legend),
            shape=alt.Shape("series:N", scale=shapes, legend=legend),
            tooltip=tips,
        ),
    ]


def _text(value: float, error: float) -> str:
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    return f"{sign}{short(abs(value))} ± {short(error)}"

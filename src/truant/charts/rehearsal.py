"""Charts of a rehearsal: a figure with its sampling error for each window, a line for each series."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import chart_columns, chart_data, in_order, reals, with_visible_labels
from truant.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    FONT,
    INK,
    LABEL_SIZE,
    RULE,
    SHAPES,
    Width,
    short,
    styled_axis,
    styled_title,
)

ERRORS = 2.0  # standard errors on either side
OFFSET = 0.35  # of a window's place on the axis, over which the points of several series are spread


def windows_chart(
    rows: Any,
    *,
    figure: str,
    zero_line: bool = False,
    title: str = "",
    subtitle: str = "",
    width: Width = 560,
    height: int = 260,
) -> alt.LayerChart:
    """A point with a bar of two standard errors on either side for each window and series.

    Parameters
    ----------
    rows : table of any library with columns window, series, value and error; windows in the order of the axis. Values
        that are not known are left out.
    figure : what the values are, beside the axis.
    zero_line : mark 0.
    title, subtitle : above the chart.
    width, height : of the plot in pixels; the width may be "container".
    """
    given = with_visible_labels(chart_columns(rows, "rows", "window", "series", "value", "error"))
    value, error = reals(given["value"]), np.nan_to_num(reals(given["error"]))
    windows, series = in_order(given["window"]), in_order(given["series"])
    data = chart_data(
        {
            "window": given["window"],
            "series": given["series"],
            "value": value,
            "low": value - ERRORS * error,
            "high": value + ERRORS * error,
            "text": [_text(v, e) for v, e in zip(value, error, strict=True)],
        }
    )
    x = alt.X("window:N", title="window", sort=windows, scale=alt.Scale(paddingOuter=0.3))
    x = x.axis(styled_axis(grid=False, labelAngle=0, labelExpr="datum.value"))
    y = alt.Y("value:Q", title=figure, scale=alt.Scale(zero=zero_line, nice=True))
    y = y.axis(styled_axis(tickCount=6, domain=False, ticks=False))
    base = alt.Chart(data).encode(x=x)
    beside: dict[str, Any] = {}
    if len(series) > 1:
        beside["xOffset"] = alt.XOffset(
            "series:N", sort=series, scale=alt.Scale(domain=series, paddingOuter=(1 - OFFSET))
        )
    colours = alt.Scale(domain=series, range=[COLOURS[i % len(COLOURS)] for i in range(len(series))])
    dashes = alt.Scale(domain=series, range=[list(DASHES[i % len(DASHES)]) for i in range(len(series))])
    shapes = alt.Scale(domain=series, range=[SHAPES[i % len(SHAPES)] for i in range(len(series))])
    legend = _legend() if len(series) > 1 else None
    stroke = alt.Stroke("series:N", scale=colours, legend=legend)
    tips = [
        alt.Tooltip("window:N"),
        alt.Tooltip("series:N", title="variant"),
        alt.Tooltip("text:N", title=figure),
    ]
    layers = [
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(
            y=y, stroke=stroke, strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None), **beside
        ),
        base.mark_rule(strokeWidth=2).encode(
            y=alt.Y("low:Q", title=figure),
            y2="high:Q",
            stroke=stroke,
            **beside,
        ),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y=y,
            fill=alt.Fill("series:N", scale=colours, legend=legend),
            shape=alt.Shape("series:N", scale=shapes, legend=legend),
            tooltip=tips,
            **beside,
        ),
    ]
    if zero_line:
        layers.insert(
            0, alt.Chart(chart_data({"y": [0.0]})).mark_rule(stroke=RULE, strokeDash=[4, 3]).encode(y="y:Q")
        )
    size: dict[str, Any] = {"width": width, "height": height}
    if title:
        size["title"] = styled_title(title, subtitle)
    return alt.LayerChart(layer=layers, view=alt.ViewBackground(stroke=None), **size)


def _text(value: float, error: float) -> str:
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    return f"{sign}{short(abs(value))} ± {short(error)}"


def _legend() -> alt.Legend:
    return alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=2,
        labelFont=FONT,
        labelFontSize=LABEL_SIZE,
        labelColor=INK,
        labelLimit=300,
        titleColor=FAINT,
        symbolSize=90,
        symbolOpacity=1,  # not that of the lines
    )

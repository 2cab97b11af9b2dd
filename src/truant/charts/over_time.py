"""Charts of the course over time: a line for each arm, labelled at its end."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import chart_columns, chart_data, in_order, reals, taken, with_visible_labels
from truant.charts.lines import line_ends, line_style
from truant.charts.style import DASHES, FONT, LABEL_SIZE, NOT_GREEN, Look, Width, styled_axis, styled_title

ROOM = 0.32  # of the x axis, for labels
# 2024 at the turn of a year, else the day, and the time if it is not midnight
DATES = (
    "utcFormat(datum.value, '%H%M') != '0000' ? utcFormat(datum.value, '%d %b %H:%M') : "
    "utcFormat(datum.value, '%j') == '001' ? utcFormat(datum.value, '%Y') : utcFormat(datum.value, '%d %b')"
)


def course_chart(
    course: Any,
    *,
    value: str = "share",
    title: str = "",
    subtitle: str = "",
    label: str = "share",
    numeric: bool = False,
    steps: bool = False,
    width: Width = 420,
    height: int = 200,
) -> alt.LayerChart:
    """A share of each arm by period.

    Parameters
    ----------
    course : table of any library with columns arm, when (start of the period: a number, or seconds since 1970) and the
        value, which may be missing.
    value : name of the column with the share.
    title, subtitle : above the chart.
    label : what the y axis is called.
    numeric : times are plain numbers.
    steps : a share holds until the next one.
    width, height : of the plot in pixels; the width may be "container".
    """
    given = with_visible_labels(chart_columns(course, "course", "arm", "when", value))
    shares = reals(given[value])
    data = taken({"policy": given["arm"], "round": reals(given["when"]), "mean": shares}, ~np.isnan(shares))
    data["round"] = data["round"] * (1 if numeric else 1000)  # Vega counts milliseconds
    data["height"] = data["mean"]
    data["text"] = np.array([f"{share:.1%}" for share in data["mean"]], object)
    top = min(1.0, 1.15 * float(data["mean"].max())) or 1.0
    looks = {
        arm: Look(NOT_GREEN[number % len(NOT_GREEN)], DASHES[number % len(DASHES)])
        for number, arm in enumerate(in_order(data["policy"]))
    }
    style = line_style(list(looks), looks=looks)
    low, high = float(data["round"].min()), float(data["round"].max())
    kind = "Q" if numeric else "T"
    places = alt.Scale(
        domain=[low, high + ROOM * (high - low)], nice=False, type="linear" if numeric else "utc"
    )
    x = alt.X(f"round:{kind}", title=None, scale=places)
    x = x.axis(styled_axis(grid=False, tickCount=5, **({} if numeric else {"labelExpr": DATES})))
    y = alt.Y("mean:Q", title=label, scale=alt.Scale(domain=[0, top], nice=False))
    y = y.axis(styled_axis(labelExpr="format(datum.value, '.0%')", tickCount=4, domain=False, ticks=False))
    tips = [
        alt.Tooltip("policy:N", title="arm"),
        alt.Tooltip(f"round:{kind}", title="from", format=alt.Undefined if numeric else "%Y-%m-%d %H:%M"),
        alt.Tooltip("text:N", title=label),
    ]
    base = alt.Chart(chart_data(data)).encode(x=x, y=y, tooltip=tips)
    line = base.mark_line(strokeWidth=2, interpolate="step-after" if steps else "linear").encode(
        stroke=style["stroke"], strokeDash=style["dash"]
    )
    dots = base.mark_point(filled=True, size=34, opacity=1).encode(fill=style["fill"])
    ends = line_ends(data, 0.0, top, False, height)
    words = alt.Chart(ends).mark_text(
        align="left", baseline="middle", dx=8, font=FONT, fontSize=LABEL_SIZE, fontWeight=600, limit=84
    )
    words = words.encode(
        x=alt.X(f"round:{kind}", scale=places), y="place:Q", text="policy:N", color=style["letters"]
    )
    size: dict[str, Any] = {"width": width, "height": height}
    if title:
        size["title"] = styled_title(title, subtitle)
    return alt.LayerChart(layer=[line, dots, words], view=alt.ViewBackground(stroke=None), **size)

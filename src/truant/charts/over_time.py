"""Charts over time: a line for each arm, labelled at its end, and when outcomes arrive in their window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import chart_columns, chart_data, in_order, reals, taken, with_visible_labels
from truant.charts.regret import Extent, line_ends, line_style
from truant.charts.style import (
    COLOURS,
    DASHES,
    LABEL_SIZE,
    NOT_GREEN,
    PERCENT,
    Look,
    Width,
    framed,
    styled_axis,
    styled_letters,
)
from truant.setting import FloatArray

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
    top = min(1.0, 1.15 * float(data["mean"].max())) or 1.0
    arms = in_order(data["policy"])
    looks = {arm: Look(NOT_GREEN[i % len(NOT_GREEN)], DASHES[i % len(DASHES)]) for i, arm in enumerate(arms)}
    style = line_style(arms, looks=looks)
    field, places = _time(data["round"], numeric)
    dates = {} if numeric else {"labelExpr": DATES}
    x = alt.X(field, title=None, scale=places)
    x = x.axis(styled_axis(grid=False, tickCount=5, labelOverlap=True, labelSeparation=12, **dates))
    y = alt.Y("mean:Q", title=label, scale=alt.Scale(domain=[0, top], nice=False))
    y = y.axis(styled_axis(labelExpr=PERCENT, tickCount=4, domain=False, ticks=False))
    base = alt.Chart(chart_data(data)).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2, interpolate="step-after" if steps else "linear")
    line = line.encode(stroke=style["stroke"], strokeDash=style["dash"])
    dots = base.mark_point(filled=True, size=34, opacity=1).encode(fill=style["fill"])
    words = alt.Chart(line_ends(data, Extent(0.0, top), height))
    words = words.mark_text(**styled_letters(dx=8, fontSize=LABEL_SIZE, fontWeight=600, limit=84))
    words = words.encode(x=alt.X(field, scale=places), y="place:Q", text="policy:N", color=style["letters"])
    return framed([line, dots, words], width=width, height=height)


def _time(times: FloatArray, numeric: bool) -> tuple[str, alt.Scale]:
    """The field of an axis of times, and its scale with room for labels at the end."""
    low, high = float(times.min()), float(times.max())
    domain = [low, high + ROOM * (high - low)]
    return f"round:{'Q' if numeric else 'T'}", alt.Scale(
        domain=domain, nice=False, type="linear" if numeric else "utc"
    )


def arrivals_chart(counts: Sequence[int], *, width: Width = 420, height: int = 160) -> alt.LayerChart:
    """Outcomes by the part of the window in which they arrived.

    Parameters
    ----------
    counts : outcomes that arrived in each of as many equal parts of the window.
    width, height : of the plot in pixels; the width may be "container".
    """
    numbers = np.asarray(counts, np.float64)
    edges = np.arange(len(numbers) + 1) / len(numbers)
    shares = numbers / max(float(numbers.sum()), 1.0)
    data = chart_data(
        {"start": edges[:-1], "end": edges[1:], "share": shares, "bottom": np.zeros(len(numbers))}
    )
    x = alt.X("start:Q", title="part of the window that has passed")
    x = x.scale(domain=[0, 1], nice=False).axis(styled_axis(grid=False, labelExpr=PERCENT, tickCount=5))
    y = alt.Y("share:Q", title="share of outcomes", scale=alt.Scale(zero=True))
    y = y.axis(styled_axis(labelExpr=PERCENT, tickCount=4, domain=False, ticks=False))
    bars = alt.Chart(data).mark_bar(color=COLOURS[0], binSpacing=1)
    return framed([bars.encode(x=x, x2="end:Q", y=y, y2="bottom:Q")], width=width, height=height)

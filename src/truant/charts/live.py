"""Charts of a live experiment: when outcomes arrive in their window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import numpy as np

from truant.charts.columns import chart_data
from truant.charts.style import COLOURS, Width, styled_axis


def arrivals_chart(counts: Sequence[int], *, width: Width = 420, height: int = 160) -> alt.LayerChart:
    """Outcomes by the part of the window in which they arrived.

    Parameters
    ----------
    counts : outcomes that arrived in each of as many equal parts of the window.
    width, height : of the plot in pixels; the width may be "container".
    """
    numbers = np.asarray(counts, np.float64)
    parts = len(numbers)
    total = max(float(numbers.sum()), 1.0)
    edges = np.arange(parts + 1) / parts
    data = chart_data(
        {
            "start": edges[:-1],
            "end": edges[1:],
            "share": numbers / total,
            "number": numbers,
            "bottom": np.zeros(parts),
            "part": np.array([f"{a:.0%} to {b:.0%}" for a, b in pairwise(edges)], object),
        }
    )
    x = alt.X(
        "start:Q", title="part of the window that has passed", scale=alt.Scale(domain=[0, 1], nice=False)
    )
    x = x.axis(styled_axis(grid=False, labelExpr="format(datum.value, '.0%')", tickCount=5))
    y = alt.Y("share:Q", title="share of outcomes", scale=alt.Scale(zero=True))
    y = y.axis(styled_axis(labelExpr="format(datum.value, '.0%')", tickCount=4, domain=False, ticks=False))
    bars = (
        alt.Chart(data)
        .mark_bar(color=COLOURS[0], binSpacing=1)
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            y2="bottom:Q",
            tooltip=[
                alt.Tooltip("part:N", title="of the window"),
                alt.Tooltip("number:Q", title="outcomes", format=",d"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
    )
    return alt.LayerChart(layer=[bars], view=alt.ViewBackground(stroke=None), width=width, height=height)

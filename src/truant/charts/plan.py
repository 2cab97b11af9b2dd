"""The chart of a plan of follow-ups: a probability along the number of follow-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import chart_columns, chart_data, in_order, reals, with_visible_labels
from truant.charts.style import (
    INK,
    LABEL_SIZE,
    PERCENT,
    RULE,
    Width,
    framed,
    series_scales,
    styled_axis,
    styled_legend,
    styled_letters,
)


def plan_chart(
    curve: Any,
    *,
    label: str,
    chance: float,
    marks: Mapping[str, int] | None = None,
    width: Width = 560,
    height: int = 280,
) -> alt.LayerChart:
    """A line for each scenario.

    Parameters
    ----------
    curve : table of any library with columns scenario, follow_ups and probability.
    label : what the probability is of.
    chance : requested probability, drawn as a horizontal line.
    marks : numbers of follow-ups to mark, by what they are called.
    width, height : of the plot in pixels; the width may be "container".
    """
    given = with_visible_labels(chart_columns(curve, "curve", "scenario", "follow_ups", "probability"))
    numbers, shares = reals(given["follow_ups"]), reals(given["probability"])
    low, high = float(numbers.min()), float(numbers.max())
    x_scale = alt.Scale(
        type="log" if high > 3 * low else "linear", domain=[low, max(high, low + 1)], nice=False
    )
    y_scale = alt.Scale(domain=[0, 1], nice=False)
    text = np.array([f"{share:.1%}" for share in shares], object)
    data = chart_data({**given, "follow_ups": numbers, "probability": shares, "text": text})
    x = alt.X("follow_ups:Q", title="follow-ups", scale=x_scale)
    x = x.axis(styled_axis(grid=False, values=_ticks(low, high), labelExpr="format(datum.value, ',')"))
    y = alt.Y("probability:Q", title=label, scale=y_scale)
    y = y.axis(styled_axis(labelExpr=PERCENT, tickCount=5, domain=False, ticks=False))
    lines = _lines(alt.Chart(data).encode(x=x, y=y), in_order(given["scenario"]))
    layers = [_goal(chance, y_scale), *_marked(marks or {}, x_scale, low, high), *lines]
    return framed(layers, width=width, height=height)


def _lines(base: alt.Chart, scenarios: Sequence[str]) -> list[alt.Chart]:
    """A line and dots for each scenario, with a legend above."""
    colours, dashes, _ = series_scales(scenarios)
    legend = styled_legend(
        title="if missing outcomes are",
        direction="vertical",
        labelLimit=400,
        symbolType="stroke",
        symbolStrokeWidth=2.5,
        symbolSize=400,
    )
    tips = [
        alt.Tooltip("scenario:N", title="missing outcomes"),
        alt.Tooltip("follow_ups:Q", title="follow-ups", format=","),
        alt.Tooltip("text:N", title="probability"),
    ]
    line = base.mark_line(strokeWidth=2.5, interpolate="monotone").encode(
        stroke=alt.Stroke("scenario:N", scale=colours, legend=legend),
        strokeDash=alt.StrokeDash("scenario:N", scale=dashes, legend=legend),
    )
    dots = base.mark_point(filled=True, size=28, opacity=1)
    return [line, dots.encode(fill=alt.Fill("scenario:N", scale=colours, legend=None), tooltip=tips)]


def _goal(chance: float, y_scale: alt.Scale) -> alt.Chart:
    """The level line of the probability that is asked for."""
    rule = alt.Chart(chart_data({"y": [chance]})).mark_rule(stroke=RULE, strokeDash=[4, 3])
    drawn: alt.Chart = rule.encode(y=alt.Y("y:Q", scale=y_scale))
    return drawn


def _marked(marks: Mapping[str, int], x_scale: alt.Scale, low: float, high: float) -> list[alt.Chart]:
    """A vertical line for each marked number, with its name beside it, on the side where there is room."""
    layers = []
    for place, (name, number) in enumerate(marks.items()):
        middle = (low * high) ** 0.5 if high > 3 * low else (low + high) / 2
        left = number > middle
        data = chart_data({"x": [float(number)], "label": [f"{name}: {number:,}"]})
        base = alt.Chart(data).encode(x=alt.X("x:Q", scale=x_scale))
        layers.append(base.mark_rule(stroke=INK, strokeWidth=1.2))
        layers.append(
            base.mark_text(
                **styled_letters(
                    align="right" if left else "left",
                    baseline="bottom",
                    dx=-6 if left else 6,
                    fontSize=LABEL_SIZE,
                    fontWeight=600,
                )
            ).encode(text="label:N", y=alt.value(alt.expr(f"height - {8 + 18 * place}")))
        )
    return layers


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers: 10, 20, 50, 100, ..., at most about eight; the ends where nothing is round."""
    found = [step * 10.0**power for power in range(13) for step in (1, 2, 5)]
    inside = [value for value in found if low <= value <= high]
    while len(inside) > 8:
        inside = (
            [value for value in inside if str(int(value))[0] in "15"] if len(inside) > 12 else inside[::2]
        )
    return inside if len(inside) > 1 else [low, high]

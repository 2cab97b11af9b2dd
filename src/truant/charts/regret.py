"""Regret over rounds: a line with a band and a label for each policy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from truant.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    FONT,
    LABEL_GAP,
    LABEL_SIZE,
    darker,
    short,
    spread,
    styled_axis,
    styled_title,
    value_axis,
)
from truant.errors import InvalidValue

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5000  # of a table that Altair accepts
LEADER = 14.0  # pixels from the end of a line to its label

_numbers = itertools.count(1)  # charts that are joined must not share a selection


def regret_chart(
    curves: pd.DataFrame,
    *,
    title: str = "",
    subtitle: str = "",
    log: bool = False,
    width: int = 560,
    height: int = 340,
) -> alt.LayerChart:
    """Mean regret over rounds, with a band and a label at the end of each line.

    Parameters
    ----------
    curves : columns policy, round, mean, low, high; the policies in their order of appearance.
    title, subtitle : above the chart.
    log : a logarithmic y axis; what is not positive is drawn at its foot.
    width, height : of the plot in pixels, labels not counted.
    """
    if curves.empty:
        raise InvalidValue("A chart needs at least one row of curves, got none.")
    foot, top = _range(curves, log)
    data = _styled(_thinned(curves))
    # what is drawn stays on the axis; labels and tips say the mean itself
    data[["height", "low", "high"]] = data[["mean", "low", "high"]].clip(foot, top)
    x = _round_axis(int(data["round"].max()))
    y = alt.Y("height:Q", title="cumulative regret", axis=value_axis(foot, top, log))
    y = y.scale(type="log" if log else "linear", domain=[foot, top], nice=False)
    policies = list(dict.fromkeys(data["policy"]))
    dash = alt.StrokeDash("policy:N", legend=None, scale=alt.Scale(domain=policies, range=_dashes(policies)))
    base = alt.Chart(data).encode(x=x, detail="policy:N")
    colour = alt.Color("colour:N", scale=None)
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q"), y2="high:Q", color=colour)
    line = base.mark_line(strokeWidth=2.2, strokeJoin="round", point=data["round"].nunique() == 1)
    line = line.encode(y=y, color=colour, strokeDash=dash)
    ends = _ends(data, foot, top, log, height)
    return alt.LayerChart(
        layer=[band, line, *_labels(ends, width), _hover(data, x)],
        width=width,
        height=height,
        title=styled_title(title, subtitle),
        view=alt.ViewBackground(stroke=None),
    )


def _range(curves: pd.DataFrame, log: bool) -> tuple[float, float]:
    """What the y axis shows."""
    top = float(curves["high"].max())
    if not log:
        return 0.0, 1.05 * top if top > 0 else 1.0
    positive = curves["mean"][curves["mean"] > 0]
    if positive.empty:
        return 0.1, 10.0
    # a first lucky round may have lost next to nothing: six decades are enough to see
    return max(float(positive.min()), 1e-6 * top), 1.3 * top


def _styled(curves: pd.DataFrame) -> pd.DataFrame:
    policies = list(dict.fromkeys(curves["policy"]))
    colours = {policy: COLOURS[i % len(COLOURS)] for i, policy in enumerate(policies)}
    return curves[["policy", "round", "mean", "low", "high"]].assign(colour=curves["policy"].map(colours))


def _dashes(policies: Sequence[str]) -> list[list[int]]:
    """A dash for each; from the ninth on, colours come again with another dash."""
    return [list(DASHES[(i + i // len(COLOURS)) % len(DASHES)]) for i in range(len(policies))]


def _ends(data: pd.DataFrame, foot: float, top: float, log: bool, height: int) -> pd.DataFrame:
    """The last point of each line, and where its label goes so that labels do not overlap."""
    ends = data.loc[data.groupby("policy", sort=False)["round"].idxmax()].copy()
    heights = ends["height"].to_numpy(np.float64)
    to_line, to_value = (np.log, np.exp) if log else (np.asarray, np.asarray)
    start, length = to_line(foot), to_line(top) - to_line(foot)
    places = spread((to_line(heights) - start) / length * height, LABEL_GAP, 0, height)
    ends["place"] = to_value(start + places / height * length)
    ends["label"] = ends["policy"] + "\N{EN SPACE}" + ends["mean"].map(short)
    ends["tone"] = [darker(colour) for colour in ends["colour"]]
    return ends


def _labels(ends: pd.DataFrame, width: int) -> list[alt.Chart]:
    base = alt.Chart(ends)
    edge, side = alt.value(float(width)), alt.value(width + LEADER)
    leader = base.mark_rule(strokeWidth=1.2, opacity=0.7, clip=False)
    text = base.mark_text(
        align="left", baseline="middle", dx=4, font=FONT, fontSize=LABEL_SIZE, fontWeight=600
    )
    return [
        leader.encode(x=edge, x2=side, y="height:Q", y2="place:Q", color=alt.Color("colour:N", scale=None)),
        text.encode(x=side, y="place:Q", text="label:N", color=alt.Color("tone:N", scale=None)),
    ]


def _hover(data: pd.DataFrame, x: alt.X) -> alt.Chart:
    """An unseen rule per round; under the pointer it shows every policy's mean."""
    wide = data.pivot_table(index="round", columns="policy", values="mean", sort=False)
    tips = [alt.Tooltip("round:Q", format=",")]
    # plain column names: a policy's own may hold dots and colons, which Vega reads as paths
    for i, policy in enumerate(wide.columns):
        tips.append(alt.Tooltip(f"policy{i}:Q", title=str(policy), format=",.5~r"))
    wide.columns = [f"policy{i}" for i in range(wide.shape[1])]
    name = f"near{next(_numbers)}"
    near = alt.selection_point(
        name, nearest=True, on="pointerover", clear="pointerout", fields=["round"], empty=False
    )
    rule = alt.Chart(wide.reset_index()).mark_rule(color=FAINT, strokeDash=[2, 2])
    seen = alt.condition(near, alt.value(0.8), alt.value(0))
    chart: alt.Chart = rule.encode(x=x, opacity=seen, tooltip=tips).add_params(near)
    return chart


def _round_axis(horizon: int) -> alt.X:
    axis = styled_axis(grid=False, tickCount=6, tickMinStep=1)
    return alt.X("round:Q", title="round", axis=axis, scale=alt.Scale(domain=[0, horizon], nice=False))


def _thinned(curves: pd.DataFrame) -> pd.DataFrame:
    """At most so many rows as Altair accepts: every second round, every third ..., and always the last."""
    rounds = np.unique(curves["round"])
    step = -(-len(curves) // MOST_ROWS)
    return curves[curves["round"].isin(rounds[::-step])] if step > 1 else curves

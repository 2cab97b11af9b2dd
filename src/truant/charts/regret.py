"""Regret over rounds: a line with a band and a label for each policy."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from truant.charts.lines import line_ends, line_labels, line_style
from truant.charts.style import FAINT, Lines, Look, styled_axis, styled_title, value_axis
from truant.errors import InvalidValue

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5000  # of a table that Altair accepts

_numbers = itertools.count(1)  # charts that are joined must not share a selection


def regret_chart(
    curves: pd.DataFrame,
    *,
    title: str = "",
    subtitle: Lines = "",
    log: bool = False,
    width: int = 560,
    height: int = 340,
    looks: Mapping[str, Look] | None = None,
    reference: pd.DataFrame | None = None,
    limits: tuple[float, float] | None = None,
) -> alt.LayerChart:
    """Mean regret over rounds, with a band and a label at the end of each line.

    Parameters
    ----------
    curves : columns policy, round, mean, low, high; the policies in their order of appearance.
    title, subtitle : above the chart.
    log : a logarithmic y axis; what is not positive is drawn at its foot.
    width, height : of the plot in pixels, labels not counted.
    looks : colour and dash of each policy; in their order unless given.
    reference : columns policy (its label), round, mean: thin dotted lines to compare with, such as a bound.
    limits : of the y axis; by default of the data.
    """
    if curves.empty:
        raise InvalidValue("A chart needs at least one row of curves, got none.")
    lines, dotted = _drawn(curves, reference)
    foot, top = regret_range(lines, log) if limits is None else limits
    # what is drawn stays on the axis; labels and tips say the mean itself
    lines[["height", "low", "high"]] = lines[["mean", "low", "high"]].clip(foot, top)
    x = _round_axis(int(lines["round"].max()))
    y = alt.Y("height:Q", title="cumulative regret", axis=value_axis(foot, top, log))
    y = y.scale(type="log" if log else "linear", domain=[foot, top], nice=False)
    style = line_style(list(dict.fromkeys(lines["policy"])), dotted, looks)
    main = lines[~lines["policy"].isin(dotted)]
    band = alt.Chart(main).mark_area(opacity=0.13)
    band = band.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", detail="policy:N", fill=style["fill"])
    line = alt.Chart(main).mark_line(strokeWidth=2.2, strokeJoin="round", point=main["round"].nunique() == 1)
    line = line.encode(x=x, y=y, stroke=style["stroke"], strokeDash=style["dash"])
    layers = [band, line]
    if dotted:
        thin = alt.Chart(lines[lines["policy"].isin(dotted)]).mark_line(strokeWidth=1.3)
        layers.append(thin.encode(x=x, y=y, stroke=style["stroke"], strokeDash=style["dash"]))
    ends = line_ends(lines, foot, top, log, height)
    return alt.LayerChart(
        layer=[*layers, *line_labels(ends, width, style), _hover(lines, x)],
        width=width,
        height=height,
        title=styled_title(title, subtitle),
        view=alt.ViewBackground(stroke=None),
    )


def regret_range(curves: pd.DataFrame, log: bool) -> tuple[float, float]:
    """What the y axis shows by default: all of the bands."""
    top = float(curves["high"].max())
    if not log:
        return 0.0, 1.05 * top if top > 0 else 1.0
    positive = curves["mean"][curves["mean"] > 0]
    if positive.empty:
        return 0.1, 10.0
    # a first lucky round may have lost next to nothing: six decades are enough to see
    return max(float(positive.min()), 1e-6 * top), 1.3 * top


def _drawn(curves: pd.DataFrame, reference: pd.DataFrame | None) -> tuple[pd.DataFrame, list[str]]:
    """Rows of all lines, the reference's last, without a band; and the names of the latter."""
    import pandas as pd

    lines = _thinned(curves)[["policy", "round", "mean", "low", "high"]]
    if reference is None or reference.empty:
        return lines.copy(), []
    own = reference[reference["round"].isin(lines["round"])][["policy", "round", "mean"]]
    dotted = list(dict.fromkeys(own["policy"]))
    return pd.concat([lines, own.assign(low=own["mean"], high=own["mean"])], ignore_index=True), dotted


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

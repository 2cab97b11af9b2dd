"""Regret over rounds: a line with a band and a label for each policy."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import Columns, chart_columns, chart_data, in_order, reals, taken
from truant.charts.lines import line_ends, line_labels, line_style
from truant.charts.style import FAINT, Lines, Look, styled_axis, styled_title, value_axis
from truant.tables.arrow import as_arrow

COLUMNS = ("policy", "round", "mean", "low", "high")
MOST_ROWS = 5000  # of a table that Altair accepts

_numbers = itertools.count(1)  # charts that are joined must not share a selection


def regret_chart(
    curves: Any,
    *,
    title: str = "",
    subtitle: Lines = "",
    log: bool = False,
    width: int = 560,
    height: int = 340,
    looks: Mapping[str, Look] | None = None,
    reference: Any = None,
    limits: tuple[float, float] | None = None,
    quantity: str = "regret",
) -> alt.LayerChart:
    """Mean regret over rounds, with a band and a label at the end of each line.

    Parameters
    ----------
    curves : table of any library with columns policy, round, mean, low, high; the policies in their order of
        appearance.
    title, subtitle : above the chart.
    log : a logarithmic y axis; what is not positive is drawn at its foot.
    width, height : of the plot in pixels, labels not counted.
    looks : colour and dash of each policy; in their order unless given.
    reference : columns policy (its label), round, mean: thin dotted lines to compare with, such as a bound.
    limits : of the y axis; by default of the data.
    quantity : what accumulates, for the title of the y axis.
    """
    lines, dotted = _drawn(chart_columns(curves, "curves", *COLUMNS), reference)
    foot, top = _value_range(lines, log) if limits is None else limits
    # what is drawn stays on the axis; labels and tips say the mean itself
    lines["height"] = np.clip(reals(lines["mean"]), foot, top)
    lines |= {name: np.clip(reals(lines[name]), foot, top) for name in ("low", "high")}
    x = _round_axis(int(lines["round"].max()))
    y = alt.Y("height:Q", title=f"cumulative {quantity}", axis=value_axis(foot, top, log))
    y = y.scale(type="log" if log else "linear", domain=[foot, top], nice=False)
    style = line_style(in_order(lines["policy"]), dotted, looks)
    is_dotted = np.isin(lines["policy"], dotted)
    rows = taken(lines, ~is_dotted)
    main = chart_data(rows)
    band = alt.Chart(main).mark_area(opacity=0.13)
    band = band.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", detail="policy:N", fill=style["fill"])
    alone = len(np.unique(rows["round"])) == 1
    line = alt.Chart(main).mark_line(strokeWidth=2.2, strokeJoin="round", point=alone)
    line = line.encode(x=x, y=y, stroke=style["stroke"], strokeDash=style["dash"])
    layers = [band, line]
    if dotted:
        thin = alt.Chart(chart_data(taken(lines, is_dotted))).mark_line(strokeWidth=1.3)
        layers.append(thin.encode(x=x, y=y, stroke=style["stroke"], strokeDash=style["dash"]))
    ends = line_ends(lines, foot, top, log, height)
    return alt.LayerChart(
        layer=[*layers, *line_labels(ends, width, style), _hover(lines, x)],
        width=width,
        height=height,
        title=styled_title(title, subtitle),
        view=alt.ViewBackground(stroke=None),
    )


def regret_range(curves: Any, log: bool) -> tuple[float, float]:
    """What the y axis shows by default: all of the bands; `curves` has columns mean and high."""
    return _value_range(chart_columns(curves, "curves", "mean", "high"), log)


def _value_range(curves: Columns, log: bool) -> tuple[float, float]:
    top = float(np.nanmax(reals(curves["high"])))
    if not log:
        return 0.0, 1.05 * top if top > 0 else 1.0
    means = reals(curves["mean"])
    positive = means[means > 0]
    if not len(positive):
        return 0.1, 10.0
    # a first lucky round may have lost next to nothing: six decades are enough to see
    return max(float(positive.min()), 1e-6 * top), 1.3 * top


def _drawn(curves: Columns, reference: Any) -> tuple[Columns, list[str]]:
    """Rows of all lines, the reference's last, without a band; and the names of the latter."""
    lines = _thinned({name: curves[name] for name in COLUMNS})
    if reference is None or as_arrow(reference).num_rows == 0:
        return lines, []
    own = chart_columns(reference, "reference", "policy", "round", "mean")
    own = taken(own, np.isin(own["round"], lines["round"]))
    own |= {"low": own["mean"], "high": own["mean"]}
    return {name: np.concatenate([lines[name], own[name]]) for name in COLUMNS}, in_order(own["policy"])


def _hover(data: Columns, x: alt.X) -> alt.Chart:
    """An unseen rule per round; under the pointer it shows every policy's mean."""
    tips = [alt.Tooltip("round:Q", format=",")]
    rounds = in_order(data["round"])
    place = {number: i for i, number in enumerate(rounds)}
    wide: dict[str, Any] = {"round": rounds}
    # plain column names: a policy's own may hold dots and colons, which Vega reads as paths
    for i, policy in enumerate(in_order(data["policy"])):
        tips.append(alt.Tooltip(f"policy{i}:Q", title=str(policy), format=",.5~r"))
        own = taken(data, data["policy"] == policy)
        wide[f"policy{i}"] = means = np.full(len(rounds), np.nan)
        means[[place[number] for number in own["round"].tolist()]] = own["mean"]
    name = f"near{next(_numbers)}"
    near = alt.selection_point(
        name, nearest=True, on="pointerover", clear="pointerout", fields=["round"], empty=False
    )
    rule = alt.Chart(chart_data(wide)).mark_rule(color=FAINT, strokeDash=[2, 2])
    seen = alt.condition(near, alt.value(0.8), alt.value(0))
    chart: alt.Chart = rule.encode(x=x, opacity=seen, tooltip=tips).add_params(near)
    return chart


def _round_axis(horizon: int) -> alt.X:
    axis = styled_axis(grid=False, tickCount=6, tickMinStep=1)
    return alt.X("round:Q", title="round", axis=axis, scale=alt.Scale(domain=[0, horizon], nice=False))


def _thinned(curves: Columns) -> Columns:
    """At most so many rows as Altair accepts: every second round, every third ..., and always the last."""
    rounds = np.unique(curves["round"])
    step = -(-len(curves["round"]) // MOST_ROWS)
    return taken(curves, np.isin(curves["round"], rounds[::-step])) if step > 1 else curves

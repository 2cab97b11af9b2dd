"""Regret over rounds: lines with a look and a label of their own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from truant.charts.columns import Columns, chart_columns, chart_data, in_order, reals, taken
from truant.charts.style import (
    COLOURS,
    DASHES,
    FAINT,
    LABEL_GAP,
    LABEL_SIZE,
    Lines,
    Look,
    darker,
    framed,
    short,
    spread,
    styled_axis,
    styled_letters,
    styled_title,
    value_axis,
)
from truant.tables.arrow import as_arrow

REFERENCE = Look(FAINT, (1, 3))
NAIVE, ORACLE = Look("#D55E00", (7, 3)), Look("#000000", (2, 2))  # the same in every chart
LEADER = 14.0  # pixels from the end of a line to its label
COLUMNS = ("policy", "round", "mean", "low", "high")
MOST_ROWS = 5000  # of a table that Altair accepts

_numbers = itertools.count(1)  # charts that are joined must not share a selection


class Extent(NamedTuple):
    """What a value axis shows, from its foot to its top."""

    foot: float
    top: float
    log: bool = False

    def axis(self, title: str) -> alt.Y:
        """The axis of the column `height`."""
        y = alt.Y("height:Q", title=title, axis=value_axis(*self))
        return y.scale(type="log" if self.log else "linear", domain=[self.foot, self.top], nice=False)

    def with_heights(self, data: Columns) -> Columns:
        """The same columns; low, high and `height`, the mean, stay on the axis."""
        drawn = {"height": "mean", "low": "low", "high": "high"}
        return data | {own: np.clip(reals(data[name]), self.foot, self.top) for own, name in drawn.items()}


def line_style(
    policies: Sequence[str], dotted: Sequence[str] = (), looks: Mapping[str, Look] | None = None
) -> dict[str, Any]:
    """Colours, letters in darker ones, and dashes; in scales, where a dark page finds them."""
    given = looks or {}
    chosen = [
        REFERENCE if policy in dotted else given.get(policy) or default_look(number)
        for number, policy in enumerate(policies)
    ]

    def scale(values: list[str] | list[list[int]]) -> alt.Scale:
        return alt.Scale(domain=list(policies), range=values)

    colours = [look.colour for look in chosen]
    return {
        "stroke": alt.Stroke("policy:N", legend=None, scale=scale(colours)),
        "fill": alt.Fill("policy:N", legend=None, scale=scale(colours)),
        "letters": alt.Color("policy:N", legend=None, scale=scale([darker(colour) for colour in colours])),
        "dash": alt.StrokeDash("policy:N", legend=None, scale=scale([list(look.dash) for look in chosen])),
    }


def default_look(number: int) -> Look:
    """A colour and a dash for each; from the ninth on, colours come again with another dash."""
    count = len(COLOURS)
    return Look(COLOURS[number % count], DASHES[(number + number // count) % len(DASHES)])


def policy_looks(policies: Sequence[str]) -> dict[str, Look]:
    """A look for each policy: the first naive one and the first oracle have their own, the others come in turn."""
    looks: dict[str, Look] = {}
    left = [
        default_look(i)
        for i in range(2 * len(COLOURS))
        if COLOURS[i % len(COLOURS)] not in (NAIVE[0], ORACLE[0])
    ]
    for policy in policies:
        own = NAIVE if policy.startswith("naive-") else ORACLE if policy.startswith("oracle-") else None
        if own is None or own in looks.values():
            own = left[sum(look in left for look in looks.values()) % len(left)]
        looks[policy] = own
    return looks


def line_ends(data: Columns, extent: Extent, height: int) -> pa.Table:
    """The last point of each line, and where its label goes so that labels do not overlap.

    `data` has columns policy, round (whatever the x axis is), mean, and height (the mean, kept on the axis).
    """
    lines = [np.flatnonzero(data["policy"] == policy) for policy in in_order(data["policy"])]
    ends = taken(data, [int(rows[np.argmax(data["round"][rows])]) for rows in lines])
    to_line, to_value = (np.log, np.exp) if extent.log else (np.asarray, np.asarray)
    start, length = to_line(extent.foot), to_line(extent.top) - to_line(extent.foot)
    places = spread((to_line(reals(ends["height"])) - start) / length * height, LABEL_GAP, 0, height)
    labels = [
        f"{policy}\N{EN SPACE}{short(mean)}"
        for policy, mean in zip(ends["policy"], ends["mean"], strict=True)
    ]
    return chart_data(ends | {"place": to_value(start + places / height * length), "label": labels})


def line_labels(ends: pa.Table, width: int, style: Mapping[str, Any]) -> list[alt.Chart]:
    """A label beside the end of each line, and a thin line that leads to it."""
    base = alt.Chart(ends)
    edge, side = alt.value(float(width)), alt.value(width + LEADER)
    leader = base.mark_rule(strokeWidth=1.2, opacity=0.7, clip=False)
    text = base.mark_text(**styled_letters(dx=4, fontSize=LABEL_SIZE, fontWeight=600))
    return [
        leader.encode(x=edge, x2=side, y="height:Q", y2="place:Q", stroke=style["stroke"]),
        text.encode(x=side, y="place:Q", text="label:N", color=style["letters"]),
    ]


@dataclass(frozen=True)
class RegretPanel:
    """Lines of regret in one coordinate system.

    Parameters
    ----------
    title : above the panel.
    curves : table of any library with columns policy (the label of a line), round, mean, low, high; the policies in
        their order of appearance.
    looks : colour and dash of each label; in their order unless given.
    reference : columns policy (its label), round, mean: thin dotted lines to compare with, such as a bound.
    """

    title: str
    curves: Any
    looks: Mapping[str, Look] | None = None
    reference: Any = None


def regret_chart(
    curves: Any,
    *,
    title: str = "",
    subtitle: Lines = "",
    log: bool = False,
    width: int = 560,
    height: int = 340,
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
    quantity : what accumulates, for the title of the y axis.
    """
    panel, extent = RegretPanel(title, curves), regret_range(curves, log)
    return panel_chart(panel, extent, subtitle=subtitle, width=width, height=height, quantity=quantity)


def panel_chart(
    panel: RegretPanel,
    extent: Extent,
    *,
    subtitle: Lines = "",
    width: int,
    height: int,
    quantity: str = "regret",
) -> alt.LayerChart:
    """One panel with this y axis."""
    curves, dotted = _drawn(chart_columns(panel.curves, "curves", *COLUMNS), panel.reference)
    lines = extent.with_heights(curves)
    x, y = _round_axis(int(lines["round"].max())), extent.axis(f"cumulative {quantity}")
    style = line_style(in_order(lines["policy"]), dotted, panel.looks)
    stroke = {"stroke": style["stroke"], "strokeDash": style["dash"]}
    is_dotted = np.isin(lines["policy"], dotted)
    rows = taken(lines, ~is_dotted)
    main = alt.Chart(chart_data(rows))
    band = main.mark_area(opacity=0.13)
    band = band.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", detail="policy:N", fill=style["fill"])
    line = main.mark_line(strokeWidth=2.2, strokeJoin="round", point=len(np.unique(rows["round"])) == 1)
    layers = [band, line.encode(x=x, y=y, **stroke)]
    if dotted:
        thin = alt.Chart(chart_data(taken(lines, is_dotted))).mark_line(strokeWidth=1.3)
        layers.append(thin.encode(x=x, y=y, **stroke))
    layers += line_labels(line_ends(lines, extent, height), width, style)
    title = styled_title(panel.title, subtitle)
    return framed([*layers, _hover(lines, x)], width=width, height=height, title=title)


def regret_range(curves: Any, log: bool) -> Extent:
    """What the y axis shows by default: all of the bands; `curves` has columns mean and high."""
    columns = chart_columns(curves, "curves", "mean", "high")
    top = float(np.nanmax(reals(columns["high"])))
    if not log:
        return Extent(0.0, 1.05 * top if top > 0 else 1.0)
    means = reals(columns["mean"])
    positive = means[means > 0]
    if not len(positive):
        return Extent(0.1, 10.0, log)
    # a first lucky round may have lost next to nothing: six decades are enough to see
    return Extent(max(float(positive.min()), 1e-6 * top), 1.3 * top, log)


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

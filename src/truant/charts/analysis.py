"""Charts of an analysis: estimates side by side, what is missing where, and what would change the winner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt

from truant.charts.columns import (
    Columns,
    chart_columns,
    chart_data,
    in_order,
    reals,
    taken,
    with_visible_labels,
)
from truant.charts.style import (
    FAINT,
    FONT,
    HEAT,
    INK,
    NEUTRAL,
    NOT_GREEN,
    ON_HEAT,
    PALE,
    RULE,
    SHAPES,
    Width,
    framed,
    short,
    styled_axis,
    styled_letters,
)
from truant.errors import visible
from truant.tables.arrow import as_arrow

STAR = "\N{BLACK STAR}"
NAIVE = "naive"
ROW = 17  # pixels for each estimate
Format = Callable[[float], str]


def estimates_chart(
    estimates: Any,
    bounds: Any = None,
    *,
    label: Format = short,
    outcome: str = "mean of the outcome",
    minimize: bool = False,
    width: Width = 560,
) -> alt.LayerChart:
    """Every arm under every assumption: a dot and a whisker each, a star for the winner of an assumption.

    Parameters
    ----------
    estimates : table of any library with columns arm, assumption, mean, low, high, in the order to be drawn;
        `naive` is drawn in grey.
    bounds : table with columns arm, low, high: the worst and the best that can be, drawn as a pale bar behind.
    label : writes a mean.
    outcome : title of the axis.
    minimize : the lowest mean wins.
    width : of the plot in pixels, or "container".
    """
    needed = ("arm", "assumption", "mean", "low", "high")
    labels, data = _rows(with_visible_labels(chart_columns(estimates, "estimates", *needed)), label, minimize)
    names = in_order(data["assumption"])
    behind = _behind(data, bounds)
    low, high = _reach(data["mean"], data["low"], data["high"], behind["low"], behind["high"])
    scale = alt.Scale(domain=[low, high + 0.14 * (high - low)], nice=False, zero=False)  # room for the label
    places = alt.Scale(domain=list(range(len(labels))), padding=0)
    y = alt.Y("row:O", title=None, sort=None, scale=places).axis(_arm_axis(labels, data["row"]))
    x = alt.X("low:Q", title=visible(outcome), scale=scale).axis(
        styled_axis(tickCount=6, domain=False, ticks=False)
    )
    drawn = chart_data(data)
    colour, shape = _looks(names)
    base = alt.Chart(drawn).encode(y=y, color=colour)
    bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("mean:Q", scale=scale), shape=shape
    )
    words = alt.Chart(drawn).encode(x=alt.X("high:Q", scale=scale), y=y, text="text:N")
    plain = words.transform_filter("!datum.best").mark_text(**styled_letters(FAINT, dx=6))
    best = words.transform_filter("datum.best").mark_text(**styled_letters(INK, dx=6, fontWeight=700))
    star = (
        alt.Chart(drawn)
        .transform_filter("datum.best")
        .mark_text(**styled_letters(INK, align="right", dx=-5, text=STAR))
    )
    star = star.encode(x=x, y=y)
    layers = [*_pale_bars(behind, x, places), bars, points, plain, best, star]
    return framed(layers, width=width, height=ROW * len(labels))


def missing_heatmap(cells: Any, *, mediator: str = "mediator") -> alt.LayerChart:
    """Share of missing outcomes by arm and mediator, with the figures in the cells.

    Parameters
    ----------
    cells : table with columns arm, mediator, pulls, missing_share (None where there are no pulls), arm by arm;
        the last column of the chart is the last mediator, which is "missing" where the mediator itself is missing.
    mediator : what the levels are of: title of the columns; empty for none.
    """
    data = with_visible_labels(chart_columns(cells, "cells", "arm", "mediator", "pulls", "missing_share"))
    data["mediator"] = _told_apart(data["arm"], data["mediator"])
    shares = data["missing_share"] = reals(data["missing_share"])
    most = float(np.max(np.nan_to_num(shares))) or 1.0
    data["share"] = np.array([_percent(share) for share in shares], object)
    data["size"] = np.array([f"n = {pulls:,}" if pulls else "" for pulls in data["pulls"].tolist()], object)
    data["dark"] = shares > 0.64 * most  # where light letters read better than dark ones
    columns = _longest_order(data)
    step = int(np.clip(520 / len(columns), 66, 130))
    style = {"labelExpr": "datum.value", "labelColor": INK, "ticks": False, "domain": False, "grid": False}
    x = alt.X("mediator:N", sort=columns, title=visible(mediator) or None)
    x = x.axis(styled_axis(**style, orient="top", labelAngle=0, labelLimit=step - 4, labelPadding=6))
    y = alt.Y("arm:N", sort=in_order(data["arm"]), title=None)
    y = y.axis(styled_axis(**style, labelLimit=170, labelPadding=8, labelFontSize=12))
    cell = (
        alt.Chart(chart_data(taken(data, ~np.isnan(shares))))
        .mark_rect(cornerRadius=3)
        .encode(
            x=x.scale(paddingInner=0.04),
            y=y.scale(paddingInner=0.06),
            color=alt.Color(
                "missing_share:Q", legend=None, scale=alt.Scale(domain=[0, most], range=list(HEAT))
            ),
        )
    )
    ink = alt.condition("datum.dark", alt.value(ON_HEAT[1]), alt.value(ON_HEAT[0]))
    words = alt.Chart(chart_data(data)).encode(x=x, y=y, color=ink)
    share = words.mark_text(font=FONT, fontSize=12, fontWeight=600, dy=-6).encode(text="share:N")
    size = words.mark_text(font=FONT, fontSize=10, dy=8).encode(text="size:N")
    return framed([cell, share, size], width=alt.Step(step), height=alt.Step(38))


class TippingPoint(NamedTuple):
    """The shift of the winner's missing outcomes at which the runner-up is as good.

    Parameters
    ----------
    winner, runner_up : names of the two arms.
    shift, shift_in_sd : the tipping point, None if there is none, in the outcome's unit and in standard deviations.
    worst : the winner's value if all its missing outcomes were the worst possible; beyond is shaded.
    """

    winner: str
    runner_up: str
    shift: float | None
    shift_in_sd: float | None = None
    worst: float | None = None


def tipping_chart(
    curve: Any,
    point: TippingPoint,
    *,
    label: Format = short,
    outcome: str = "mean of the outcome",
    colour: str = NOT_GREEN[0],
    width: Width = 300,
) -> alt.LayerChart:
    """The winner's value as its missing outcomes get worse, and the point where the runner-up is as good.

    Parameters
    ----------
    curve : table with columns shift, value, low, high, runner_up.
    point : what is marked.
    label : writes an outcome.
    outcome : title of the vertical axis.
    colour : of the winner.
    width : of the plot in pixels, or "container".
    """
    data = chart_columns(curve, "curve", "shift", "value", "low", "high", "runner_up")
    low, high = _reach(*(data[name] for name in ("value", "low", "high", "runner_up")))
    scale = alt.Scale(domain=[low, high + 0.12 * (high - low)], nice=False, zero=False)
    x_scale = alt.Scale(domain=[0, float(np.nanmax(data["shift"]))], nice=False)
    rises = data["value"][-1] > data["value"][0]  # where less is better
    x = alt.X("shift:Q", scale=x_scale, title=f"missing outcomes {'raised' if rises else 'lowered'} by")
    x = x.axis(styled_axis(grid=False, tickCount=5))
    y = alt.Y("value:Q", title=visible(outcome), scale=scale)
    y = y.axis(styled_axis(domain=False, ticks=False, tickCount=5))
    base = alt.Chart(chart_data(data)).encode(x=x)
    band = base.mark_area(opacity=0.16, color=colour, clip=True)
    band = band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    line = base.mark_line(strokeWidth=2.4, color=colour, clip=True).encode(y=y)
    other = base.mark_line(strokeWidth=1.8, strokeDash=[6, 4], color=INK)
    other = other.encode(y=alt.Y("runner_up:Q", scale=scale))
    layers = [*_impossible(data, point.worst, x_scale), band, other, line]
    layers += _names(data, point, scale, colour)
    if point.shift is not None:
        text = label(point.shift) + (
            f" ({point.shift_in_sd:.2f} sd)" if point.shift_in_sd is not None else ""
        )
        layers += _tip(data, point.shift, text, x_scale, scale)
    return framed(layers, width=width, height=210)


def look_of(names: Sequence[str], name: str) -> str:
    """The colour that estimates_chart gives to an assumption among these."""
    others = [other for other in names if other != NAIVE]
    return NEUTRAL if name == NAIVE else NOT_GREEN[others.index(name) % len(NOT_GREEN)]


def _rows(estimates: Columns, label: Format, minimize: bool) -> tuple[list[str], Columns]:
    """A label for each row of the chart, the arms' own among them; and the estimates with the number of their row."""
    best = _best_rows(estimates, minimize)
    labels: list[str] = []
    rows: list[dict[str, Any]] = []
    for arm in in_order(estimates["arm"]):
        labels.append(str(arm))
        for i in np.flatnonzero(estimates["arm"] == arm):
            assumption, mean = estimates["assumption"][i], estimates["mean"][i]
            low, high = estimates["low"][i], estimates["high"][i]
            row = {"arm": arm, "assumption": assumption, "mean": mean, "row": len(labels)}
            known = bool(np.isfinite([low, high]).all())
            row |= {"low": low, "high": high} if known else {"low": mean, "high": mean}
            row |= {"best": i in best, "text": label(mean)}
            labels.append(str(assumption))
            rows.append(row)
    return labels, {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _best_rows(estimates: Columns, minimize: bool) -> set[int]:
    """The row of the winner of each assumption; none if there is only one arm."""
    if len(in_order(estimates["arm"])) < 2:
        return set()
    means = reals(estimates["mean"]) * (-1 if minimize else 1)
    best = set()
    for assumption in in_order(estimates["assumption"]):
        rows = np.flatnonzero((estimates["assumption"] == assumption) & ~np.isnan(means))
        best |= {int(rows[np.argmax(means[rows])])} if len(rows) else set()
    return best


def _behind(data: Columns, bounds: Any) -> Columns:
    """The worst-case bounds of each arm that has some, with the first and the last row of the arm."""
    found: dict[str, list[Any]] = {name: [] for name in ("arm", "first", "last", "low", "high")}
    if bounds is not None and as_arrow(bounds).num_rows:
        given = with_visible_labels(chart_columns(bounds, "bounds", "arm", "low", "high"))
        for arm in in_order(data["arm"]):
            rows = data["row"][data["arm"] == arm]
            for i in np.flatnonzero(given["arm"] == arm):
                values = (arm, rows.min(), rows.max(), given["low"][i], given["high"][i])
                for column, value in zip(found.values(), values, strict=True):
                    column.append(value)
    return {name: np.array(values) for name, values in found.items()}


def _pale_bars(behind: Columns, x: alt.X, places: alt.Scale) -> list[alt.Chart]:
    """A pale bar behind all rows of an arm."""
    if not len(behind["arm"]):
        return []
    bar = alt.Chart(chart_data(behind)).mark_rect(color=PALE, cornerRadius=3)
    y, y2 = alt.Y("first:O", bandPosition=0, scale=places), alt.Y2("last:O", bandPosition=1)
    return [bar.encode(x=x, x2="high:Q", y=y, y2=y2)]


def _arm_axis(labels: Sequence[str], rows: npt.NDArray[Any]) -> alt.Axis:
    """The arm's name in bold above the names of its assumptions, which are these rows."""
    # as JSON, so that quotes in a name cannot end the text; Vega reads the same escapes
    names = json.dumps(labels)
    heads = json.dumps(sorted(set(range(len(labels))) - set(rows.tolist())))
    is_head = f"indexof({heads}, datum.value) >= 0"
    return styled_axis(
        labelExpr=f"{names}[datum.value]",
        labelFontWeight={"condition": {"test": is_head, "value": 700}, "value": 400},
        labelColor={"condition": {"test": is_head, "value": INK}, "value": FAINT},
        labelFontSize={"condition": {"test": is_head, "value": 12.5}, "value": 11.5},
        labelLimit=170,
        labelPadding=8,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )


def _looks(names: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each assumption; rows are labelled, so that no legend is needed."""
    others = [name for name in names if name != NAIVE]
    shapes = [SHAPES[(others.index(n) + 1) % len(SHAPES)] if n != NAIVE else SHAPES[0] for n in names]
    colours = alt.Scale(domain=list(names), range=[look_of(names, name) for name in names])
    return (
        alt.Color("assumption:N", legend=None, scale=colours),
        alt.Shape("assumption:N", legend=None, scale=alt.Scale(domain=list(names), range=shapes)),
    )


def _impossible(data: Columns, worst: float | None, scale: alt.Scale) -> list[alt.Chart]:
    """A shade over shifts that would take missing outcomes out of their range."""
    shifts, values = data["shift"], data["value"]
    if shifts[-1] == shifts[0]:  # outcomes that do not vary
        return []
    slope = (values[0] - values[-1]) / (shifts[-1] - shifts[0])  # below 0 where less is better
    if worst is None or slope == 0:
        return []
    start = max((values[0] - worst) / slope, 0.0)
    if start >= shifts[-1]:
        return []
    rows = chart_data({"start": [start], "stop": [shifts[-1]], "text": ["impossible"]})
    base = alt.Chart(rows).encode(x=alt.X("stop:Q", scale=scale))
    shade = base.mark_rect(color=PALE)
    words = base.mark_text(**styled_letters(FAINT, align="right", dx=-5, baseline="top", fontStyle="italic"))
    return [shade.encode(x2="start:Q"), words.encode(text="text:N", y=alt.value(26))]


def _names(data: Columns, point: TippingPoint, scale: alt.Scale, colour: str) -> list[alt.Chart]:
    """The winner's name above the start of its line, farther if it rises; the runner-up's above the end of its own."""
    rises = data["value"][-1] > data["value"][0]
    place = {"dx": 3, "dy": -18} if rises else {"dx": 6, "dy": -3}
    rows = chart_data(
        {
            "shift": [data["shift"][0], data["shift"][-1]],
            "at": [data["value"][0], data["runner_up"][-1]],
            "text": [_clipped(visible(point.winner)), _clipped(visible(point.runner_up))],
            "end": [False, True],
        }
    )
    base = alt.Chart(rows).encode(x="shift:Q", y=alt.Y("at:Q", scale=scale), text="text:N")
    top = base.transform_filter("!datum.end").mark_text(
        **styled_letters(colour, fontWeight=700, fontSize=12, baseline="bottom", **place)
    )
    second = base.transform_filter("datum.end").mark_text(
        **styled_letters(INK, align="right", dx=-4, baseline="bottom", dy=-4, fontSize=12)
    )
    return [top, second]


def _tip(data: Columns, shift: float, text: str, x_scale: alt.Scale, scale: alt.Scale) -> list[alt.Chart]:
    """A rule and a dot where the two arms are equal, with the shift as a text."""
    rows = chart_data({"shift": [shift], "at": [data["runner_up"][0]], "text": [text]})
    base = alt.Chart(rows).encode(x=alt.X("shift:Q", scale=x_scale))
    rule = base.mark_rule(color=RULE, strokeDash=[2, 3])
    dot = base.mark_point(filled=True, size=80, color=INK, opacity=1).encode(y=alt.Y("at:Q", scale=scale))
    words = base.mark_text(**styled_letters(INK, fontWeight=700, dx=6, baseline="bottom", dy=-4, fontSize=12))
    return [rule, dot, words.encode(text="text:N", y=alt.value("height"))]


def _reach(*several: npt.NDArray[Any]) -> tuple[float, float]:
    """The lowest and the highest of what is drawn, with some air."""
    values = np.concatenate([reals(values) for values in several])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    air = 0.03 * (high - low) or 0.05 * max(abs(high), 1e-9)
    return low - air, high + air


def _told_apart(arms: npt.NDArray[Any], mediators: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A level may itself be called "missing": the second of that name in an arm is another column."""
    seen: Counter[tuple[Any, Any]] = Counter()
    names = []
    for cell in zip(arms.tolist(), mediators.tolist(), strict=True):
        names.append(f"{cell[1]}{' ' * seen[cell]}")
        seen[cell] += 1
    return np.array(names, object)


def _longest_order(data: Columns) -> list[str]:
    """The columns, as the arm that has most of them orders them (only some arms may miss a mediator)."""
    orders = [data["mediator"][data["arm"] == arm].tolist() for arm in in_order(data["arm"])]
    return list(dict.fromkeys(name for order in sorted(orders, key=len, reverse=True) for name in order))


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.1%}"


def _clipped(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"

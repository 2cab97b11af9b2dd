"""Charts of a sweep: regret along what varies, as heat maps, and which policy wins where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from truant.charts.columns import Columns, chart_columns, chart_data, in_order, reals
from truant.charts.lines import default_look, line_ends, line_labels, line_style
from truant.charts.style import (
    FONT,
    HEAT,
    INK,
    ON_HEAT,
    Look,
    short,
    styled_axis,
    styled_title,
    value_axis,
)

COLUMNS = ("policy", "x", "mean", "low", "high")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WIDE = 20.0  # from the lowest to the highest, beyond which an axis is logarithmic


def parameter_chart(
    table: Any,
    *,
    parameter: str,
    title: str = "",
    subtitle: str = "",
    span: tuple[float, float] | None = None,
    looks: Mapping[str, Look] | None = None,
    width: int = 420,
    height: int = 280,
) -> alt.LayerChart:
    """Mean regret along a parameter, a line with a band of ±2 standard errors for each policy.

    Parameters
    ----------
    table : of any library, with columns policy, x (numbers, or texts in their order), mean, low, high.
    parameter : what x is called.
    title, subtitle : above the chart.
    span : lowest and highest regret on the axis, for charts that are to be compared; from the table unless given.
    looks : colour and dash of each policy; in their order unless given.
    width, height : of the plot in pixels, labels not counted.
    """
    given = chart_columns(table, "table", *COLUMNS)
    low, high = _span(given) if span is None else span
    log = high > WIDE * low > 0
    foot, top = (low / 1.15, high * 1.15) if log else (0.0, 1.05 * high or 1.0)
    xs = in_order(given["x"])
    numeric = not any(isinstance(x, str) for x in xs)
    places = given["x"] if numeric else np.array([xs.index(x) for x in given["x"]])
    data = {name: given[name] for name in COLUMNS} | {"round": places}
    data["height"] = np.clip(reals(data["mean"]), foot, top)
    data |= {name: np.clip(reals(data[name]), foot, top) for name in ("low", "high")}
    data["regret"] = np.array([short(mean) for mean in data["mean"]], object)
    x = _parameter_axis(xs, parameter, numeric)
    y = alt.Y("height:Q", title="regret", axis=value_axis(foot, top, log))
    y = y.scale(type="log" if log else "linear", domain=[foot, top], nice=False)
    style = line_style(in_order(data["policy"]), looks=looks)
    base = alt.Chart(chart_data(data)).encode(x=x, detail="policy:N")
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q"), y2="high:Q", fill=style["fill"])
    line = base.mark_line(strokeWidth=2.2, strokeJoin="round")
    line = line.encode(y=y, stroke=style["stroke"], strokeDash=style["dash"])
    tips = [alt.Tooltip("policy:N"), alt.Tooltip("x:N", title=parameter), alt.Tooltip("regret:N")]
    dots = base.mark_circle(size=42, opacity=1).encode(y=y, fill=style["fill"], tooltip=tips)
    layers = [band, line, dots, *line_labels(line_ends(data, foot, top, log, height), width, style)]
    return _framed(layers, title, subtitle, width=width, height=height)


def regret_span(table: Any) -> tuple[float, float]:
    """The lowest positive and the highest regret of a table, bands included where they are above the means."""
    return _span(chart_columns(table, "table", "mean", "high"))


def _span(columns: Columns) -> tuple[float, float]:
    means = reals(columns["mean"])
    positive = means[means > 0]
    return (float(positive.min()) if len(positive) else 0.0), float(np.nanmax(reals(columns["high"])))


def _parameter_axis(xs: Sequence[Any], parameter: str, numeric: bool) -> alt.X:
    if not numeric:
        names = json.dumps([str(x) for x in xs])
        axis = styled_axis(grid=False, values=list(range(len(xs))), labelExpr=f"({names})[datum.value]")
        scale = alt.Scale(domain=[-0.1, max(len(xs) - 1, 1) + 0.1], nice=False)
        return alt.X("round:Q", title=parameter, axis=axis, scale=scale)
    low, high = float(min(xs)), float(max(xs))
    log = low > 0 and high >= 10 * low
    few = sorted(xs) if len(xs) <= 8 else None
    options: dict[str, Any] = {"values": few} if few else {"tickCount": 6}
    # some room at either side, so that the first dots do not cover the figures of the other axis
    room = (high / low) ** 0.03 if log else 0.03 * (high - low) or 1.0
    domain = [low / room, high * room] if log else [low - room, high + room]
    scale = alt.Scale(type="log" if log else "linear", domain=domain, nice=False)
    axis = styled_axis(grid=False, labelFlush=False, **options)
    return alt.X("round:Q", title=parameter, axis=axis, scale=scale)


def regret_heatmap(
    cells: Any,
    *,
    x: str,
    y: str,
    title: str = "",
    subtitle: str = "",
    columns: Sequence[str] | None = None,
    span: tuple[float, float] | None = None,
    widest: int = 560,
) -> alt.LayerChart:
    """Mean regret in the cells of a plane, from pale (low) to dark.

    Parameters
    ----------
    cells : table with columns x, y (texts, in their order), mean; optionally best (marked with a star).
    x, y : what the axes are called.
    title, subtitle : above the chart.
    columns : the order of x, where the first row does not have them all.
    span : lowest and highest of the colours, for maps that are to be compared.
    widest : of the plot in pixels.
    """
    data = chart_columns(cells, "cells", "x", "y", "mean")
    means = reals(data["mean"])
    low, high = span or (float(np.nanmin(means)), float(np.nanmax(means)))
    shades = np.log(np.maximum(means, max(low, 1e-12)))
    least, most = np.log(max(low, 1e-12)), np.log(max(high, 1e-12))
    data["shade"] = (shades - least) / (most - least) if most > least else np.zeros(len(means))
    stars = data.get("best", np.zeros(len(means), bool))
    data["words"] = np.array(
        [
            short(mean) + (" \N{BLACK STAR}" if star else "")
            for mean, star in zip(data["mean"], stars, strict=True)
        ],
        object,
    )
    data["dark"] = data["shade"] > 0.64
    columns = columns or in_order(data["x"])
    step = _step(len(columns), widest, 40)
    place = _plane(data, columns, x, y, step)
    tips = [alt.Tooltip("x:N", title=x), alt.Tooltip("y:N", title=y), alt.Tooltip("words:N", title="regret")]
    shade = alt.Color("shade:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=list(HEAT)))
    table = chart_data(data)
    cell = alt.Chart(table).mark_rect(cornerRadius=3).encode(**place, color=shade, tooltip=tips)
    ink = alt.condition("datum.dark", alt.value(ON_HEAT[1]), alt.value(ON_HEAT[0]))
    words = alt.Chart(table).mark_text(font=FONT, fontSize=11 if step >= 52 else 9)
    return _framed(
        [cell, words.encode(**place, text="words:N", color=ink)],
        title,
        subtitle,
        width=alt.Step(step),
        height=alt.Step(32),
    )


def winner_map(
    cells: Any,
    *,
    x: str,
    y: str,
    policies: Sequence[str],
    looks: Mapping[str, Look] | None = None,
    title: str = "",
    subtitle: str = "",
    widest: int = 620,
) -> alt.LayerChart:
    """Which policy has the lowest regret in each cell; pale where another cannot be told from it.

    Parameters
    ----------
    cells : table with columns x, y (texts, in their order), winner, as_good (list of the others that may be as
        good), ratio (regret of the best of the rest over the winner's; None if there is no other).
    x, y : what the axes are called.
    policies : all that took part, in the order of their letters.
    looks : colour of each policy; in their order unless given.
    title, subtitle : above the chart.
    widest : of the plot in pixels.
    """
    letters = dict(zip(policies, _letters(len(policies)), strict=True))
    data = _winner_cells(chart_columns(cells, "cells", "x", "y", "winner", "as_good", "ratio"), letters)
    columns = in_order(data["x"])
    step = _step(len(columns), widest, 46)
    place = _plane(data, columns, x, y, step)
    colour = _winner_colours(
        {p: letters[p] for p in policies if p in in_order(data["winner"])}, policies, looks or {}
    )
    tips = [alt.Tooltip("x:N", title=x), alt.Tooltip("y:N", title=y), alt.Tooltip("winner:N")]
    tips += [alt.Tooltip("letters:N", title="as good"), alt.Tooltip("margin:N", title="next best")]
    table = chart_data(data)
    cell = alt.Chart(table).mark_rect(cornerRadius=3)
    faint = alt.condition("datum.clear", alt.value(0.55), alt.value(0.18))
    cell = cell.encode(**place, color=colour, opacity=faint, tooltip=tips)
    base = alt.Chart(table).encode(**place)
    name = base.mark_text(font=FONT, fontSize=12, fontWeight=700, dy=-6, color=INK).encode(text="letters:N")
    margin = base.mark_text(font=FONT, fontSize=10, dy=8, color=INK).encode(text="margin:N")
    return _framed([cell, name, margin], title, subtitle, width=alt.Step(step), height=alt.Step(38))


def _winner_cells(cells: Columns, letters: Mapping[str, str]) -> Columns:
    """What a cell says: the letters of all that may be best, and the next best's regret over the winner's."""
    others = [list(names) for names in cells["as_good"]]
    ratios = reals(cells["ratio"])
    words = [
        "≈".join(letters[name] for name in (winner, *rest))
        for winner, rest in zip(cells["winner"], others, strict=True)
    ]
    margins = ["" if np.isnan(ratio) else f"×{ratio:.3g}" for ratio in ratios]
    return {name: cells[name] for name in ("x", "y", "winner")} | {
        "ratio": ratios,
        "letters": np.array(words, object),
        "clear": np.array([not rest for rest in others]),
        "margin": np.array(margins, object),
    }


def _winner_colours(
    winners: Mapping[str, str], policies: Sequence[str], looks: Mapping[str, Look]
) -> alt.Color:
    """A colour for each policy that won somewhere (with its letter), and a legend above the map."""
    colours = {policy: (looks.get(policy) or default_look(i)).colour for i, policy in enumerate(policies)}
    legend = alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=3,
        labelFont=FONT,
        labelFontSize=12,
        labelColor=INK,
        labelLimit=260,
        symbolType="square",
        symbolSize=160,
        labelExpr=f"({json.dumps({p: f'{letter}  {p}' for p, letter in winners.items()})})[datum.label]",
    )
    scale = alt.Scale(domain=list(winners), range=[colours[policy] for policy in winners])
    return alt.Color("winner:N", legend=legend, scale=scale)


def _plane(data: Columns, columns: Sequence[str], x: str, y: str, step: int) -> dict[str, Any]:
    style = {"labelColor": INK, "ticks": False, "domain": False, "grid": False}
    style["labelExpr"] = r"split(datum.value, '\n')"
    rows = in_order(data["y"])
    across = alt.X("x:N", sort=list(columns), title=x).scale(paddingInner=0.04)
    across = across.axis(styled_axis(**style, labelAngle=0, labelLimit=max(step - 2, 40), labelPadding=6))
    down = alt.Y("y:N", sort=rows, title=y or None).scale(paddingInner=0.06)
    down = down.axis(
        styled_axis(
            **style, labelLimit=220, labelPadding=8, titleAngle=0, titleAlign="right", titleY=-10, titleX=-8
        )
        if rows != [""]
        else None
    )
    return {"x": across, "y": down}


def _step(columns: int, widest: int, least: int) -> int:
    return int(np.clip(widest / max(columns, 1), least, 120))


def _letters(count: int) -> list[str]:
    return [LETTERS[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(count)]


def _framed(layers: Sequence[Any], title: str, subtitle: str, **size: Any) -> alt.LayerChart:
    view = alt.ViewBackground(stroke=None)
    return alt.LayerChart(layer=list(layers), title=styled_title(title, subtitle, 14), view=view, **size)

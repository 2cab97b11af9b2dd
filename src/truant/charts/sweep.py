"""Charts of a sweep: regret along what varies, as heat maps, and which policy wins where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

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
from truant.errors import InvalidValue

if TYPE_CHECKING:
    import pandas as pd

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WIDE = 20.0  # from the lowest to the highest, beyond which an axis is logarithmic


def parameter_chart(
    table: pd.DataFrame,
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
    table : columns policy, x (numbers, or texts in their order), mean, low, high.
    parameter : what x is called.
    title, subtitle : above the chart.
    span : lowest and highest regret on the axis, for charts that are to be compared; from the table unless given.
    looks : colour and dash of each policy; in their order unless given.
    width, height : of the plot in pixels, labels not counted.
    """
    if table.empty:
        raise InvalidValue("A chart needs at least one row, got none.")
    low, high = regret_span(table) if span is None else span
    log = high > WIDE * low > 0
    foot, top = (low / 1.15, high * 1.15) if log else (0.0, 1.05 * high or 1.0)
    numeric = not table["x"].map(lambda x: isinstance(x, str)).any()
    places = (
        table["x"] if numeric else table["x"].map({x: i for i, x in enumerate(dict.fromkeys(table["x"]))})
    )
    data = table[["policy", "x", "mean", "low", "high"]].assign(round=places).reset_index(drop=True)
    data[["height", "low", "high"]] = data[["mean", "low", "high"]].clip(foot, top)
    data["regret"] = [short(mean) for mean in data["mean"]]
    x = _parameter_axis(table, parameter, numeric)
    y = alt.Y("height:Q", title="regret", axis=value_axis(foot, top, log))
    y = y.scale(type="log" if log else "linear", domain=[foot, top], nice=False)
    style = line_style(list(dict.fromkeys(data["policy"])), looks=looks)
    base = alt.Chart(data).encode(x=x, detail="policy:N")
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q"), y2="high:Q", fill=style["fill"])
    line = base.mark_line(strokeWidth=2.2, strokeJoin="round")
    line = line.encode(y=y, stroke=style["stroke"], strokeDash=style["dash"])
    tips = [alt.Tooltip("policy:N"), alt.Tooltip("x:N", title=parameter), alt.Tooltip("regret:N")]
    dots = base.mark_circle(size=42, opacity=1).encode(y=y, fill=style["fill"], tooltip=tips)
    layers = [band, line, dots, *line_labels(line_ends(data, foot, top, log, height), width, style)]
    return _framed(layers, title, subtitle, width=width, height=height)


def regret_span(table: pd.DataFrame) -> tuple[float, float]:
    """The lowest positive and the highest regret of a table, bands included where they are above the means."""
    positive = table["mean"][table["mean"] > 0]
    top = float(table["high"].max())
    return (float(positive.min()) if len(positive) else 0.0), top


def _parameter_axis(table: pd.DataFrame, parameter: str, numeric: bool) -> alt.X:
    xs = list(dict.fromkeys(table["x"]))
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
    cells: pd.DataFrame,
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
    cells : columns x, y (texts, in their order), mean; optionally best (marked with a star).
    x, y : what the axes are called.
    title, subtitle : above the chart.
    columns : the order of x, where the first row does not have them all.
    span : lowest and highest of the colours, for maps that are to be compared.
    widest : of the plot in pixels.
    """
    data = cells.copy()
    low, high = span or (float(data["mean"].min()), float(data["mean"].max()))
    shades = np.log(np.maximum(data["mean"].to_numpy(np.float64), max(low, 1e-12)))
    least, most = np.log(max(low, 1e-12)), np.log(max(high, 1e-12))
    data["shade"] = (shades - least) / (most - least) if most > least else 0.0
    stars = data["best"] if "best" in data else [False] * len(data)
    data["words"] = [
        short(mean) + (" \N{BLACK STAR}" if star else "")
        for mean, star in zip(data["mean"], stars, strict=True)
    ]
    data["dark"] = data["shade"] > 0.64
    columns = columns or list(dict.fromkeys(data["x"]))
    step = _step(len(columns), widest, 40)
    place = _plane(data, columns, x, y, step)
    tips = [alt.Tooltip("x:N", title=x), alt.Tooltip("y:N", title=y), alt.Tooltip("words:N", title="regret")]
    shade = alt.Color("shade:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=list(HEAT)))
    cell = alt.Chart(data).mark_rect(cornerRadius=3).encode(**place, color=shade, tooltip=tips)
    ink = alt.condition("datum.dark", alt.value(ON_HEAT[1]), alt.value(ON_HEAT[0]))
    words = alt.Chart(data).mark_text(font=FONT, fontSize=11 if step >= 52 else 9)
    return _framed(
        [cell, words.encode(**place, text="words:N", color=ink)],
        title,
        subtitle,
        width=alt.Step(step),
        height=alt.Step(32),
    )


def winner_map(
    cells: pd.DataFrame,
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
    cells : columns x, y (texts, in their order), winner, as_good (list of the others that may be as good), ratio
        (regret of the best of the rest over the winner's; None if there is no other).
    x, y : what the axes are called.
    policies : all that took part, in the order of their letters.
    looks : colour of each policy; in their order unless given.
    title, subtitle : above the chart.
    widest : of the plot in pixels.
    """
    letters = dict(zip(policies, _letters(len(policies)), strict=True))
    data = _winner_cells(cells, letters)
    columns = list(dict.fromkeys(data["x"]))
    step = _step(len(columns), widest, 46)
    place = _plane(data, columns, x, y, step)
    colour = _winner_colours(
        {p: letters[p] for p in policies if p in set(data["winner"])}, policies, looks or {}
    )
    tips = [alt.Tooltip("x:N", title=x), alt.Tooltip("y:N", title=y), alt.Tooltip("winner:N")]
    tips += [alt.Tooltip("letters:N", title="as good"), alt.Tooltip("margin:N", title="next best")]
    cell = alt.Chart(data).mark_rect(cornerRadius=3)
    faint = alt.condition("datum.clear", alt.value(0.55), alt.value(0.18))
    cell = cell.encode(**place, color=colour, opacity=faint, tooltip=tips)
    base = alt.Chart(data).encode(**place)
    name = base.mark_text(font=FONT, fontSize=12, fontWeight=700, dy=-6, color=INK).encode(text="letters:N")
    margin = base.mark_text(font=FONT, fontSize=10, dy=8, color=INK).encode(text="margin:N")
    return _framed([cell, name, margin], title, subtitle, width=alt.Step(step), height=alt.Step(38))


def _winner_cells(cells: pd.DataFrame, letters: Mapping[str, str]) -> pd.DataFrame:
    """What a cell says: the letters of all that may be best, and the next best's regret over the winner's."""
    data = cells[["x", "y", "winner", "ratio"]].copy()
    data["letters"] = [
        "≈".join(letters[name] for name in (winner, *others))
        for winner, others in zip(cells["winner"], cells["as_good"], strict=True)
    ]
    data["clear"] = [not others for others in cells["as_good"]]
    data["margin"] = ["" if np.isnan(ratio) else f"×{ratio:.3g}" for ratio in data["ratio"].astype(float)]
    return data


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


def _plane(data: pd.DataFrame, columns: Sequence[str], x: str, y: str, step: int) -> dict[str, Any]:
    style = {"labelColor": INK, "ticks": False, "domain": False, "grid": False}
    style["labelExpr"] = r"split(datum.value, '\n')"
    rows = list(dict.fromkeys(data["y"]))
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

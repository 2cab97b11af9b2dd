"""Charts of an analysis: estimates side by side, what is missing where, and what would change the winner."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from truant.charts.style import (
    COLOURS,
    FAINT,
    FONT,
    HEAT,
    INK,
    NEUTRAL,
    ON_HEAT,
    PALE,
    RULE,
    SHAPES,
    Width,
    short,
    styled_axis,
    styled_title,
)
from truant.errors import InvalidValue

if TYPE_CHECKING:
    import pandas as pd

STAR = "\N{BLACK STAR}"
NAIVE = "naive"
ROW = 17  # pixels for each estimate
Format = Callable[[float], str]


def estimates_chart(
    estimates: pd.DataFrame,
    bounds: pd.DataFrame | None = None,
    *,
    title: str = "",
    subtitle: str = "",
    label: Format = short,
    outcome: str = "value of the arm",
    minimize: bool = False,
    width: Width = 560,
) -> alt.LayerChart:
    """Every arm under every assumption: a dot and a whisker each, a star for the winner of an assumption.

    Parameters
    ----------
    estimates : columns arm, assumption, mean, low, high, in the order to be drawn; `naive` is drawn in grey.
    bounds : columns arm, low, high: the worst and the best that can be, drawn as a pale bar behind.
    title, subtitle : above the chart.
    label : writes a mean.
    outcome : what the axis is called.
    minimize : the lowest mean wins.
    width : of the plot in pixels, or "container".
    """
    data = _rows(_needed(estimates, "estimates", "arm", "assumption", "mean", "low", "high"), label, minimize)
    names = list(dict.fromkeys(data["assumption"].dropna()))
    layers = _behind(data, bounds)
    low, high = _reach([data[["mean", "low", "high"]], *(layer.data[["low", "high"]] for layer in layers)])
    scale = alt.Scale(domain=[low, high + 0.14 * (high - low)], nice=False, zero=False)  # room for the label
    y = alt.Y("row:O", title=None, sort=None, scale=alt.Scale(domain=list(data["row"]), padding=0))
    y = y.axis(_arm_axis(data))
    x = alt.X("low:Q", title=outcome, scale=scale).axis(styled_axis(tickCount=6, domain=False, ticks=False))
    drawn = data.dropna(subset=["assumption"])
    colour, shape = _looks(names)
    base = alt.Chart(drawn).encode(
        y=y, color=colour, tooltip=_tips(("arm", "assumption", "estimate", "note"))
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("mean:Q", scale=scale), shape=shape
    )
    words = alt.Chart(drawn).encode(x=alt.X("high:Q", scale=scale), y=y, text="text:N")
    plain = words.transform_filter("!datum.best").mark_text(**_letters(FAINT, dx=6))
    best = words.transform_filter("datum.best").mark_text(**_letters(INK, dx=6, fontWeight=700))
    star = (
        alt.Chart(drawn)
        .transform_filter("datum.best")
        .mark_text(**_letters(INK, align="right", dx=-5, text=STAR))
    )
    star = star.encode(x=x, y=y)
    pale = [layer.encode(x=x, x2="high:Q") for layer in layers]
    return _framed(
        [*pale, bars, points, plain, best, star], title, subtitle, width=width, height=ROW * len(data)
    )


def missing_heatmap(
    cells: pd.DataFrame, *, title: str = "", subtitle: str = "", mediator: str = "mediator"
) -> alt.LayerChart:
    """Share of missing outcomes by arm and mediator, with the figures in the cells.

    Parameters
    ----------
    cells : columns arm, mediator, pulls, missing_share (None where there are no pulls), arm by arm; the last
        column of the chart is the last mediator, which is "missing" where the mediator itself is missing.
    title, subtitle : above the chart.
    mediator : what the columns are called.
    """
    data = _needed(cells, "cells", "arm", "mediator", "pulls", "missing_share").copy()
    # a level may itself be called "missing": the second of that name is another column
    again = data.groupby(["arm", "mediator"], sort=False).cumcount()
    data["mediator"] = [f"{name}{' ' * int(n)}" for name, n in zip(data["mediator"], again, strict=True)]
    data["missing_share"] = data["missing_share"].astype(float)
    most = float(np.nanmax(data["missing_share"].fillna(0))) or 1.0
    data["share"] = [_percent(share) for share in data["missing_share"]]
    data["size"] = [f"n = {pulls:,}" if pulls else "" for pulls in data["pulls"]]
    data["dark"] = data["missing_share"] > 0.64 * most  # where light letters read better than dark ones
    columns = _longest_order(data)
    step = int(np.clip(520 / len(columns), 66, 130))
    style = {"labelExpr": "datum.value", "labelColor": INK, "ticks": False, "domain": False, "grid": False}
    x = alt.X("mediator:N", sort=columns, title=mediator)
    x = x.axis(styled_axis(**style, orient="top", labelAngle=0, labelLimit=step - 4, labelPadding=6))
    y = alt.Y("arm:N", sort=list(dict.fromkeys(data["arm"])), title=None)
    y = y.axis(styled_axis(**style, labelLimit=170, labelPadding=8, labelFontSize=12))
    tips = _tips(("arm", "mediator", "pulls", "share"))
    cell = (
        alt.Chart(data.dropna(subset=["missing_share"]))
        .mark_rect(cornerRadius=3)
        .encode(
            x=x.scale(paddingInner=0.04),
            y=y.scale(paddingInner=0.06),
            tooltip=tips,
            color=alt.Color(
                "missing_share:Q", legend=None, scale=alt.Scale(domain=[0, most], range=list(HEAT))
            ),
        )
    )
    ink = alt.condition("datum.dark", alt.value(ON_HEAT[1]), alt.value(ON_HEAT[0]))
    words = alt.Chart(data).encode(x=x, y=y, color=ink)
    share = words.mark_text(font=FONT, fontSize=12, fontWeight=600, dy=-6).encode(text="share:N")
    size = words.mark_text(font=FONT, fontSize=10, dy=8).encode(text="size:N")
    return _framed([cell, share, size], title, subtitle, width=alt.Step(step), height=alt.Step(38))


def tipping_chart(
    curve: pd.DataFrame,
    *,
    winner: str,
    runner_up: str,
    shift: float | None,
    shift_in_sd: float | None = None,
    worst: float | None = None,
    title: str = "",
    subtitle: str = "",
    label: Format = short,
    colour: str = COLOURS[0],
    width: Width = 300,
    height: int = 210,
) -> alt.LayerChart:
    """The winner's value as its missing outcomes get worse, and the point where the runner-up is as good.

    Parameters
    ----------
    curve : columns shift, value, low, high, runner_up.
    winner, runner_up : names of the two arms.
    shift, shift_in_sd : the tipping point.
    worst : the winner's value if all its missing outcomes were the worst possible; beyond is shaded.
    title, subtitle : above the chart.
    label : writes an outcome.
    colour : of the winner.
    width, height : of the plot in pixels; the width may be "container".
    """
    data = _needed(curve, "curve", "shift", "value", "low", "high", "runner_up")
    low, high = _reach([data[["value", "low", "high", "runner_up"]]])
    scale = alt.Scale(domain=[low, high + 0.12 * (high - low)], nice=False, zero=False)
    reach = float(data["shift"].max())
    x_scale = alt.Scale(domain=[0, reach], nice=False)
    rises = data["value"].iloc[-1] > data["value"].iloc[0]  # where less is better
    x = alt.X("shift:Q", scale=x_scale, title=f"missing outcomes {'raised' if rises else 'lowered'} by")
    x = x.axis(styled_axis(grid=False, tickCount=5))
    y = alt.Y("value:Q", title="value of the arm", scale=scale)
    y = y.axis(styled_axis(domain=False, ticks=False, tickCount=5))
    base = alt.Chart(data).encode(x=x)
    band = base.mark_area(opacity=0.16, color=colour, clip=True)
    band = band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    line = base.mark_line(strokeWidth=2.4, color=colour, clip=True).encode(y=y)
    other = base.mark_line(strokeWidth=1.8, strokeDash=[6, 4], color=INK).encode(
        y=alt.Y("runner_up:Q", scale=scale)
    )
    layers = [
        *_impossible(data, worst, x_scale),
        band,
        other,
        line,
        *_names(data, winner, runner_up, scale, colour),
    ]
    if shift is not None:
        layers += _tip(data, shift, shift_in_sd, label, x_scale, scale)
    return _framed(layers, title, subtitle, width=width, height=height)


def look_of(names: Sequence[str], name: str) -> str:
    """The colour that estimates_chart gives to an assumption among these."""
    others = [other for other in names if other != NAIVE]
    return NEUTRAL if name == NAIVE else COLOURS[others.index(name) % len(COLOURS)]


def _rows(estimates: pd.DataFrame, label: Format, minimize: bool) -> pd.DataFrame:
    """A row of the chart for each estimate, and one above them for the arm's name."""
    import pandas as pd

    means = estimates.groupby("assumption", sort=False)["mean"]
    best = means.idxmin() if minimize else means.idxmax()
    contest = estimates["arm"].nunique() > 1
    rows: list[dict[str, Any]] = []
    for arm, part in estimates.groupby("arm", sort=False):
        rows.append({"arm": arm, "name": str(arm), "assumption": None})
        for i, row in part.iterrows():
            wins = contest and i in best.to_numpy()
            known = np.isfinite([row["low"], row["high"]]).all()
            ends = (
                {"low": row["low"], "high": row["high"]}
                if known
                else {"low": row["mean"], "high": row["mean"]}
            )
            text = label(row["mean"])
            rows.append(
                {"arm": arm, "name": row["assumption"], "assumption": row["assumption"], "mean": row["mean"]}
                | ends
                | {
                    "best": wins,
                    "text": text,
                    "estimate": f"{text} [{label(row['low'])}, {label(row['high'])}]",
                }
                | {"note": "best arm under this assumption" if wins else ""}
            )
    return pd.DataFrame(rows).assign(row=range(len(rows)))


def _behind(data: pd.DataFrame, bounds: pd.DataFrame | None) -> list[alt.Chart]:
    """The pale bars of the worst-case bounds, behind all rows of an arm."""
    if bounds is None or bounds.empty:
        return []
    span = data.dropna(subset=["assumption"]).groupby("arm", sort=False)["row"].agg(first="min", last="max")
    rows = span.reset_index().merge(bounds[["arm", "low", "high"]], on="arm")
    bar = alt.Chart(rows).mark_rect(color=PALE, cornerRadius=3, tooltip=None)
    domain = alt.Scale(domain=list(data["row"]), padding=0)
    return [bar.encode(y=alt.Y("first:O", bandPosition=0, scale=domain), y2=alt.Y2("last:O", bandPosition=1))]


def _arm_axis(data: pd.DataFrame) -> alt.Axis:
    """The arm's name in bold above the names of its assumptions."""
    # as JSON, so that quotes in a name cannot end the text; Vega reads the same escapes
    names = json.dumps(list(data["name"]))
    heads = json.dumps([int(row) for row in data.loc[data["assumption"].isna(), "row"]])
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


def _impossible(data: pd.DataFrame, worst: float | None, scale: alt.Scale) -> list[alt.Chart]:
    """A shade over shifts that would take missing outcomes out of their range."""
    import pandas as pd

    first, last = data.iloc[0], data.iloc[-1]
    slope = (first["value"] - last["value"]) / (
        last["shift"] - first["shift"]
    )  # below 0 where less is better
    if worst is None or slope == 0:
        return []
    start = max((first["value"] - worst) / slope, 0.0)
    if start >= last["shift"]:
        return []
    rows = pd.DataFrame([{"start": start, "stop": last["shift"], "text": "impossible"}])
    base = alt.Chart(rows).encode(x=alt.X("stop:Q", scale=scale))
    shade = base.mark_rect(color=PALE, tooltip="missing outcomes would be beyond the worst possible one")
    words = base.mark_text(**_letters(FAINT, align="right", dx=-5, baseline="top", fontStyle="italic"))
    return [shade.encode(x2="start:Q"), words.encode(text="text:N", y=alt.value(26))]


def _names(data: pd.DataFrame, winner: str, runner_up: str, scale: alt.Scale, colour: str) -> list[alt.Chart]:
    """The winner's name above the start of its line, the runner-up's above the end of its own."""
    import pandas as pd

    first, last = data.iloc[0], data.iloc[-1]
    rows = pd.DataFrame(
        [
            {"shift": first["shift"], "at": first["value"], "text": _clipped(winner), "end": False},
            {"shift": last["shift"], "at": last["runner_up"], "text": _clipped(runner_up), "end": True},
        ]
    )
    base = alt.Chart(rows).encode(x="shift:Q", y=alt.Y("at:Q", scale=scale), text="text:N")
    top = base.transform_filter("!datum.end").mark_text(
        **_letters(colour, fontWeight=700, dx=6, baseline="bottom", dy=-3, fontSize=12)
    )
    second = base.transform_filter("datum.end").mark_text(
        **_letters(INK, align="right", dx=-4, baseline="bottom", dy=-4, fontSize=12)
    )
    return [top, second]


def _tip(
    data: pd.DataFrame,
    shift: float,
    in_sd: float | None,
    label: Format,
    x_scale: alt.Scale,
    scale: alt.Scale,
) -> list[alt.Chart]:
    """A rule and a dot where the two arms are equal, with the shift in outcome units and in sd."""
    import pandas as pd

    text = f"{label(shift)}" + (f" ({in_sd:.2f} sd)" if in_sd is not None else "")
    rows = pd.DataFrame([{"shift": shift, "at": data["runner_up"].iloc[0], "text": text}])
    base = alt.Chart(rows).encode(x=alt.X("shift:Q", scale=x_scale))
    rule = base.mark_rule(color=RULE, strokeDash=[2, 3])
    dot = base.mark_point(filled=True, size=80, color=INK, opacity=1).encode(y=alt.Y("at:Q", scale=scale))
    words = base.mark_text(**_letters(INK, fontWeight=700, dx=6, baseline="bottom", dy=-4, fontSize=12))
    return [rule, dot, words.encode(text="text:N", y=alt.value("height"))]


def _needed(table: pd.DataFrame, name: str, *columns: str) -> pd.DataFrame:
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise InvalidValue(
            f"{name} must have the columns {', '.join(columns)}; {', '.join(absent)} is not there."
        )
    if table.empty:
        raise InvalidValue(f"A chart needs at least one row of {name}, got none.")
    return table.reset_index(drop=True)


def _reach(tables: Sequence[pd.DataFrame]) -> tuple[float, float]:
    """The lowest and the highest of what is drawn, with some air."""
    values = np.concatenate([table.to_numpy(float).ravel() for table in tables])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    air = 0.03 * (high - low) or 0.05 * max(abs(high), 1e-9)
    return low - air, high + air


def _longest_order(data: pd.DataFrame) -> list[str]:
    """The columns, as the arm that has most of them orders them (only some arms may miss a mediator)."""
    orders = [list(part["mediator"]) for _, part in data.groupby("arm", sort=False)]
    return list(dict.fromkeys(name for order in sorted(orders, key=len, reverse=True) for name in order))


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.1%}"


def _clipped(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _tips(columns: Sequence[str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{column}:N", title=column) for column in columns]


def _letters(colour: str, **options: Any) -> dict[str, Any]:
    style = {"align": "left", "baseline": "middle", "font": FONT, "fontSize": 11, "color": colour}
    return style | options


def _framed(layers: Sequence[alt.Chart], title: str, subtitle: str, **size: Any) -> alt.LayerChart:
    if title:
        size["title"] = styled_title(title, subtitle)
    return alt.LayerChart(layer=list(layers), view=alt.ViewBackground(stroke=None), **size)

"""Plain tables -> charts (Altair). Style sits in the charts themselves, so that they can be joined freely."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from truant.errors import InvalidValue
from truant.files import CHARTS, output_path, written_whole
from truant.setting import FloatArray

if TYPE_CHECKING:
    import pandas as pd

# Okabe and Ito's colours, told apart by every kind of colour vision; the palest come last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
# Dashes tell the lines apart in grey print.
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))

INK, FAINT, GRID = "#222222", "#666666", "#E6E6E6"
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
LABEL_SIZE = 12
LABEL_GAP = 16.0  # pixels between the middles of two labels
MOST_ROWS = 5000
LEADER = 14.0  # pixels from the end of a line to its label

# 10k and 2.5M, but 0.1 and not 100m
_NUMBER = "abs(datum.value) < 1 ? format(datum.value, '~g') : format(datum.value, '~s')"

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
    y = alt.Y("height:Q", title="cumulative regret", axis=_value_axis(foot, top, log))
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
        title=_title(title, subtitle),
        view=alt.ViewBackground(stroke=None),
    )


def side_by_side(charts: Sequence[alt.LayerChart], title: str = "", subtitle: str = "") -> alt.HConcatChart:
    """Charts beside one another, each with its own axes, under one title."""
    return alt.HConcatChart(
        hconcat=list(charts),
        spacing=48,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent", strokeDash="independent")),
        title=_title(title, subtitle, size=20),
    )


def save_chart(chart: alt.TopLevelMixin, path: str | os.PathLike[str]) -> Path:
    """Write a chart as .png, .svg or as an interactive .html page that needs no network."""
    target = output_path(path, CHARTS)
    options: dict[str, Any] = {"format": target.suffix.lower().lstrip(".")}
    if options["format"] == "png":
        options["scale_factor"] = 2
    if options["format"] == "html":  # without the link to an online editor, which would send the data away
        actions = {"export": True, "source": False, "editor": False}
        options |= {"inline": True, "embed_options": {"actions": actions}}
    framed = chart.properties(padding=16)  # only a whole chart may have it, not one that is joined
    with written_whole(target) as temporary:
        framed.save(str(temporary), **options)
    return target


def spread(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """The nearest places (least squares) within [low, high] that keep their order and a gap.

    Of equal places the first comes highest.
    """
    order = np.lexsort((-np.arange(len(places)), places))
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    steps = gap * np.arange(len(places))
    # without the steps, "at least a gap apart" is "not decreasing": pool what decreases
    blocks: list[tuple[float, int]] = []
    for value in places[order] - steps:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        blocks.append((mean, size))
    pooled = np.concatenate([np.full(size, mean) for mean, size in blocks])
    result = np.empty(len(places))
    result[order] = np.clip(pooled, low, high - steps[-1]) + steps
    return result


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
    ends["label"] = ends["policy"] + "\N{EN SPACE}" + ends["mean"].map(_short)
    ends["tone"] = [_darker(colour) for colour in ends["colour"]]
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


def _axis(**options: Any) -> alt.Axis:
    style: dict[str, Any] = {
        "labelFont": FONT,
        "labelFontSize": 11,
        "labelColor": FAINT,
        "labelExpr": _NUMBER,
        "titleFont": FONT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "titlePadding": 10,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": GRID,
    }
    return alt.Axis(**style | options)


def _value_axis(foot: float, top: float, log: bool) -> alt.Axis:
    if not log:
        return _axis(domain=False, ticks=False, tickCount=6)
    decades = range(int(np.floor(np.log10(foot))), int(np.ceil(np.log10(top))) + 1)
    steps = (1, 2, 5) if len(decades) <= 4 else (1,)
    values = [step * 10.0**decade for decade in decades for step in steps]
    return _axis(domain=False, ticks=False, values=[v for v in values if foot <= v <= top])


def _round_axis(horizon: int) -> alt.X:
    axis = _axis(grid=False, tickCount=6, tickMinStep=1)
    return alt.X("round:Q", title="round", axis=axis, scale=alt.Scale(domain=[0, horizon], nice=False))


def _title(title: str, subtitle: str, size: int = 16) -> alt.TitleParams:
    return alt.TitleParams(
        title,
        subtitle=subtitle,
        anchor="start",
        frame="group",
        offset=14,
        font=FONT,
        fontSize=size,
        color=INK,
        subtitleFont=FONT,
        subtitleFontSize=12,
        subtitleColor=FAINT,
        subtitlePadding=5,
    )


def _thinned(curves: pd.DataFrame) -> pd.DataFrame:
    """At most so many rows as Altair accepts: every second round, every third ..., and always the last."""
    rounds = np.unique(curves["round"])
    step = -(-len(curves) // MOST_ROWS)
    return curves[curves["round"].isin(rounds[::-step])] if step > 1 else curves


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _darker(colour: str) -> str:
    """The same hue, dark enough to read as small text on white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(0.75 * part):02X}" for part in parts)

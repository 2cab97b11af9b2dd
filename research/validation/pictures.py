"""The document's charts, in the style of truant's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from truant.charts import COLOURS, DASHES, FAINT, FONT, INK, save_chart, styled_axis, styled_title, value_axis

if TYPE_CHECKING:
    from research.workbench import Workbench

Rows = list[dict[str, Any]]


def save(bench: Workbench, name: str, chart: alt.TopLevelMixin) -> Path:
    return save_chart(chart, bench.images / name)


def _chart(rows: Rows) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _different(rows: Rows, key: str) -> list[Any]:
    """The values of a column, each once, in their order."""
    return list(dict.fromkeys(row[key] for row in rows))


def _grouped(rows: Rows, key: str) -> dict[Any, Rows]:
    """The rows of each value of a column."""
    return {value: [row for row in rows if row[key] == value] for value in _different(rows, key)}


def _with_errors(rows: Rows, key: str) -> Rows:
    """The rows with two standard errors either way as `low` and `high`."""
    return [{**row, "low": row[key] - 2 * row["error"], "high": row[key] + 2 * row["error"]} for row in rows]


def dots(rows: Rows, band: tuple[float, float]) -> alt.LayerChart:
    """Coverage of each case, with two standard errors either way, over the band that is near enough to .95."""
    rows = _with_errors(rows, "value")
    scale = alt.Scale(domain=[min(0.85, *(row["low"] for row in rows)), 1.0], nice=False, zero=False)
    x = alt.X("value:Q", title="share of 95% intervals that hold the truth", scale=scale)
    x = x.axis(styled_axis(format=".2f", labelExpr="format(datum.value, '.2f')", tickCount=8))
    y = alt.Y("case:N", title=None, sort=_different(rows, "case"))
    y = y.axis(styled_axis(labelExpr="datum.value", labelLimit=400, labelColor=INK, grid=False, ticks=False))
    kinds = _different(rows, "kind")
    colour = alt.Color("kind:N", title=None, legend=_legend(), scale=_colours(kinds))
    offset = alt.YOffset("kind:N", sort=kinds)
    shape = alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=["circle", "square"]))
    area = _chart([{"low": band[0], "high": band[1]}])
    area = area.mark_rect(color=COLOURS[2], opacity=0.12).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    base = _chart(rows).encode(y=y, yOffset=offset, color=colour)
    bars = base.mark_rule(strokeWidth=2, clip=True).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, shape=shape)
    subtitle = f"± 2 standard errors; the band is {band[0]:.2f} to {band[1]:.3f}"
    return _framed(
        [area, bars, points], "Coverage at the end of adaptive runs", subtitle, width=460, height=alt.Step(14)
    )


def heat_map(rows: Rows) -> alt.LayerChart:
    """Regret of every policy (columns) in every world (rows), on a logarithmic scale of colour."""
    worlds, policies = _different(rows, "world"), _different(rows, "policy")
    known = [row for row in rows if row["regret"] is not None]
    axis = {"labelExpr": "datum.value", "labelColor": INK, "ticks": False, "domain": False, "labelLimit": 200}
    x = alt.X("policy:N", sort=policies, title=None)
    x = x.axis(styled_axis(**axis, orient="top", labelAngle=-35, labelPadding=6))
    y = alt.Y("world:N", sort=worlds, title=None).axis(styled_axis(**axis, labelPadding=8))
    # viridis is even in lightness, so that it can be read in grey and by every kind of colour vision
    domain = [min(row["regret"] for row in known), max(row["regret"] for row in known)]
    scale = alt.Scale(type="log", scheme="viridis", domain=domain, reverse=True)
    cells = _chart(known).mark_rect(stroke="white", strokeWidth=2)
    cells = cells.encode(x=x, y=y, color=alt.Color("regret:Q", scale=scale, legend=None))
    middle = domain[0] ** 0.55 * domain[1] ** 0.45  # where the colours turn dark
    words = _chart([{**row, **_label(row["regret"], middle)} for row in rows])
    words = words.mark_text(font=FONT, fontSize=11)
    words = words.encode(x=x, y=y, text="label:N", color=alt.Color("tone:N", scale=None))
    frame = _chart([row for row in rows if row["right"]]).mark_rect(
        filled=False, stroke=COLOURS[1], strokeWidth=3
    )
    subtitle = "mean regret, colour on a logarithmic scale; framed: the policy that believes what is so"
    return _framed(
        [cells, frame.encode(x=x, y=y), words],
        "The price of a wrong assumption",
        subtitle,
        width=alt.Step(78),
        height=alt.Step(30),
    ).resolve_scale(color="independent")


def _label(regret: float | None, middle: float) -> dict[str, str]:
    """A cell's figure, and its colour on that of the cell."""
    if regret is None:
        return {"label": "not possible", "tone": FAINT}
    return {"label": f"{regret:,.0f}", "tone": "white" if regret > middle else INK}


def slope_panels(rows: Rows) -> alt.VConcatChart:
    """One panel a sweep: measured points and a line of the promised slope."""
    rows = _with_errors(rows, "regret")
    for row in rows:
        row["low"] = max(row["low"], row["regret"] / 10)  # a logarithmic axis has no place for less than 0
    policies = _different(rows, "policy")
    panels = [_slope_panel(part, name, policies) for name, part in _grouped(rows, "panel").items()]
    lines = [alt.hconcat(*panels[i : i + 4], spacing=30) for i in range(0, len(panels), 4)]
    title = styled_title(
        "Worst regret beside the promised slopes",
        "logarithmic axes; points ± 2 standard errors; dashed: slope of the lower bound, drawn through the points",
        size=18,
    )
    return alt.VConcatChart(vconcat=lines, spacing=24, title=title)


def _slope_panel(rows: Rows, name: str, policies: list[str]) -> alt.LayerChart:
    foot, top = min(row["low"] for row in rows) / 1.15, max(row["high"] for row in rows) * 1.15
    x = alt.X("x:Q", title=name.split(": ")[1], scale=alt.Scale(type="log", nice=False, padding=14))
    label = "format(datum.value, datum.value < 10 ? '.2~r' : datum.value < 1000 ? '.3~r' : '~s')"
    x = x.axis(
        styled_axis(values=sorted(_different(rows, "x")), grid=False, labelExpr=label, labelOverlap="greedy")
    )
    scale = alt.Scale(type="log", domain=[foot, top], nice=False)
    axis = _log_axis(foot, top)
    y = alt.Y("regret:Q", title="worst mean regret", scale=scale, axis=axis)
    colour = alt.Color("policy:N", title=None, legend=_legend(), scale=_colours(policies))
    shapes = ["circle", "square", "diamond", "triangle-up"][: len(policies)]
    shape = alt.Shape("policy:N", title=None, scale=alt.Scale(domain=policies, range=shapes))
    base = _chart(rows).encode(x=x, color=colour)
    promised = base.mark_line(strokeDash=[5, 4], strokeWidth=1.4)
    promised = promised.encode(y=alt.Y("promised:Q", scale=scale), detail="policy:N")
    bars = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=shape)
    return _framed([promised, bars, points], name, "", width=190, height=190)


def _log_axis(foot: float, top: float) -> alt.Axis:
    """As truant's own, with more figures where the axis is shorter than a decade."""
    if top / foot > 10:
        return value_axis(foot, top, log=True)
    steps = [step * 10.0**decade for decade in range(8) for step in (1, 1.5, 2, 3, 4, 6, 8)]
    return styled_axis(domain=False, ticks=False, values=[v for v in steps if foot <= v <= top])


def error_panels(rows: Rows) -> alt.HConcatChart:
    """Error over sample size, a panel for each class of condition number."""
    estimators = _different(rows, "estimator")
    domain = [min(row["rmse"] for row in rows) / 1.3, max(row["rmse"] for row in rows) * 1.3]
    panels = [_error_panel(part, name, estimators, domain) for name, part in _grouped(rows, "class").items()]
    title = styled_title(
        "Error of the estimators where the outcome hides itself",
        "root mean square error over the number of pulls, by the condition number of Theta; logarithmic axes",
        size=18,
    )
    return alt.HConcatChart(hconcat=panels, spacing=24, title=title)


def _error_panel(rows: Rows, name: str, estimators: list[str], domain: list[float]) -> alt.LayerChart:
    x = alt.X("n:Q", title="pulls", scale=alt.Scale(type="log", nice=False, padding=12))
    x = x.axis(styled_axis(values=sorted(_different(rows, "n")), grid=False))
    y = alt.Y(
        "rmse:Q", title="root mean square error", scale=alt.Scale(type="log", domain=domain, nice=False)
    )
    y = y.axis(value_axis(domain[0], domain[1], log=True))
    dashes = alt.Scale(domain=estimators, range=[list(DASHES[i]) for i in range(len(estimators))])
    legend = _legend(symbolType="stroke", symbolStrokeWidth=2.2)
    legend.symbolSize = 500
    line = _chart(rows).mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(filled=True, size=40))
    line = line.encode(
        x=x,
        y=y,
        color=alt.Color("estimator:N", title=None, legend=legend, scale=_colours(estimators)),
        strokeDash=alt.StrokeDash("estimator:N", title=None, legend=legend, scale=dashes),
    )
    return _framed([line], f"condition number {name}", "", width=190, height=240)


def _framed(layers: list[alt.Chart], title: str, subtitle: str, **size: Any) -> alt.LayerChart:
    heading = styled_title(title, subtitle, size=16 if subtitle else 13)
    return alt.LayerChart(layer=layers, title=heading, view=alt.ViewBackground(stroke=None), **size)


def _colours(names: list[str]) -> alt.Scale:
    return alt.Scale(domain=names, range=list(COLOURS[: len(names)]))


def _legend(**options: Any) -> alt.Legend:
    return alt.Legend(
        labelFont=FONT, labelFontSize=12, labelColor=INK, symbolSize=80, labelLimit=260, **options
    )

"""The charts of the demo: means beside the true ones, regret of two policies, and shares over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truant.demo.learning import DROPS, LEARNS, LearningResult
from truant.demo.means import Means

if TYPE_CHECKING:
    import altair as alt

    from truant.charts.style import Width
    from truant.live.status import Status

WRONG, RIGHT, NEUTRAL_DOT = "#D55E00", "#0072B2", "#9AA0A6"  # as in other charts: naive policies, mar
ROW = 46  # pixels for each mail
LABELS = {DROPS: f"{DROPS}: drops missing outcomes", LEARNS: f"{LEARNS}: uses the mediator"}


def means_chart(
    shown: Means,
    true_means: Mapping[str, float],
    *,
    top: float,
    width: Width = "container",
    row: int = ROW,
    **properties: Any,
) -> alt.LayerChart:
    """A dot with an interval for each mail, and its true mean as a black line.

    Parameters
    ----------
    shown : what is drawn as dots and intervals; the named mail is coloured, orange if it is not the best.
    true_means : by mail, in the order to be drawn.
    top : end of the axis, which begins at 0.
    width : of the plot in pixels, or "container".
    row : pixels for each mail.
    **properties : of the chart, such as its title.
    """
    import altair as alt

    from truant.charts.columns import chart_data
    from truant.charts.style import INK

    best = max(true_means, key=true_means.__getitem__)
    colour = RIGHT if shown.named == best else WRONG
    data = chart_data({name: list(values) for name, values in _columns(shown, true_means).items()})
    x, y = _axes(top)
    base = alt.Chart(data).encode(y=y)
    colours = alt.Color("colour:N", legend=None, scale=alt.Scale(domain=[0, 1], range=[NEUTRAL_DOT, colour]))
    dots = base.transform_filter("isValid(datum.mean)")
    layers = [
        dots.mark_rule(strokeWidth=1.5, strokeDash=[3, 3]).encode(x=x, x2="mean:Q", color=colours),
        base.mark_rule(strokeWidth=7, opacity=0.4, strokeCap="round").encode(
            x=alt.X("low:Q"), x2="high:Q", color=colours
        ),
        base.mark_tick(thickness=3, size=24, color=INK, opacity=1).encode(
            x=x, tooltip=[alt.Tooltip("true:Q", title="true mean", format=".1f")]
        ),
        base.transform_filter("datum.first")
        .mark_text(dy=-19, **_letters(11, color=INK))
        .encode(x=x, text=alt.value("true mean")),
        dots.mark_point(filled=True, size=150, opacity=1).encode(
            x="mean:Q", color=colours, tooltip=[alt.Tooltip("tip:N", title="mean")]
        ),
        *_mean_labels(dots, colour),
    ]
    return alt.LayerChart(
        layer=layers,
        width=width,
        height=row * len(true_means),
        view=alt.ViewBackground(stroke=None),
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent")),  # letters are darker
        **properties,
    )


def _mean_labels(dots: alt.Chart, colour: str) -> list[alt.Chart]:
    """Each mean beside its dot, on the side away from the true mean."""
    import altair as alt

    from truant.charts.style import NEUTRAL, darker

    letters = alt.Color(
        "colour:N", legend=None, scale=alt.Scale(domain=[0, 1], range=[NEUTRAL, darker(colour)])
    )
    left = dots.transform_filter("datum.mean < datum.true - 1").mark_text(
        align="right", dx=-13, **_letters(13, fontWeight=600)
    )
    right = dots.transform_filter("datum.mean >= datum.true - 1").mark_text(
        align="left", dx=13, **_letters(13, fontWeight=600)
    )
    return [
        left.encode(x="low:Q", text="label:N", color=letters),
        right.encode(x="high:Q", text="label:N", color=letters),
    ]


def _columns(shown: Means, true_means: Mapping[str, float]) -> dict[str, Sequence[Any]]:
    """A row for each mail; where there is no interval, it has no length."""
    means = [shown.means.get(mail) for mail in true_means]
    ends = [shown.intervals.get(mail) for mail in true_means]
    places = list(zip(ends, means, true_means.values(), strict=True))
    start = [true if mean is None else mean for _, mean, true in places]
    texts = ["" if mean is None else f"{mean:.1f}" for mean in means]
    return {
        "mail": list(true_means),
        "true": list(true_means.values()),
        "mean": means,
        "low": [start[i] if end is None else end[0] for i, end in enumerate(ends)],
        "high": [start[i] if end is None else end[1] for i, end in enumerate(ends)],
        "first": [number == 0 for number in range(len(means))],
        "label": texts,
        "tip": [
            text if end is None else f"{text} [{end[0]:.1f}, {end[1]:.1f}]"
            for text, end in zip(texts, ends, strict=True)
        ],
        "colour": [int(mail == shown.named) for mail in true_means],
    }


def _axes(top: float) -> tuple[alt.X, alt.Y]:
    import altair as alt

    from truant.charts.style import INK, styled_axis

    x = alt.X("true:Q", title="mean spent", scale=alt.Scale(domain=[0, top], nice=False))
    y = alt.Y("mail:N", title=None, sort=None, scale=alt.Scale(padding=0.2))
    words = styled_axis(
        domain=False, ticks=False, labelExpr="datum.value", labelFontSize=13, labelColor=INK, labelPadding=8
    )
    return x.axis(styled_axis(tickCount=5, domain=False)), y.axis(words)


def regret_lines(result: LearningResult, *, width: Width = "container", **properties: Any) -> alt.LayerChart:
    """Spending lost by each policy over the customers: mean, and one standard deviation around it."""
    import altair as alt

    from truant.charts.columns import chart_columns, chart_data, in_order
    from truant.charts.style import DASHES, darker, styled_axis

    curves = chart_columns(result.simulation.curves(), "curves", "policy", "round", "mean", "low", "high")
    policies = in_order(curves["policy"])
    colours = [WRONG if policy == DROPS else RIGHT for policy in policies]

    def scale(values: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=policies, range=list(values))

    last = float(curves["round"].max())
    x = alt.X("round:Q", title="customers", scale=alt.Scale(domain=[0, last], nice=False))
    x = x.axis(styled_axis(grid=False, tickCount=5))
    y = alt.Y("mean:Q", title="spending lost")
    y = y.scale(domain=[0, 1.22 * float(curves["high"].max())], nice=False)
    y = y.axis(styled_axis(domain=False, ticks=False, tickCount=4))
    base = alt.Chart(chart_data(curves))
    band = base.mark_area(opacity=0.15).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", fill=alt.Fill("policy:N", legend=None, scale=scale(colours))
    )
    line = base.mark_line(strokeWidth=2.6).encode(
        x=x,
        y=y,
        stroke=alt.Stroke("policy:N", legend=None, scale=scale(colours)),
        strokeDash=alt.StrokeDash(
            "policy:N", legend=None, scale=scale([list(dash) for dash in DASHES[:2]][::-1])
        ),
    )
    ends = chart_data(
        {
            "policy": policies,
            "round": [last] * len(policies),
            "mean": [result.lost(policy) for policy in policies],
            "label": [f"{LABELS[policy]}, {result.lost(policy):,.0f}" for policy in policies],
        }
    )
    words = alt.Chart(ends).mark_text(**_letters(12, fontWeight=600, align="right", baseline="bottom", dy=-8))
    words = words.encode(
        x=x,
        y=y,
        text="label:N",
        color=alt.Color("policy:N", legend=None, scale=scale([darker(colour) for colour in colours])),
    )
    view = alt.ViewBackground(stroke=None)
    return alt.LayerChart(layer=[band, line, words], width=width, view=view, **properties)


def shares_chart(status: Status, *, best: str, wrong: str) -> alt.Chart:
    """Probability of each mail in a new decision, by day, stacked to 100%; the best and the wrong mail as elsewhere."""
    import altair as alt

    from truant.charts.columns import chart_data
    from truant.charts.style import FONT, styled_axis

    mails = sorted((arm.arm for arm in status.arms), key=lambda mail: (mail != best, mail != wrong))
    colours = {best: RIGHT, wrong: WRONG}
    scale = alt.Scale(domain=mails, range=[colours.get(mail, NEUTRAL_DOT) for mail in mails])
    days, places, shares = _shares_by_day(status, mails)
    names = [mail for _ in range(len(days) // len(mails)) for mail in mails]
    data = {"mail": names, "day": days, "place": places, "share": shares}
    legend = alt.Legend(
        orient="top", title=None, labelFont=FONT, labelFontSize=13, symbolType="square", symbolSize=160
    )
    x = alt.X("day:Q", title="day", scale=alt.Scale(domain=[0, max(days)], nice=False))
    y = alt.Y("share:Q", title="probability", stack="zero", scale=alt.Scale(domain=[0, 1], nice=False))
    chart = alt.Chart(chart_data(data)).mark_area(interpolate="step-after", opacity=0.85)
    drawn: alt.Chart = chart.encode(
        x=x.axis(styled_axis(grid=False, tickCount=5)),
        y=y.axis(styled_axis(labelExpr="format(datum.value, '.0%')", tickCount=4, domain=False, ticks=False)),
        color=alt.Color("mail:N", scale=scale, legend=legend),
        order=alt.Order("place:Q"),
        tooltip=[alt.Tooltip("mail:N"), alt.Tooltip("share:Q", title="probability", format=".0%")],
    ).properties(width="container", height=220, view=alt.ViewBackground(stroke=None))
    return drawn


def _shares_by_day(status: Status, mails: Sequence[str]) -> tuple[list[float], list[int], list[float]]:
    """Day, place in the stack and share of each mail; the last shares hold until now."""
    from datetime import datetime

    # of several allocations of one moment the last holds
    points = {datetime.fromisoformat(point.at): point.probabilities for point in status.allocations}
    start, last = min(points), points[max(points)]
    points.setdefault(datetime.fromisoformat(status.at), last)
    rows = [
        ((when - start).total_seconds() / 86_400, place, shares[mail])
        for when, shares in points.items()
        for place, mail in enumerate(mails)
    ]
    days, places, values = zip(*rows, strict=True)
    return list(days), list(places), list(values)


def _letters(size: int, **options: Any) -> dict[str, Any]:
    from truant.charts.style import FONT

    return {"font": FONT, "fontSize": size} | options

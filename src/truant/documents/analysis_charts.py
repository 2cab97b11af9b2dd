"""The charts of an analysis: what is drawn, and what is said to those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from truant.analysis import Analysis
from truant.analysis.analysis import Arm, MissingCell
from truant.documents.blocks import Chart, ChartValue, figures_table
from truant.documents.verdict import verdict_sentence
from truant.documents.words import MOST_ARMS, Figures, leading_arms, level_text, listed, shown_names
from truant.errors import named
from truant.evidence.sensitivity import Tipping

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 30  # arms of the heat map
MOST_LINES = 8  # arms in charts over time


def estimates_chart(analysis: Analysis, figures: Figures, name: str) -> Chart:
    """Every arm under every assumption; the table has its figures."""
    arms = leading_arms(analysis, MOST_ARMS)
    rows = [row for arm in arms for row in _estimates(arm, shown_names(analysis))]
    bounds = [{"arm": arm.arm, "low": arm.bounds.low, "high": arm.bounds.high} for arm in arms if arm.bounds]
    best_end = "lowest" if analysis.minimize else "highest"
    parts = [f"Dots are estimates, lines their {level_text(analysis.level)} intervals."]
    if len(analysis.arms) > 1:
        parts.append(f"★ marks the {best_end} mean under an assumption.")
    if bounds:
        parts.append("The pale bar is the worst case: all missing outcomes as low or as high as possible.")
    parts.append(_drawn_sentence(analysis, len(arms)))
    without = [named(arm.arm) for arm in arms if arm.naive is None and not arm.estimates]
    if without:
        parts.append(f"No estimate, since no outcome was observed: {listed(without)}.")

    def draw() -> alt.LayerChart | None:
        import pyarrow as pa

        from truant.charts.analysis import estimates_chart

        if not rows:
            return None
        return estimates_chart(
            pa.Table.from_pylist(rows),
            pa.Table.from_pylist(bounds) if bounds else None,
            label=figures.number,
            outcome=_axis(analysis),
            minimize=analysis.minimize,
            width="container",
        )

    return Chart(
        f"{name}estimates",
        draw,
        f"Dot and whisker chart of each arm's mean under each assumption. {verdict_sentence(analysis)}",
        sentence=" ".join(filter(None, parts)) if rows else "",
    )


def _estimates(arm: Arm, names: Sequence[str]) -> list[dict[str, Any]]:
    """The estimate under each assumption, a row each."""
    named = [(name, arm.naive if name == "naive" else arm.estimates.get(name)) for name in names]
    return [
        {"arm": arm.arm, "assumption": name, "mean": value.mean, "low": value.low, "high": value.high}
        for name, value in named
        if value is not None
    ]


def _drawn_sentence(analysis: Analysis, drawn: int) -> str:
    """Which arms a chart has, where it has not all."""
    if drawn >= len(analysis.arms):
        return ""
    end = "lowest" if analysis.minimize else "highest"
    control = ", the control" if analysis.control is not None else ""
    return (
        f"{drawn} of {len(analysis.arms):,} arms are drawn: each assumption's winner{control} and those with the "
        f"{end} means."
    )


def _axis(analysis: Analysis) -> str:
    return f"mean of {analysis.labels.outcome}"


def missing_chart(analysis: Analysis, name: str, sentence: str) -> Chart:
    """What is missing where."""
    arms = [arm.arm for arm in leading_arms(analysis, MOST_ROWS)]
    cells = [cell for arm in arms for cell in analysis.missing if cell.arm == arm]

    def draw() -> alt.TopLevelMixin:
        import pyarrow as pa

        from truant.charts.analysis import missing_heatmap

        mediator = analysis.labels.mediator_column if len(analysis.labels.mediators) > 1 else ""
        return missing_heatmap(pa.Table.from_pylist([cell._asdict() for cell in cells]), mediator=mediator)

    def text(cell: MissingCell) -> str:
        return f"{cell.missing_share:.1%} of {cell.pulls:,}" if cell.missing_share is not None else "–"

    figures = [ChartValue(cell.arm, cell.mediator, text(cell)) for cell in cells]
    note = "Share of outcomes that are missing; n is the number of rows."
    return Chart(
        f"{name}missing",
        draw,
        f"Heat map of the share of missing outcomes by arm and mediator. {sentence}",
        sentence=" ".join(filter(None, (note, _drawn_sentence(analysis, len(arms))))),
        place="scroll",
        figures=partial(figures_table, "Missing outcomes by arm and mediator", "arm", figures),
    )


def course_charts(analysis: Analysis, name: str) -> list[Chart]:
    """The arms' shares of the rows and their missing shares over time; none if time was not asked for."""
    course = analysis.over_time
    if course is None:
        return []
    shown = {arm.arm for arm in leading_arms(analysis, MOST_LINES)}
    rows: list[dict[str, Any]] = [
        {"arm": one.arm, "when": course.starts[one.period], "share": one.share, "missing": one.missing_share}
        for one in course.periods
        if one.arm in shown
    ]

    def draw(value: str, label: str) -> alt.TopLevelMixin:
        import pyarrow as pa

        from truant.charts.over_time import course_chart

        table = pa.Table.from_pylist(rows)
        return course_chart(table, value=value, label=label, numeric=course.numeric, width="container")

    charts = []
    for value, heading, label in (
        ("share", "Share of the rows", "share of rows"),
        ("missing", "Missing outcomes", "share missing"),
    ):
        figures = [
            ChartValue(
                period_start(row["when"], course.numeric),
                row["arm"],
                "–" if row[value] is None else f"{row[value]:.1%}",
            )
            for row in rows
        ]
        charts.append(
            Chart(
                f"{name}course-{value}",
                partial(draw, value, label),
                f"Line chart of the {label} of each arm over time.",
                heading,
                place="panel",
                figures=partial(figures_table, heading, "from", figures),
            )
        )
    return charts


def period_start(when: float, numeric: bool) -> str:
    """The start of a period, a number or seconds since 1970."""
    if numeric:
        return f"{when:.6g}"
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M}".removesuffix(" 00:00")


def tipping_chart(analysis: Analysis, tip: Tipping, name: str, sentence: str, figures: Figures) -> Chart:
    """How much worse the winner's missing outcomes must be for it to lose."""
    curve = analysis.tipping_curves.get(tip.assumption)

    def draw() -> alt.TopLevelMixin | None:
        import pyarrow as pa

        from truant.charts.analysis import TippingPoint, look_of, tipping_chart

        if not curve:
            return None
        bounds = next(arm for arm in analysis.arms if arm.arm == tip.winner).bounds
        worst = None if bounds is None else bounds.high if analysis.minimize else bounds.low
        return tipping_chart(
            pa.Table.from_pylist([point._asdict() for point in curve]),
            TippingPoint(tip.winner, tip.runner_up, tip.shift, tip.shift_in_sd, worst),
            label=figures.number,
            outcome=_axis(analysis),
            colour=look_of(analysis.assumptions, tip.assumption),
            width="container",
        )

    lines = {"value": tip.winner, "low": "from", "high": "to", "runner_up": tip.runner_up}
    points = [
        ChartValue(figures.number(point.shift), line, figures.number(getattr(point, key)))
        for point in curve or ()
        for key, line in lines.items()
    ]
    caption = "Means as the missing outcomes of the winner get worse"
    return Chart(
        name,
        draw,
        f"Line chart. {sentence}",
        place="panel",
        figures=partial(figures_table, caption, "worse by", points),
    )

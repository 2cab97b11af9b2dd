"""The charts of a page: what is drawn, and what is said to those who do not see it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from truant.analysis import Analysis
from truant.analysis.analysis import Arm
from truant.analysis.bounds import Bounds
from truant.analysis.sensitivity import Tipping
from truant.analysis.words import (
    Figures,
    best_end,
    drawn_sentence,
    leading_arms,
    missing_sentence,
    tipping_sentence,
    undrawn_sentence,
    verdict_sentence,
)
from truant.charts.analysis import estimates_chart, look_of, missing_heatmap, tipping_chart
from truant.charts.over_time import course_chart
from truant.report.document import PageChart, spec_of

MOST_ARMS = 12  # drawn with all their estimates; tables have them all
MOST_ROWS = 30  # arms of the heat map
MOST_LINES = 8  # arms in charts over time


def estimates_page_chart(analysis: Analysis, figures: Figures) -> PageChart:
    """Every arm under every assumption."""
    arms = leading_arms(analysis, MOST_ARMS)
    rows = [row for arm in arms for row in _estimates(arm)]
    if not rows:
        return PageChart("estimates", None, "")
    bounds = [{"arm": arm.arm, "low": arm.bounds.low, "high": arm.bounds.high} for arm in arms if arm.bounds]
    chart = estimates_chart(
        pa.Table.from_pylist(rows),
        pa.Table.from_pylist(bounds) if bounds else None,
        label=figures.number,
        outcome=_axis(analysis),
        minimize=analysis.minimize,
        width="container",
    )
    sentence = f"Dots are estimates, lines their {100 * analysis.level:.4g}% intervals."
    if len(analysis.arms) > 1:
        sentence += f" ★ marks the {best_end(analysis)} mean under an assumption."
    if bounds:
        sentence += " The pale bar is the worst case: all missing outcomes as low or as high as possible."
    sentence = " ".join(filter(None, (sentence, drawn_sentence(analysis, len(arms)), undrawn_sentence(arms))))
    alternative = (
        f"Dot and whisker chart of each arm's mean under each assumption. {verdict_sentence(analysis)}"
    )
    return PageChart("estimates", spec_of(chart), alternative, sentence=sentence)


def _estimates(arm: Arm) -> list[dict[str, Any]]:
    """The naive mean and the estimate under each assumption, a row each."""
    named = [("naive", arm.naive), *arm.estimates.items()]
    return [
        {"arm": arm.arm, "assumption": name, "mean": value.mean, "low": value.low, "high": value.high}
        for name, value in named
        if value is not None
    ]


def _axis(analysis: Analysis) -> str:
    return f"mean of {analysis.labels.outcome}"


def missing_page_chart(analysis: Analysis) -> PageChart:
    """What is missing where."""
    arms = [arm.arm for arm in leading_arms(analysis, MOST_ROWS)]
    by_arm: dict[str, list[dict[str, Any]]] = {arm: [] for arm in arms}
    for cell in analysis.missing:
        if cell["arm"] in by_arm:
            by_arm[cell["arm"]].append(cell)
    mediator = analysis.labels.mediator_column if len(analysis.labels.mediators) > 1 else ""
    chart = missing_heatmap(
        pa.Table.from_pylist([cell for arm in arms for cell in by_arm[arm]]), mediator=mediator
    )
    alternative = (
        f"Heat map of the share of missing outcomes by arm and mediator. {missing_sentence(analysis)}"
    )
    sentence = "Share of outcomes that are missing; n is the number of rows."
    sentence = " ".join(filter(None, (sentence, drawn_sentence(analysis, len(arms)))))
    return PageChart("missing", spec_of(chart), alternative, sentence=sentence, fluid=False)


def course_page_charts(analysis: Analysis) -> list[PageChart]:
    """The arms' shares of the rows and their missing shares over time; none if time was not asked for."""
    course = analysis.over_time
    if course is None:
        return []
    shown = {arm.arm for arm in leading_arms(analysis, MOST_LINES)}
    rows = [
        {
            "arm": one.arm,
            "when": course.starts[one.period],
            "share": one.share,
            "missing": one.missing_share,
        }
        for one in course.periods
        if one.arm in shown
    ]
    found = []
    for value, heading, label in (
        ("share", "Share of the rows", "share of rows"),
        ("missing", "Missing outcomes", "share missing"),
    ):
        chart = course_chart(
            pa.Table.from_pylist(rows), value=value, label=label, numeric=course.numeric, width="container"
        )
        alternative = f"Line chart of the {label} of each arm over time."
        found.append(PageChart(f"course-{value}", spec_of(chart), alternative, heading))
    return found


def tipping_page_charts(analysis: Analysis, figures: Figures) -> list[PageChart]:
    """One for each assumption: how much worse the winner's missing outcomes must be for it to lose."""
    return [
        _tipping_page_chart(analysis, tip, number, figures) for number, tip in enumerate(analysis.sensitivity)
    ]


def _worst(bounds: Bounds | None, minimize: bool) -> float | None:
    """An arm's value if all its missing outcomes were the worst possible."""
    if bounds is None:
        return None
    return bounds.high if minimize else bounds.low


def _tipping_page_chart(analysis: Analysis, tip: Tipping, number: int, figures: Figures) -> PageChart:
    sentence = tipping_sentence(tip, figures)
    curve = analysis.tipping_curves.get(tip.assumption)
    spec = None
    if curve:
        winner = next(arm for arm in analysis.arms if arm.arm == tip.winner)
        chart = tipping_chart(
            pa.Table.from_pylist(curve),
            winner=tip.winner,
            runner_up=tip.runner_up,
            shift=tip.shift,
            shift_in_sd=tip.shift_in_sd,
            worst=_worst(winner.bounds, analysis.minimize),
            label=figures.number,
            outcome=_axis(analysis),
            colour=look_of(analysis.assumptions, tip.assumption),
            width="container",
        )
        spec = spec_of(chart)
    return PageChart(
        f"tipping-{number}", spec, f"Line chart. {sentence}", f"If {tip.assumption} holds", sentence
    )

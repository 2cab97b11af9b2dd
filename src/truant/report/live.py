"""The page of a live experiment: how it runs, then the analysis of its settled decisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from truant.analysis import Analysis
from truant.charts.live import arrivals_chart
from truant.charts.over_time import course_chart
from truant.files import PAGES, output_path
from truant.report.analysis import heading, methods_context, shown_analysis
from truant.report.document import PageChart, Table, rendered, spec_of, write_page


@dataclass(frozen=True)
class Running:
    """How an experiment runs, as its page shows it.

    Parameters
    ----------
    facts : short figures with their names.
    waiting : what is waited for, while no decision is settled and there is nothing to analyse.
    notes : sentences on what is wrong or pending.
    arms : a row for each arm.
    allocations : when, arm and probability.
    arrivals : outcomes by part of the window.
    """

    facts: Sequence[tuple[str, str]]
    waiting: str | None
    notes: Sequence[str]
    arms: Table
    allocations: Sequence[tuple[datetime, str, float]]
    arrivals: Sequence[int]


def live_page(analysis: Analysis, running: Running, *, title: str, about: Sequence[str] = ()) -> str:
    """The whole page; it loads nothing from elsewhere."""
    shown, charts = shown_analysis(analysis) if running.waiting is None else (None, [])
    own = [_allocation_chart(running), _arrivals_chart(running)]
    context: dict[str, Any] = {**heading(analysis, about), **methods_context(analysis)}
    if running.waiting is not None:
        context["about"] = about  # intervals have no method yet
    return rendered(
        "live.html",
        [*own, *charts],
        title=title,
        a=shown,
        facts=running.facts,
        waiting=running.waiting,
        notes=running.notes,
        arms=running.arms,
        running_charts=own,
        **context,
    )


def save_live_page(
    analysis: Analysis,
    running: Running,
    path: str | os.PathLike[str],
    *,
    title: str,
    about: Sequence[str] = (),
) -> Path:
    """Write the page to an .html file, whole or not at all."""
    output_path(path, PAGES)  # refused before the work
    return write_page(live_page(analysis, running, title=title, about=about), path)


def _allocation_chart(running: Running) -> PageChart:
    moments = {when for when, _, _ in running.allocations}
    if len(moments) < 2:
        return PageChart("allocations", None, "")
    rows = [
        {"arm": arm, "when": when.timestamp(), "share": share} for when, arm, share in running.allocations
    ]
    chart = course_chart(pa.Table.from_pylist(rows), label="probability", steps=True, width="container")
    return PageChart(
        "allocations",
        spec_of(chart),
        "Line chart of the probability of each arm over time.",
        "Probability of each arm in a new decision",
        "Shares change when windows close, and not before the first one does.",
    )


def _arrivals_chart(running: Running) -> PageChart:
    total = sum(running.arrivals)
    if not total:
        return PageChart("arrivals", None, "")
    last = sum(running.arrivals[-max(len(running.arrivals) // 10, 1) :]) / total
    return PageChart(
        "arrivals",
        spec_of(arrivals_chart(running.arrivals, width="container")),
        f"Bar chart of when outcomes arrive in their window; {last:.1%} come in its last tenth.",
        "When outcomes arrive",
        f"{last:.1%} of the outcomes arrive in the last tenth of the window. A large share means that "
        "more outcomes may come too late.",
    )

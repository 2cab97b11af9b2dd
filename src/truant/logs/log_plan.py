"""A plan of follow-ups for a table: prints itself, and writes the list of rows and a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult

from truant.analysis.follow_up_plan import FollowUpPlan, PlanPoint
from truant.analysis.plan_words import plan_notes, plan_sentence
from truant.analysis.words.rows import TURNED_ROUND
from truant.documents import document
from truant.extras import is_installed
from truant.files import PAGES, output_path
from truant.logs.log_analysis import save_table
from truant.logs.plan_rows import MissingRows, drawn
from truant.text import named

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa


@dataclass(frozen=True, eq=False, kw_only=True)
class LogPlan:
    """The result of `plan`: how many follow-ups, which rows, and the probability of a clear winner."""

    plan: FollowUpPlan  # the plan on counts
    source: str
    columns: Mapping[str, Any]  # which column was what
    rows_read: int  # rows that were read
    skipped: int  # rows without an arm
    filters: tuple[str, ...] = ()  # conditions that all rows meet
    filtered_out: int = 0
    notes: tuple[str, ...] = ()  # how values were read
    minimize: bool = False
    seed: int = 0
    inputs: tuple[str, ...] = ()  # paths and patterns of the files that were read, which are never written
    missing_rows: MissingRows  # rows whose outcome is missing, from which follow-ups are drawn

    @property
    def kind(self) -> str:
        """`reached`, `not-reached` or `settled`."""
        return self.plan.kind

    @property
    def needed(self) -> int | None:
        """Smallest number of follow-ups that reaches the chance; None if none does."""
        return self.plan.needed

    @property
    def follow_ups(self) -> int:
        """How many are planned: the budget, else what is needed, else all."""
        return self.plan.follow_ups

    @property
    def chances(self) -> dict[str, float]:
        """The probability that the best arm becomes the clear winner, by scenario."""
        return dict(self.plan.point.chances)

    @property
    def curve(self) -> tuple[PlanPoint, ...]:
        """These probabilities along the number of follow-ups."""
        return self.plan.curve

    @property
    def sentence(self) -> str:
        """The plan in words, as terminal, page and JSON show it."""
        return plan_sentence(self.plan)

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"Follow-ups: mean of {named(self.columns['outcome'])} by {named(self.columns['arm'])}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        mediators = ", ".join(self.columns["mediator"]) or "none"
        lines = [f"{self.source}: {self.rows_read:,} rows", f"mediator: {mediators}"]
        way = "lower" if self.minimize else "higher"
        turned = "" if self.minimize else TURNED_ROUND
        lines.append(f"{way} {named(self.columns['outcome'])} is better{turned}")
        if self.filters:
            total = self.rows_read + self.filtered_out
            lines.append(f"filter: {' and '.join(self.filters)} (kept {self.rows_read:,} of {total:,} rows)")
        if self.skipped:
            lines.append(f"{self.skipped:,} rows without an arm left out")
        return [*lines, *self.notes]

    def summary(self) -> dict[str, Any]:
        """Everything but the list of rows, as plain values for JSON."""
        plan, options = self.plan, self.plan.options
        fields = {
            "source": self.source,
            "rows": self.rows_read,
            "skipped": self.skipped,
            "columns": dict(self.columns),
            "filter": list(self.filters),
            "filtered_out": self.filtered_out,
            "minimize": self.minimize,
            "notes": list(self.notes),
            "kind": plan.kind,
            "sentence": self.sentence,
            "advice": plan_notes(plan),
            "leader": plan.leader,
            "missing": plan.missing,
            "followed_up": plan.followed_up,
            "needed": plan.needed,
            "follow_ups": plan.follow_ups,
            "chances": self.chances,
            "smallest_difference": plan.smallest_difference,
            "outcome_sd": plan.outcome_sd,
            "options": {
                name: getattr(options, name) for name in ("level", "chance", "differ", "success", "budget")
            }
            | {"failed_follow_ups": options.failures},
            "seed": self.seed,
            "cells": self.table().to_pylist(),
            "curve": [{"follow_ups": one.follow_ups, **one.chances} for one in plan.curve],
        }
        return document("plan", 1, fields)

    def table(self) -> pa.Table:
        """One row for each arm and mediator level: rows, missing, followed up before, follow-ups that are planned."""
        import pyarrow as pa

        fields = ("arm", "mediator", "rows", "missing", "followed_up", "follow_ups")
        return pa.table({name: [getattr(cell, name) for cell in self.plan.cells] for name in fields})

    @cached_property
    def _list(self) -> pa.Table:
        import pyarrow as pa

        plan, rows = self.plan, self.missing_rows
        shape = len(plan.labels.arms), len(plan.labels.mediators) + 1
        numbers = np.zeros(shape, np.int64)
        arms = {arm: code for code, arm in enumerate(plan.labels.arms)}
        levels = {plan.labels.mediator(m): m for m in reversed(range(shape[1]))}
        for cell in plan.cells:
            numbers[arms[cell.arm], levels[cell.mediator]] += cell.follow_ups
        chosen = drawn(rows, numbers, self.seed)
        columns: dict[str, Any] = {
            "call": pa.array(np.arange(1, len(chosen) + 1)),
            "row" if self.columns["id"] is None else "id": rows.names.take(pa.array(chosen)),
            "arm": pa.array([plan.labels.arms[arm] for arm in rows.arms[chosen]], pa.string()),
        }
        if self.columns["mediator"]:
            names = [plan.labels.mediator(m) for m in rows.mediators[chosen]]
            columns["mediator"] = pa.array(names, pa.string())
        return pa.table(columns)

    def rows(self) -> pa.Table:
        """The rows to follow up, in the order of the calls: call, id (or row), arm, mediator."""
        return self._list

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the list `rows()` as .csv or .parquet; refused if the table was read from there."""
        return save_table(self.rows(), path, "plan-rows", self.inputs)

    def chart(self) -> alt.LayerChart:
        """The probability that the best arm becomes the clear winner, along the number of follow-ups."""
        from truant.report.plan import plan_chart_of

        return plan_chart_of(self.plan, width=560)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with a chart and plain sentences, which needs no network."""
        from truant.report.document import write_page

        output_path(path, PAGES, self.inputs)
        return write_page(self.html(), path)

    def html(self) -> str:
        """The whole page as text."""
        from truant.report.plan import plan_page

        return plan_page(self.plan, title=self.title, about=self.about)

    def _repr_html_(self) -> str | None:
        if not is_installed("charts"):
            return None  # a notebook then shows the text
        from truant.report.plan import plan_html

        return plan_html(self.plan)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.terminal.plan import PlanDisplay

        yield PlanDisplay(self.plan, self.title, self.about)

    def __repr__(self) -> str:
        return f"<plan: {self.sentence}>"

    def __str__(self) -> str:
        console = Console(width=200, no_color=True)
        with console.capture() as shown:
            console.print(self)
        return shown.get()

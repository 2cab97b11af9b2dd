"""A plan of follow-ups: what was asked of it, its figures, and the rows to follow up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.assumptions.follow_up import FAILURES
from truant.envelope import plain
from truant.errors import InvalidValue, named, quoted, unknown
from truant.estimates.beliefs import Labels
from truant.follow_up.assurance import CHANCE, Whole
from truant.follow_up.records import Kind, PlannedCell, PlanSummary, PlanTerms
from truant.provenance import TURNED_ROUND, Provenance
from truant.setting import as_float, is_number, positive_number, whole_number
from truant.shown import Shown, save_table

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa

WORST_CASE = "worst-case"
MOST_DIFFERENT = 10  # standard deviations
DIFFERENCE = 0.5


@dataclass(frozen=True)
class PlanOptions:
    """What is asked of a plan, checked.

    Parameters
    ----------
    level : probability of being the best from which on the leader is clear.
    chance : probability with which the best arm must become clear.
    differ : standard deviation of the difference between missing and observed outcomes of an arm, as a share of that of
        an outcome; in the second scenario.
    success : share of follow-ups that are answered.
    budget : number of follow-ups; None if the plan is to find it.
    failures : what the analysis will take of follow-ups that fail: "worst-case", that their outcomes may have any value
        in the range; "ignorable", that they are like the answers.
    """

    level: float = 0.95
    chance: float = CHANCE
    differ: float = DIFFERENCE
    success: float = 1.0
    budget: int | None = None
    failures: str = WORST_CASE

    def __post_init__(self) -> None:
        for name, least, most in (("level", 0.5, 1.0), ("chance", 0.0, 1.0)):
            value = getattr(self, name)
            if not is_number(value) or not least <= as_float(value) < most or as_float(value) == 0:
                raise InvalidValue(
                    f"{name} must be {'at least 0.5' if least else 'above 0'} and below 1, got {quoted(value)}."
                )
        if positive_number("differ", self.differ) > MOST_DIFFERENT:
            raise InvalidValue(
                f"differ must be at most {MOST_DIFFERENT} standard deviations, got {self.differ:g}."
            )
        if not is_number(self.success) or not 0 < as_float(self.success) <= 1:
            raise InvalidValue(f"success must be above 0 and at most 1, got {quoted(self.success)}.")
        if self.failures not in FAILURES:
            raise unknown("way to take failed follow-ups", self.failures, FAILURES)
        if self.budget is not None:
            whole_number("budget", self.budget, at_least=1)


@dataclass(frozen=True)
class PlanPoint:
    """A number of follow-ups, and the probability that the best arm becomes clear, by scenario."""

    follow_ups: int
    chances: Mapping[str, float]

    @property
    def lowest(self) -> float:
        """In the scenario that is worse."""
        return min(self.chances.values())


@dataclass(frozen=True, eq=False)
class MissingRows:
    """Rows whose outcome is missing and was not followed up: what names them, and their place in the counts."""

    names: pa.ChunkedArray
    arms: Whole
    mediators: Whole  # the number after the last level is that of a missing mediator
    shuffled: bool = False  # only the first so many of each arm and mediator level, in random order

    def drawn(self, follow_ups: Whole, seed: int) -> Whole:
        """Numbers of the rows to follow up, in the order of the calls.

        Within each arm and mediator level rows are drawn at random. Levels take turns in proportion to their numbers,
        so that the first calls of the list are a fair sample, too, wherever one stops.
        """
        rng = np.random.default_rng(seed)
        chosen, turns = [], []
        for arm, level in np.argwhere(follow_ups > 0):
            own = np.flatnonzero((self.arms == arm) & (self.mediators == level))
            number = int(follow_ups[arm, level])
            chosen.append((own if self.shuffled else rng.permutation(own))[:number])
            turns.append((np.arange(number) + rng.random(number)) / number)
        if not chosen:
            return np.zeros(0, np.int64)
        order = np.argsort(np.concatenate(turns), kind="stable")
        return np.concatenate(chosen)[order]


@dataclass(frozen=True, eq=False)
class Plan(Shown):
    """How many missing outcomes to follow up, which rows, and the probability that the best arm becomes clear.

    Parameters
    ----------
    options : what was asked of the plan.
    labels : names of arms and mediator levels.
    kind : `reached`: `needed` follow-ups reach the probability `options.chance`; `not-reached`: not even all missing
        outcomes do; `settled`: the best arm is clear already.
    needed : smallest number of follow-ups that reaches `options.chance`; None if none does.
    point : what is planned: the budget, else what is needed, else all.
    curve : the two probabilities along the number of follow-ups, the last point with all of them.
    cells : one entry for each arm and mediator level.
    smallest_difference : smallest difference between the two leading arms that the planned follow-ups make clear, in
        units of the outcome; None if nothing is planned.
    outcome_sd : standard deviation of an outcome.
    leader : the arm that is clearly the best already; None if there is none.
    failed : follow-ups before that brought no outcome.
    left_open : difference between the two arms that lead, in outcome units, that stays open since failed follow-ups may
        have any outcome, however many others are answered; 0 if none fails or they are like the answers.
    minimize : whether the best arm is the one with the lowest mean.
    seed : seed with which the rows are drawn.
    provenance : where the counts came from.
    missing_rows : rows whose outcome is missing, from which follow-ups are drawn; None if only counts were given.
    """

    _views: ClassVar = {
        "document": "truant.documents.plan:plan_document",
        "chart": "truant.documents.plan:plan_chart",
        "sentence": "truant.documents.plan:plan_sentence",
        "notes": "truant.documents.plan:plan_notes",
    }

    kind: Kind
    options: PlanOptions
    labels: Labels
    needed: int | None
    point: PlanPoint
    curve: tuple[PlanPoint, ...]
    cells: tuple[PlannedCell, ...]
    smallest_difference: float | None
    outcome_sd: float
    leader: str | None = None
    failed: int = 0
    left_open: float = 0.0
    minimize: bool = False
    seed: int = 0
    provenance: Provenance = field(default=Provenance())
    missing_rows: MissingRows | None = None

    @property
    def follow_ups(self) -> int:
        """How many are planned: the budget, else what is needed, else all."""
        return self.point.follow_ups

    @property
    def missing(self) -> int:
        """Missing outcomes that were not followed up yet."""
        return sum(cell.missing - cell.followed_up for cell in self.cells)

    @property
    def followed_up(self) -> int:
        """Outcomes that were followed up before."""
        return sum(cell.followed_up for cell in self.cells)

    def by_arm(self) -> dict[str, int]:
        """Planned follow-ups of each arm."""
        found = dict.fromkeys(self.labels.arms, 0)
        for cell in self.cells:
            found[cell.arm] += cell.follow_ups
        return found

    @property
    def chances(self) -> dict[str, float]:
        """The probability that the best arm becomes clear, by scenario."""
        return dict(self.point.chances)

    @property
    def sentence(self) -> str:
        """The plan in words, as terminal, page and JSON show it."""
        return str(self._view("sentence", self))

    @property
    def source(self) -> str:
        """The file, table or database that was read."""
        return self.provenance.source

    @property
    def rows_read(self) -> int:
        """Rows that were read."""
        return self.provenance.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """How values were read, one sentence each."""
        return self.provenance.notes

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"Follow-ups: {self.provenance.means}" if self.provenance.is_table else "Follow-ups"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        origin, way = self.provenance, "lower" if self.minimize else "higher"
        if not origin.is_table:
            return []
        lines = [f"{origin.source}: {origin.rows:,} rows", origin.mediators]
        lines.append(
            f"{way} {named(origin.columns['outcome'])} is better{'' if self.minimize else TURNED_ROUND}"
        )
        return [*lines, *origin.kept, *origin.without_arm, *origin.notes]

    def summary(self) -> dict[str, Any]:
        """Everything but the list of rows, as plain values for JSON."""
        origin, options = self.provenance, self.options
        names = ("level", "chance", "differ", "success", "budget")
        asked = {name: getattr(options, name) for name in names}
        own = (
            *("minimize", "kind", "sentence", "leader", "missing", "followed_up", "needed", "follow_ups"),
            *("chances", "smallest_difference", "outcome_sd", "seed", "cells"),
        )
        read = ("source", "rows", "skipped", "columns", "where", "filtered_out", "notes")
        figures = PlanSummary(
            **{name: getattr(origin, name) for name in read},
            **{name: getattr(self, name) for name in own},
            advice=self._view("notes", self),
            options=PlanTerms(**asked, failed_follow_ups=options.failures),
            curve=[{"follow_ups": one.follow_ups, **one.chances} for one in self.curve],
        )
        return dict(plain(figures))

    def table(self) -> pa.Table:
        """One row for each arm and mediator level: rows, missing, followed up before, follow-ups that are planned."""
        import pyarrow as pa

        fields = ("arm", "mediator", "rows", "missing", "followed_up", "follow_ups")
        return pa.table({name: [getattr(cell, name) for cell in self.cells] for name in fields})

    @cached_property
    def _list(self) -> pa.Table:
        import pyarrow as pa

        rows, columns = self.missing_rows, self.provenance.columns
        if rows is None:
            raise InvalidValue("A plan for counts lists no rows; make it from a table with truant.plan.")
        arms = {arm: code for code, arm in enumerate(self.labels.arms)}
        shape = len(arms), len(self.labels.mediators) + 1
        levels = {self.labels.mediator(m): m for m in reversed(range(shape[1]))}
        numbers = np.zeros(shape, np.int64)
        for cell in self.cells:
            numbers[arms[cell.arm], levels[cell.mediator]] += cell.follow_ups
        chosen = rows.drawn(numbers, self.seed)
        listed: dict[str, Any] = {
            "call": pa.array(np.arange(1, len(chosen) + 1)),
            "row" if columns["id"] is None else "id": rows.names.take(pa.array(chosen)),
            "arm": pa.array([self.labels.arms[arm] for arm in rows.arms[chosen]], pa.string()),
        }
        if columns["mediator"]:
            names = [self.labels.mediator(m) for m in rows.mediators[chosen]]
            listed["mediator"] = pa.array(names, pa.string())
        return pa.table(listed)

    def rows(self) -> pa.Table:
        """The rows to follow up, in the order of the calls: call, id (or row), arm, mediator."""
        return self._list

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the list `rows()` as .csv or .parquet; refused if the table was read from there."""
        return save_table(self.rows(), path, "plan-rows", self.provenance.inputs)

    def chart(self) -> alt.LayerChart:
        """The probability that the best arm becomes clear, along the number of follow-ups."""
        chart: alt.LayerChart = self._view("chart", self, width=560)
        return chart

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with a chart and plain sentences, which needs no network."""
        return self._save_page(path, self.provenance.inputs)

    def __repr__(self) -> str:
        return f"<plan: {self.sentence}>"

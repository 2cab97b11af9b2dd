"""Where the counts of a result came from, and how the values behind them were read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from truant.envelope import Absent, in_document
from truant.errors import named

TURNED_ROUND = " (if lower is: --minimize, in Python minimize=True)"


@dataclass(frozen=True)
class OutcomeLevel:
    """A class of the outcome."""

    label: str  # name of the level
    value: float  # value of the level: the mean of the observed outcomes in it
    rows: int  # rows whose outcome is in it


@dataclass(frozen=True)
class CutCost:
    """The mean of an arm under mcar, before and after the cut; None where none of its outcomes was observed."""

    arm: str  # name of the arm
    before: float | None  # mean before the cut; None if no outcome was observed
    after: float | None  # mean after the cut; None if no outcome was observed
    standard_errors: float | None  # the change in standard errors of the mean before; None if there is none


@dataclass(frozen=True)
class CutOutcome:
    """Where an outcome was cut, the levels that it has now, and what that does to the means under mcar."""

    outcome: str = field(repr=False)
    points: tuple[float, ...]  # the cut points; a value equal to a point belongs below it
    levels: tuple[OutcomeLevel, ...]  # the levels, lowest first
    costs: tuple[CutCost, ...]  # what the cut does to the mean of each arm under `mcar`

    @property
    @in_document
    def sentence(self) -> str:
        """The cut in a sentence: the levels, and the largest change of a mean."""
        digits = self._decimals()
        classes = "; ".join(f"{level.label}: {level.value:,.{digits}f}" for level in self.levels)
        told = f"{self.outcome!r} was cut into {len(self.levels)} classes, and their means are its values ({classes})"
        moved = [
            (abs(cost.after - cost.before), cost.before, cost.after, cost)
            for cost in self.costs
            if cost.before is not None and cost.after is not None
        ]
        if not moved:
            return told
        change, before, after, cost = max(moved, key=lambda entry: entry[0])
        errors = "" if cost.standard_errors is None else f", {abs(cost.standard_errors):.1f} standard errors"
        return (
            f"{told}; this moves the means under mcar by at most {change:,.{digits}f} (arm {cost.arm!r}: "
            f"{before:,.{digits}f} before, {after:,.{digits}f} after{errors})"
        )

    def _decimals(self) -> int:
        """Four digits of the distance between neighbouring classes."""
        step = min(b - a for a, b in itertools.pairwise(level.value for level in self.levels))
        return min(max(0, 3 - math.floor(math.log10(step))), 12)


class AnalysisColumns(TypedDict):
    """Which column was used for what."""

    arm: str  # the arm
    outcome: str  # the outcome
    mediator: list[str]  # the mediators; empty if there are none
    observed: str | None  # whether the outcome was observed; None if there is no such column
    by: str | None  # the column whose values are analysed separately; None if there is none
    unit: str | None  # the unit, such as a customer, that rows belong to; None if there is none
    time: str | None  # the time of a row; None if there is none
    probability: str | None  # the probability with which the arm was chosen; None if there is none
    # whether a missing outcome was followed up; only present if the column was named
    followed_up: str | Absent | None


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where counts came from: a table, with how it was read; nothing is known of counts that were simply given."""

    source: str = ""  # the file, table or database that was read
    rows: int = 0  # rows that were analysed
    skipped: int = 0  # rows that were left out because they have no arm
    # which column was used for what
    columns: Annotated[Mapping[str, Any], AnalysisColumns] = field(default_factory=dict)
    units: int | None = None  # number of different units; None if rows are independent
    where: str | None = None  # the condition that all rows meet
    filtered_out: int = 0  # rows that `where` left out
    # by column and then by marker: how many rows hold it in place of a value
    missing_markers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    cut_outcome: CutOutcome | None = None  # how a real outcome was cut into levels; None if it was not
    notes: tuple[str, ...] = ()  # how values were read, one sentence each
    inputs: tuple[str, ...] = field(default=(), repr=False)  # files that were read, which are never written

    @property
    @in_document
    def unit(self) -> str | None:
        """The same as `columns.unit`."""
        return self.columns.get("unit")

    @property
    def is_table(self) -> bool:
        """Whether a table was read."""
        return bool(self.columns)

    @property
    def means(self) -> str:
        """What is compared, as in "mean of 'spent' by 'mail'"."""
        return f"mean of {named(self.columns['outcome'])} by {named(self.columns['arm'])}"

    @property
    def mediators(self) -> str:
        """The mediators in words."""
        return f"mediator: {', '.join(self.columns['mediator']) or 'none'}"

    @property
    def kept(self) -> list[str]:
        """What `where` did, in a sentence; none if there was no condition."""
        total = self.rows + self.filtered_out
        return [] if self.where is None else [f"where: {self.where} (kept {self.rows:,} of {total:,} rows)"]

    @property
    def without_arm(self) -> list[str]:
        """How many rows were left out for want of an arm, in a sentence; none if there are none."""
        return [f"{self.skipped:,} rows without an arm left out"] if self.skipped else []

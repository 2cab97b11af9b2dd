"""Where the counts of a result came from, and how the values behind them were read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from truant.errors import named

TURNED_ROUND = " (if lower is: --minimize, in Python minimize=True)"


@dataclass(frozen=True)
class OutcomeLevel:
    """A class of the outcome."""

    label: str
    value: float  # the mean of the observed outcomes in it, over all arms
    rows: int


@dataclass(frozen=True)
class CutCost:
    """The mean of an arm under mcar, before and after the cut; None where none of its outcomes was observed."""

    arm: str
    before: float | None
    after: float | None
    standard_errors: float | None  # of the mean before, that the cut moves it by


@dataclass(frozen=True)
class CutOutcome:
    """Where an outcome was cut, the levels that it has now, and what that does to the means under mcar."""

    outcome: str
    points: tuple[float, ...]
    levels: tuple[OutcomeLevel, ...]
    costs: tuple[CutCost, ...]

    def summary(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "points": list(self.points),
            "levels": [vars(level) for level in self.levels],
            "costs": [vars(cost) for cost in self.costs],
            "sentence": self.sentence,
        }

    @property
    def sentence(self) -> str:
        """The classes, and the largest change of a mean."""
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


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where counts came from: a table, with how it was read; nothing is known of counts that were simply given."""

    source: str = ""  # the file, table or database that was read
    columns: Mapping[str, Any] = field(default_factory=dict)  # which column was used for what
    rows: int = 0  # that were analysed
    skipped: int = 0  # rows without an arm
    units: int | None = None  # of which there are several rows; None if rows are independent
    where: str | None = None  # which rows were kept
    filtered_out: int = 0  # rows of the source that this left out
    missing_markers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # column -> marker -> rows
    cut_outcome: CutOutcome | None = None  # what cutting a real outcome did, if that was asked for
    notes: tuple[str, ...] = ()  # how values were read, one sentence each
    inputs: tuple[str, ...] = ()  # paths and patterns of the files that were read, which are never written

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

    def summary(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "source": self.source,
            "rows": self.rows,
            "skipped": self.skipped,
            "columns": dict(self.columns),
            "unit": self.columns.get("unit"),
            "units": self.units,
            "where": self.where,
            "filtered_out": self.filtered_out,
            "cut_outcome": None if self.cut_outcome is None else self.cut_outcome.summary(),
            "missing_markers": {name: dict(rows) for name, rows in self.missing_markers.items()},
            "notes": list(self.notes),
        }

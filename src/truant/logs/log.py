"""A log reduced to counts, with what its codes mean; whole, and by the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truant.collection.weighted import WeightedSums
from truant.counts import Counts
from truant.estimates.beliefs import Caution
from truant.estimates.clusters import Clusters, Uncut
from truant.evidence.course import OverTime
from truant.provenance import CutOutcome
from truant.setting import Setting


@dataclass(frozen=True, eq=False)
class Group:
    """The rows with one value of a column: a log, or the reason why they cannot be analysed."""

    label: str
    value: Any  # as the column holds it; None if it is missing
    rows: int
    log: Log | None = None
    reason: str = ""

    def with_warnings(self, found: Sequence[Caution]) -> Group:
        """The group with those warnings that are about its arms, or about no arm."""
        if self.log is None:
            return self
        arms = set(map(str, self.log.arms))
        own = [warning for warning in found if arms.issuperset(warning.arms)]
        return replace(self, log=replace(self.log, warnings=(*self.log.warnings, *own)))


@dataclass(frozen=True, eq=False)
class Log:
    """A table reduced to counts, and what its codes mean."""

    counts: Counts
    setting: Setting
    arms: tuple[Any, ...]  # labels by code: numbers as numbers, text as text
    mediators: tuple[str, ...]  # labels by code; ("all",) when no mediator was named
    rows: int
    skipped: int  # rows without an arm
    mediator_column: str = (
        ""  # of a single mediator that is not cut, whose levels do not say what they are of
    )
    groups: tuple[Group, ...] = ()  # by the values of a column, if that was asked for
    clusters: Clusters | None = None  # which rows belong to one unit, if that was asked for
    over_time: OverTime | None = None  # if that was asked for
    cut_outcome: CutOutcome | None = None  # what cutting a real outcome did, if that was asked for
    uncut: Uncut | None = None  # the counts before that
    weighted: WeightedSums | None = None  # by the probability of each choice, if that was asked for
    where: str | None = None  # which rows were kept
    filtered_out: int = 0  # rows that this left out
    missing_markers: dict[str, dict[str, int]] = field(default_factory=dict)  # column -> marker -> rows
    set_aside: tuple[Any, ...] = ()  # values of arms that cannot be compared, whose rows are in no count
    asked_arms: tuple[Any, ...] = ()  # labels of all arms, with those
    notes: tuple[str, ...] = ()  # how values were read, a short sentence each, for the report
    warnings: tuple[Caution, ...] = ()  # what to know of the rows before relying on a figure

    @property
    def units(self) -> int | None:
        """How many units the rows are of; None if that was not asked for."""
        return None if self.clusters is None else self.clusters.units

"""What can be wrong with the rows of an experiment: each check gives sentences that name the row or the table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from truant.errors import TruantError
from truant.live.configuration import ON_ARRIVAL, Configuration
from truant.live.decision import (
    ABSENT,
    EXPIRED,
    MISSING,
    OBSERVED,
    PENDING,
    REPORTED,
    SKEW,
    STATES,
    WITHDRAWN,
    Row,
)
from truant.live.store.statements import ENDED, PAUSED, RUNNING, AllocationRow, Head

REASONS = {PENDING: (None, WITHDRAWN), OBSERVED: (None, ABSENT), MISSING: (EXPIRED, REPORTED, WITHDRAWN)}
REVISING = ("created", "changed", "arm_added", "arm_retired")  # events of which each makes a revision
STATUSES = {"paused": PAUSED, "resumed": RUNNING, "ended": ENDED}
FIXED = ("mediator_levels", "mediator_cuts", "mediator_absent", "levels", "low", "high", "absent", "minimize")
CLOSE_ENOUGH = 1e-9  # of a sum of probabilities


@dataclass
class Kept:
    """What is kept of an experiment besides its decisions."""

    head: Head
    configurations: dict[int, Configuration]
    allocations: dict[int, AllocationRow]
    events: list[tuple[str, Mapping[str, Any]]]  # kind and body, oldest first

    @property
    def newest(self) -> Configuration:
        """The configuration that holds now."""
        return self.configurations[self.head.revision]

    @property
    def was_turned_back(self) -> bool:
        """Whether its clock was, which moves times."""
        return any(kind == "clock_back" for kind, _ in self.events)


def wrong_revisions(kept: Kept) -> Iterator[str]:
    """Revisions that are missing, or that change what cannot be changed."""
    head, found = kept.head, kept.configurations
    for number in range(1, head.revision + 1):
        if number not in found:
            yield f"Revision {number} is missing."
    for number in found:
        if number > head.revision:
            yield f"Revision {number} is newer than the one that holds, {head.revision}."
    numbers = sorted(found)
    for before, after in pairwise(numbers):
        old, new = found[before], found[after]
        if new.arms[: len(old.arms)] != old.arms:
            yield f"Revision {after} has other arms in the places of those of revision {before}."
        for name in FIXED:
            if getattr(old, name) != getattr(new, name):
                yield f"Revision {after} changes {name}, which cannot be changed."
    made = sum(kind in REVISING for kind, _ in kept.events)
    if made != head.revision:
        yield f"The table events has {made} changes of the configuration, and there are {head.revision} revisions."


def wrong_events(kept: Kept) -> Iterator[str]:
    """Versions of the counts without an event, and a status that no event made."""
    versions = Counter(body["version"] for _, body in kept.events if "version" in body)
    for version in range(1, kept.head.counts_version + 1):
        if versions[version] != 1:
            yield f"Version {version} of the counts has {versions[version]} events in place of 1."
    for version in versions:
        if version > kept.head.counts_version:
            yield f"An event names version {version} of the counts, and the newest is {kept.head.counts_version}."
    last = next((STATUSES[kind] for kind, _ in reversed(kept.events) if kind in STATUSES), RUNNING)
    if last != kept.head.status:
        yield f"The experiment is {kept.head.status}, and by its events it is {last}."
    if not kept.was_turned_back and kept.head.clock < kept.head.created:
        yield "The clock of the experiment is before its creation."


def wrong_allocations(kept: Kept) -> Iterator[str]:
    """Allocations that are missing, or cannot be."""
    head, before = kept.head, 0
    for version in range(1, head.allocation + 1):
        one = kept.allocations.get(version)
        if one is None:
            yield f"Allocation {version} is missing."
            continue
        configuration = kept.configurations.get(one.revision)
        shares, name = one.probabilities, f"Allocation {version}"
        if configuration is None:
            yield f"{name} is of revision {one.revision}, which does not exist."
        elif len(shares) != len(configuration.arms):
            yield f"{name} has {len(shares)} probabilities for {len(configuration.arms)} arms."
        elif any(
            share > 0 and not active for share, active in zip(shares, configuration.active, strict=True)
        ):
            yield f"{name} gives a retired arm a probability."
        if not all(0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > CLOSE_ENOUGH:
            yield f"{name} has probabilities that do not add up to 1."
        if not before <= one.counts_version <= head.counts_version:
            yield f"{name} was made from version {one.counts_version} of the counts, which it cannot have seen."
        before = max(before, one.counts_version)
        if one.at > head.clock and not kept.was_turned_back:
            yield f"{name} is later than the clock of the experiment."
    for version in kept.allocations:
        if version > head.allocation:
            yield f"Allocation {version} is newer than the one that holds, {head.allocation}."


class RowChecks:
    """Checks of one decision after the other."""

    def __init__(self, kept: Kept) -> None:
        self._kept, self._newest = kept, kept.newest
        several = list(kept.configurations.values())
        self._windows = {one.window for one in several}
        self._graces = {one.grace for one in several}
        self._fixed = [one.fixed_shares() for one in several]
        self._has_holdout = any(one.holdout for one in several)
        self._levels = len(self._newest.mediator_levels)
        self._moved = kept.was_turned_back
        self.imported = 0
        self.settled_at: Counter[int] = Counter()

    def of_row(self, row: Row) -> Iterator[str]:
        """What is wrong with a decision."""
        self.imported += row.allocation is None
        if row.settled is not None:
            self.settled_at[row.settled] += 1
        checks: tuple[Callable[[Row], Iterator[str]], ...] = (
            self._state,
            self._values,
            self._times,
            self._draw,
        )
        for check in checks:
            try:
                yield from (f"Decision {row.id} {text}." for text in check(row))
            except (TypeError, ValueError, ArithmeticError, IndexError) as error:
                yield f"Decision {row.number} cannot be read: {' '.join(str(error).split())}."

    def _state(self, row: Row) -> Iterator[str]:
        counted = row.settled is not None
        if row.state not in STATES:
            yield f"has the unknown state {row.state!r}"
            return
        if counted == (row.state == PENDING):
            yield f"is {row.state}, but it {'is' if counted else 'is not'} counted"
        elif counted and (row.outcome is not None) != (row.state == OBSERVED):
            yield f"is {row.state}, which its outcome contradicts"
        elif row.reason not in REASONS[row.state]:
            yield f"is {row.state}, which its reason {row.reason!r} contradicts"
        if row.reason == EXPIRED and row.outcome_at is not None:
            yield "expired, and its outcome was told"
        if row.reason == REPORTED and row.outcome_at is None:
            yield "was reported missing, and nothing was told of its outcome"
        if row.settled is not None and not 1 <= row.settled <= self._kept.head.counts_version:
            yield f"entered version {row.settled} of the counts, which does not exist yet"
        if row.answer_settled is not None and not 1 <= row.answer_settled <= self._kept.head.counts_version:
            yield f"entered version {row.answer_settled} of the counts with its answer, which does not exist yet"

    def _values(self, row: Row) -> Iterator[str]:
        newest = self._newest
        if not 0 <= row.arm < len(newest.arms):
            yield f"has arm number {row.arm}, which does not exist"
        for name in ("outcome", "late_outcome", "answer"):
            value = getattr(row, name)
            try:
                newest.outcome_value(value)
            except TruantError:
                yield f"has the {name} {value!r}, which is not among the possible ones"
        for name in ("mediator", "late_mediator"):
            value = getattr(row, name)
            if value is not None and not 0 <= value < self._levels:
                yield f"has the {name} number {value}, which does not exist"
        if (
            row.outcome is not None
            and row.outcome_at is None
            and (row.reason, row.outcome) != (ABSENT, newest.absent)
        ):
            yield "has an outcome that nobody told"
        nobody_told = row.mediator is not None and row.mediator_at is None and row.state != PENDING
        if nobody_told and newest.mediator_levels[row.mediator or 0] != newest.mediator_absent:
            yield "has a mediator that nobody told"
        if row.late_outcome is not None and row.late_at is None:
            yield "has a late outcome without a time"

    def _times(self, row: Row) -> Iterator[str]:
        if row.deadline - row.asked not in self._windows:
            yield "has a deadline that no window gives"
        if row.allocation is None or self._newest.settle == ON_ARRIVAL:
            if row.due < row.asked and not self._moved:
                yield "is due before it was asked"
        elif row.due - row.deadline not in self._graces:
            yield "is due at a time that no window and grace give"
        if row.allocation is not None and not self._moved and row.asked < self._kept.head.created:
            yield "was asked before the experiment was created"
        for name in ("mediator_at", "outcome_at", "late_at", "answered_at", "listed_at"):
            at = getattr(row, name)
            if at is not None and at < row.asked - SKEW:
                yield f"has a time {name} before it was asked"
        listed = row.listed_at is not None
        if listed != (row.pick_probability is not None) or not 0 < (row.pick_probability or 1.0) <= 1:
            yield "has a probability of being picked for follow-up that cannot be"
        if row.answered_at is not None and not listed:
            yield "has the answer to a follow-up for which it was not picked"
        if (row.answer is not None or row.answer_settled is not None) and row.answered_at is None:
            yield "has an answer without a time"

    def _draw(self, row: Row) -> Iterator[str]:
        if row.holdout not in (0, 1):
            yield f"has the holdout mark {row.holdout!r}"
        if row.allocation is None:
            if row.probability is not None and not 0 < row.probability <= 1:
                yield "has a probability that cannot be"
            if (
                row.origin is None
                and row.number > 0
                and not any(kind == "imported" for kind, _ in self._kept.events)
            ):
                yield "has no allocation, and nothing was imported"
            return
        if row.holdout:
            if not self._has_holdout:
                yield "is of a holdout, which the experiment never had"
            drawn = [shares[row.arm] for shares in self._fixed if row.arm < len(shares)]
            if not any(math.isclose(share, row.probability or 0.0) for share in drawn):
                yield "has another probability than the fixed split"
            return
        own = self._kept.allocations.get(row.allocation)
        if own is None or row.arm >= len(own.probabilities) or own.probabilities[row.arm] != row.probability:
            yield "has another probability than its allocation"
        elif not self._moved and row.asked < own.at:
            yield "was asked before its allocation was made"

    def totals(self) -> Iterator[str]:
        """What does not agree with the events, after all rows."""
        said = sum(body.get("rows", 0) for kind, body in self._kept.events if kind == "imported")
        if said != self.imported:
            yield f"The table events has {said} imported decisions, and there are {self.imported}."
        if self._moved:
            return
        for kind, body in self._kept.events:
            if kind == "closed" and body.get("decisions", 0) != self.settled_at[body.get("version", 0)]:
                yield (
                    f"The event of version {body.get('version')} counted {body.get('decisions', 0)} decisions, and "
                    f"{self.settled_at[body.get('version', 0)]} are marked with it."
                )

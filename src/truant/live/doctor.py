"""Examines an experiment: counts everything again from the decisions, and makes allocations again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.counts import Counts
from truant.envelope import in_document, plain
from truant.live import counting
from truant.live.configuration import Configuration
from truant.live.decision import MISSING, OBSERVED, PENDING, Row
from truant.live.settle import configuration_of, probabilities
from truant.live.store import Transaction, decision_statements, statements
from truant.live.store.statements import AllocationRow, Head
from truant.setting import whole_number

if TYPE_CHECKING:
    from truant.live.experiment import Experiment

CLOSE_ENOUGH = 1e-9  # of the probabilities of an allocation that is made again
MOST_LISTED = 20  # findings of one kind


@dataclass(frozen=True)
class Diagnosis:
    """Whether the counts of one experiment agree with its decisions."""

    schema: ClassVar = "truant/diagnosis/1"
    experiment: str  # name of the experiment
    decisions: int  # number of decisions
    settled: int  # decisions that are counted
    cells: int  # tables of counts that were compared
    allocations: int  # allocations that were computed again
    unchecked: int  # allocations that were not computed again
    findings: tuple[str, ...]  # one sentence for each difference; empty if all agrees

    @property
    @in_document
    def healthy(self) -> bool:
        """Whether all agrees."""
        return not self.findings

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        checked = (
            f"checked: decisions {self.decisions:,} ({self.settled:,} settled), tables of counts {self.cells:,}, "
            f"allocations {self.allocations:,} ({self.unchecked:,} could not be recomputed)"
        )
        if self.healthy:
            return f"{self.experiment}: no errors found; {checked}."
        return f"{self.experiment}: {len(self.findings)} errors found; {checked}."

    def summary(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dict(plain(self))

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"- {finding}" for finding in self.findings)])


@dataclass
class _Record:
    """All that is kept of an experiment, read in one state of the store."""

    head: Head
    configurations: dict[int, Configuration]
    rows: list[Row]  # in the order in which they were counted; pending ones last
    kept: counting.Cells
    stale: dict[int, int]  # days that are counted again soon
    allocations: list[AllocationRow]
    corrected: int  # the highest version of the counts that a correction was made in; -1: none

    @classmethod
    def read(cls, transaction: Transaction, experiment: int) -> _Record:
        head = statements.head_of(transaction, experiment)
        rows = list(decision_statements.all_rows(transaction, experiment))
        rows.sort(key=lambda row: (row.settled is None, row.settled or 0, row.number))
        recounts = [
            one["body"]["version"]
            for kind in ("closed", "corrected", "withdrawn")
            for one in statements.events_of_kind(transaction, experiment, kind)
            if "version" in one["body"] and (kind != "closed" or one["body"].get("recounted"))
        ]
        return cls(
            head,
            {
                number: Configuration.from_json(text)
                for number, _, text in statements.revisions(transaction, experiment)
            },
            rows,
            statements.day_cells(transaction, experiment),
            statements.stale_days(transaction, experiment),
            statements.allocations(transaction, experiment),
            max(recounts, default=-1),
        )

    @property
    def shares(self) -> dict[int, list[float]]:
        """Probabilities of all arms by version of the allocation."""
        return {one.version: one.probabilities for one in self.allocations}

    @property
    def settled(self) -> list[Row]:
        """Decisions that are counted."""
        return [row for row in self.rows if row.settled is not None]


def examine(experiment: Experiment, allocations: int | None = 20) -> Diagnosis:
    """Compare what is kept with what follows from the decisions."""
    if allocations is not None:
        allocations = whole_number("allocations", allocations, at_least=0)
    store = experiment.store
    damage = store.problems()
    record = store.read(lambda transaction: _Record.read(transaction, experiment.number))
    configuration = store.read(lambda transaction: configuration_of(transaction, record.head))
    recounted = counting.recounted(record.settled, configuration, record.shares)
    findings = [
        *damage,
        *_listed(_wrong_states(record)),
        *_listed(_wrong_cells(record, recounted, configuration)),
        *_listed(_wrong_probabilities(record)),
    ]
    made, wrong = _wrong_allocations(record, allocations)
    return Diagnosis(
        experiment.name,
        len(record.rows),
        len(record.settled),
        len(record.kept),
        made,
        len(record.allocations) - made,
        (*findings, *_listed(wrong)),
    )


def _listed(findings: Sequence[str]) -> list[str]:
    if len(findings) <= MOST_LISTED:
        return list(findings)
    return [*findings[:MOST_LISTED], f"... and {len(findings) - MOST_LISTED:,} more of this kind."]


def _wrong_states(record: _Record) -> list[str]:
    """Decisions that cannot be as they are."""
    found = []
    for row in record.rows:
        counted = row.settled is not None
        if row.state not in (PENDING, OBSERVED, MISSING):
            found.append(f"Decision {row.id} has the unknown state {row.state!r}.")
        elif counted == (row.state == PENDING):
            found.append(f"Decision {row.id} is {row.state}, but it {'is' if counted else 'is not'} counted.")
        elif counted and (row.outcome is not None) != (row.state == OBSERVED):
            found.append(f"Decision {row.id} is {row.state}, which its outcome contradicts.")
        elif counted and (row.settled or 0) > record.head.counts_version:
            found.append(
                f"Decision {row.id} entered version {row.settled} of the counts, which does not exist yet."
            )
    return found


def _wrong_cells(record: _Record, recounted: counting.Cells, configuration: Configuration) -> list[str]:
    """Tables of counts that differ from a new count, to the last bit; those with corrections are counted soon."""
    return [
        f"The {kind} counts of day {day} differ from a recount of their decisions."
        for kind, day in sorted({*record.kept, *recounted})
        if day not in record.stale
        and not counting.is_same(
            kind, record.kept.get((kind, day)), recounted.get((kind, day)), configuration
        )
    ]


def _wrong_probabilities(record: _Record) -> list[str]:
    """Decisions whose probability is not that of the allocation that they were drawn from."""
    shares, found = record.shares, []
    for row in record.rows:
        if row.allocation is None or row.holdout:
            continue
        own = shares.get(row.allocation)
        if own is None or row.arm >= len(own) or own[row.arm] != row.probability:
            found.append(f"Decision {row.id} has another probability than its allocation.")
    return found


def _wrong_allocations(record: _Record, most: int | None) -> tuple[int, list[str]]:
    """How many allocations were made again, and what differs; only those that this version of truant made."""
    mine = [
        one
        for one in record.allocations
        if one.made_by == version("truant") and one.counts_version >= record.corrected and not record.stale
    ]
    chosen = mine if most is None else mine[len(mine) - min(most, len(mine)) :]
    found, counts_at = [], _counts_at(record)
    for one in chosen:
        configuration = record.configurations[one.revision]
        again = probabilities(
            configuration,
            _of_first_arms(counts_at(one.counts_version), len(configuration.arms)),
            one.pending,
            one.ahead,
            one.at < record.head.created + configuration.warm_up,
        )
        if (
            len(again) != len(one.probabilities)
            or np.abs(np.subtract(again, one.probabilities)).max() > CLOSE_ENOUGH
        ):
            found.append(
                f"Allocation {one.version} differs from one that is recomputed from the same counts."
            )
    return len(chosen), found


def _of_first_arms(counts: Counts, arms: int) -> Counts:
    """Without the arms that were added later, which had no decisions then."""
    followed_up = None if counts.followed_up is None else counts.followed_up[:arms]
    return Counts(counts.table[:arms], counts.levels, counts.centre, followed_up)


def _counts_at(record: _Record) -> Callable[[int], Counts]:
    """Counts as they were at a version; versions must be asked for in rising order."""
    newest = record.configurations[record.head.revision]
    settled, shares = record.settled, record.shares
    later = sorted(
        (row for row in settled if row.answer_settled is not None),
        key=lambda row: (row.answer_settled or 0, row.number),
    )
    cells: counting.Cells = {}
    done = [0, 0]

    def at(wanted: int) -> Counts:
        rows, answers = [], []
        while done[0] < len(settled) and (settled[done[0]].settled or 0) <= wanted:
            rows.append(settled[done[0]])
            done[0] += 1
        while done[1] < len(later) and (later[done[1]].answer_settled or 0) <= wanted:
            answers.append(later[done[1]])
            done[1] += 1
        counting.add_rows(cells, rows, answers, newest, shares)
        return counting.total_counts(cells, newest)

    return at

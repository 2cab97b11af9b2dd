"""Examines an experiment: checks every row, counts everything again from the decisions, and makes allocations again.

Decisions are read one after the other, and are never all in memory.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truant.counts import Counts
from truant.envelope import in_document, plain
from truant.errors import TruantError, quoted
from truant.live import counting
from truant.live.clock_repair import differing_clocks
from truant.live.configuration import Configuration
from truant.live.decision import Row
from truant.live.examining import (
    Kept,
    RowChecks,
    wrong_allocations,
    wrong_events,
    wrong_revisions,
)
from truant.live.settle import probabilities
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.deadline import patient
from truant.live.store.statements import AllocationRow
from truant.live.times import DAY, shown
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
    # a sentence for each two clocks (of experiment, store and machine) that differ by more than five minutes, which is
    # no error of the store
    clocks: tuple[str, ...] = ()

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
            f"allocations {self.allocations:,}"
        )
        if self.unchecked:
            checked += (
                f" ({self.unchecked:,} not recomputed, which is no error: older than those asked for, made by another "
                "version of truant, or made before a correction)"
            )
        if self.healthy:
            return f"{self.experiment}: no errors found; {checked}."
        return f"{self.experiment}: {len(self.findings)} errors found; {checked}."

    def summary(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dict(plain(self))

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"- {finding}" for finding in (*self.findings, *self.clocks))])


UNREADABLE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)  # of rows that are damaged


class _Findings:
    """Sentences by kind, not more than can be read; what cannot be read is one, too."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def add(self, several: Iterator[str]) -> None:
        """Note what a check finds."""
        listed = list(islice(several, MOST_LISTED))
        more = sum(1 for _ in several)
        self.sentences += [*listed, *([f"... and {more:,} more of this kind."] if more else [])]

    @contextmanager
    def reading(self, table: str) -> Iterator[None]:
        """Note it if a table cannot be read as it should be."""
        try:
            yield
        except (TruantError, *UNREADABLE) as error:
            said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            self.sentences.append(f"The table {table} cannot be read as it should be: {said}.")


def examine(experiment: Experiment, allocations: int | None = 20) -> Diagnosis:
    """Compare what is kept with what follows from the decisions."""
    given = experiment.clock.rough() if experiment.clock.is_given else None
    return examine_named(experiment.store, experiment.name, allocations, given)


@patient
def examine_named(
    store: Store, name: str, allocations: int | None = 20, given: int | None = None
) -> Diagnosis:
    """The same for an experiment that may be too damaged to be opened; `given` is the time by a clock of the caller."""
    if allocations is not None:
        allocations = whole_number("allocations", allocations, at_least=0)
    found = _Findings()
    found.add(iter(store.problems()))

    def query(transaction: Transaction) -> Diagnosis:
        found.add(_wrong_store(transaction))
        return _examined(transaction, name, allocations, found, given)

    numbers = dict.fromkeys(("decisions", "settled", "cells", "allocations", "unchecked"), 0)
    with found.reading("experiments"):
        return store.read(query)
    return Diagnosis(name, **numbers, findings=tuple(found.sentences))


def _wrong_store(transaction: Transaction) -> Iterator[str]:
    """What concerns all experiments."""
    values = dict(transaction.rows("SELECT name, value FROM meta"))
    if hashlib.sha256(str(values.get("secret")).encode()).hexdigest() != values.get("secret_digest"):
        yield "The secret in the table meta was changed: keys of callers are not found again."
    for table in ("revisions", "decisions", "events", "counts", "allocations"):
        orphans = f"SELECT count(*) FROM {table} WHERE experiment NOT IN (SELECT id FROM experiments)"
        [(count,)] = transaction.rows(orphans)
        if count:
            yield f"The table {table} has {count:,} rows of an experiment that does not exist."
    [(count,)] = transaction.rows("SELECT count(*) FROM decisions WHERE length(key) <> 64")
    if count:
        yield f"The table decisions has {count:,} keys that are no keyed hashes."


def _examined(
    transaction: Transaction, name: str, most: int | None, found: _Findings, given: int | None
) -> Diagnosis:
    head = statements.head_named(transaction, name)
    if head is None:
        raise LookupError(f"experiment {quoted(name)} is missing")
    kept, clocks = Kept(head, {}, {}, []), list[str]()
    with found.reading("experiments"):
        clocks += differing_clocks(transaction, head, given)
    with found.reading("revisions"):
        for number, _, text in statements.revisions(transaction, head.id):
            kept.configurations[number] = Configuration.from_json(text)
    with found.reading("allocations"):
        kept.allocations |= {one.version: one for one in statements.allocations(transaction, head.id)}
    with found.reading("events"):
        kept.events += statements.kinds_and_bodies(transaction, head.id)
    cells: counting.Cells = {}
    with found.reading("counts"):
        cells = statements.day_cells(transaction, head.id)
    for table, check in (
        ("revisions", wrong_revisions),
        ("events", wrong_events),
        ("allocations", wrong_allocations),
    ):
        with found.reading(table):
            found.add(check(kept))
    chosen: list[AllocationRow] = []
    recount = _Recount(kept, chosen)
    with found.reading("decisions"):
        chosen += _recomputable(kept, most, bool(statements.stale_days(transaction, head.id)))
        recount.read(decision_statements.all_rows(transaction, head.id), found)
    with found.reading("counts"):
        found.add(_wrong_cells(cells, recount, statements.stale_days(transaction, head.id)))
    with found.reading("allocations"):
        found.add(_differing_allocations(kept, chosen, recount))
    unchecked = len(kept.allocations) - len(chosen)
    numbers = (recount.decisions, recount.settled, len(cells), len(chosen), unchecked)
    return Diagnosis(name, *numbers, tuple(found.sentences), tuple(clocks))


def _recomputable(kept: Kept, most: int | None, is_stale: bool) -> list[AllocationRow]:
    """The latest allocations that this version of truant made from counts that no correction has changed since."""
    corrected = max(
        (
            body["version"]
            for kind, body in kept.events
            if "version" in body and (kind != "closed" or body.get("recounted"))
        ),
        default=-1,
    )
    mine = [
        one
        for one in kept.allocations.values()
        if one.made_by == version("truant")
        and one.counts_version >= corrected
        and one.revision in kept.configurations
        and not is_stale
    ]
    return mine if most is None else mine[len(mine) - min(most, len(mine)) :]


class _Recount:
    """Everything counted again, up to each version that an allocation was made from."""

    def __init__(self, kept: Kept, chosen: Sequence[AllocationRow]) -> None:
        self._kept, self._chosen = kept, chosen
        self.decisions = self.settled = 0
        self.parts: list[counting.Cells] = []  # by version: what was counted since the one before
        self.cells: counting.Cells = {}

    @property
    def configuration(self) -> Configuration:
        """What decisions are counted by."""
        return self._kept.newest

    @property
    def versions(self) -> list[int]:
        """Versions of the counts at which allocations are made again."""
        return sorted({one.counts_version for one in self._chosen})

    def read(self, rows: Iterator[Row], found: _Findings) -> None:
        """Check and count all rows, some thousands at a time."""
        checks, configuration = RowChecks(self._kept), self._kept.newest
        shares = {one.version: one.probabilities for one in self._kept.allocations.values()}
        versions = self.versions
        self.parts = [{} for _ in range(len(versions) + 1)]
        listed = 0
        while some := list(islice(rows, counting.CHUNK)):
            self.decisions += len(some)
            wrong = [text for row in some for text in checks.of_row(row)]
            found.sentences += wrong[: max(MOST_LISTED - listed, 0)]
            listed += len(wrong)
            sound = [row for row in some if row.allocation is None or row.allocation in shares]
            self._count([row for row in sound if row.settled is not None], versions, configuration, shares)
        if listed > MOST_LISTED:
            found.sentences.append(f"... and {listed - MOST_LISTED:,} more of this kind.")
        found.add(checks.totals())

    def _count(
        self,
        rows: Sequence[Row],
        versions: Sequence[int],
        configuration: Configuration,
        shares: dict[int, list[float]],
    ) -> None:
        self.settled += len(rows)
        by_part: dict[int, tuple[list[Row], list[Row]]] = {}
        for row in rows:
            by_part.setdefault(bisect_left(versions, row.settled or 0), ([], []))[0].append(row)
            if row.answer_settled is not None:
                by_part.setdefault(bisect_left(versions, row.answer_settled), ([], []))[1].append(row)
        for part, (pulls, answers) in by_part.items():
            counting.add_rows(self.parts[part], pulls, answers, configuration, shares)

    def counts_at(self) -> Iterator[tuple[int, Counts]]:
        """The counts at each version, and all of them in `cells` at the end."""
        for wanted, part in zip([*self.versions, -1], self.parts, strict=True):
            counting.merge_cells(self.cells, part, self._kept.newest)
            if wanted >= 0:
                yield wanted, counting.total_counts(self.cells, self._kept.newest)


def _wrong_cells(cells: counting.Cells, recount: _Recount, stale: Container[int]) -> Iterator[str]:
    """Tables of counts that differ from a new count, to the last bit; marked days are counted again soon."""
    configuration = recount.configuration
    again: counting.Cells = {}
    for part in recount.parts:
        counting.merge_cells(again, part, configuration)
    for kind, day in sorted({*cells, *again}):
        if kind not in counting.KINDS:
            yield f"The table counts has the unknown kind {kind!r}."
        elif day not in stale and not _is_same(
            kind, cells.get((kind, day)), again.get((kind, day)), configuration
        ):
            what = "digest of the decisions" if kind == counting.DIGEST else f"{kind} counts"
            yield f"The {what} of day {day} ({shown(day * DAY)[:10]}) differ from a recount of their decisions."


def _is_same(kind: str, cell: Any, other: Any, configuration: Configuration) -> bool:
    try:
        return counting.is_same(kind, cell, other, configuration)
    except (TruantError, *UNREADABLE):
        return False


def _differing_allocations(kept: Kept, chosen: Sequence[AllocationRow], recount: _Recount) -> Iterator[str]:
    """Allocations that differ from those made again from the same counts."""
    by_version: dict[int, list[AllocationRow]] = {}
    for one in chosen:
        by_version.setdefault(one.counts_version, []).append(one)
    for wanted, counts in recount.counts_at():
        for one in by_version[wanted]:
            configuration = kept.configurations[one.revision]
            again = probabilities(
                configuration,
                _of_first_arms(counts, len(configuration.arms)),
                one.pending,
                one.ahead,
                one.at < kept.head.created + configuration.warm_up,
            )
            if (
                len(again) != len(one.probabilities)
                or np.abs(np.subtract(again, one.probabilities)).max() > CLOSE_ENOUGH
            ):
                yield f"Allocation {one.version} differs from one that is recomputed from the same counts."


def _of_first_arms(counts: Counts, arms: int) -> Counts:
    """Without the arms that were added later, which had no decisions then."""
    followed_up = None if counts.followed_up is None else counts.followed_up[:arms]
    return Counts(counts.table[:arms], counts.levels, counts.centre, followed_up)

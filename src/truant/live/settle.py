"""Closes windows, makes allocations and revisions: what changes an experiment as a whole, one transaction each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truant.counts import Counts
from truant.errors import Conflict, Gone, Unavailable, named
from truant.live import counting
from truant.live.configuration import Configuration, Note
from truant.live.decision import OBSERVED, Row
from truant.live.question import decider_of
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.statements import ENDED, AllocationRow, Head

if TYPE_CHECKING:
    from truant.policies.decider import Decider

MOST = 500  # decisions of one batch: others that want to write wait some milliseconds


class Closed(NamedTuple):
    """What one batch did."""

    decisions: int
    answers: int
    more: bool  # there may be more to close
    busy: bool = False  # another process is closing windows


def close_batch(store: Store, experiment: int, now: int, wait: bool = False) -> Closed:
    """Settle some decisions whose window is over, and answers to follow-ups, in one transaction.

    Parameters
    ----------
    store, experiment, now : where, which, and until when.
    wait : for another process that is closing windows; if not, this one leaves it to that.
    """

    def operation(transaction: Transaction) -> Closed:
        if wait:
            head: Head | None = statements.head_of(transaction, experiment, store.for_update)
        else:
            head = statements.locked_head(store, transaction, experiment)
        if head is None:
            return Closed(0, 0, False, busy=True)
        return _close(store, transaction, head, max(now, head.clock))

    return store.write(operation)


def _close(store: Store, transaction: Transaction, head: Head, now: int) -> Closed:
    configuration = configuration_of(transaction, head)
    version = head.counts_version + 1
    absent = configuration.mediator_absent
    rows = decision_statements.close_windows(
        store,
        transaction,
        head.id,
        version,
        now,
        MOST,
        configuration.absent,
        None if absent is None else configuration.mediator_levels.index(absent),
    )
    answers = decision_statements.settle_answers(transaction, head.id, version, MOST)
    if not rows and not answers:
        return Closed(0, 0, False)
    days = sorted({counting.day_of(row) for row in [*rows, *answers]})
    cells = statements.day_cells(transaction, head.id, days)
    counting.add_rows(cells, rows, answers, configuration, shares_of(transaction, head.id, rows))
    statements.write_cells(transaction, head.id, version, cells)
    statements.update_experiment(transaction, head.id, counts_version=version, clock=now)
    body = {
        "version": version,
        "decisions": len(rows),
        "observed": sum(row.state == OBSERVED for row in rows),
        "answers": len(answers),
    }
    statements.insert_event(transaction, head.id, "closed", now, body=body)
    return Closed(len(rows), len(answers), max(len(rows), len(answers)) >= MOST)


def count_again(store: Store, experiment: int, now: int) -> list[int]:
    """Count days again that are marked for it, from their decisions; gives these days.

    What differs is found while nothing is locked, and added to what the days hold by then: sums are exact.
    """

    def query(transaction: Transaction) -> tuple[dict[int, int], counting.Cells]:
        marks = statements.stale_days(transaction, experiment)
        if not marks:
            return {}, {}
        configuration = configuration_of(transaction, statements.head_of(transaction, experiment))
        shares = {one.version: one.probabilities for one in statements.allocations(transaction, experiment)}
        rows = decision_statements.counted_rows(transaction, experiment)
        again = counting.recounted(
            (row for row in rows if counting.day_of(row) in marks), configuration, shares
        )
        kept = statements.day_cells(transaction, experiment, sorted(marks))
        counting.merge_cells(again, kept, configuration, sign=-1)
        return marks, again

    marks, differences = store.read(query)
    if not marks:
        return []

    def operation(transaction: Transaction) -> list[int]:
        head = statements.head_of(transaction, experiment, store.for_update)
        same = [
            day
            for day, mark in statements.stale_days(transaction, experiment).items()
            if marks.get(day) == mark
        ]
        if not same:  # another process was first
            return []
        configuration, version = configuration_of(transaction, head), head.counts_version + 1
        cells = statements.day_cells(transaction, experiment, same)
        own = {key: cell for key, cell in differences.items() if key[1] in same}
        counting.merge_cells(cells, own, configuration)
        statements.write_cells(transaction, experiment, version, cells, stale=0)
        at = max(now, head.clock)
        statements.update_experiment(transaction, experiment, counts_version=version, clock=at)
        body = {"version": version, "decisions": 0, "observed": 0, "answers": 0, "recounted": same}
        statements.insert_event(transaction, experiment, "closed", at, body=body)
        return same

    return store.write(operation)


def change_counts(transaction: Transaction, head: Head, before: Row, after: Row) -> int:
    """Count a decision as it is now in place of what it was, with the head locked; gives the version of the counts."""
    version = head.counts_version + 1
    cells = statements.day_cells(transaction, head.id, [counting.day_of(after)])
    shares = shares_of(transaction, head.id, [after])
    counting.change_row(cells, before, after, configuration_of(transaction, head), shares)
    statements.write_cells(transaction, head.id, version, cells)
    statements.update_experiment(transaction, head.id, counts_version=version)
    return version


def configuration_of(transaction: Transaction, head: Head) -> Configuration:
    """The configuration that holds now."""
    return Configuration.from_json(statements.configuration_text(transaction, head.id, head.revision))


def shares_of(transaction: Transaction, experiment: int, rows: Sequence[Row]) -> dict[int, list[float]]:
    """The probabilities of all arms, of every allocation that these decisions were drawn from."""
    versions = sorted({row.allocation for row in rows if row.allocation is not None})
    return {
        one.version: one.probabilities for one in statements.allocations(transaction, experiment, versions)
    }


LEAST_AHEAD, MOST_AHEAD = 10, 100  # decisions that `ucb` looks ahead

Edit = Callable[[Transaction, Head], None]  # what is written together with an allocation


@functools.cache
def own_version() -> str:
    """The version of truant that runs; read once, as that parses a file."""
    return version("truant")


@functools.lru_cache(maxsize=64)
def decider_for(configuration: Configuration) -> Decider:
    """What decides from counts; kept, as it is needed after every batch."""
    return decider_of(configuration)


def probabilities(
    configuration: Configuration,
    counts: Counts,
    pending: Sequence[float] | None,
    ahead: int,
    warming_up: bool,
) -> list[float]:
    """One probability per arm: the fixed split during the warm-up, then what the policy says.

    Parameters
    ----------
    configuration : arms, policy, horizon and least shares.
    counts : of settled decisions.
    pending : decisions of each arm whose outcome may still come, where the policy counts them.
    ahead : decisions that are expected until the next allocation.
    warming_up : the warm-up is not over.
    """
    if warming_up:
        return configuration.fixed_shares()
    found: list[float] = (
        decider_for(configuration)
        .allocation(
            counts,
            pending=pending,
            ahead=ahead,
            minimum_share=configuration.minimum_share,
            active=configuration.active,
        )
        .tolist()
    )
    return found


def compile_policy(configuration: Configuration) -> None:
    """Compile what the policy needs, so that no later call waits for it: score counts in which every arm was seen."""
    setting = configuration.setting()
    decider = decider_for(configuration)
    low, high = setting.low, setting.high
    pulls = max(decider.first_pulls, 2)
    arms = np.repeat(np.arange(setting.arms), pulls)
    outcomes = np.where(np.arange(len(arms)) % 2 == 0, low, high)
    counts = Counts.fold(setting, arms, np.arange(len(arms)) % setting.mediators, outcomes)
    decider.allocation(counts, pending=np.ones(setting.arms))


class Snapshot:
    """What an allocation is made from, read in one state of the store."""

    def __init__(
        self, transaction: Transaction, experiment: int, known: counting.Cells, known_version: int
    ) -> None:
        self.head = statements.head_of(transaction, experiment)
        self.configuration = configuration_of(transaction, self.head)
        self.allocation = statements.allocation_of(transaction, experiment, self.head.allocation)
        changed = statements.day_cells(transaction, experiment, after=known_version)
        self.cells = {**known, **changed}
        self.pending: list[int] | None = None
        if decider_for(self.configuration).counts_pending:
            self.pending = decision_statements.pending_by_arm(
                transaction, experiment, len(self.configuration.arms)
            )

    @functools.cached_property
    def counts(self) -> Counts:
        """The counts of all days."""
        return counting.total_counts(self.cells, self.configuration)

    def is_due(self, now: int) -> bool:
        """Whether another allocation is needed."""
        last, head = self.allocation, self.head
        if last.counts_version < head.counts_version or last.revision < head.revision:
            return True
        if last.until is not None and now >= last.until:
            return True
        return self.pending is not None and sum(self.pending) - sum(last.pending or ()) >= last.ahead

    def made(self, configuration: Configuration, revision: int, now: int) -> AllocationRow:
        """The next allocation."""
        end = self.head.created + configuration.warm_up
        pending = None if self.pending is None else [float(count) for count in self.pending]
        if pending is not None:
            pending += [0.0] * (len(configuration.arms) - len(pending))
        rate = sum(pending or ()) / configuration.window
        ahead = int(min(max(rate * configuration.interval, LEAST_AHEAD), MOST_AHEAD))
        warming_up = now < end
        same = configuration is self.configuration
        counts = self.counts if same else counting.total_counts(self.cells, configuration)
        return AllocationRow(
            version=self.allocation.version + 1,
            at=now,
            counts_version=self.head.counts_version,
            revision=revision,
            made_by=own_version(),
            until=end if warming_up else None,
            ahead=ahead,
            pending=pending,
            probabilities=probabilities(configuration, counts, pending, ahead, warming_up),
        )


def first_allocation(configuration: Configuration, now: int) -> AllocationRow:
    """The allocation of an experiment that begins."""
    warming_up = configuration.warm_up > 0
    pending = [0.0] * len(configuration.arms) if decider_for(configuration).counts_pending else None
    return AllocationRow(
        version=1,
        at=now,
        counts_version=0,
        revision=1,
        made_by=own_version(),
        until=now + configuration.warm_up if warming_up else None,
        ahead=LEAST_AHEAD,
        pending=pending,
        probabilities=probabilities(
            configuration, Counts.empty(configuration.setting()), pending, LEAST_AHEAD, warming_up
        ),
    )


def write_allocation(store: Store, snapshot: Snapshot, row: AllocationRow, edit: Edit | None = None) -> bool:
    """Keep an allocation, with what belongs to it; False if the experiment has moved on since the snapshot."""

    def operation(transaction: Transaction) -> bool:
        head = statements.head_of(transaction, snapshot.head.id, store.for_update)
        before = snapshot.head
        same = (head.allocation, head.counts_version, head.revision, head.status)
        if same != (before.allocation, before.counts_version, before.revision, before.status):
            return False
        if edit is not None:
            edit(transaction, head)
        statements.insert_allocation(transaction, head.id, row)
        statements.update_experiment(transaction, head.id, clock=max(head.clock, row.at))
        return True

    return store.write(operation)


ATTEMPTS = 20


def set_status(store: Store, experiment: int, status: str, kind: str, now: int, note: Note) -> None:
    """Pause, resume or end; what has ended stays so."""

    def operation(transaction: Transaction) -> None:
        head = statements.head_of(transaction, experiment, store.for_update)
        if head.status == status:
            return
        if head.status == ENDED:
            raise Gone(f"Experiment {named(head.name)} has ended; it cannot be {kind}.")
        at = max(now, head.clock)
        statements.update_experiment(transaction, experiment, status=status, clock=at)
        statements.insert_event(transaction, experiment, kind, at, note=note)

    store.write(operation)


def revise(
    store: Store,
    experiment: int,
    kind: str,
    change: Callable[[Configuration], Configuration],
    now: int,
    note: Note,
    expected: int | None = None,
) -> Configuration:
    """A new revision together with the allocation that follows from it: no decision sees one without the other.

    Parameters
    ----------
    store, experiment : where, and which.
    kind : of the event.
    change : the new configuration from the one that holds; may raise what is wrong with it.
    now, note : when, who and why.
    expected : the revision that the change is meant for; another one is refused.
    """
    for _ in range(ATTEMPTS):
        snapshot = store.read(lambda transaction: Snapshot(transaction, experiment, {}, -1))
        head, before = snapshot.head, snapshot.configuration
        if head.status == ENDED:
            raise Gone(f"Experiment {named(head.name)} has ended; it cannot be changed.")
        if expected is not None and expected != head.revision:
            raise Conflict(
                f"Experiment {named(head.name)} is at revision {head.revision}, and the change is meant for "
                f"{expected}; look at it again."
            )
        after = change(before)
        if after == before:
            return before
        at, revision = max(now, head.clock), head.revision + 1
        row = snapshot.made(after, revision, at)
        fields = _differences(before, after)

        def edit(transaction: Transaction, found: Head, at: int = at, after: Configuration = after) -> None:
            statements.insert_revision(transaction, experiment, found.revision + 1, at, after.as_json(), note)
            statements.update_experiment(transaction, experiment, revision=found.revision + 1)
            statements.insert_event(transaction, experiment, kind, at, note=note, body=fields)  # noqa: B023

        if write_allocation(store, snapshot, row, edit):
            return after
    raise Unavailable("The experiment was changed by others several times in the meantime; try again.")


def _differences(before: Configuration, after: Configuration) -> dict[str, Any]:
    old, new = before.summary(), after.summary()
    return {name: {"old": old[name], "new": new[name]} for name in new if old[name] != new[name]}


def allocate_if_due(
    store: Store, experiment: int, now: int, cells: counting.Cells, version: int
) -> tuple[counting.Cells, int, bool]:
    """Make the next allocation if one is needed; gives the cells, their version, and whether it was made.

    A horizon that has been passed is doubled first.
    """
    made = False
    for _ in range(ATTEMPTS):
        snapshot = store.read(lambda transaction: Snapshot(transaction, experiment, cells, version))  # noqa: B023
        cells, version = snapshot.cells, snapshot.head.counts_version
        at = max(now, snapshot.head.clock)
        if not snapshot.is_due(at):
            break
        configuration = snapshot.configuration
        decided = int(snapshot.counts.pulls.sum()) + sum(snapshot.pending or ())
        if decided > configuration.horizon and snapshot.head.status != ENDED:
            doubled = configuration.horizon
            while doubled < decided:
                doubled *= 2
            why = Note(why=f"{decided:,} decisions were made, more than the horizon")
            revise(store, experiment, "changed", lambda now: now.changed(horizon=doubled), at, why)  # noqa: B023
            made = True
            continue
        row = snapshot.made(configuration, snapshot.head.revision, at)
        if write_allocation(store, snapshot, row):
            return cells, version, True
    return cells, version, made

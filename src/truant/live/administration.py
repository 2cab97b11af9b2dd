"""Changes of an experiment: each is an event with who and why, and a new revision if the configuration changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from truant.errors import Conflict, Gone, Unavailable
from truant.live import counting
from truant.live.allocation import Snapshot, write_allocation
from truant.live.configuration import Configuration
from truant.live.store import Store, Transaction, statements
from truant.live.store.statements import ENDED, Head
from truant.text import named

ATTEMPTS = 20


def set_status(
    store: Store, experiment: int, status: str, kind: str, now: int, actor: str | None, why: str | None
) -> None:
    """Pause, resume or end; what has ended stays so."""

    def operation(transaction: Transaction) -> None:
        head = statements.head_of(transaction, experiment, store.for_update)
        if head.status == status:
            return
        if head.status == ENDED:
            raise Gone(f"Experiment {named(head.name)} has ended; it cannot be {kind}.")
        at = max(now, head.clock)
        statements.update_experiment(transaction, experiment, status=status, clock=at)
        statements.insert_event(transaction, experiment, kind, at, actor=actor, why=why)

    store.write(operation)


def revise(
    store: Store,
    experiment: int,
    kind: str,
    change: Callable[[Configuration], Configuration],
    now: int,
    actor: str | None,
    why: str | None,
    expected: int | None = None,
) -> Configuration:
    """A new revision together with the allocation that follows from it: no decision sees one without the other.

    Parameters
    ----------
    store, experiment : where, and which.
    kind : of the event.
    change : the new configuration from the one that holds; may raise what is wrong with it.
    now, actor, why : when, who and why.
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
            statements.insert_revision(
                transaction, experiment, found.revision + 1, at, after.as_json(), actor, why
            )
            statements.update_experiment(transaction, experiment, revision=found.revision + 1)
            statements.insert_event(transaction, experiment, kind, at, actor=actor, why=why, body=fields)  # noqa: B023

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
            why = f"{decided:,} decisions were made, more than the horizon"
            revise(store, experiment, "changed", lambda now: now.changed(horizon=doubled), at, None, why)  # noqa: B023
            made = True
            continue
        row = snapshot.made(configuration, snapshot.head.revision, at)
        if write_allocation(store, snapshot, row):
            return cells, version, True
    return cells, version, made

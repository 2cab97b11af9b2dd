"""Every statement about experiments, their events, counts and allocations, in the SQL that all stores share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from truant.errors import Unavailable
from truant.live.configuration import NO_NOTE, Note
from truant.live.decision import encoded
from truant.live.store.store import Store, Transaction

ExperimentStatus = Literal["running", "paused", "ended"]
RUNNING, PAUSED, ENDED = "running", "paused", "ended"


class Head(NamedTuple):
    """The row of an experiment."""

    id: int
    name: str
    status: ExperimentStatus
    revision: int
    created: int
    clock: int
    counts_version: int
    allocation: int


class AllocationRow(NamedTuple):
    """The row of an allocation; lists as they are, not as JSON."""

    version: int
    at: int
    counts_version: int
    revision: int
    made_by: str
    until: int | None
    ahead: int
    pending: list[float] | None
    probabilities: list[float]


HEADS = f"SELECT {', '.join(Head._fields)} FROM experiments"
ALLOCATIONS = f"SELECT {', '.join(AllocationRow._fields)} FROM allocations WHERE experiment = ?"


def damaged(what: str) -> Unavailable:
    """An error for an experiment of which something is missing."""
    return Unavailable(
        f"The experiment is damaged: {what}. Restore a backup; truant doctor lists what is wrong."
    )


def store_secret(transaction: Transaction) -> bytes:
    """The key with which keys of callers are hashed."""
    found = transaction.rows("SELECT value FROM meta WHERE name = 'secret'")
    try:
        return bytes.fromhex(found[0][0])
    except (IndexError, ValueError):
        raise damaged("the secret of its store is missing") from None


def heads(transaction: Transaction) -> list[Head]:
    """All experiments."""
    return [Head(*row) for row in transaction.rows(f"{HEADS} ORDER BY id")]


def head_named(transaction: Transaction, name: str) -> Head | None:
    """The experiment of that name."""
    found = transaction.rows(f"{HEADS} WHERE name = ?", [name])
    return Head(*found[0]) if found else None


def head_of(transaction: Transaction, experiment: int, lock: str = "") -> Head:
    """The experiment of that number, as it is now."""
    return Head(*transaction.rows(f"{HEADS} WHERE id = ?{lock}", [experiment])[0])


def locked_head(store: Store, transaction: Transaction, experiment: int) -> Head | None:
    """The experiment, locked until the end of the transaction; None if somebody else has locked it."""
    lock = f"{store.for_update} SKIP LOCKED" if store.for_update else ""
    found = transaction.rows(f"{HEADS} WHERE id = ?{lock}", [experiment])
    return Head(*found[0]) if found else None


def insert_experiment(transaction: Transaction, name: str, now: int) -> int:
    """A new experiment, which has no allocation yet; gives its number."""
    found = transaction.rows(
        "INSERT INTO experiments (name, status, revision, created, clock, counts_version, allocation) "
        "VALUES (?, 'running', 1, ?, ?, 0, 0) RETURNING id",
        [name, now, now],
    )
    number: int = found[0][0]
    return number


def update_experiment(transaction: Transaction, experiment: int, **fields: Any) -> None:
    """Change fields of an experiment."""
    names = ", ".join(f"{name} = ?" for name in fields)
    transaction.run(f"UPDATE experiments SET {names} WHERE id = ?", [*fields.values(), experiment])


def insert_revision(
    transaction: Transaction,
    experiment: int,
    revision: int,
    at: int,
    configuration: str,
    note: Note,
) -> None:
    """One more configuration of an experiment."""
    transaction.run(
        "INSERT INTO revisions (experiment, revision, at, actor, why, configuration) VALUES (?, ?, ?, ?, ?, ?)",
        [experiment, revision, at, *note, configuration],
    )


def configuration_text(transaction: Transaction, experiment: int, revision: int) -> str:
    """The configuration of a revision, as it was kept."""
    found = transaction.rows(
        "SELECT configuration FROM revisions WHERE experiment = ? AND revision = ?", [experiment, revision]
    )
    if not found:
        raise damaged(f"revision {revision} of its configuration is missing")
    return str(found[0][0])


def revisions(transaction: Transaction, experiment: int) -> list[tuple[int, int, str]]:
    """Number, time and configuration of every revision."""
    statement = "SELECT revision, at, configuration FROM revisions WHERE experiment = ? ORDER BY revision"
    return [(int(n), int(at), str(text)) for n, at, text in transaction.rows(statement, [experiment])]


def insert_event(
    transaction: Transaction,
    experiment: int,
    kind: str,
    at: int,
    *,
    decision: int | None = None,
    note: Note = NO_NOTE,
    body: Mapping[str, Any] | None = None,
) -> None:
    """Note what happened, who did it and why."""
    transaction.run(
        "INSERT INTO events (at, experiment, kind, decision, actor, why, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [at, experiment, kind, decision, *note, json.dumps(body or {}, ensure_ascii=False)],
    )


def kinds_and_bodies(transaction: Transaction, experiment: int) -> list[tuple[str, dict[str, Any]]]:
    """Kind and body of all events, oldest first."""
    statement = "SELECT kind, body FROM events WHERE experiment = ? ORDER BY number"
    return [(str(kind), json.loads(text)) for kind, text in transaction.stream(statement, [experiment])]


EVENT_FIELDS = ("number", "at", "kind", "decision", "actor", "why", "body")


def events(
    transaction: Transaction, experiment: int, after: int = 0, limit: int = 1000
) -> list[dict[str, Any]]:
    """Events after a number, oldest first."""
    which = "e.experiment = ? AND e.number > ? ORDER BY e.number LIMIT ?"
    return _events(transaction, which, [experiment, after, limit])


def last_event(transaction: Transaction, experiment: int) -> int:
    """The number of the latest event."""
    found = transaction.rows("SELECT max(number) FROM events WHERE experiment = ?", [experiment])
    return int(found[0][0] or 0)


def remove_values(transaction: Transaction, decision: int) -> None:
    """Remove what the events of a decision say of its outcome; the versions of the counts that they made stay."""
    statement = "SELECT number, body FROM events WHERE decision = ? AND kind = 'corrected'"
    for number, text in transaction.rows(statement, [decision]):
        body = {name: value for name, value in json.loads(text).items() if name == "version"}
        transaction.run("UPDATE events SET body = ? WHERE number = ?", [json.dumps(body), number])


def events_of_kind(transaction: Transaction, experiment: int, kind: str) -> list[dict[str, Any]]:
    """All events of a kind, oldest first."""
    return _events(transaction, "e.experiment = ? AND e.kind = ? ORDER BY e.number", [experiment, kind])


def _events(transaction: Transaction, which: str, parameters: Sequence[Any]) -> list[dict[str, Any]]:
    """Events with the id of their decision in place of its number."""
    names = ", ".join(f"e.{name}" for name in EVENT_FIELDS)
    statement = (
        f"SELECT d.tag, {names} FROM events e LEFT JOIN decisions d ON d.number = e.decision WHERE {which}"
    )
    found = []
    for tag, *values in transaction.rows(statement, parameters):
        event = dict(zip(EVENT_FIELDS, values, strict=True))
        decision = None if tag is None else encoded(event["decision"], tag)
        found.append(event | {"decision": decision, "body": json.loads(event["body"])})
    return found


def day_cells(
    transaction: Transaction, experiment: int, days: Sequence[int] | None = None, after: int = -1
) -> dict[tuple[str, int], Any]:
    """What is counted, by kind and day, in the order of days; of some days, or what changed after a version."""
    statement = "SELECT kind, day, cells FROM counts WHERE experiment = ? AND version > ?"
    if days is not None:
        statement += f" AND day IN ({', '.join('?' * len(days))})"
    found = transaction.rows(f"{statement} ORDER BY day, kind", [experiment, after, *(days or ())])
    return {(str(kind), int(day)): json.loads(cells) for kind, day, cells in found}


def stale_days(transaction: Transaction, experiment: int) -> dict[int, int]:
    """Days that must be counted again, each with its mark, which differs from those of other times."""
    statement = (
        "SELECT day, max(stale) FROM counts WHERE experiment = ? AND stale > 0 GROUP BY day ORDER BY day"
    )
    return {int(day): int(mark) for day, mark in transaction.rows(statement, [experiment])}


def mark_stale(transaction: Transaction, experiment: int, day: int) -> None:
    """Note that a day must be counted again; the mark grows with the counts."""
    mark = "1 + (SELECT counts_version FROM experiments WHERE id = ?)"
    statement = f"UPDATE counts SET stale = {mark} WHERE experiment = ? AND day = ?"
    transaction.run(statement, [experiment, experiment, day])


def write_cells(
    transaction: Transaction,
    experiment: int,
    version: int,
    cells: Mapping[tuple[str, int], Any],
    stale: int | None = None,
) -> None:
    """Replace what is counted of some kinds and days; a mark that they must be counted again stays unless given."""
    mark = "" if stale is None else f", stale = {stale:d}"
    transaction.many(
        "INSERT INTO counts (experiment, kind, day, version, stale, cells) VALUES (?, ?, ?, ?, 0, ?) "
        f"ON CONFLICT (experiment, kind, day) DO UPDATE SET cells = excluded.cells, version = excluded.version{mark}",
        [[experiment, kind, day, version, json.dumps(value)] for (kind, day), value in cells.items()],
    )


def allocation_of(transaction: Transaction, experiment: int, version: int) -> AllocationRow:
    """One version of the allocation."""
    found = transaction.rows(f"{ALLOCATIONS} AND version = ?", [experiment, version])
    if not found:
        raise damaged(f"its allocation {version} is missing")
    return _allocation(found[0])


def allocations(
    transaction: Transaction, experiment: int, versions: Sequence[int] | None = None
) -> list[AllocationRow]:
    """All versions of the allocation, or some, oldest first."""
    if versions is None:
        return [
            _allocation(row) for row in transaction.stream(f"{ALLOCATIONS} ORDER BY version", [experiment])
        ]
    found: list[AllocationRow] = []
    for start in range(0, len(versions), 500):
        some = versions[start : start + 500]
        statement = f"{ALLOCATIONS} AND version IN ({', '.join('?' * len(some))}) ORDER BY version"
        found += [_allocation(row) for row in transaction.rows(statement, [experiment, *some])]
    return found


def insert_allocation(transaction: Transaction, experiment: int, row: AllocationRow) -> None:
    """A new version of the allocation, which holds from now on."""
    pending = None if row.pending is None else json.dumps(row.pending)
    values = [*row[:-2], pending, json.dumps(row.probabilities)]
    transaction.run(
        f"INSERT INTO allocations (experiment, {', '.join(AllocationRow._fields)}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [experiment, *values],
    )
    update_experiment(transaction, experiment, allocation=row.version)


def _allocation(row: Sequence[Any]) -> AllocationRow:
    pending = None if row[-2] is None else json.loads(row[-2])
    values: list[Any] = [*row[:-2], pending, json.loads(row[-1])]
    return AllocationRow._make(values)

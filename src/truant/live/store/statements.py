"""Every statement that live experiments run, in the SQL that all stores share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from truant.live.decision import NOT_GIVEN, SKEW, Row, Tell, encoded
from truant.live.store.store import Store, Transaction

RUNNING, PAUSED, ENDED = "running", "paused", "ended"
COLUMNS = ", ".join(Row._fields)


class Head(NamedTuple):
    """The row of an experiment."""

    id: int
    name: str
    status: str
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

# A decision is only drawn from the allocation that holds now, while the experiment runs; its time never goes back.
ASK = """
INSERT INTO decisions (tag, arm, probability, holdout, key, experiment, allocation, asked, deadline, due, state)
SELECT ?, ?, ?, ?, ?, e.id, e.allocation, e.now, e.now + ?, e.now + ?, 'pending'
FROM (
    SELECT id, allocation, CASE WHEN clock > ? THEN clock ELSE ? END AS now
    FROM experiments WHERE id = ? AND allocation = ? AND status = 'running'
) AS e
WHERE 1 = 1
ON CONFLICT (experiment, key) DO NOTHING
RETURNING number, asked, deadline
"""

# Several decisions without keys at once; the tag tells which row is whose.
_ASK_SEVERAL = """
INSERT INTO decisions (tag, experiment, arm, probability, allocation, holdout, asked, deadline, due, state)
SELECT v.column1, e.id, v.column2, v.column3, e.allocation, v.column4, e.now, e.now + ?, e.now + ?, 'pending'
FROM (
    SELECT id, allocation, CASE WHEN clock > ? THEN clock ELSE ? END AS now
    FROM experiments WHERE id = ? AND allocation = ? AND status = 'running'
) AS e CROSS JOIN (VALUES {rows}) AS v
RETURNING tag, number, asked, deadline
"""
SEVERAL = 50  # decisions of one such statement
ASK_SEVERAL = _ASK_SEVERAL.format(rows=", ".join(["(?, ?, ?, ?)"] * SEVERAL))

# The usual tell: of a decision in its window, of which this is not known yet. All else goes through decision.told.
_FRESH = """
UPDATE decisions SET {changes}
WHERE number = ? AND tag = ? AND experiment = ? AND state = 'pending' AND reason IS NULL AND {unknown}
  AND deadline > ? AND due > ? AND asked <= ?
  AND CASE WHEN ? = 1 THEN due ELSE deadline END > (SELECT clock FROM experiments WHERE id = ?)
"""
_ONE = {"mediator": "mediator = ?, mediator_at = ?", "outcome": "outcome = ?, outcome_at = ?"}
FRESH = {
    (mediator, outcome): _FRESH.format(
        changes=", ".join(
            text for text, wanted in zip(_ONE.values(), (mediator, outcome), strict=True) if wanted
        ),
        unknown=" AND ".join(
            f"{name}_at IS NULL" for name, wanted in zip(_ONE, (mediator, outcome), strict=True) if wanted
        ),
    )
    for mediator, outcome in ((True, False), (False, True), (True, True))
}

# Windows that are over; what was not told is missing, or what the experiment says of absent ones.
CLOSE = """
UPDATE decisions SET
    settled = ?,
    state = CASE WHEN reason = 'withdrawn' THEN 'missing'
        WHEN outcome IS NOT NULL THEN 'observed'
        WHEN outcome_at IS NULL AND {absent} IS NOT NULL THEN 'observed' ELSE 'missing' END,
    reason = CASE WHEN reason IS NOT NULL THEN reason WHEN outcome IS NOT NULL THEN NULL
        WHEN outcome_at IS NOT NULL THEN 'reported' WHEN {absent} IS NOT NULL THEN 'absent' ELSE 'expired' END,
    outcome = CASE WHEN outcome_at IS NULL AND reason IS NULL THEN {absent} ELSE outcome END,
    mediator = CASE WHEN mediator_at IS NULL THEN {mediator_absent} ELSE mediator END
WHERE number IN (
    SELECT number FROM decisions
    WHERE experiment = ? AND state = 'pending' AND due <= ? ORDER BY due LIMIT ?{for_update}
)
RETURNING {columns}
"""


def store_secret(transaction: Transaction) -> bytes:
    """The key with which keys of callers are hashed."""
    return bytes.fromhex(transaction.rows("SELECT value FROM meta WHERE name = 'secret'")[0][0])


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
    actor: str | None,
    why: str | None,
) -> None:
    """One more configuration of an experiment."""
    transaction.run(
        "INSERT INTO revisions (experiment, revision, at, actor, why, configuration) VALUES (?, ?, ?, ?, ?, ?)",
        [experiment, revision, at, actor, why, configuration],
    )


def configuration_text(transaction: Transaction, experiment: int, revision: int) -> str:
    """The configuration of a revision, as it was kept."""
    found = transaction.rows(
        "SELECT configuration FROM revisions WHERE experiment = ? AND revision = ?", [experiment, revision]
    )
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
    actor: str | None = None,
    why: str | None = None,
    body: Mapping[str, Any] | None = None,
) -> None:
    """Note what happened, who did it and why."""
    transaction.run(
        "INSERT INTO events (at, experiment, kind, decision, actor, why, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [at, experiment, kind, decision, actor, why, json.dumps(body or {}, ensure_ascii=False)],
    )


EVENT_FIELDS = ("number", "at", "kind", "decision", "actor", "why", "body")


def events(
    transaction: Transaction, experiment: int, after: int = 0, limit: int = 1000
) -> list[dict[str, Any]]:
    """Events after a number, oldest first."""
    which = "e.experiment = ? AND e.number > ? ORDER BY e.number LIMIT ?"
    return _events(transaction, which, [experiment, after, limit])


def remove_values(transaction: Transaction, decision: int) -> None:
    """Remove what the events of a decision say of its outcome."""
    transaction.run("UPDATE events SET body = '{}' WHERE decision = ? AND kind = 'corrected'", [decision])


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


def insert_decision(transaction: Transaction, values: Sequence[Any]) -> tuple[int, int, int] | None:
    """Number, time and deadline of a new decision; None if its key is known, or its allocation no longer holds."""
    found = transaction.rows(ASK, values)
    return found[0] if found else None


def known_keys(transaction: Transaction, experiment: int, keys: Sequence[str]) -> list[str]:
    """Those hashed keys that have a decision."""
    found: list[str] = []
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        statement = (
            f"SELECT key FROM decisions WHERE experiment = ? AND key IN ({', '.join('?' * len(some))})"
        )
        found += [str(key) for (key,) in transaction.rows(statement, [experiment, *some])]
    return found


IMPORTED = (
    *("tag", "arm", "key", "probability", "holdout", "asked", "deadline", "due"),
    *("mediator", "mediator_at", "outcome", "outcome_at", "late_outcome", "late_at"),
    *("listed_at", "pick_probability", "answer", "answered_at"),
)


def insert_imported(transaction: Transaction, experiment: int, rows: Sequence[Sequence[Any]]) -> None:
    """Past decisions, with the values of IMPORTED in this order."""
    places = ", ".join("?" * len(IMPORTED))
    transaction.many(
        f"INSERT INTO decisions (experiment, state, {', '.join(IMPORTED)}) VALUES (?, 'pending', {places})",
        [[experiment, *row] for row in rows],
    )


def decision_by_number(
    transaction: Transaction, experiment: int, number: int, tag: int, lock: str
) -> Row | None:
    """A decision by its id, locked if `lock` says so."""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE number = ? AND tag = ? AND experiment = ?{lock}"
    found = transaction.rows(statement, [number, tag, experiment])
    return Row(*found[0]) if found else None


def decision_by_key(transaction: Transaction, experiment: int, key: str, lock: str = "") -> Row | None:
    """A decision by its hashed key."""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE experiment = ? AND key = ?{lock}"
    found = transaction.rows(statement, [experiment, key])
    return Row(*found[0]) if found else None


def insert_several(
    transaction: Transaction, common: Sequence[Any], drawn: Sequence[Sequence[Any]]
) -> dict[int, tuple[int, int, int]]:
    """Number, time and deadline of SEVERAL new decisions by their tags; empty if their allocation no longer holds."""
    values = [*common, *(value for one in drawn for value in one)]
    return {
        tag: (number, asked, deadline)
        for tag, number, asked, deadline in transaction.rows(ASK_SEVERAL, values)
    }


def remove_key(transaction: Transaction, experiment: int, key: str) -> int:
    """Forget which decision a key was asked for; gives how many had it."""
    return transaction.run(
        "UPDATE decisions SET key = NULL WHERE experiment = ? AND key = ?", [experiment, key]
    )


def tell_fresh(
    transaction: Transaction, experiment: int, number: int, tag: int, tell: Tell, now: int, at_given: bool
) -> bool:
    """The usual tell; False if it is not one, and nothing was changed.

    Without a time of its own (`at_given`), it happens now by the clock of the experiment, which never goes back.
    """
    has_mediator, has_outcome = tell.mediator is not NOT_GIVEN, tell.outcome is not NOT_GIVEN
    values: list[Any] = [tell.mediator, tell.at] if has_mediator else []
    if has_outcome:
        values += [tell.outcome, tell.at]
    if tell.at > now + SKEW:
        return False
    values += [number, tag, experiment, tell.at, now, tell.at + SKEW, int(at_given), experiment]
    return transaction.run(FRESH[has_mediator, has_outcome], values) == 1


def update_decision(transaction: Transaction, number: int, changes: Mapping[str, Any]) -> None:
    """Change fields of a decision."""
    names = ", ".join(f"{name} = ?" for name in changes)
    transaction.run(f"UPDATE decisions SET {names} WHERE number = ?", [*changes.values(), number])


def close_windows(
    store: Store,
    transaction: Transaction,
    experiment: int,
    version: int,
    now: int,
    most: int,
    absent: float | None,
    mediator_absent: int | None,
) -> list[Row]:
    """Settle decisions whose window is over, as of a version of the counts; gives them in the order of their number."""
    statement = CLOSE.format(
        # numbers of the configuration, as literals: a parameter without a column has no type in PostgreSQL
        absent="NULL" if absent is None else f"({absent!r})",
        mediator_absent="NULL" if mediator_absent is None else str(mediator_absent),
        for_update=store.for_update,
        columns=COLUMNS,
    )
    return sorted(Row(*row) for row in transaction.rows(statement, [version, experiment, now, most]))


def settle_answers(transaction: Transaction, experiment: int, version: int) -> list[Row]:
    """Settle the answers to follow-ups that are not counted yet."""
    statement = (
        "UPDATE decisions SET answer_settled = ? WHERE experiment = ? AND answered_at IS NOT NULL "
        f"AND answer_settled IS NULL AND settled IS NOT NULL RETURNING {COLUMNS}"
    )
    return sorted(Row(*row) for row in transaction.rows(statement, [version, experiment]))


def first_due(transaction: Transaction, experiment: int) -> int | None:
    """When the next window closes."""
    statement = "SELECT min(due) FROM decisions WHERE experiment = ? AND state = 'pending'"
    found: int | None = transaction.rows(statement, [experiment])[0][0]
    return found


def unsettled_answers(transaction: Transaction, experiment: int) -> int:
    """Answers to follow-ups that are not counted yet."""
    which = "experiment = ? AND answered_at IS NOT NULL AND answer_settled IS NULL"
    statement = f"SELECT count(*) FROM decisions WHERE {which}"
    return int(transaction.rows(statement, [experiment])[0][0])


def pending_by_arm(transaction: Transaction, experiment: int, arms: int, holdout: bool = False) -> list[int]:
    """Pending decisions of each arm, of the holdout or of the others."""
    which = "experiment = ? AND state = 'pending' AND holdout = ?"
    statement = f"SELECT arm, count(*) FROM decisions WHERE {which} GROUP BY arm"
    found = dict(transaction.rows(statement, [experiment, int(holdout)]))
    return [int(found.get(arm, 0)) for arm in range(arms)]


class LateOutcome(NamedTuple):
    """An outcome that was told after its window."""

    arm: int
    mediator: int | None  # as it was known in the window
    outcome: float
    happened_in_time: bool


def late_outcomes(transaction: Transaction, experiment: int) -> list[LateOutcome]:
    """Outcomes of missing decisions that were told after their window; the holdout aside."""
    statement = (
        "SELECT arm, mediator, late_outcome, late_at < deadline FROM decisions WHERE experiment = ? "
        "AND late_at IS NOT NULL AND late_outcome IS NOT NULL AND outcome IS NULL AND holdout = 0 ORDER BY number"
    )
    return [
        LateOutcome(int(arm), mediator, float(outcome), bool(in_time))
        for arm, mediator, outcome, in_time in transaction.rows(statement, [experiment])
    ]


def follow_up_numbers(transaction: Transaction, experiment: int) -> dict[str, int]:
    """How many decisions were picked for follow-up, and what became of them."""
    statement = (
        "SELECT count(*), count(answered_at), count(answer), count(DISTINCT listed_at) FROM decisions "
        "WHERE experiment = ? AND listed_at IS NOT NULL AND (reason IS NULL OR reason <> 'withdrawn')"
    )
    picked, told, answers, rounds = map(int, transaction.rows(statement, [experiment])[0])
    return {
        "picked": picked,
        "answered": answers,
        "failed": told - answers,
        "outstanding": picked - told,
        "rounds": rounds,
    }


_PICKABLE = "state = 'missing' AND listed_at IS NULL AND holdout = 0 AND reason <> 'withdrawn'"


def missing_by_cell(transaction: Transaction, experiment: int) -> list[tuple[int, int | None, int]]:
    """Decisions that may be picked for follow-up: arm, mediator, and how many."""
    which = f"experiment = ? AND {_PICKABLE}"
    statement = f"SELECT arm, mediator, count(*) FROM decisions WHERE {which} GROUP BY arm, mediator"
    return [
        (int(arm), mediator, int(count)) for arm, mediator, count in transaction.rows(statement, [experiment])
    ]


def missing_rows(
    transaction: Transaction, experiment: int, arm: int, mediator: int | None, by_mediator: bool
) -> list[Row]:
    """Those of one arm, and of one mediator level where there are levels, in the order of their number."""
    which, values = "", [experiment, arm]
    if by_mediator:
        which = " AND mediator IS NULL" if mediator is None else " AND mediator = ?"
        values += [] if mediator is None else [mediator]
    which = f"experiment = ? AND arm = ? AND {_PICKABLE}{which}"
    statement = f"SELECT {COLUMNS} FROM decisions WHERE {which} ORDER BY number"
    return [Row(*row) for row in transaction.rows(statement, values)]


def settled_rows(
    transaction: Transaction, experiment: int, first: int = 0, end: int | None = None
) -> Iterator[Row]:
    """Decisions that are counted, asked from `first` to before `end`, in the order in which they were counted."""
    limits = "asked >= ?" if end is None else "asked >= ? AND asked < ?"
    statement = (
        f"SELECT {COLUMNS} FROM decisions WHERE experiment = ? AND settled IS NOT NULL AND {limits} "
        "ORDER BY settled, number"
    )
    for row in transaction.stream(statement, [experiment, first, *([] if end is None else [end])]):
        yield Row(*row)


def all_rows(transaction: Transaction, experiment: int, settled_only: bool = False) -> Iterator[Row]:
    """Decisions in the order of their number."""
    only = " AND state <> 'pending'" if settled_only else ""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE experiment = ?{only} ORDER BY number"
    for row in transaction.stream(statement, [experiment]):
        yield Row(*row)


def day_cells(
    transaction: Transaction, experiment: int, days: Sequence[int] | None = None, after: int = -1
) -> dict[tuple[str, int], Any]:
    """What is counted, by kind and day, in the order of days; of some days, or what changed after a version."""
    statement = "SELECT kind, day, cells FROM counts WHERE experiment = ? AND version > ?"
    if days is not None:
        statement += f" AND day IN ({', '.join('?' * len(days))})"
    found = transaction.rows(f"{statement} ORDER BY day, kind", [experiment, after, *(days or ())])
    return {(str(kind), int(day)): json.loads(cells) for kind, day, cells in found}


def stale_days(transaction: Transaction, experiment: int) -> list[int]:
    """Days of which a counted decision was changed."""
    statement = "SELECT DISTINCT day FROM counts WHERE experiment = ? AND stale = 1 ORDER BY day"
    return [int(day) for (day,) in transaction.rows(statement, [experiment])]


def mark_stale(transaction: Transaction, experiment: int, day: int) -> None:
    """Note that a day must be counted again."""
    transaction.run("UPDATE counts SET stale = 1 WHERE experiment = ? AND day = ?", [experiment, day])


def write_cells(
    transaction: Transaction, experiment: int, version: int, cells: Mapping[tuple[str, int], Any]
) -> None:
    """Replace what is counted of some kinds and days."""
    transaction.many(
        "INSERT INTO counts (experiment, kind, day, version, stale, cells) VALUES (?, ?, ?, ?, 0, ?) "
        "ON CONFLICT (experiment, kind, day) DO UPDATE SET "
        "cells = excluded.cells, version = excluded.version, stale = 0",
        [[experiment, kind, day, version, json.dumps(value)] for (kind, day), value in cells.items()],
    )


def allocation_of(transaction: Transaction, experiment: int, version: int) -> AllocationRow:
    """One version of the allocation."""
    found = transaction.rows(f"{ALLOCATIONS} AND version = ?", [experiment, version])
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

"""Every statement about decisions, in the SQL that all stores share; `statements` has the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from truant.live.decision import NOT_GIVEN, SKEW, Row, Tell, encoded
from truant.live.store.store import Store, Transaction

COLUMNS = ", ".join(Row._fields)

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


class NewDecision(NamedTuple):
    """What the store makes of a new decision."""

    number: int
    asked: int
    deadline: int


def insert_decision(transaction: Transaction, values: Sequence[Any]) -> NewDecision | None:
    """A new decision; None if its key is known, or its allocation no longer holds."""
    found = transaction.rows(ASK, values)
    return NewDecision(*found[0]) if found else None


def origins_of_keys(
    transaction: Transaction, experiment: int, keys: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Of those hashed keys that have a decision: its id, and the identity that it was imported with."""
    columns = "key, number, tag, origin"
    return {
        key: (encoded(number, tag), origin)
        for key, number, tag, origin in _among(transaction, experiment, columns, "key", keys)
    }


COMPARED = ("arm", "mediator", "outcome", "late_outcome", "answer")


def imported_values(
    transaction: Transaction,
    experiment: int,
    origins: Sequence[str],
    ids: Mapping[str, tuple[int, int]],
) -> dict[str, tuple[Any, ...]]:
    """What was told of decisions (COMPARED), by identity: those that were imported, and those that were made here.

    Parameters
    ----------
    transaction, experiment : where.
    origins : identities of rows.
    ids : number and tag of those that are ids of truant.
    """
    columns = (
        "number, tag, origin, arm, CASE WHEN mediator_at IS NULL THEN NULL ELSE mediator END, "
        "CASE WHEN outcome_at IS NULL THEN NULL ELSE outcome END, late_outcome, answer"
    )
    found = {
        str(origin): tuple(values)
        for _, _, origin, *values in _among(transaction, experiment, columns, "origin", origins)
    }
    own = {place: origin for origin, place in ids.items()}
    numbers = [number for number, _ in own]
    for number, tag, _, *values in _among(transaction, experiment, columns, "number", numbers):
        if (number, tag) in own:
            found[own[number, tag]] = tuple(values)
    return found


def _among(
    transaction: Transaction, experiment: int, columns: str, name: str, values: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """Columns of the decisions of which one column has one of these values."""
    for start in range(0, len(values), 500):
        some = values[start : start + 500]
        which = f"experiment = ? AND {name} IN ({', '.join('?' * len(some))})"
        yield from transaction.rows(f"SELECT {columns} FROM decisions WHERE {which}", [experiment, *some])


def insert_imported(transaction: Transaction, experiment: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Past decisions, by column; all of them have the same columns."""
    columns = ("experiment", "state", *rows[0])
    transaction.many(
        f"INSERT INTO decisions ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
        [[experiment, "pending", *row.values()] for row in rows],
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
) -> dict[int, NewDecision]:
    """SEVERAL new decisions by their tags; empty if their allocation no longer holds."""
    values = [*common, *(value for one in drawn for value in one)]
    return {tag: NewDecision(*kept) for tag, *kept in transaction.rows(ASK_SEVERAL, values)}


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


def rows_in_chunks(transaction: Transaction, experiment: int, size: int) -> Iterator[list[Row]]:
    """All decisions in the order of their number, so many at a time; they may be changed meanwhile."""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE experiment = ? AND number > ? ORDER BY number LIMIT ?"
    last = 0
    while rows := [Row(*row) for row in transaction.rows(statement, [experiment, last, size])]:
        last = rows[-1].number
        yield rows


def replace_rows(transaction: Transaction, rows: Sequence[Row]) -> None:
    """Write decisions as they are given, by their number."""
    names = ", ".join(f"{name} = ?" for name in Row._fields[1:])
    transaction.many(
        f"UPDATE decisions SET {names} WHERE number = ?", [[*row[1:], row.number] for row in rows]
    )


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


def settle_answers(transaction: Transaction, experiment: int, version: int, most: int) -> list[Row]:
    """Settle answers to follow-ups that are not counted yet."""
    which = "experiment = ? AND answered_at IS NOT NULL AND answer_settled IS NULL AND settled IS NOT NULL"
    statement = (
        "UPDATE decisions SET answer_settled = ? "
        f"WHERE number IN (SELECT number FROM decisions WHERE {which} LIMIT ?) RETURNING {COLUMNS}"
    )
    return sorted(Row(*row) for row in transaction.rows(statement, [version, experiment, most]))


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


def pending_with_outcome(transaction: Transaction, experiment: int) -> int:
    """Pending decisions whose outcome was told already; it is counted when their window closes."""
    which = "experiment = ? AND state = 'pending' AND outcome IS NOT NULL AND reason IS NULL"
    return int(transaction.rows(f"SELECT count(*) FROM decisions WHERE {which}", [experiment])[0][0])


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


def counted_rows(transaction: Transaction, experiment: int) -> Iterator[Row]:
    """Decisions that are counted, in no order."""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE experiment = ? AND settled IS NOT NULL"
    for row in transaction.stream(statement, [experiment]):
        yield Row(*row)


def all_rows(transaction: Transaction, experiment: int, settled_only: bool = False) -> Iterator[Row]:
    """Decisions in the order of their number."""
    only = " AND state <> 'pending'" if settled_only else ""
    statement = f"SELECT {COLUMNS} FROM decisions WHERE experiment = ?{only} ORDER BY number"
    for row in transaction.stream(statement, [experiment]):
        yield Row(*row)

"""Tell: what came of a decision; corrections, withdrawals and forgotten keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from truant.errors import Conflict, InvalidValue, UnknownName, unknown
from truant.live.configuration import ON_ARRIVAL, Configuration
from truant.live.decision import (
    MISSING,
    NOT_GIVEN,
    OBSERVED,
    PENDING,
    REPORTED,
    WITHDRAWN,
    Row,
    Tell,
    Told,
    answered,
    check_moment,
    decoded,
    told,
)
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.times import DAY, moment
from truant.text import quoted

FIELDS = ("id", "key", "mediator", "outcome", "at", "followed_up")


class Place(NamedTuple):
    """Which decision is meant: by number and tag, or by hashed key."""

    number: int | None
    tag: int | None
    key: str | None
    shown: str  # what the caller gave


class Prepared(NamedTuple):
    """A tell whose values are checked."""

    place: Place
    mediator: Any
    outcome: Any
    at: int | None  # None: now
    followed_up: bool


def prepared(
    configuration: Configuration, place: Place, mediator: Any, outcome: Any, at: Any, followed_up: Any
) -> Prepared:
    """Check what was told; or raises InvalidValue or UnknownName."""
    if not isinstance(followed_up, bool):
        raise InvalidValue(f"followed_up must be true or false, got {quoted(followed_up)}.")
    if mediator is NOT_GIVEN and outcome is NOT_GIVEN:
        raise InvalidValue(f"Nothing was told of decision {place.shown}; give mediator, outcome or both.")
    if followed_up and (outcome is NOT_GIVEN or mediator is not NOT_GIVEN):
        raise InvalidValue("With followed_up, tell the outcome alone; None says that the follow-up failed.")
    return Prepared(
        place,
        mediator if mediator is NOT_GIVEN else configuration.mediator_code(mediator),
        outcome if outcome is NOT_GIVEN else configuration.outcome_value(outcome),
        None if at is None else moment("at", at),
        followed_up,
    )


def prepared_from(configuration: Configuration, place: Place, values: Mapping[str, Any]) -> Prepared:
    """The same for fields by name; or raises UnknownName."""
    for name in values:
        if name not in FIELDS:
            raise unknown("field of a tell:", name, FIELDS)
    return prepared(
        configuration,
        place,
        values.get("mediator", NOT_GIVEN),
        values.get("outcome", NOT_GIVEN),
        values.get("at"),
        values.get("followed_up", False),
    )


def place_of(id: object, key: object, hash_key: Any) -> Place:
    """Which decision is meant; exactly one of id and key must be given."""
    if (id is None) == (key is None):
        raise InvalidValue("Say which decision with its id, or with the key that it was asked for, not both.")
    if key is not None:
        return Place(None, None, hash_key(key), f"with the key {quoted(key)}")
    number, tag = decoded(id)
    return Place(number, tag, None, str(id))


def found_row(store: Store, transaction: Transaction, experiment: int, place: Place) -> Row:
    """The decision that is meant, locked; or raises UnknownName."""
    row = None
    if place.key is not None:
        row = decision_statements.decision_by_key(transaction, experiment, place.key, store.for_update)
    elif place.number is not None and place.tag is not None:
        row = decision_statements.decision_by_number(
            transaction, experiment, place.number, place.tag, store.for_update
        )
    if row is None:
        what = place.shown if place.key is not None else f"with the id {quoted(place.shown)}"
        raise UnknownName(f"There is no decision {what} in this experiment.")
    return row


def tell_one(
    store: Store,
    transaction: Transaction,
    experiment: int,
    configuration: Configuration,
    tell: Prepared,
    now: int,
) -> Told:
    """Keep what was told; or raises what contradicts it."""
    place, on_arrival = tell.place, configuration.settle == ON_ARRIVAL
    at = now if tell.at is None else tell.at
    values = Tell(tell.mediator, tell.outcome, at)
    if (
        place.number is not None
        and place.tag is not None
        and not (tell.followed_up or on_arrival)
        and decision_statements.tell_fresh(
            transaction, experiment, place.number, place.tag, values, now, at_given=tell.at is not None
        )
    ):
        return Told(place.shown, "accepted")
    row = found_row(store, transaction, experiment, place)
    head = statements.head_of(transaction, experiment)
    now = max(now, head.clock, row.asked)  # the clock of this machine may have jumped back
    if tell.at is None:
        values = values._replace(at=now)
    if tell.followed_up:
        changes, verdict = answered(row, tell.outcome, values.at, now)
    else:
        changes, verdict = told(row, values, now, on_arrival)
    if changes:
        decision_statements.update_decision(transaction, row.number, changes)
        if tell.followed_up:
            body = {"failed": tell.outcome is None}
            statements.insert_event(
                transaction, experiment, "followed_up", now, decision=row.number, body=body
            )
    return Told(row.id, verdict)  # type: ignore[arg-type]


def correct_one(
    store: Store,
    transaction: Transaction,
    experiment: int,
    change: Prepared,
    now: int,
    actor: str | None,
    why: str | None,
) -> None:
    """Replace what was told of a decision, also of one that is counted; the event keeps the old values."""
    head = statements.head_of(transaction, experiment, store.for_update)  # nobody counts meanwhile
    row = found_row(store, transaction, experiment, change.place)
    now = max(now, head.clock, row.asked)
    at = now if change.at is None else change.at
    check_moment(row, at, now)
    if row.reason == WITHDRAWN:
        raise Conflict(f"Decision {row.id} was withdrawn; it cannot be corrected.")
    changes = _corrected_answer(row, change) if change.followed_up else _corrected(row, change, at)
    old = {name: getattr(row, name) for name in changes if getattr(row, name) != changes[name]}
    new = {name: changes[name] for name in old}
    if not old:
        return
    decision_statements.update_decision(transaction, row.number, changes)
    if row.settled is not None:
        statements.mark_stale(transaction, experiment, row.asked // DAY)
    statements.insert_event(
        transaction,
        experiment,
        "corrected",
        now,
        decision=row.number,
        actor=actor,
        why=why,
        body={"old": old, "new": new},
    )


def _corrected_answer(row: Row, change: Prepared) -> dict[str, Any]:
    if row.answered_at is None:
        raise Conflict(f"The follow-up of decision {row.id} has no answer yet; tell it with followed_up.")
    return {"answer": change.outcome}


def _corrected(row: Row, change: Prepared, at: int) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if change.mediator is not NOT_GIVEN:
        changes |= {"mediator": change.mediator, "mediator_at": row.mediator_at or at}
    if change.outcome is not NOT_GIVEN:
        if row.listed_at is not None:
            raise Conflict(
                f"Decision {row.id} was picked for follow-up as missing; correct its answer with followed_up instead."
            )
        changes |= {"outcome": change.outcome, "outcome_at": row.outcome_at or at}
        if row.state != PENDING:
            missing = change.outcome is None
            changes |= {"state": MISSING if missing else OBSERVED, "reason": REPORTED if missing else None}
    return changes


def withdraw_one(
    store: Store,
    transaction: Transaction,
    experiment: int,
    place: Place,
    now: int,
    actor: str | None,
    why: str | None,
) -> None:
    """Take a decision out: its outcome is removed, and it counts as missing."""
    head = statements.head_of(transaction, experiment, store.for_update)  # nobody counts meanwhile
    row = found_row(store, transaction, experiment, place)
    if row.reason == WITHDRAWN:
        return
    gone = ("outcome", "outcome_at", "late_outcome", "late_at", "answer", "answered_at", "answer_settled")
    changes: dict[str, Any] = dict.fromkeys(gone) | {"reason": WITHDRAWN}
    if row.settled is not None:
        changes["state"] = MISSING
        statements.mark_stale(transaction, experiment, row.asked // DAY)
    decision_statements.update_decision(transaction, row.number, changes)
    statements.remove_values(transaction, row.number)
    statements.insert_event(
        transaction,
        experiment,
        "withdrawn",
        max(now, head.clock),
        decision=row.number,
        actor=actor,
        why=why,
        body={"state": row.state},
    )


def forget_key(
    transaction: Transaction, experiment: int, key: str, now: int, actor: str | None, why: str | None
) -> int:
    """Remove a key from the decision that it was asked for, which stays; gives how many had it."""
    found = decision_statements.remove_key(transaction, experiment, key)
    if found:
        statements.insert_event(transaction, experiment, "forgotten", now, actor=actor, why=why)
    return found

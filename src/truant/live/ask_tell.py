"""Ask draws an arm from the stored allocation; tell keeps what came of it: the transactions, without estimates."""

from __future__ import annotations

import hashlib
import hmac
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import accumulate
from typing import Any, NamedTuple

from truant.errors import Conflict, Gone, InvalidValue, Unavailable, UnknownName, named, quoted, unknown
from truant.live.configuration import ON_ARRIVAL, Configuration, Note
from truant.live.decision import (
    MISSING,
    NOT_GIVEN,
    OBSERVED,
    PENDING,
    REPORTED,
    TAG_BITS,
    WITHDRAWN,
    Decision,
    Row,
    Tell,
    Told,
    answered,
    check_moment,
    decision_of,
    decoded,
    encoded,
    told,
)
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.statements import ENDED, PAUSED, RUNNING, AllocationRow, Head
from truant.live.times import as_datetime, moment

ATTEMPTS = 10  # at a decision while the allocation changes again and again
LONGEST_KEY = 1000
HALF_TAG = 1 << (TAG_BITS - 1)


class Shares:
    """Probabilities of the arms, ready to be drawn from."""

    __slots__ = ("probabilities", "upper")

    def __init__(self, probabilities: Sequence[float]) -> None:
        self.probabilities = probabilities
        self.upper = list(accumulate(probabilities))

    def draw(self, rng: random.Random) -> int:
        """An arm; one with probability 0 is never drawn."""
        return bisect_right(self.upper, rng.random() * self.upper[-1])


class Drawn(NamedTuple):
    """What is drawn for a new decision."""

    tag: int
    arm: int
    probability: float
    holdout: int  # 1: drawn from the fixed split


class State:
    """An experiment as it was when last looked at: what asks are drawn from until the store says otherwise."""

    __slots__ = (
        "_due",
        "_holdout",
        "_until",
        "_which",
        "_window",
        "allocation",
        "configuration",
        "fixed",
        "head",
        "runs",
        "shares",
    )

    def __init__(self, head: Head, configuration: Configuration, allocation: AllocationRow) -> None:
        self.head, self.configuration, self.allocation = head, configuration, allocation
        self.shares = Shares(allocation.probabilities)
        self.fixed = Shares(configuration.fixed_shares())
        self.runs = head.status == RUNNING
        self._window, self._due = configuration.window, configuration.window + configuration.grace
        self._until = timedelta(microseconds=self._window)
        self._holdout = configuration.holdout
        self._which = head.id, allocation.version

    @classmethod
    def read(cls, transaction: Transaction, experiment: int, before: State | None = None) -> State:
        """The experiment as it is now; what cannot have changed since `before` is not read again."""
        head = statements.head_of(transaction, experiment)
        if before is not None and before.head.revision == head.revision:
            configuration = before.configuration
        else:
            configuration = Configuration.from_json(
                statements.configuration_text(transaction, experiment, head.revision)
            )
        return cls(head, configuration, statements.allocation_of(transaction, experiment, head.allocation))

    def drawn(self, rng: random.Random) -> Drawn:
        """The draw of a new decision."""
        holdout = self._holdout > 0 and rng.random() < self._holdout
        shares = self.fixed if holdout else self.shares
        arm = shares.draw(rng)
        return Drawn(rng.getrandbits(TAG_BITS) - HALF_TAG, arm, shares.probabilities[arm], int(holdout))

    def insert(
        self, transaction: Transaction, rng: random.Random, now: int, key: str | None
    ) -> Decision | None:
        """Draw and keep a decision; None if the key is known or the state is out of date."""
        drawn = self.drawn(rng)
        common = self._window, self._due, now, now, *self._which
        kept = decision_statements.insert_decision(transaction, (*drawn, key, *common))
        return None if kept is None else self.decision(drawn, kept)

    def insert_several(self, transaction: Transaction, rng: random.Random, now: int) -> list[Decision]:
        """Draw and keep SEVERAL decisions; none if the state is out of date."""
        if not self.runs:
            return []
        drawn = [self.drawn(rng) for _ in range(decision_statements.SEVERAL)]
        common = self._window, self._due, now, now, *self._which
        kept = decision_statements.insert_several(transaction, common, drawn)
        return [self.decision(one, kept[one.tag]) for one in drawn] if kept else []

    def decision(self, drawn: Drawn, kept: decision_statements.NewDecision) -> Decision:
        """The public form of what was drawn and of what the store made of it."""
        moment = as_datetime(kept.asked)
        return Decision(
            encoded(kept.number, drawn.tag),
            self.configuration.arms[drawn.arm],
            drawn.probability,
            moment,
            moment + self._until,
            self.allocation.version,
            bool(drawn.holdout),
        )


def ask_in(
    transaction: Transaction, state: State, rng: random.Random, now: int, wanted: Sequence[str | None]
) -> tuple[list[Decision], State]:
    """A decision for each hashed key (None: without one), and the state that they were drawn from."""
    found: list[Decision | None] = [None] * len(wanted)
    done = 0
    if not any(wanted):
        while len(wanted) - done >= decision_statements.SEVERAL:
            some = state.insert_several(transaction, rng, now)
            if not some:  # one by one: this finds out why
                break
            found[done : done + len(some)] = some
            done += len(some)
    # in the order of keys: two processes that ask for the same ones cannot wait for each other
    for i in sorted(range(done, len(wanted)), key=lambda i: wanted[i] or ""):
        found[i], state = ask_one(transaction, state, rng, now, wanted[i])
    return [one for one in found if one is not None], state


def ask_one(
    transaction: Transaction, state: State, rng: random.Random, now: int, key: str | None
) -> tuple[Decision, State]:
    """A decision, and the state that it was drawn from; the same key gets the same decision, whatever the status."""
    for _ in range(ATTEMPTS):
        if state.runs:
            decision = state.insert(transaction, rng, now, key)
            if decision is not None:
                return decision, state
        if key is not None:
            row = decision_statements.decision_by_key(transaction, state.head.id, key)
            if row is not None:
                if row.arm >= len(state.configuration.arms):
                    state = State.read(transaction, state.head.id, state)
                return decision_of(row, state.configuration.arms, repeated=True), state
        state = State.read(transaction, state.head.id, state)
        check_running(state.head)
    raise Unavailable(f"Experiment {named(state.head.name)} changes too often to be asked; try again.")


def check_running(head: Head) -> None:
    """Refuse new decisions of an experiment that does not run."""
    if head.status == PAUSED:
        raise Gone(f"Experiment {named(head.name)} is paused: it makes no new decisions until it is resumed.")
    if head.status == ENDED:
        raise Gone(f"Experiment {named(head.name)} has ended: it makes no new decisions.")


def hashed(secret: bytes, key: object) -> str:
    """A caller's key as it is kept: nobody can tell whose it was without the store's secret."""
    if isinstance(key, int) and not isinstance(key, bool):
        key = str(key)
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        raise InvalidValue(f"key must be a text of 1 to {LONGEST_KEY} characters, got {quoted(key)}.")
    return hmac.new(secret, key.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


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
    note: Note,
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
    statements.insert_event(
        transaction,
        experiment,
        "corrected",
        now,
        decision=row.number,
        note=note,
        body={"old": old, "new": new} | _counted_anew(transaction, head, row, changes),
    )


def _counted_anew(
    transaction: Transaction, head: Head, row: Row, changes: Mapping[str, Any]
) -> dict[str, int]:
    """Change the counts if the decision is in them; gives the version that this made, for the event."""
    if row.settled is None:
        return {}
    from truant.live.settle import change_counts  # loaded by the callers before anything is locked

    return {"version": change_counts(transaction, head, row, row._replace(**changes))}


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
    note: Note,
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
    decision_statements.update_decision(transaction, row.number, changes)
    statements.remove_values(transaction, row.number)
    statements.insert_event(
        transaction,
        experiment,
        "withdrawn",
        max(now, head.clock),
        decision=row.number,
        note=note,
        body={"state": row.state} | _counted_anew(transaction, head, row, changes),
    )


def forget_key(transaction: Transaction, experiment: int, key: str, now: int, note: Note) -> int:
    """Remove a key from the decision that it was asked for, which stays; gives how many had it."""
    found = decision_statements.remove_key(transaction, experiment, key)
    if found:
        statements.insert_event(transaction, experiment, "forgotten", now, note=note)
    return found

"""The decisions of an experiment: ask which arm to use, tell what came of it, close windows when it is time."""

from __future__ import annotations

import importlib
import operator
import os
import random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from truant.errors import Gone, InvalidValue, TruantError, Unavailable, quoted, unknown
from truant.live.ask_tell import (
    Prepared,
    State,
    ask_in,
    ask_one,
    correct_one,
    forget_key,
    hashed,
    place_of,
    prepared,
    prepared_from,
    tell_one,
    withdraw_one,
)
from truant.live.clock import ExperimentClock
from truant.live.configuration import Configuration, Note, list_of
from truant.live.decision import NOT_GIVEN, Decision, Told, decision_of
from truant.live.store import Store, Transaction, deadline, decision_statements, statements
from truant.live.store.opening import migrate

if TYPE_CHECKING:
    from truant.live.counting import Cells


class Settler:
    """Closes windows and makes allocations for one experiment in this process.

    What it remembers is only to save work: the counts are those of the store.
    """

    def __init__(self, by_itself: bool = True) -> None:
        self._by_itself = by_itself  # in asks and tells
        self._process = os.getpid()
        self._last = self._next = 0  # when it last looked, and when to look again
        self._allocated = 0  # when it last looked whether another allocation is due
        self._lock = threading.Lock()
        self._cells: Cells = {}
        self._version = -1

    def settle_if_due(self, experiment: Decisions, force: bool = False) -> None:
        """Settle what is due, looking at most once in an interval; a thread that does it already is not waited for."""
        rough = experiment.clock.rough()
        early = self._last <= rough < self._next  # a clock that jumped back does not stop it
        if not force and (early or not self._by_itself):
            return
        if not self._free().acquire(blocking=force):
            return
        try:
            self._last, self._next = rough, rough + experiment.state.configuration.interval
            now = self._due(experiment)
            if now is not None:
                self._settle(experiment, now, wait=force, batches=None if force else 1)
        finally:
            self._lock.release()

    def settle(self, experiment: Decisions, now: int) -> int:
        """Settle everything that was due by then; gives the number of decisions."""
        with self._free():
            return self._settle(experiment, now, wait=True)

    def _free(self) -> threading.Lock:
        if self._process != os.getpid():  # forked: a thread of the parent may have held the lock
            self._process, self._lock = os.getpid(), threading.Lock()
        return self._lock

    def _due(self, experiment: Decisions) -> int | None:
        """The time, if there is something to settle or to allocate."""
        number = experiment.number

        def query(transaction: Transaction) -> tuple[int, int | None, bool]:
            due = decision_statements.first_due(transaction, number)
            other = decision_statements.unsettled_answers(transaction, number) or statements.stale_days(
                transaction, number
            )
            return experiment.now_in(transaction), due, bool(other)

        state: State = experiment.refresh()
        now, due, other = experiment.store.read(query)
        now = max(now, state.head.clock)
        allocation = state.allocation
        behind = allocation.counts_version < state.head.counts_version
        over = allocation.until is not None and now >= allocation.until
        counts_pending = allocation.pending is not None
        is_due = (due is not None and due <= now) or other or behind or over or counts_pending
        return now if is_due else None

    def _settle(self, experiment: Decisions, now: int, wait: bool, batches: int | None = None) -> int:
        """Settle so many batches; without a limit everything, with pauses in which others can write."""
        from truant.live.settle import allocate_if_due, close_batch, count_again

        store, number = experiment.store, experiment.number
        settled, done, more = 0, 0, True
        while more and done != batches:
            start = time.perf_counter()
            closed = close_batch(store, number, now, wait)
            settled, done, more = settled + closed.decisions, done + 1, closed.more
            if more and store.is_shared:
                time.sleep(min(time.perf_counter() - start, LONGEST_PAUSE))
        if batches is None:
            count_again(store, number, now)
        made, interval = False, experiment.state.configuration.interval
        if more:
            self._next = self._last  # the next ask or tell goes on
        if not more or not self._allocated <= now < self._allocated + interval:
            self._allocated = now
            self._cells, self._version, made = allocate_if_due(store, number, now, self._cells, self._version)
        if made or settled:
            experiment.refresh()
        return settled


LONGEST_PAUSE = 0.02  # seconds between two batches; as long as the batch took, if that is less
MOST_ASKED = 100_000  # decisions of one call
MOST_TOLD = 5_000  # tells of one transaction


def _whole(value: object) -> int | None:
    """A whole number, also one of numpy, which is not imported for it."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


class Decisions:
    """An experiment that is open: what asking and telling need of it.

    Parameters
    ----------
    store, name : where it is kept, and by which name.
    clock, rng : whose time it goes by, and where draws come from.
    settles : asks and tells close windows that are over.
    fallback : the arm to use if the store does not answer, instead of that of the experiment.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        clock: ExperimentClock,
        rng: random.Random,
        settles: bool = True,
        fallback: str | None = None,
    ) -> None:
        self._store, self._name = store, name
        self.clock, self._random = clock, rng
        self._settles, self._fallback = settles, fallback
        self._forget_store()

    def _forget_store(self) -> None:
        self._known: State | None = None  # None: the store was not reached yet
        self._secret = b""
        self._settler = Settler(self._settles)
        self.cached: dict[Any, Any] = {}  # the last analyses, by version of the counts and revision

    def reach(self) -> None:
        """Read the experiment from its store for the first time; or raises UnknownName or Unavailable."""
        migrate(self._store)

        def query(transaction: Transaction) -> tuple[State, bytes]:
            head = statements.head_named(transaction, self._name)
            if head is None:
                known = [one.name for one in statements.heads(transaction)]
                raise unknown("experiment", self._name, known)
            self.clock.start(transaction, head.id)
            return State.read(transaction, head.id), statements.store_secret(transaction)

        state, secret = self._store.read(query)
        if self._fallback is not None:
            state.configuration.arm_number(self._fallback)
        self._secret, self._known = secret, state

    @property
    def _state(self) -> State:
        if self._known is None:
            self.reach()
        return self._known  # type: ignore[return-value]

    @property
    def name(self) -> str:
        """The name by which it is found."""
        return self._name

    @property
    def number(self) -> int:
        """Its number in the store."""
        return self._state.head.id

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._store

    @property
    def state(self) -> State:
        """The experiment as it was when last looked at."""
        return self._state

    @property
    def configuration(self) -> Configuration:
        """What holds now, as the store says."""
        return self.refresh().configuration

    def ask(
        self,
        n: int | None = None,
        *,
        key: str | None = None,
        keys: Sequence[str] | None = None,
        fallback: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Which arm to use: a Decision; with `n` or `keys`, a list of them.

        Parameters
        ----------
        n : number of decisions.
        key : of a customer, patient or visit: the same key gets the same decision.
        keys : several of them, of which each gets its decision.
        fallback : the arm to use if the store does not answer in time, or the experiment is paused or has ended; that
            of the experiment unless given. Such a decision is outside the experiment (its id is None).
        timeout : seconds after which the store has not answered in time; 2 unless given.
        """
        keys = None if keys is None else list_of("keys", keys)
        number = self._number_of(n, key, keys)
        fallback = self._fallback_of(fallback)
        try:
            with deadline.within(deadline.seconds_of(timeout, deadline.HOT)):
                asked = keys if keys is not None else [key] if key is not None else None
                wanted = [None] * number if asked is None else [self.hashed_key(one) for one in asked]
                self._settle_by_the_way()
                # the state is taken over only once what it was read with is kept
                decisions, self._known = self._store.write(
                    lambda transaction: self._ask_in(transaction, wanted)
                )
        except (Gone, Unavailable):
            if fallback is None:
                raise
            decisions = [Decision(None, fallback, None, None, None, fallback=True)] * number
        return decisions[0] if n is None and keys is None else decisions

    def _fallback_of(self, given: str | None) -> str | None:
        """The arm to use if the store does not answer; or raises UnknownName."""
        if self._known is None:
            return given if given is not None else self._fallback
        configuration = self._known.configuration
        if given is not None:
            configuration.arm_number(given)
            return given
        return self._fallback or configuration.fallback

    def _settle_by_the_way(self) -> None:
        """Close windows if it is time; what cannot be done now is done later, and is no reason to refuse a call."""
        try:
            self._settler.settle_if_due(self)
        except Unavailable:
            if self._known is None:
                raise

    def _ask_in(self, transaction: Transaction, wanted: Sequence[str | None]) -> tuple[list[Decision], State]:
        now = self.now_in(transaction)
        if len(wanted) == 1:
            decision, state = ask_one(transaction, self._state, self._random, now, wanted[0])
            return [decision], state
        with transaction.all_or_none():
            return ask_in(transaction, self._state, self._random, now, wanted)

    def _number_of(self, n: int | None, key: object, keys: list[Any] | None) -> int:
        """How many decisions are asked for."""
        if n is None and keys is None:
            return 1
        if sum(value is not None for value in (n, key, keys)) > 1:
            raise InvalidValue("Give one of n, key and keys.")
        if keys is not None:
            if len(keys) > MOST_ASKED:
                raise InvalidValue(f"keys must be at most {MOST_ASKED:,}, got {len(keys):,}.")
            return len(keys)
        number = _whole(n)
        if number is None or not 1 <= number <= MOST_ASKED:
            raise InvalidValue(f"n must be a whole number from 1 to {MOST_ASKED:,}, got {quoted(n)}.")
        return number

    def lookup(self, key: str) -> Decision | None:
        """The decision that a key has; None if it has none. Nobody enters the experiment by this."""
        hashed_key, state = self.hashed_key(key), self._state
        row = self._store.read(
            lambda transaction: decision_statements.decision_by_key(transaction, self.number, hashed_key)
        )
        if row is None:
            return None
        arms = state.configuration.arms
        return decision_of(row, arms if row.arm < len(arms) else self.configuration.arms, repeated=True)

    def tell(
        self,
        id: str | None = None,
        *,
        key: str | None = None,
        mediator: Any = NOT_GIVEN,
        outcome: Any = NOT_GIVEN,
        at: datetime | str | None = None,
        followed_up: bool = False,
        timeout: float | None = None,
    ) -> Told:
        """What came of a decision: its mediator, its outcome, or both, in any order; the same again changes nothing.

        Parameters
        ----------
        id, key : which decision: the id that ask gave, or the key that it was asked for.
        mediator, outcome : what is known; None says that it is known to be missing.
        at : when it happened; now unless given. Before the deadline it counts, later it is kept and not counted.
        followed_up : the outcome is the answer to a follow-up of `follow_up`; None says that it failed.
        timeout : seconds after which Unavailable is raised if the store does not answer; 2 unless given.
        """
        with deadline.within(deadline.seconds_of(timeout, deadline.HOT)):
            place = place_of(id, key, self.hashed_key)
            told = prepared(self._state.configuration, place, mediator, outcome, at, followed_up)
            result = self._store.write(lambda transaction: self._tell_in(transaction, told))
            self._settle_by_the_way()
        return result

    def tell_many(self, tells: Iterable[Mapping[str, Any]]) -> list[Told | TruantError]:
        """Many tells, some thousands to a transaction, so that other processes get their turn.

        Each is a mapping with the fields of `tell`. A refusal stands in the place of its tell.
        """
        found: list[Any] = []
        for values in list_of("tells", tells):
            try:
                if not isinstance(values, Mapping):
                    raise InvalidValue(
                        f"A tell must be a mapping such as {{'id': ..., 'outcome': 1}}, got {quoted(values)}."
                    )
                place = place_of(values.get("id"), values.get("key"), self.hashed_key)
                found.append(prepared_from(self._state.configuration, place, values))
            except TruantError as error:
                found.append(error)

        # in the order of decisions: two processes that tell of the same ones cannot wait for each other
        order = sorted(range(len(found)), key=lambda i: _place_in_order(found[i]))

        verdicts: dict[int, Told | TruantError] = {}
        for start in range(0, len(order), MOST_TOLD):
            some = order[start : start + MOST_TOLD]
            verdicts |= self._store.write(
                lambda transaction: {i: self._verdict(transaction, found[i]) for i in some}  # noqa: B023
            )
        self._settle_by_the_way()
        return [verdicts[i] for i in range(len(found))]

    def _verdict(self, transaction: Transaction, tell: Prepared | TruantError) -> Told | TruantError:
        if isinstance(tell, TruantError):
            return tell
        try:
            return self._tell_in(transaction, tell)
        except TruantError as error:
            return error

    def _tell_in(self, transaction: Transaction, tell: Prepared) -> Told:
        now, configuration = self.now_in(transaction), self._state.configuration
        return tell_one(self._store, transaction, self.number, configuration, tell, now)

    def correct(
        self,
        id: str | None = None,
        *,
        key: str | None = None,
        mediator: Any = NOT_GIVEN,
        outcome: Any = NOT_GIVEN,
        at: datetime | str | None = None,
        followed_up: bool = False,
        actor: str | None = None,
        why: str | None = None,
    ) -> None:
        """Replace what was told of a decision, also of one that is counted already; an event keeps the old values."""
        place = place_of(id, key, self.hashed_key)
        change = prepared(self._state.configuration, place, mediator, outcome, at, followed_up)
        note = Note.of(actor, why)
        importlib.import_module("truant.live.settle")  # which takes long: not while the store is locked
        self._store.write(
            lambda transaction: correct_one(
                self._store, transaction, self.number, change, self.now_in(transaction), note
            )
        )

    def withdraw(
        self,
        id: str | None = None,
        *,
        key: str | None = None,
        actor: str | None = None,
        why: str | None = None,
    ) -> None:
        """Take a decision out, as when a patient withdraws consent: its outcome is removed and counts as missing."""
        place = place_of(id, key, self.hashed_key)
        note = Note.of(actor, why)
        importlib.import_module("truant.live.settle")  # as in `correct`
        self._store.write(
            lambda transaction: withdraw_one(
                self._store, transaction, self.number, place, self.now_in(transaction), note
            )
        )

    def forget(self, key: str, *, actor: str | None = None, why: str | None = None) -> bool:
        """Remove a key; its decision stays, and nobody can tell whose it was. False if no decision has the key."""
        own = self.hashed_key(key)
        note = Note.of(actor, why)
        found = self._store.write(
            lambda transaction: forget_key(transaction, self.number, own, self.now_in(transaction), note)
        )
        return bool(found)

    def refresh(self) -> State:
        """Read the experiment from the store again."""
        before = self._state
        self._known = self._store.read(lambda transaction: State.read(transaction, self.number, before))
        return self._known

    def now(self) -> int:
        """The time by its clock, in microseconds."""
        return self._store.read(self.now_in)

    def now_in(self, transaction: Transaction) -> int:
        """The time by its clock, in a transaction of its store."""
        return self.clock.now(transaction, self.number)

    def hashed_key(self, key: object) -> str:
        """A key as the store keeps it."""
        if self._known is None:
            self.reach()
        return hashed(self._secret, key)

    @property
    def rng(self) -> random.Random:
        """Where draws come from."""
        return self._random


def _place_in_order(tell: Prepared | TruantError) -> tuple[int, str]:
    if isinstance(tell, TruantError):
        return 0, ""
    return tell.place.number or 0, tell.place.key or ""

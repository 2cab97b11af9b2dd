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

from truant.errors import Gone, InvalidValue, TruantError, Unavailable, quoted
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
from truant.live.configuration import Configuration, Note, list_of
from truant.live.decision import NOT_GIVEN, Decision, Told, decision_of
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.times import Clock

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
        now = experiment.now()
        early = self._last <= now < self._next  # a clock that jumped back does not stop it
        if not force and (early or not self._by_itself):
            return
        if not self._free().acquire(blocking=force):
            return
        try:
            self._last, self._next = now, now + experiment.state.configuration.interval
            if self._is_due(experiment, now):
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

    def _is_due(self, experiment: Decisions, now: int) -> bool:
        """Whether there is something to settle or to allocate."""
        number = experiment.number

        def query(transaction: Transaction) -> tuple[int | None, bool]:
            due = decision_statements.first_due(transaction, number)
            other = decision_statements.unsettled_answers(transaction, number) or statements.stale_days(
                transaction, number
            )
            return due, bool(other)

        state: State = experiment.refresh()
        due, other = experiment.store.read(query)
        now = max(now, state.head.clock)
        allocation = state.allocation
        behind = allocation.counts_version < state.head.counts_version
        over = allocation.until is not None and now >= allocation.until
        counts_pending = allocation.pending is not None
        return (due is not None and due <= now) or other or behind or over or counts_pending

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
    store, state, secret : where it is kept, as it was when last looked at, and the store's secret.
    clock, rng : the time in microseconds, and where draws come from.
    settles : asks and tells close windows that are over.
    """

    def __init__(
        self,
        store: Store,
        state: State,
        secret: bytes,
        clock: Clock,
        rng: random.Random,
        settles: bool = True,
    ) -> None:
        self._store, self._state, self._secret = store, state, secret
        self._clock, self._random = clock, rng
        self._settler = Settler(settles)
        self.cached: dict[Any, Any] = {}  # the last analyses, by version of the counts and revision

    @property
    def name(self) -> str:
        """The name by which it is found."""
        return self._state.head.name

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

    def ask(self, n: int | None = None, *, key: str | None = None, keys: Sequence[str] | None = None) -> Any:
        """Which arm to use: a Decision; with `n` or `keys`, a list of them.

        Parameters
        ----------
        n : number of decisions.
        key : of a customer, patient or visit: the same key gets the same decision.
        keys : several of them, of which each gets its decision.
        """
        wanted = self._wanted(n, key, keys)
        one = n is None and keys is None
        try:
            self._settler.settle_if_due(self)
            # the state is taken over only once what it was read with is kept
            decisions, self._state = self._store.write(lambda transaction: self._ask_in(transaction, wanted))
        except (Gone, Unavailable):
            fallback = self._state.configuration.fallback
            if fallback is None:
                raise
            decisions = [Decision(None, fallback, None, None, None, fallback=True) for _ in wanted]
        return decisions[0] if one else decisions

    def _ask_in(self, transaction: Transaction, wanted: Sequence[str | None]) -> tuple[list[Decision], State]:
        if len(wanted) == 1:
            decision, state = ask_one(transaction, self._state, self._random, self._clock(), wanted[0])
            return [decision], state
        with transaction.all_or_none():
            return ask_in(transaction, self._state, self._random, self._clock(), wanted)

    def _wanted(self, n: int | None, key: object, keys: object) -> list[str | None]:
        if n is None and keys is None:
            return [None if key is None else self.hashed_key(key)]
        if sum(value is not None for value in (n, key, keys)) > 1:
            raise InvalidValue("Give one of n, key and keys.")
        if keys is not None:
            wanted = list_of("keys", keys)
            if len(wanted) > MOST_ASKED:
                raise InvalidValue(f"keys must be at most {MOST_ASKED:,}, got {len(wanted):,}.")
            return [self.hashed_key(one) for one in wanted]
        number = _whole(n)
        if number is None or not 1 <= number <= MOST_ASKED:
            raise InvalidValue(f"n must be a whole number from 1 to {MOST_ASKED:,}, got {quoted(n)}.")
        return [None] * number

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
    ) -> Told:
        """What came of a decision: its mediator, its outcome, or both, in any order; the same again changes nothing.

        Parameters
        ----------
        id, key : which decision: the id that ask gave, or the key that it was asked for.
        mediator, outcome : what is known; None says that it is known to be missing.
        at : when it happened; now unless given. Before the deadline it counts, later it is kept and not counted.
        followed_up : the outcome is the answer to a follow-up of `follow_up`; None says that it failed.
        """
        place = place_of(id, key, self.hashed_key)
        told = prepared(self._state.configuration, place, mediator, outcome, at, followed_up)
        result = self._store.write(lambda transaction: self._tell_in(transaction, told))
        self._settler.settle_if_due(self)
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
        self._settler.settle_if_due(self)
        return [verdicts[i] for i in range(len(found))]

    def _verdict(self, transaction: Transaction, tell: Prepared | TruantError) -> Told | TruantError:
        if isinstance(tell, TruantError):
            return tell
        try:
            return self._tell_in(transaction, tell)
        except TruantError as error:
            return error

    def _tell_in(self, transaction: Transaction, tell: Prepared) -> Told:
        return tell_one(self._store, transaction, self.number, self._state.configuration, tell, self._clock())

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
                self._store, transaction, self.number, change, self._clock(), note
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
                self._store, transaction, self.number, place, self._clock(), note
            )
        )

    def forget(self, key: str, *, actor: str | None = None, why: str | None = None) -> bool:
        """Remove a key; its decision stays, and nobody can tell whose it was. False if no decision has the key."""
        own = self.hashed_key(key)
        note = Note.of(actor, why)
        found = self._store.write(
            lambda transaction: forget_key(transaction, self.number, own, self._clock(), note)
        )
        return bool(found)

    def refresh(self) -> State:
        """Read the experiment from the store again."""
        before = self._state
        self._state = self._store.read(lambda transaction: State.read(transaction, self.number, before))
        return self._state

    def now(self) -> int:
        """The time by its clock, in microseconds."""
        return self._clock()

    def hashed_key(self, key: object) -> str:
        """A key as the store keeps it."""
        return hashed(self._secret, key)

    @property
    def rng(self) -> random.Random:
        """Where draws come from."""
        return self._random


def _place_in_order(tell: Prepared | TruantError) -> tuple[int, str]:
    if isinstance(tell, TruantError):
        return 0, ""
    return tell.place.number or 0, tell.place.key or ""

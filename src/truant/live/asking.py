"""Ask: draws an arm from the stored allocation and keeps the decision. No estimate is made here."""

from __future__ import annotations

import hashlib
import hmac
import random
from bisect import bisect_right
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate

from truant.errors import Gone, InvalidValue, Unavailable
from truant.live.configuration import Configuration
from truant.live.decision import TAG_BITS, Decision, decision_of, encoded
from truant.live.store import Transaction, decision_statements, statements
from truant.live.store.statements import ENDED, PAUSED, RUNNING, AllocationRow, Head
from truant.live.times import as_datetime
from truant.text import named, quoted

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

    def drawn(self, rng: random.Random) -> tuple[int, int, float, int]:
        """Tag, arm, probability and whether it is of the holdout, of a new decision."""
        holdout = self._holdout > 0 and rng.random() < self._holdout
        shares = self.fixed if holdout else self.shares
        arm = shares.draw(rng)
        return rng.getrandbits(TAG_BITS) - HALF_TAG, arm, shares.probabilities[arm], int(holdout)

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
        return [self.decision(one, kept[one[0]]) for one in drawn] if kept else []

    def decision(self, drawn: tuple[int, int, float, int], kept: tuple[int, int, int]) -> Decision:
        """The public form of what was drawn and of what the store made of it: number, time and deadline."""
        tag, arm, probability, holdout = drawn
        number, asked, _ = kept
        moment = as_datetime(asked)
        return Decision(
            encoded(number, tag),
            self.configuration.arms[arm],
            probability,
            moment,
            moment + self._until,
            self.allocation.version,
            bool(holdout),
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

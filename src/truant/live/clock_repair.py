"""What to do if a clock was wrong: compare clocks, accept the one of the store, or undo what it did."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from truant.durations import duration_text
from truant.errors import Conflict, InvalidValue, named, quoted
from truant.live.clock import ACCEPTED
from truant.live.configuration import ON_ARRIVAL, Note
from truant.live.decision import SKEW, turned_back
from truant.live.settle import configuration_of
from truant.live.store import Transaction, decision_statements, statements
from truant.live.store.deadline import patient
from truant.live.store.statements import Head
from truant.live.times import DAY, SECOND, host_clock, moment, shown

if TYPE_CHECKING:
    from truant.live.experiment import Experiment


def accept(experiment: Experiment, note: Note) -> int:
    """Note that the clock of the store is right now; all processes that have the experiment open believe it."""

    def operation(transaction: Transaction) -> int:
        now, head = transaction.now(), statements.head_of(transaction, experiment.number)
        body = {"clock": shown(now)}
        at = max(now, head.clock)
        statements.insert_event(transaction, experiment.number, ACCEPTED, at, note=note, body=body)
        experiment.clock.start(transaction, experiment.number)
        return now

    return experiment.store.write(operation)


CHUNK = 20_000


@patient
def turn_back(experiment: Experiment, to: datetime | str, note: Note) -> int:
    """Set the clock of an experiment back; gives how many decisions wait for their windows again.

    Decisions that were made while the clock was ahead count as made now, and what was told then as told now.
    """
    limit = moment("to", to)

    def operation(transaction: Transaction) -> int:
        head = statements.head_of(transaction, experiment.number, experiment.store.for_update)
        now = experiment.now_in(transaction)
        if limit > now:
            raise InvalidValue(f"to must not be in the future: it is {shown(now)}, got {quoted(to)}.")
        if limit >= head.clock:
            raise Conflict(
                f"Experiment {named(head.name)} has seen no later time than {shown(head.clock)}: there is nothing to "
                f"undo after {shown(limit)}."
            )
        on_arrival = configuration_of(transaction, head).settle == ON_ARRIVAL
        reopened, moved, days = 0, 0, set[int]()
        for rows in decision_statements.rows_in_chunks(transaction, head.id, CHUNK):
            changed = []
            for row in rows:
                after = turned_back(row, limit, now, on_arrival)
                if after == row:
                    continue
                changed.append(after)
                moved += row.asked > now
                if row.settled is not None:
                    reopened += after.settled is None
                    days.add(row.asked // DAY)
            decision_statements.replace_rows(transaction, changed)
        for day in sorted(days):
            statements.mark_stale(transaction, head.id, day)
        created = min(head.created, now)
        statements.update_experiment(transaction, head.id, clock=limit, created=created)
        body = {"to": shown(limit), "from": shown(head.clock), "reopened": reopened, "moved": moved}
        statements.insert_event(transaction, head.id, "clock_back", now, note=note, body=body)
        return reopened

    return experiment.store.write(operation)


def compare_clocks(experiment: Experiment) -> list[str]:
    """A sentence for each two clocks that differ by more than machines may: of experiment, store and this machine."""

    def query(transaction: Transaction) -> list[str]:
        given = experiment.now_in(transaction) if experiment.clock.is_given else None
        return differing_clocks(transaction, statements.head_of(transaction, experiment.number), given)

    return experiment.store.read(query)


def differing_clocks(transaction: Transaction, head: Head, given: int | None) -> list[str]:
    """The same in a transaction; `given` is the time by a clock of the caller, which takes the place of the others."""
    seen = head.clock
    now, host = (transaction.now(), host_clock()) if given is None else (given, given)
    found = []
    if seen > now + SKEW:
        found.append(
            f"A clock was ahead: the experiment has seen the time {shown(seen)}, {_apart(seen, now)} after the clock "
            f"of the store. Windows were closed and decisions made by that time; truant clock back (in Python: "
            "turn_clock_back) undoes it, if the clock of the store is right."
        )
    if abs(now - host) > SKEW:
        found.append(
            f"The clock of this machine says {shown(host)}, {_apart(now, host)} from the clock of the store, which "
            "decides: correct the one that is wrong."
        )
    return found


def _apart(one: int, other: int) -> str:
    return duration_text(abs(one - other) // SECOND * SECOND)

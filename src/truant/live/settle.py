"""Closes windows: settled decisions enter the counts, by whoever holds the experiment's lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from truant.live import counting
from truant.live.configuration import Configuration
from truant.live.decision import OBSERVED, Row
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.statements import Head
from truant.live.times import DAY

MOST = 20_000  # decisions of one batch: a transaction stays short


class Closed(NamedTuple):
    """What one batch did."""

    decisions: int
    answers: int
    recounted: int  # days that were counted again after a correction
    more: bool  # there may be more to close
    busy: bool = False  # another process is closing windows


def close_batch(store: Store, experiment: int, now: int, wait: bool = False) -> Closed:
    """Settle decisions whose window is over, answers to follow-ups, and days with corrections, in one transaction.

    Parameters
    ----------
    store, experiment, now : where, which, and until when.
    wait : for another process that is closing windows; if not, this one leaves it to that.
    """

    def operation(transaction: Transaction) -> Closed:
        if wait:
            head: Head | None = statements.head_of(transaction, experiment, store.for_update)
        else:
            head = statements.locked_head(store, transaction, experiment)
        if head is None:
            return Closed(0, 0, 0, False, busy=True)
        return _close(store, transaction, head, max(now, head.clock))

    return store.write(operation)


def _close(store: Store, transaction: Transaction, head: Head, now: int) -> Closed:
    configuration = configuration_of(transaction, head)
    version = head.counts_version + 1
    absent = configuration.mediator_absent
    rows = decision_statements.close_windows(
        store,
        transaction,
        head.id,
        version,
        now,
        MOST,
        configuration.absent,
        None if absent is None else configuration.mediator_levels.index(absent),
    )
    answers = decision_statements.settle_answers(transaction, head.id, version)
    stale = statements.stale_days(transaction, head.id)
    if not rows and not answers and not stale:
        return Closed(0, 0, 0, False)
    fresh = [row for row in rows if counting.day_of(row) not in stale]
    fresh_answers = [row for row in answers if counting.day_of(row) not in stale]
    days = sorted({counting.day_of(row) for row in [*fresh, *fresh_answers]})
    cells = statements.day_cells(transaction, head.id, days) if days else {}
    counting.add_rows(cells, fresh, fresh_answers, configuration, shares_of(transaction, head.id, fresh))
    for day in stale:
        again = list(decision_statements.settled_rows(transaction, head.id, day * DAY, (day + 1) * DAY))
        cells |= counting.emptied(statements.day_cells(transaction, head.id, [day]), configuration)
        cells |= counting.recounted(again, configuration, shares_of(transaction, head.id, again))
    statements.write_cells(transaction, head.id, version, cells)
    statements.update_experiment(transaction, head.id, counts_version=version, clock=now)
    body = {
        "version": version,
        "decisions": len(rows),
        "observed": sum(row.state == OBSERVED for row in rows),
        "answers": len(answers),
        "recounted": stale,
    }
    statements.insert_event(transaction, head.id, "closed", now, body=body)
    return Closed(len(rows), len(answers), len(stale), len(rows) >= MOST)


def configuration_of(transaction: Transaction, head: Head) -> Configuration:
    """The configuration that holds now."""
    return Configuration.from_json(statements.configuration_text(transaction, head.id, head.revision))


def shares_of(transaction: Transaction, experiment: int, rows: Sequence[Row]) -> dict[int, list[float]]:
    """The probabilities of all arms, of every allocation that these decisions were drawn from."""
    versions = sorted({row.allocation for row in rows if row.allocation is not None})
    return {
        one.version: one.probabilities for one in statements.allocations(transaction, experiment, versions)
    }

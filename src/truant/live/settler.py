"""When windows are closed: by whichever process comes by once something is due, one at a time."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from truant.live.asking import State
from truant.live.store import Transaction, decision_statements, statements

if TYPE_CHECKING:
    from truant.live.counting import Cells
    from truant.live.decisions import Decisions


class Settler:
    """Closes windows and makes allocations for one experiment in this process.

    What it remembers is only to save work: the counts are those of the store.
    """

    def __init__(self, by_itself: bool = True) -> None:
        self._by_itself = by_itself  # in asks and tells
        self._process = os.getpid()
        self._last = self._next = 0  # when it last looked, and when to look again
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
                self._settle(experiment, now, wait=force)
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

    def _settle(self, experiment: Decisions, now: int, wait: bool) -> int:
        from truant.live.administration import allocate_if_due
        from truant.live.settle import close_batch

        store, number, settled = experiment.store, experiment.number, 0
        more = True
        while more:
            closed = close_batch(store, number, now, wait)
            settled, more = settled + closed.decisions, closed.more
        self._cells, self._version, made = allocate_if_due(store, number, now, self._cells, self._version)
        if made or settled:
            experiment.refresh()
        return settled

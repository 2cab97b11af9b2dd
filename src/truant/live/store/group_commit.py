"""Group commit: operations of many threads share a transaction, so that they share its wait for the disk.

Whoever comes first leads: it runs all operations that are waiting in one transaction. Those that come meanwhile wait,
and the first of them leads next. A single thread leads always, and pays nothing for the others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from truant.errors import TruantError, Unavailable

Result = TypeVar("Result")
MOST = 1000  # operations of one transaction
ATTEMPTS = 5  # of an operation that the database gave up for another one


class Retry(Exception):
    """The database gave this transaction up for another one (a deadlock); it may work at once."""


class _Waiting:
    """An operation, and what became of it."""

    __slots__ = ("done", "error", "leads", "operation", "result", "woken")

    def __init__(self, operation: Callable[[Any], Any]) -> None:
        self.operation = operation
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = self.leads = False
        self.woken: threading.Event | None = None


class GroupCommit:
    """Runs operations in transactions, those of several threads together.

    Parameters
    ----------
    transaction : begins a transaction; at the end of its `with` everything is kept.
    sentence_of : what an error of the database means, as an error of truant; None if it is not one of the database's.
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[Any]],
        sentence_of: Callable[[Exception], Exception | None],
    ) -> None:
        self._transaction, self._sentence_of = transaction, sentence_of
        self._mutex = threading.Lock()
        self._queue: deque[_Waiting] = deque()
        self._led = False  # somebody leads

    def run(self, operation: Callable[[Any], Result]) -> Result:
        """Run the operation in a transaction; returns once it is kept."""
        own = _Waiting(operation)
        with self._mutex:
            self._queue.append(own)
            if not self._led:
                self._led = own.leads = True
            else:
                own.woken = threading.Event()
        if not own.leads:
            self._wait(own)
        if own.leads:
            self._lead()
        if own.error is not None:
            raise own.error
        result: Result = own.result
        return result

    def _wait(self, own: _Waiting) -> None:
        assert own.woken is not None
        try:
            own.woken.wait()
        except BaseException:  # interrupted: neither the operation nor the lead may be left behind
            with self._mutex:
                if not own.done and own in self._queue:
                    self._queue.remove(own)
                if own.leads:
                    self._hand_over()
            raise

    def _lead(self) -> None:
        with self._mutex:
            batch = [self._queue.popleft() for _ in range(min(MOST, len(self._queue)))]
        try:
            self._commit(batch)
        finally:
            for one in batch:
                if not one.done:
                    one.error = one.error or Unavailable("The call was interrupted before it was kept.")
                    one.done = True
            with self._mutex:
                self._hand_over()
            for one in batch:
                if one.woken is not None:
                    one.woken.set()

    def _hand_over(self) -> None:
        """The next in the queue leads, if there is one; the mutex is held."""
        self._led = bool(self._queue)
        if self._queue:
            following = self._queue[0]
            following.leads = True
            assert following.woken is not None
            following.woken.set()

    def _commit(self, batch: Sequence[_Waiting]) -> None:
        """All in one transaction; each in one of its own if that fails, so that only the culprits do."""
        if len(batch) > 1:
            try:
                self._together(batch)
            except Exception:  # whose it is, and what it means, is found out below
                pass
            else:
                return
        for one in batch:
            self._alone(one)

    def _together(self, batch: Sequence[_Waiting]) -> None:
        with self._transaction() as transaction:
            for one in batch:
                _attempt(one, transaction)
        for one in batch:
            one.done = True

    def _alone(self, one: _Waiting) -> None:
        for _ in range(ATTEMPTS):
            try:
                with self._transaction() as transaction:
                    _attempt(one, transaction)
            except Exception as error:
                one.error = self._sentence_of(error) or error
                if isinstance(error, Retry):
                    continue
            break
        one.done = True


def _attempt(one: _Waiting, transaction: Any) -> None:
    """Run one operation; what it refuses is its own affair, what the database refuses ends the transaction."""
    one.error = None
    try:
        one.result = one.operation(transaction)
    except TruantError as refusal:
        one.error = refusal

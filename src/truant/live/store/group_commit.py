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
        self.woken = threading.Event()


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
        own = None
        with self._mutex:
            if self._led:
                own = _Waiting(operation)
                self._queue.append(own)
            else:  # then nobody waits either
                self._led = True
        if own is None:
            try:
                return self._alone(operation)
            finally:
                with self._mutex:
                    self._hand_over()
        self._wait(own)
        if own.leads:
            self._lead()
        if own.error is not None:
            raise own.error
        result: Result = own.result
        return result

    def _wait(self, own: _Waiting) -> None:
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
                    one.error = one.error or Unavailable(
                        "The call was interrupted before it was stored; repeat it."
                    )
                    one.done = True
            with self._mutex:
                self._hand_over()
            for one in batch:
                one.woken.set()

    def _hand_over(self) -> None:
        """The next in the queue leads, if there is one; the mutex is held."""
        self._led = bool(self._queue)
        if self._queue:
            following = self._queue[0]
            following.leads = True
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
            try:
                one.result = self._alone(one.operation)
            except Exception as error:
                one.error = error
            one.done = True

    def _together(self, batch: Sequence[_Waiting]) -> None:
        with self._transaction() as transaction:
            for one in batch:
                one.error = None
                try:
                    one.result = one.operation(transaction)
                except TruantError as refusal:
                    one.error = refusal
        for one in batch:
            one.done = True

    def _alone(self, operation: Callable[[Any], Result]) -> Result:
        """In a transaction of its own, which is begun again if the database gave it up for another one."""
        for _ in range(ATTEMPTS):
            try:
                with self._transaction() as transaction:
                    try:
                        return operation(transaction)
                    except TruantError as refusal:  # the transaction is not at fault
                        refused: Exception = refusal
            except Exception as error:
                refused = self._sentence_of(error) or error
                if isinstance(error, Retry):
                    continue
            break
        raise refused

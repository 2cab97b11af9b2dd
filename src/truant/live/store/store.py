"""What every store offers: transactions, a few words of its dialect of SQL, and group commit.

All statements are written once, in `statements` and `decision_statements`, in the SQL that SQLite (3.35 or newer) and
PostgreSQL share; `?` stands for a parameter. So a store is a way to open a database and to run transactions in it.
Operations of many threads share a transaction, so that they share its wait for the disk: whoever comes first leads and
runs all operations that are waiting in one transaction. Those that come meanwhile wait, and the first of them leads
next. A single thread leads always, and pays nothing for the others.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any, ClassVar, TypeVar

from truant.errors import TruantError, Unavailable
from truant.live.store import deadline
from truant.live.times import host_clock

Result = TypeVar("Result")
MOST = 1000  # operations of one transaction
TOO_LONG = "The store did not answer in time. Nothing was changed; try again."
ATTEMPTS = 5  # of an operation that the database gave up for another one


class Retry(Exception):
    """The database gave this transaction up for another one (a deadlock); it may work at once."""


class _Waiting:
    """An operation, and what became of it."""

    __slots__ = ("done", "error", "give_up", "leads", "limits", "operation", "result", "woken")

    def __init__(self, operation: Callable[[Any], Any]) -> None:
        self.operation = operation
        self.limits = deadline.limits()
        self.give_up = monotonic() + self.limits.left  # if nobody has answered by then
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
            if not own.woken.wait(max(own.give_up - monotonic(), 0)) and self._taken_back(own):
                raise Unavailable(TOO_LONG)
            own.woken.wait()  # whoever leads has a deadline, too
        except BaseException:  # interrupted: neither the operation nor the lead may be left behind
            with self._mutex:
                if not own.done and own in self._queue:
                    self._queue.remove(own)
                if own.leads:
                    self._hand_over()
            raise

    def _taken_back(self, own: _Waiting) -> bool:
        """Whether an operation that waited too long was not begun yet; then it never is."""
        with self._mutex:
            if own.leads or own not in self._queue:
                return False
            self._queue.remove(own)
            return True

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
                if one.give_up <= monotonic() and len(batch) > 1:  # all of it went by while others were tried
                    raise Unavailable(TOO_LONG)
                with deadline.under(one.limits):
                    one.result = self._alone(one.operation)
            except Exception as error:
                one.error = error
            one.done = True

    def _together(self, batch: Sequence[_Waiting]) -> None:
        limits = deadline.of_all([one.limits for one in batch])
        with deadline.under(limits), self._transaction() as transaction:
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


Parameters = Sequence[Any]


class Transaction(ABC):
    """Statements that are kept together or not at all."""

    def now(self) -> int:
        """The time by the clock of the store, in microseconds; of this machine if the database has none."""
        return host_clock()

    @abstractmethod
    def rows(self, statement: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows that a statement gives (SELECT, or RETURNING)."""

    @abstractmethod
    def run(self, statement: str, parameters: Parameters = ()) -> int:
        """Run a statement; the number of rows that it changed."""

    @abstractmethod
    def many(self, statement: str, rows: Sequence[Parameters]) -> None:
        """Run a statement once for each row of parameters."""

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """Statements of which none is kept if an error of truant is raised among them."""
        self.run("SAVEPOINT all_or_none")
        try:
            yield
        except TruantError:
            self.run("ROLLBACK TO SAVEPOINT all_or_none")
            raise
        self.run("RELEASE SAVEPOINT all_or_none")

    @abstractmethod
    def stream(self, statement: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one after the other, not all of them in memory at once."""


class Store(ABC):
    """A database in which experiments are kept; opened by `truant.live.store.opening.open_store`.

    What has been written when `write` returns survives the end of the process. Threads may share a store; a process
    that was forked opens connections of its own.

    Parameters
    ----------
    url : where it is, such as sqlite:///mails.db.
    create : make the database if it is not there; if not, one that is missing is refused.
    """

    # what differs between dialects: an integer key that counts up, a real number, and a lock on rows that are read
    identity: ClassVar[str]
    real: ClassVar[str]
    for_update: ClassVar[str]
    is_shared = True  # other processes may use it, too

    def __init__(self, url: str, create: bool = True) -> None:
        self.url = url
        self.forget_connections()
        _OPEN.add(self)

    @property
    def place(self) -> str:
        """Where it is, as people are told: without a password."""
        return _without_password(self.url)

    def forget_connections(self) -> None:
        """Start with no connections and no waiting threads: at first, and in a forked process."""
        self._group = GroupCommit(self.transaction, self.sentence_of)

    def before_fork(self) -> None:
        """Called in the parent before it is forked; `after_fork` follows in any case."""
        return

    def after_fork(self) -> None:
        """Called in the parent after it was forked."""
        return

    def write(self, operation: Callable[[Transaction], Result]) -> Result:
        """Run an operation in a transaction, perhaps together with those of other threads; it is kept on return.

        The operation may be run again from the start if the transaction failed. It raises what it refuses before it
        changes anything.
        """
        return self._group.run(operation)

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write: kept at its end, undone if it raises."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """A transaction that only reads, and sees one state of the database throughout."""

    @abstractmethod
    def sentence_of(self, error: Exception) -> Exception | None:
        """What an error of the database means, as an error of truant; None if it is not one of the database's."""

    @abstractmethod
    def tables(self, transaction: Transaction) -> set[str]:
        """The names of the tables that are there."""

    def lock_for_migration(self, transaction: Transaction) -> None:
        """Wait until no other process migrates; nothing to do where a transaction that writes is alone anyway."""
        return

    def after_restore(self, transaction: Transaction) -> None:
        """Put right what rows that were copied do not bring along, such as the next number of a decision."""
        return

    @abstractmethod
    def problems(self) -> list[str]:
        """Damage that the database itself finds, a sentence each."""

    def tidy(self) -> None:
        """Give back disk space that is not needed; a settler calls it now and then."""
        return

    @abstractmethod
    def close(self) -> None:
        """Close the connections; the store opens new ones if it is used again."""

    def reopen(self) -> None:
        """Use the database that is there now, if another one was put in its place."""
        self.close()

    def read(self, query: Callable[[Transaction], Result]) -> Result:
        """What a query gives, in one state of the database."""
        try:
            with self.reading() as transaction:
                return query(transaction)
        except Exception as error:
            said = self.sentence_of(error)
            if said is None:
                raise
            raise said from error


_OPEN: weakref.WeakSet[Store] = weakref.WeakSet()


def _before_fork() -> None:
    for store in list(_OPEN):
        store.before_fork()


def _after_fork() -> None:
    for store in list(_OPEN):
        store.after_fork()


def _after_fork_in_child() -> None:
    for store in list(_OPEN):
        store.forget_connections()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def _without_password(url: str) -> str:
    hidden = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)
    return re.sub(r"(password=)[^&]*", r"\1***", hidden)

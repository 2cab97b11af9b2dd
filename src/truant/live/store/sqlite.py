"""Experiments in an SQLite file: the default, with nothing to install or to start.

SQLite keeps its locks by process: a child that inherits an open connection takes the parent's locks for its own, also
those of connections that it opens itself, and what it writes can be lost. So connections are closed before a fork.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from truant.errors import InvalidValue, Unavailable, named, unknown
from truant.live.store.deadline import limits
from truant.live.store.opening import check_own
from truant.live.store.sqlite_file import StoreFile
from truant.live.store.store import Parameters, Store, Transaction


class ForkGate:
    """Counts the threads that use a connection; while it is shut, those that begin wait."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside: dict[int, int] = {}  # uses by thread: one may use two stores at once
        self._shut = False

    def enter(self) -> None:
        """Begin to use a connection; waits between `shut` and `open`."""
        thread = threading.get_ident()
        with self._lock:
            while self._shut and thread not in self._inside:
                self._changed.wait()
            self._inside[thread] = self._inside.get(thread, 0) + 1

    def leave(self) -> None:
        """The connection is not used any more."""
        thread = threading.get_ident()
        with self._lock:
            left = self._inside.pop(thread, 1) - 1  # none in a child that was forked in here
            if left:
                self._inside[thread] = left
            elif self._shut:
                self._changed.notify_all()

    def shut(self, patience: float) -> bool:
        """Wait until no thread uses a connection, and let none begin; False if that took too long."""
        own = threading.get_ident()
        with self._changed:
            self._shut = True
            self._changed.wait_for(lambda: self._inside.keys() <= {own}, patience)
            return not self._inside

    def open(self) -> None:
        """Let threads use connections again."""
        with self._changed:
            self._shut = False
            self._changed.notify_all()

    def renew(self) -> None:
        """Forget the threads of the parent, in a forked process."""
        if self._process != os.getpid():
            self._reset()


DURABILITY = ("full", "process")  # survives a power cut, or the end of the process only
LONGEST_LOG = 64 << 20  # bytes of the log beside the file, to which it is cut once it has been written back
PATIENCE = 10.0  # seconds to wait for another process that writes
_INHERITED: list[object] = []  # connections of a parent process: neither used nor closed here
_GATE = ForkGate()  # one for all stores: a thread may use two


class SQLiteTransaction(Transaction):
    """A transaction on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()  # one for all: making one costs as much as a small statement

    def rows(self, statement: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows that a statement gives."""
        return self._cursor.execute(statement, parameters).fetchall()

    def run(self, statement: str, parameters: Parameters = ()) -> int:
        """Run a statement; the number of rows that it changed."""
        return self._cursor.execute(statement, parameters).rowcount

    def many(self, statement: str, rows: Sequence[Parameters]) -> None:
        """Run a statement once for each row of parameters."""
        self._cursor.executemany(statement, rows)

    def stream(self, statement: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one after the other."""
        yield from self._connection.execute(statement, parameters)


LONGEST_PAUSE = (
    0.002  # seconds between two tries: short and random, so that all processes have the same chance
)


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _begin_writing(cursor: sqlite3.Cursor) -> None:
    """Lock the file; waits for other processes, as long as the call may.

    SQLite's own waiting sleeps longer and longer, so that who waits already is passed by those who come later.
    """
    end = None
    while True:
        try:
            cursor.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            end = end or time.monotonic() + limits().left
            if not _is_busy(error) or time.monotonic() >= end:
                raise
        time.sleep(LONGEST_PAUSE * random.random())


class _Writing(SQLiteTransaction):
    """Begins a transaction that writes and ends it: a class, since a generator would cost half as much as SQLite."""

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __enter__(self) -> Self:
        _GATE.enter()
        self._store.memory_lock.acquire()
        try:
            super().__init__(self._store.writer())
            _begin_writing(self._cursor)
            self._store.file.know_log()
        except BaseException as error:
            self._store.discard_writer_after(error)
            self._leave()
            raise
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        file = self._store.file
        try:
            if kind is None:
                file.check()
                self._cursor.execute("COMMIT")
                file.check()  # what went into a file that is gone by now is not acknowledged
                file.wait_for_disk()
        except BaseException as failure:
            error = failure
            raise
        finally:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            self._store.discard_writer_after(error)
            self._leave()

    def _leave(self) -> None:
        self._store.memory_lock.release()
        _GATE.leave()


class SQLiteStore(Store):
    """SQLite: sqlite:///mails.db (a file), sqlite:// (in memory); ?durability=process does not wait for the disk."""

    identity, real, for_update = "INTEGER PRIMARY KEY", "REAL", ""

    def __init__(self, url: str, create: bool = True) -> None:
        self._path, durable = _parsed(url)
        self.file = StoreFile(self._path, durable)
        self._open_at_fork = self._refused = False
        self.is_shared = self._path is not None
        if self._path is not None and not self._path.exists():
            if not create:
                raise InvalidValue(
                    f"There is no store at {named(self._path)}; create an experiment first, or name the store with "
                    "--store (in Python: store=) or TRUANT_STORE, if it is in another folder."
                )
            _make_private(self._path)
        super().__init__(url, create)

    @property
    def place(self) -> str:
        """The file, in words."""
        if self._path is None:
            return "in memory"
        return f"{self._path} in the current folder" if self._path.parent == Path() else str(self._path)

    def forget_connections(self) -> None:
        """Start with no connections: at first, and in a forked process."""
        if self._open_at_fork:
            self._refused = True
            _INHERITED.append((self._writer, self._readers))
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self.memory_lock = threading.RLock()
        _GATE.renew()
        super().forget_connections()

    def before_fork(self) -> None:
        """Close the connections, as soon as no thread uses one."""
        self._open_at_fork = not _GATE.shut(PATIENCE) or (self._path is None and self._writer is not None)
        if not self._open_at_fork:
            with suppress(sqlite3.Error):
                self.close()

    def after_fork(self) -> None:
        """Open connections again when they are needed."""
        self._open_at_fork = False
        _GATE.open()

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write; other processes that write wait."""
        return _Writing(self)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that only reads; in a file it waits for nobody."""
        if self._path is None:
            with self.transaction() as transaction:
                yield transaction
            return
        _GATE.enter()
        try:
            connection = self._readers.pop() if self._readers else self._connect()
            failure: BaseException | None = None
            try:
                self.file.check()
                connection.execute("BEGIN")
                yield SQLiteTransaction(connection)
            except BaseException as error:
                failure = error
                raise
            finally:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                if _spoils(failure):
                    connection.close()
                else:
                    self._readers.append(connection)
        finally:
            _GATE.leave()

    def writer(self) -> sqlite3.Connection:
        """The connection that writes."""
        if self._writer is None:
            self._writer = self._connect()
            self._writer.execute("PRAGMA busy_timeout=0")  # `_begin_writing` waits
        return self._writer

    def discard_writer_after(self, error: object) -> None:
        """Open the file anew after an error that its connection would go on to give, as when it was read-only."""
        if _spoils(error):
            with suppress(sqlite3.Error):
                self.close()

    def reopen(self) -> None:
        """Use the file that is there now, after another one was put in its place."""
        super().reopen()
        self.file.forget()

    def sentence_of(self, error: Exception) -> Exception | None:
        """What an error of SQLite means."""
        if not isinstance(error, sqlite3.Error):
            return None
        where = "the store in memory" if self._path is None else f"the store {named(self._path)}"
        code = getattr(error, "sqlite_errorname", "") or ""
        causes = {
            "SQLITE_BUSY": "another process keeps it locked; try again",
            "SQLITE_LOCKED": "another connection has locked it; try again",
            "SQLITE_FULL": "the disk is full",
            "SQLITE_READONLY": "it is read-only for this user",
            "SQLITE_IOERR": "the disk cannot be written or read; it may be full",
            "SQLITE_CANTOPEN": "it cannot be opened: check that the folder exists and that it may be written to",
            "SQLITE_NOTADB": "it is not an SQLite file",
            "SQLITE_CORRUPT": "the file is damaged; restore a backup, and run truant doctor on it",
        }
        cause = next((text for name, text in causes.items() if code.startswith(name)), str(error))
        return Unavailable(f"Cannot use {where}: {cause}. Nothing was changed.")

    def tables(self, transaction: Transaction) -> set[str]:
        """The names of the tables that are there."""
        found = transaction.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {str(name) for (name,) in found}

    def problems(self) -> list[str]:
        """Damage that SQLite's own check finds."""
        try:
            found = self.read(lambda transaction: transaction.rows("PRAGMA integrity_check"))
        except Unavailable as error:  # so damaged that it cannot even be checked
            return [str(error)]
        return [f"SQLite says: {row[0]}" for row in found if row[0] != "ok"]

    def tidy(self) -> None:
        """Write a long log back into the file, if nobody is in the way: readers at all times keep it growing."""
        if self._path is None:
            return
        log = self._path.with_name(f"{self._path.name}-wal")
        _GATE.enter()
        try:
            with suppress(OSError, sqlite3.Error):
                if log.stat().st_size > LONGEST_LOG:
                    with closing(self._connect()) as connection:
                        connection.execute("PRAGMA busy_timeout=100")
                        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            _GATE.leave()

    def close(self) -> None:
        """Close the connections; those of a store in memory stay, as closing them would empty it."""
        if self._path is None:
            return
        for connection in [*self._readers, *([self._writer] if self._writer else [])]:
            connection.close()
        self._readers, self._writer = [], None
        self.file.close()

    def _connect(self) -> sqlite3.Connection:
        if self._refused:
            in_use = "A store that was in use when the process was forked"
            what = "A store in memory" if self._path is None else in_use
            raise InvalidValue(f"{what} belongs to the parent process; use a file, and fork between calls.")
        self.file.check()
        self.file.make_parts_writable()
        connection = sqlite3.connect(
            self.file.address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            if self._path is not None:
                # before the next line, which would change a file of somebody else
                check_own(self.tables(SQLiteTransaction(connection)))
                _use_log(connection)
                # the log is written to the disk by `StoreFile`, after the lock was given back
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(f"PRAGMA journal_size_limit={LONGEST_LOG}")
                self.file.know()
        except BaseException:
            connection.close()
            raise
        return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side (WAL).

    While another process does the same to a new file, SQLite refuses at once instead of waiting.
    """
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > give_up:
                raise
        time.sleep(0.01)


def _spoils(error: object) -> bool:
    """Whether a connection goes on to give this error, though the file may be sound again."""
    name = getattr(error, "sqlite_errorname", "") if isinstance(error, sqlite3.Error) else ""
    return name.startswith(
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB")
    )


def _parsed(url: str) -> tuple[Path | None, bool]:
    """The file (None: in memory), and whether a call waits for the disk."""
    address, _, options = url.partition("?")
    settings = {name: values[-1] for name, values in parse_qs(options, keep_blank_values=True).items()}
    durability = settings.pop("durability", "full")
    if durability not in DURABILITY:
        raise unknown("durability", durability, DURABILITY)
    for name in settings:
        raise unknown("option of an SQLite store:", name, ["durability"])
    _, _, place = address.partition("://")
    if place in ("", "/", "/:memory:"):
        return None, False
    if not place.startswith("/"):
        raise InvalidValue(
            f"An SQLite store is written sqlite:///file.db, or sqlite:////folder/file.db, got {url!r}."
        )
    if place.endswith("/"):
        raise InvalidValue(f"An SQLite store is a file, and {url!r} names a folder; add the name of a file.")
    return Path(place[1:]), durability == "full"


def _make_private(path: Path) -> None:
    """Make the file, readable by its owner only; the files that SQLite puts beside it follow it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise Unavailable(f"Cannot make the store {named(path)}: {error.strerror}.") from None


parts = {"sqlite": SQLiteStore}

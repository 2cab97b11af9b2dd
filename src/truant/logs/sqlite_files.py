"""SQLite files, opened so that nothing in them or beside them is written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from typing import Any
from urllib.parse import quote

from truant.errors import InvalidValue
from truant.extras import require
from truant.tables.engine import private_folder

CHUNK = 1 << 22  # bytes


def open_sqlite(path: str) -> Any:
    """The Ibis backend of a SQLite file; or raises InvalidValue or sqlite3.Error."""
    require("logs", "Tables in SQLite files", "pandas")  # which Ibis imports there
    import ibis

    log = path + "-wal"
    in_wal_mode = _in_wal_mode(path)
    options, folder = "mode=ro", None
    if in_wal_mode and not os.path.lexists(path + "-shm"):
        # nobody has it open, and SQLite would make files beside it, and leave them
        if os.path.exists(log) and os.stat(log).st_size:
            folder = _private_copy(path, log)
        else:
            options += "&immutable=1"
    file = path if folder is None else os.path.join(folder, "copy.db")
    connection = sqlite3.connect(f"file:{quote(file)}?{options}", uri=True, factory=_factory(folder))
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # views call no function that could do harm
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        return ibis.sqlite.from_connection(connection)
    except sqlite3.OperationalError as error:
        connection.close()
        if in_wal_mode and "unable to open" in str(error):
            raise InvalidValue(
                f"Cannot read {path!r}: it has a write-ahead log, and its folder is not writable; copy it and "
                f"{os.path.basename(log)!r} to a folder of your own."
            ) from None
        raise
    except BaseException:
        connection.close()
        raise


def _factory(folder: str | None) -> type[sqlite3.Connection]:
    """A connection that removes the private copy when it is closed."""

    class Connection(sqlite3.Connection):
        def close(self) -> None:
            super().close()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    return Connection


def _private_copy(path: str, log: str) -> str | None:
    """A folder with `copy.db` and its write-ahead log; None if someone opened the file meanwhile."""
    folder = tempfile.mkdtemp(dir=private_folder())
    try:
        before = _state(path, log)
        with open(os.path.join(folder, "copy.db"), "wb") as copy:
            place = 0
            while chunk := os.pread(_open(path), CHUNK, place):
                place += copy.write(chunk)
        shutil.copyfile(log, os.path.join(folder, "copy.db-wal"))
        if os.path.lexists(path + "-shm") or _state(path, log) != before:
            shutil.rmtree(folder)
            return None
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidValue(
            f"Cannot read {path!r}: it has a write-ahead log and so is copied to {folder!r} first, which failed: "
            f"{error.strerror or error}; make room there, or open and close the database with SQLite."
        ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _state(*paths: str) -> list[tuple[int, int]]:
    return [(status.st_size, status.st_mtime_ns) for status in map(os.stat, paths)]


_kept_open: dict[tuple[int, int], int] = {}


def _open(path: str) -> int:
    """The file, which stays open: closing it would drop the locks that the same program may hold on it by SQLite."""
    status = os.stat(path)
    place = (status.st_dev, status.st_ino)
    if place not in _kept_open:
        _kept_open[place] = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    return _kept_open[place]


def _in_wal_mode(path: str) -> bool:
    """What the header of the file says of its journal."""
    head = os.pread(_open(path), 20, 0)
    return head.startswith(b"SQLite format 3\0") and head[18:20] == b"\x02\x02"

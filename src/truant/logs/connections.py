"""Open connections: to SQLite files, to servers, and those of users."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from typing import Any
from urllib.parse import quote, unquote

from truant.errors import InvalidValue, require
from truant.logs.engines import (
    Engine,
    cursor_engine,
    duckdb_engine,
    duckdb_table,
    first_line,
    postgres_table,
    psycopg_engine,
    sqlite_engine,
    sqlite_table,
)
from truant.logs.places import LOCAL, database_file, refuse_others, scheme, without_password
from truant.tables.engine import open_database, private_folder

READ_ONLY = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
NO_ANSWER = "refused|timed out|timeout|could not translate|name or service not known|no route"
REFUSED = "authentication failed|access denied|permission denied|no password|role |login failed"


def connect_server(url: str) -> Any:
    """A connection to PostgreSQL in a session that only reads; or raises InvalidValue or MissingExtra."""
    require("postgres", "Tables in PostgreSQL")
    import psycopg

    _check_user_info(url)
    try:
        connection = psycopg.connect(url, autocommit=True)
    except Exception as error:  # what it says may hold the password, so no chain
        raise InvalidValue(_not_connected(url, error)) from None
    try:
        connection.execute(READ_ONLY)
        connection.read_only = True  # also of each transaction, whatever a function sets for the session
        connection.autocommit = False
    except BaseException:
        connection.close()
        raise
    return connection


def _check_user_info(url: str) -> None:
    """Signs that end the user's name or password too early."""
    text = url.partition("://")[2]
    place = re.match(r"[^/?#]*", text)
    authority = place[0] if place else ""
    rest = text[len(authority) :]
    path = rest.partition("?")[0] if rest.startswith("/") else rest
    port = authority.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    if (authority and "@" in path) or (port and not port.isdigit()):
        raise InvalidValue(
            f"The URL of {without_password(url)} cannot be read: write signs other than letters and digits in its "
            "user name and password percent-encoded, such as %23 for #, %3F for ?, %2F for /, %3A for :, %40 for @."
        )


def _not_connected(url: str, error: Exception) -> str:
    said = first_line(error)
    secret = url.partition("://")[2].rpartition("@")[0]
    for piece in sorted(
        {*re.findall(r"\w+", secret), *re.findall(r"\w+", unquote(secret))}, key=len, reverse=True
    ):
        said = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "***", said)
    if re.search(REFUSED, str(error), re.IGNORECASE):
        advice = "check the user, the password and what the user may read"
    elif re.search(NO_ANSWER, str(error), re.IGNORECASE):
        advice = "check the host and the port, and that the server runs and can be reached"
    else:
        advice = "check the URL, and that the server runs and can be reached"
    return f"Cannot connect to {without_password(url)}: {said}; {advice}."


CHUNK = 1 << 22  # bytes


def open_sqlite(path: str) -> sqlite3.Connection:
    """A connection to a SQLite file; or raises InvalidValue or sqlite3.Error."""
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
        return connection
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


DRIVERS = {"psycopg2": "postgres", "pg8000": "postgres"}
TABLES = {"duckdb": duckdb_table, "postgres": postgres_table, "sqlite": sqlite_table}
VENDORS = {"postgresql": "postgres", "duckdb": "duckdb"}  # as ADBC calls them


def engine_of(data: Any) -> Engine | None:
    """The engine of a DB-API or ADBC connection, a SQLAlchemy engine, connection or session; None if it is none.

    The connection stays open.
    """
    kind = type(data)  # a data frame may have columns of any name as attributes, its class has none
    module = kind.__module__.partition(".")[0]
    if isinstance(data, sqlite3.Connection):
        return sqlite_engine(data, close=False)
    if kind.__name__ == "DuckDBPyConnection":
        return duckdb_engine(data, close=False)
    if module in ("psycopg", "sqlalchemy") and kind.__name__.lower().startswith("async"):
        raise InvalidValue(
            f"truant cannot wait for {module}'s {kind.__name__}; pass one that is not asynchronous."
        )
    if module == "sqlalchemy":
        return _of_sqlalchemy(data)
    if module == "psycopg" and hasattr(kind, "cursor"):
        return psycopg_engine(data)
    if module in DRIVERS and hasattr(kind, "cursor"):
        return cursor_engine(DRIVERS[module], data, close=False)
    if hasattr(kind, "adbc_get_info"):
        vendor = str(data.adbc_get_info().get("vendor_name", ""))
        if vendor.lower() not in VENDORS:
            raise InvalidValue(
                f"truant cannot read {vendor or 'this database'} by ADBC; pass a connection of its own driver, or its "
                "URL with ::table."
            )
        return cursor_engine(VENDORS[vendor.lower()], data, close=False)
    if hasattr(kind, "cursor") and hasattr(kind, "commit"):
        raise InvalidValue(
            f"truant does not know connections of {module}; it reads those of sqlite3, duckdb, psycopg, psycopg2, "
            "pg8000, ADBC and SQLAlchemy."
        )
    return None


def _of_sqlalchemy(data: Any) -> Engine | None:
    """The connection of the driver below; that of an engine goes back to its pool."""
    if hasattr(data, "raw_connection"):
        pooled = data.raw_connection()
        try:
            engine = engine_of(pooled.driver_connection)
        except InvalidValue:
            pooled.close()
            raise
        if engine is None:
            pooled.close()
            return None
        engine.close = pooled.close
        return engine
    if not hasattr(data, "connection"):
        return None
    connection = data.connection() if callable(data.connection) else data  # of a session
    return engine_of(connection.connection.driver_connection)


def connect(url: str) -> Engine:
    """The engine of a database URL; or raises InvalidValue, UnknownName or MissingExtra."""
    kind = str(scheme(url))
    refuse_others(kind, url)
    rest = url.strip()[len(kind) + 1 :]
    if kind in LOCAL:
        path = database_file(kind, rest)
        return duckdb_engine(open_database(path)) if kind == "duckdb" else sqlite_engine(open_sqlite(path))
    return cursor_engine("postgres", connect_server(f"{kind}:{rest}"))

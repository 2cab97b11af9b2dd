"""Databases, by URL: files are opened read-only, servers by Ibis.

A table is written `URL::table` or `URL::schema.table`:
`postgresql://user@host/database::visits`, `sqlite:///shop.db::visits`, `duckdb:///shop.duckdb::visits`.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import Any
from urllib.parse import quote, unquote

from truant.errors import InvalidValue, MissingExtra, unknown
from truant.tables.engine import as_ibis, open_database

LOCAL = ("sqlite", "duckdb")  # databases that are a file
# what Ibis connects to by URL; engines without a server (polars, pyspark, ...) come as Ibis tables
SERVERS = (
    "athena",
    "bigquery",
    "clickhouse",
    "databricks",
    "druid",
    "exasol",
    "impala",
    "materialize",
    "mssql",
    "mysql",
    "oracle",
    "postgres",
    "postgresql",
    "risingwave",
    "singlestoredb",
    "snowflake",
    "trino",
)
# file systems that are not this machine's, by their usual names
REMOTE = (
    "abfs",
    "abfss",
    "adl",
    "az",
    "azure",
    "dbfs",
    "ftp",
    "ftps",
    "gcs",
    "github",
    "gs",
    "hdfs",
    "hf",
    "http",
    "https",
    "oss",
    "r2",
    "s3",
    "s3a",
    "s3n",
    "sftp",
    "smb",
    "ssh",
    "webdav",
    "webhdfs",
)


def is_url(text: str) -> bool:
    """Whether the text is a URL, in any case, rather than a path of this machine."""
    kind = scheme(text)
    if kind is None or os.path.exists(text):
        return False
    return f"{kind}://" in text.lower() or kind in (*LOCAL, *SERVERS, *REMOTE, "file")


def scheme(text: str) -> str | None:
    """What stands before the first colon, in lower case, if it can be a scheme; a single letter is a drive."""
    found = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]+):", text)
    return found[1].lower() if found else None


def connect(url: str) -> Any:
    """The Ibis backend of a database URL; or raises InvalidValue, UnknownName or MissingExtra."""
    kind = str(scheme(url))
    refuse_others(kind, url)
    rest = url.strip()[len(kind) + 1 :]
    if kind in LOCAL:
        path = _database_file(kind, rest)
        return as_ibis(open_database(path)) if kind == "duckdb" else _sqlite(path)
    import ibis

    try:
        return ibis.connect(f"{kind}:{rest}")
    except ImportError:
        extra = "truant[postgres]" if kind.startswith("postgres") else f"ibis-framework[{kind}]"
        raise MissingExtra(f'Reading {kind} needs another package: pip install "{extra}".') from None


def refuse_others(kind: str, url: str) -> None:
    """Raises where the URL is not that of a database."""
    if kind in REMOTE:
        raise InvalidValue(
            f"truant reads no files from the network ({kind}://): download the file and name its path; or, in Python, "
            "pass an Ibis table of a connection that you opened and that may reach the network."
        )
    if kind == "file":
        raise InvalidValue(f"Write the path of a file as it is, without file:, got {url!r}.")
    if kind not in (*LOCAL, *SERVERS):
        raise unknown("kind of database", kind, (*LOCAL, *SERVERS))


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    kind, colon, rest = url.partition(":")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return f"{kind}{colon}{slashes}{rest.lstrip('/').rpartition('@')[2].partition('?')[0]}"


def find_table(backend: Any, table: str) -> Any:
    """The Ibis table of this name, which may have a schema in front; or raises UnknownName."""
    places = [("", table)]  # a dot may be part of the name, or stand behind the schema
    places += [(table[:dot], table[dot + 1 :]) for dot, letter in enumerate(table) if letter == "."]
    for schema, short in places:
        known = _tables(backend, schema)
        if short in known:
            return backend.table(short, database=schema or None)
    raise unknown("table", short, known)


def _tables(backend: Any, schema: str) -> list[str]:
    if backend.name == "duckdb":  # list_tables of Ibis 12 fails with DuckDB 2
        rows = backend.con.execute(
            "SELECT table_name, table_schema FROM information_schema.tables"
        ).fetchall()
        return [name for name, place in rows if place == (schema or "main")]
    return list(backend.list_tables(database=schema or None))


def _database_file(kind: str, rest: str) -> str:
    """The file of a URL: after three slashes it is beside us or below the root, whichever is there."""
    text = rest[2:] if rest.startswith("//") else rest
    path, _, options = text.partition("?")
    spellings = [text] if not options else [text, path]
    for spelling in dict.fromkeys([*spellings, *map(unquote, spellings)]):
        for candidate in (spelling.removeprefix("/"), spelling):
            if "\0" not in candidate and os.path.isfile(candidate):
                if options and spelling in (path, unquote(path)):
                    raise InvalidValue(
                        f"A {kind} file is opened read-only and takes no options; leave out {'?' + options!r}."
                    )
                return os.path.realpath(candidate)
    shown = path.removeprefix("/").rpartition("@")[2]  # not the password of some other kind of URL
    raise InvalidValue(f"The database file {shown!r} does not exist; check the path.")


def _sqlite(path: str) -> Any:
    """SQLite, so that nothing beside or in the file is written."""
    import ibis

    log = path + "-wal"
    in_wal_mode = _in_wal_mode(path)
    options = "mode=ro"
    if in_wal_mode and not os.path.exists(log):
        options += "&immutable=1"  # else SQLite makes a log and an index beside it, and leaves them
    connection = sqlite3.connect(f"file:{quote(path)}?{options}", uri=True)
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


_kept_open: dict[tuple[int, int], int] = {}


def _in_wal_mode(path: str) -> bool:
    """What the header of the file says of its journal.

    The file stays open: closing it would drop the locks that the same program may hold on it by way of SQLite.
    """
    status = os.stat(path)
    place = (status.st_dev, status.st_ino)
    if place not in _kept_open:
        _kept_open[place] = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    head = os.pread(_kept_open[place], 20, 0)
    return head.startswith(b"SQLite format 3\0") and head[18:20] == b"\x02\x02"

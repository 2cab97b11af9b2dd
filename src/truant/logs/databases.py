"""Databases, by URL: files are opened read-only, and servers so that they only read, where they can.

A table is written `URL::table` or `URL::schema.table`:
`postgresql://user@host/database::visits`, `sqlite:///shop.db::visits`, `duckdb:///shop.duckdb::visits`.
"""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import unquote

from truant.errors import InvalidValue, unknown
from truant.logs.servers import connect_server
from truant.logs.sqlite_files import open_sqlite
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
        return as_ibis(open_database(path)) if kind == "duckdb" else open_sqlite(path)
    return connect_server(kind, f"{kind}:{rest}")


def split_table(text: str) -> tuple[str, str]:
    """URL and table, either of which may be empty: of a file, a name of a table may itself hold `::`."""
    kind = str(scheme(text))
    parts = text.split("::")
    if kind in LOCAL:
        for i in range(1, len(parts)):
            url = "::".join(parts[:i])
            if _existing(url.strip()[len(kind) + 1 :]):
                return url, "::".join(parts[i:])
    url, colons, table = text.rpartition("::")
    return (url, table) if colons else (text, "")


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
    """The file of a URL; or raises InvalidValue."""
    path, _, options = _path(rest).partition("?")
    found = _existing(rest)
    if not found:
        shown = path.removeprefix("/").rpartition("@")[2]  # not the password of some other kind of URL
        raise InvalidValue(f"The database file {shown!r} does not exist; check the path.")
    file, takes_options = found
    if takes_options:
        raise InvalidValue(
            f"A {kind} file is opened read-only and takes no options; leave out {'?' + options!r}."
        )
    return file


def _existing(rest: str) -> tuple[str, bool] | None:
    """The file that is there, and whether options follow: after three slashes it is beside us or below the root."""
    text = _path(rest)
    path, _, options = text.partition("?")
    spellings = [text] if not options else [text, path]
    for spelling in dict.fromkeys([*spellings, *map(unquote, spellings)]):
        for candidate in (spelling.removeprefix("/"), spelling):
            if "\0" not in candidate and os.path.isfile(candidate):
                return os.path.realpath(candidate), bool(options) and spelling in (path, unquote(path))
    return None


def _path(rest: str) -> str:
    return rest[2:] if rest.startswith("//") else rest

"""Where the rows of a log are: tables in memory, files, databases; one way to ask for columns of any of them.

A database table is written `URL::table` or `URL::schema.table`:
`postgresql://user@host/database::visits`, `sqlite:///shop.db::visits`, `duckdb:///shop.duckdb::visits`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.errors import InvalidValue, MissingExtra, TruantError, unknown
from truant.logs.files import find_files, open_files, untyped
from truant.tables.arrow import KINDS, Columns, columns_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

LOCAL = ("sqlite", "duckdb")  # databases that are a file


@dataclass(frozen=True)
class Source:
    """A table somewhere: its columns, and how to get those that are wanted under other names."""

    name: str  # as a message calls it
    columns: tuple[str, ...]
    backend: Any
    pick: Callable[[Mapping[str, int]], ir.Table]  # new name -> position of the column
    untyped: bool = False  # all is text, as in CSV
    borrowed: bool = False  # the connection is the user's

    def close(self) -> None:
        """Close the connection that was opened for it."""
        if not self.borrowed:
            self.backend.disconnect()

    def run(self, query: ir.Expr) -> list[dict[str, Any]]:
        """The few rows of an aggregate query, which runs where the data is."""
        with plain_errors(self.name):
            rows = self.backend.to_pyarrow(query).to_pylist()
        # a NaN that a database overlooked is missing still
        return [{name: None if value != value else value for name, value in row.items()} for row in rows]


@contextmanager
def plain_errors(name: str) -> Iterator[None]:
    """Whatever a database or a file reader raises, as one sentence."""
    try:
        yield
    except TruantError:
        raise
    except Exception as error:  # each backend has a family of errors of its own
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[0].rstrip(".:;") if lines else type(error).__name__
        raise InvalidValue(f"Cannot read {name}: {said}; check that it is whole and readable.") from error


def find(data: Any) -> Source:
    """The source that `data` stands for: a path, pattern, URL, table or dict of columns; or raises InvalidValue."""
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        if not isinstance(text, str):
            raise InvalidValue(f"A path must be text, got {text!r}.")
        return _database(text) if "::" in text and "://" in text else _files(text)
    module = type(data).__module__.partition(".")[0]
    if module == "ibis" and hasattr(data, "get_backend") and hasattr(data, "columns"):
        with plain_errors("the Ibis table"):
            return _ibis_table("the Ibis table", data, data.get_backend(), borrowed=True)
    with plain_errors("the table"):
        columns = columns_of(data)
    if columns is None:
        raise InvalidValue(
            f"data must be a path, a URL with ::table, {KINDS}, an Ibis table or a dict of columns; "
            f"got {type(data).__name__}."
        )
    return _in_memory(columns)


def _files(text: str) -> Source:
    import ibis

    if "://" in text and text.partition("://")[0] in (*LOCAL, "postgres", "postgresql"):
        raise InvalidValue(f"A database URL must name its table: {_without_password(text)}::TABLE.")
    files = find_files(text)
    backend = ibis.duckdb.connect()
    with plain_errors(repr(text)):
        table, names = open_files(backend, files)
    return Source(repr(text), names, backend, lambda wanted: _pick(table, wanted), untyped(files))


def _ibis_table(name: str, table: ir.Table, backend: Any, borrowed: bool) -> Source:
    return Source(name, tuple(table.columns), backend, lambda wanted: _pick(table, wanted), borrowed=borrowed)


def _pick(table: ir.Table, wanted: Mapping[str, int]) -> ir.Table:
    return table.select(**{name: table[table.columns[position]] for name, position in wanted.items()})


def _in_memory(columns: Columns) -> Source:
    import ibis

    def pick(wanted: Mapping[str, int]) -> ir.Table:
        with plain_errors("the table"):
            return ibis.memtable(columns.table(wanted))

    return Source("the table", columns.names, ibis.duckdb.connect(), pick)


def _database(text: str) -> Source:
    url, _, table = text.rpartition("::")
    name = f"table {table!r} of {_without_password(url)}"
    backend = _connect(url)
    schema, _, short = table.rpartition(".")
    try:
        with plain_errors(name):
            known = _tables(backend, schema)
            if short not in known:
                raise unknown("table", short, known)
            found = backend.table(short, database=schema or None)
    except TruantError:
        backend.disconnect()
        raise
    return _ibis_table(name, found, backend, borrowed=False)


def _connect(url: str) -> Any:
    import ibis

    kind, _, rest = url.partition("://")
    with plain_errors(_without_password(url)):
        if kind in LOCAL:
            # three slashes: beside us or from the root, whichever is there; a driver would make an empty file
            paths = [path for path in (rest.removeprefix("/"), rest) if os.path.isfile(path)]
            if not paths:
                raise InvalidValue(
                    f"The database file {rest.removeprefix('/')!r} does not exist; check the path."
                )
            return (
                ibis.sqlite.connect(paths[0])
                if kind == "sqlite"
                else ibis.duckdb.connect(paths[0], read_only=True)
            )
        try:
            return ibis.connect(url)
        except ImportError:
            extra = "truant[postgres]" if kind in ("postgres", "postgresql") else f"ibis-framework[{kind}]"
            raise MissingExtra(f'Reading {kind} needs another package: pip install "{extra}".') from None


def _tables(backend: Any, schema: str) -> list[str]:
    if backend.name == "duckdb":  # list_tables of Ibis 12 fails with DuckDB 2
        rows = backend.con.execute(
            "SELECT table_name, table_schema FROM information_schema.tables"
        ).fetchall()
        return [name for name, place in rows if place == (schema or "main")]
    return list(backend.list_tables(database=schema or None))


def _without_password(url: str) -> str:
    """The URL as it may be shown."""
    kind, _, rest = url.partition("://")
    return f"{kind}://{rest.rpartition('@')[2].partition('?')[0]}"

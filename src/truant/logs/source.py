"""Where the rows of a log are: tables in memory, files, databases; one way to ask for columns of any of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.errors import InvalidValue, TruantError
from truant.extras import require
from truant.logs.databases import connect, find_table, is_url, refuse_others, scheme, split_table
from truant.logs.files import find_files, open_files
from truant.logs.servers import without_password
from truant.logs.sqlite_rows import copied
from truant.setting import switch
from truant.tables.arrow import KINDS, Columns, columns_of
from truant.tables.engine import as_ibis, lock, open_in_memory

if TYPE_CHECKING:
    import ibis.expr.types as ir

# what errors of databases say, and what it means here
MEANINGS = {
    "disabled by configuration": "it reads other files, which truant does not allow; make a table of its rows",
    "Loading external extensions is disabled": "it needs an extension of DuckDB, or is a SQLite file (sqlite:)",
    "different configuration than existing": "this program has it open; close it, or pass an Ibis table of it",
    "type money": "a column is of type money, which is no number; make it one in a view, as in CAST(price AS numeric)",
    "file is not a database": "it is no SQLite file, or encrypted; a DuckDB file is written duckdb:",
}

Explain = Callable[[Exception], "TruantError | None"]


@dataclass(frozen=True)
class Source:
    """A table somewhere: its columns, and how to get those that are wanted under other names."""

    name: str  # as a message calls it
    columns: tuple[str, ...]
    backend: Any
    pick: Callable[[Mapping[str, int]], ir.Table]  # new name -> position of the column
    untyped: bool = False  # all is text, as in CSV and SQLite
    has_header: bool = False  # the names of the columns are the first line of a file
    borrowed: bool = False  # the connection is the user's
    durations: frozenset[str] = frozenset()  # columns of time spans that look like numbers
    explain: Explain = lambda error: None  # what a reader's error means, if it is about the form of the files
    clean_up: Callable[[], None] = lambda: None

    def close(self) -> None:
        """Close the connection that was opened for it."""
        if not self.borrowed:
            self.backend.disconnect()
        self.clean_up()

    def run(self, query: ir.Expr) -> list[dict[str, Any]]:
        """The few rows of an aggregate query, which runs where the data is."""
        with plain_errors(self.name, self.explain):
            rows = self.backend.to_pyarrow(query).to_pylist()
        # a NaN that a database overlooked is missing still
        return [{name: None if value != value else value for name, value in row.items()} for row in rows]


@contextmanager
def plain_errors(name: str, explain: Explain = lambda error: None) -> Iterator[None]:
    """Whatever a database or a file reader raises, as one sentence."""
    try:
        yield
    except TruantError:
        raise
    except Exception as error:  # each backend has a family of errors of its own
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        known = explain(error)
        if known is not None:
            raise known from error
        for sign, meaning in MEANINGS.items():
            if sign in str(error):
                raise InvalidValue(f"Cannot read {name}: {meaning}.") from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[0].rstrip(".:;") if lines else type(error).__name__
        raise InvalidValue(f"Cannot read {name}: {said}; check that it is whole and readable.") from error


def find(data: Any, *, encoding: str | None = None, partitioned: bool = False) -> Source:
    """The source that `data` stands for: a path, pattern, URL, table or dict of columns; or raises InvalidValue.

    Parameters
    ----------
    data : as in `read`.
    encoding : of CSV files; UTF-8 unless given.
    partitioned : folder names such as day=3 are columns, too.
    """
    require("logs", "Tables of data")
    switch("partitioned", partitioned)
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        if not isinstance(text, str):
            raise InvalidValue(f"A path must be text, got {text!r}.")
        if not is_url(text):
            return _files(text, encoding, partitioned)
    for option, given in (("encoding", encoding is not None), ("partitioned", partitioned)):
        if given:
            raise InvalidValue(f"{option} is for files, and these data are not a file; leave it out.")
    if isinstance(data, str | os.PathLike):
        return _database(os.fspath(data))
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


def _files(text: str, encoding: str | None, partitioned: bool) -> Source:
    files = find_files(text)
    with plain_errors(repr(text)):
        found = open_files(files, encoding, partitioned)
    return Source(
        repr(text),
        found.columns,
        found.backend,
        lambda wanted: _null_typed(_pick(found.table, wanted)),
        untyped=found.untyped,
        has_header=found.untyped,
        durations=found.durations,
        explain=found.explain,
        clean_up=found.clean_up,
    )


def _ibis_table(name: str, table: ir.Table, backend: Any, borrowed: bool) -> Source:
    if backend.name == "sqlite":
        return _sqlite_table(name, table, backend, borrowed)

    def pick(wanted: Mapping[str, int]) -> ir.Table:
        picked = _pick(table, wanted)
        return _without_nan(picked) if backend.name == "postgres" else picked

    return Source(name, tuple(table.columns), backend, pick, borrowed=borrowed)


def _sqlite_table(name: str, table: ir.Table, sqlite: Any, borrowed: bool) -> Source:
    backend = as_ibis(open_in_memory())
    lock(backend.con)

    def pick(wanted: Mapping[str, int]) -> ir.Table:
        names = {role: table.columns[position] for role, position in wanted.items()}
        with plain_errors(name):
            return copied(_pick(table, wanted), sqlite, names, backend)

    clean_up = (lambda: None) if borrowed else sqlite.disconnect
    return Source(name, tuple(table.columns), backend, pick, untyped=True, clean_up=clean_up)


def _pick(table: ir.Table, wanted: Mapping[str, int]) -> ir.Table:
    return table.select(**{name: table[table.columns[position]] for name, position in wanted.items()})


def _null_typed(table: ir.Table) -> ir.Table:
    """Columns of Parquet without any value as numbers: Ibis does not know DuckDB's type for them."""
    import ibis

    unknown = [name for name, kind in table.schema().items() if kind.is_unknown() and "NULL" in str(kind)]
    return table.mutate(**dict.fromkeys(unknown, ibis.null("float64")))


def _without_nan(table: ir.Table) -> ir.Table:
    """NaN of decimals, which PostgreSQL has, as NULL: Ibis does not know that a decimal can be NaN."""
    decimals = [name for name, kind in table.schema().items() if kind.is_decimal()]
    return table.mutate(
        **{name: table[name].cast("float64").isnan().ifelse(None, table[name]) for name in decimals}
    )


def _in_memory(columns: Columns) -> Source:
    import ibis

    backend = as_ibis(open_in_memory())
    lock(backend.con)

    def pick(wanted: Mapping[str, int]) -> ir.Table:
        with plain_errors("the table"):
            return ibis.memtable(columns.table(wanted))

    return Source("the table", columns.names, backend, pick)


def _database(text: str) -> Source:
    refuse_others(str(scheme(text)), text)
    url, table = split_table(text)
    if not url or not table:
        raise InvalidValue(f"A database URL must name its table: {without_password(url or text)}::TABLE.")
    with plain_errors(without_password(url)):
        backend = connect(url)
    name = f"table {table!r} of {without_password(url)}"
    try:
        with plain_errors(name):
            found = find_table(backend, table)
    except TruantError:
        backend.disconnect()
        raise
    return _ibis_table(name, found, backend, borrowed=False)

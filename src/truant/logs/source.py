"""Where the rows of a log are: tables in memory, files, databases; one way to ask for columns of any of them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from truant.errors import InvalidValue, TruantError, quoted
from truant.logs.connections import TABLES, connect, engine_of
from truant.logs.engines import Engine, Table, described, duckdb_engine, first_line, spark_engine, spark_table
from truant.logs.files import find_files, open_files
from truant.logs.places import is_url, refuse_others, scheme, split_table, without_password
from truant.logs.statement import Rows
from truant.setting import switch
from truant.tables.arrow import KINDS, Columns, columns_of
from truant.tables.engine import lock, open_in_memory

if TYPE_CHECKING:
    import pyarrow

# what errors of databases say, and what it means here
MEANINGS = {
    "disabled by configuration": "it reads other files, which truant does not allow; make a table of its rows",
    "Loading external extensions is disabled": "it needs an extension of DuckDB, or is a SQLite file (sqlite:)",
    "different configuration than existing": "this program has it open; close it, or pass that connection with table=",
    "type money": "a column is of type money, which is no number; make it one in a view, as in CAST(price AS numeric)",
    "file is not a database": "it is no SQLite file, or encrypted; a DuckDB file is written duckdb:",
}

# the server has ended
LOST = ("Py4JNetworkError", "StatusCode.UNAVAILABLE", "closed the connection unexpectedly")

Explain = Callable[[Exception], "TruantError | None"]


@dataclass(frozen=True)
class Source:
    """A table somewhere: its columns, and how to get those that are wanted under other names."""

    name: str  # as a message calls it
    engine: Engine
    table: Table
    untyped: bool = False  # all is text, as in CSV and SQLite
    has_header: bool = False  # the names of the columns are the first line of a file
    semicolons: bool = False  # between fields: a comma may then be the decimal sign
    has_order: bool = False  # rows have numbers: they are those of a file or of a table in memory
    durations: frozenset[str] = frozenset()  # columns of time spans that look like numbers
    explain: Explain = lambda error: None  # what a reader's error means, if it is about the form of the files
    clean_up: Callable[[], None] = lambda: None
    load: Callable[[Mapping[str, int]], Table] | None = None  # makes a table of the wanted columns alone

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns as users know them."""
        return self.table.shown

    @property
    def dialect(self) -> str:
        """Of its statements."""
        return self.engine.dialect

    def pick(self, wanted: Mapping[str, int]) -> Rows:
        """All rows with these columns: new name -> position."""
        table, places = self.table, dict(wanted)
        if self.load is not None:
            table, places = self.load(wanted), {name: i for i, name in enumerate(wanted)}
        return table.rows(places, self.dialect)

    def close(self) -> None:
        """Close the connection that was opened for it."""
        self.engine.close()
        self.clean_up()

    def fetch(self, statement: exp.Select) -> pyarrow.Table:
        """The rows of a statement, which runs where the data is."""
        with plain_errors(self.name, lambda error: self.engine.complaint() or self.explain(error)):
            return self.engine.fetch(statement)

    def run(self, statement: exp.Select) -> list[dict[str, Any]]:
        """The few rows of an aggregate as plain values."""
        # a NaN that a database overlooked is missing still
        return [
            {name: None if value != value else value for name, value in row.items()}
            for row in self.fetch(statement).to_pylist()
        ]


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
        if isinstance(error, ConnectionError) or any(sign in repr(error) for sign in LOST):
            raise InvalidValue(
                f"Cannot read {name}: the connection was lost, and the server may have ended; see what it says there."
            ) from error
        raise InvalidValue(
            f"Cannot read {name}: {first_line(error)}; check that it is whole and readable."
        ) from error


def find(
    data: Any, *, table: str | None = None, encoding: str | None = None, partitioned: bool = False
) -> Source:
    """The source that `data` stands for: a path, pattern, URL, table, connection or dict of columns.

    Parameters
    ----------
    data : as in `read`; what it cannot be raises InvalidValue.
    table : the name of the table, where `data` is a connection.
    encoding : of CSV files; UTF-8 unless given.
    partitioned : folder names such as day=3 are columns, too.
    """
    switch("partitioned", partitioned)
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        if not isinstance(path, str):
            raise InvalidValue(f"A path must be text, got {path!r}.")
        _refuse_table(table, "names its table itself, as in postgresql://host/shop::visits")
        if not is_url(path):
            return _files(path, encoding, partitioned)
    for option, given in (("encoding", encoding is not None), ("partitioned", partitioned)):
        if given:
            raise InvalidValue(f"{option} is for files, and these data are not a file; leave it out.")
    if isinstance(data, str | os.PathLike):
        return _database(os.fspath(data))
    with plain_errors("the connection"):
        engine = engine_of(data)
    if engine is not None:
        return _connection(engine, table)
    _refuse_table(table, "is one table")
    if type(data).__module__.startswith("pyspark.sql") and hasattr(data, "createOrReplaceTempView"):
        return _spark(data)
    with plain_errors("the table"):
        columns = columns_of(data)
    if columns is None:
        raise InvalidValue(
            f"data must be a path, a URL with ::table, a connection with table=, {KINDS}, a Spark DataFrame or a dict "
            f"of columns; got {type(data).__name__}."
        )
    return _in_memory(columns)


def _refuse_table(table: object, what: str) -> None:
    if table is not None:
        raise InvalidValue(f"table is for connections, and the data {what}; leave it out.")


def _files(text: str, encoding: str | None, partitioned: bool) -> Source:
    files = find_files(text)
    with plain_errors(repr(text)):
        found = open_files(files, encoding, partitioned)
    return Source(
        repr(text),
        found.engine,
        found.table,
        untyped=found.untyped,
        has_header=found.untyped,
        semicolons=found.semicolons,
        has_order=len(files) == 1,
        durations=found.durations,
        explain=found.explain,
        clean_up=found.clean_up,
    )


def _in_memory(columns: Columns) -> Source:
    connection = open_in_memory()
    lock(connection)
    engine = duckdb_engine(connection)

    def load(wanted: Mapping[str, int]) -> Table:
        with plain_errors("the table"):
            connection.register("log", columns.table(wanted))
            return described(engine, exp.table_("log", quoted=True))

    table = Table(exp.table_("log", quoted=True), tuple((name, "") for name in columns.names))
    return Source("the table", engine, table, has_order=True, load=load)


def _connection(engine: Engine, table: str | None) -> Source:
    try:
        if not isinstance(table, str) or not table:
            raise InvalidValue(
                f"A connection needs the name of its table, as in table='visits'; got table={quoted(table)}."
            )
        return _of_engine(engine, f"table {table!r}", table)
    except TruantError:
        engine.close()
        raise


def _of_engine(engine: Engine, name: str, table: str) -> Source:
    with plain_errors(name):
        found = TABLES[engine.dialect](engine, table)
    return Source(name, engine, found, untyped=found.untyped)


def _spark(frame: Any) -> Source:
    session, name = frame.sparkSession, f"truant_{secrets.token_hex(8)}"
    with plain_errors("the Spark table"):
        table = spark_table(frame, name)

    def drop() -> None:
        with suppress(Exception):  # a session that was lost has no views, and its error has been told
            session.catalog.dropTempView(name)

    return Source("the Spark table", spark_engine(session), table, clean_up=drop)


def _database(text: str) -> Source:
    refuse_others(str(scheme(text)), text)
    url, table = split_table(text)
    if not url or not table:
        raise InvalidValue(f"A database URL must name its table: {without_password(url or text)}::TABLE.")
    with plain_errors(without_password(url)):
        engine = connect(url)
    try:
        return _of_engine(engine, f"table {table!r} of {without_password(url)}", table)
    except TruantError:
        engine.close()
        raise

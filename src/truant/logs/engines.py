"""Engines that hold a table and run statements on it: DuckDB, PostgreSQL, SQLite and Spark.

Each is a connection (the user's own, or one that was opened here), asked for the columns of a table and for the result
of a statement. Only results come to Python, as Arrow.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from truant.errors import InvalidValue, unknown
from truant.logs.moments import SECONDS, is_iso, seconds_of
from truant.logs.statement import (
    MATCHES,
    Column,
    Kind,
    Rows,
    Sql,
    as_text,
    column,
    double,
    is_nan,
    null_where,
    render,
    text,
)

if TYPE_CHECKING:
    import pyarrow

EXACT = 2**53  # whole numbers below it are the same as integers
BATCH = 100_000  # rows that a server sends at a time
WRITTEN = "truant_text"  # the function that SQLite is given
# what a type begins with, in lower case and without what stands in brackets; the first that fits
KINDS = (
    ("struct|map|list|union|array|variant|.*\\[|row|record|object|super", Kind.NESTED),
    ("blob|bytea|binary|varbinary|bit", Kind.BINARY),
    ("bool", Kind.BOOLEAN),
    ("interval|duration|time($|\\W)", Kind.SPAN),
    ("timestamp.*with time zone|timestamptz|timestamp_ltz", Kind.INSTANT),
    ("timestamp|datetime", Kind.MOMENT),
    ("date", Kind.DAY),
    ("real|float4|float$", Kind.SINGLE),
    ("double|float", Kind.NUMBER),
    ("decimal|numeric|number", Kind.DECIMAL),
    ("u?(tiny|small|medium|big|huge)?int|integer|long|short|byte|serial|oid$", Kind.WHOLE),
    ('"?null"?$|void', Kind.NOTHING),
)


def first_line(error: Exception) -> str:
    """What an error says first, or its type if it says nothing."""
    return next(
        (line.strip().rstrip(".:;") for line in str(error).splitlines() if line.strip()), type(error).__name__
    )


def kind_of(type_name: str) -> Kind | None:
    """What a type of a database, in lower case, holds; None if its values are to be read as texts."""
    if type_name.startswith("enum"):  # whose labels may hold anything
        return None
    return next((kind for start, kind in KINDS if re.match(start, type_name)), None)


@dataclass
class Engine:
    """A connection, and how it runs statements.

    Parameters
    ----------
    dialect : of its statements, as sqlglot calls it.
    fetched : the result of a statement that is text.
    """

    dialect: str
    fetched: Callable[[str], pyarrow.Table]
    close: Callable[[], None] = lambda: None
    complaint: Callable[[], InvalidValue | None] = lambda: None  # what a function of ours refused

    def fetch(self, statement: exp.Select) -> pyarrow.Table:
        """The result of a statement."""
        return self.fetched(render(statement, self.dialect))

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a statement about the database itself."""
        return [tuple(row.values()) for row in self.fetched(text).to_pylist()]


@dataclass(frozen=True)
class Table:
    """A table of an engine: how a statement names it, and its columns with the types that the engine gives them."""

    sql: Sql
    columns: tuple[tuple[str, str], ...]
    untyped: bool = False  # a column may hold values of any type, whatever it was declared with
    names: tuple[str, ...] = field(default=())  # of the columns as users know them, if others

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns as users know them."""
        return self.names or tuple(name for name, _ in self.columns)

    def rows(self, wanted: Mapping[str, int], dialect: str) -> Rows:
        """All rows with these columns: new name -> position."""
        return Rows.of_table(self.sql, {name: self.column(place, dialect) for name, place in wanted.items()})

    def column(self, position: int, dialect: str) -> Column:
        """A column with what it holds; what is no plain value is read as text."""
        name, type_name = self.columns[position][0], self.columns[position][1].lower()
        sql: Sql = column(name)
        if self.untyped:
            return Column(exp.Anonymous(this=WRITTEN, expressions=[sql, text(name)]), Kind.TEXT, "text")
        kind = kind_of(type_name)
        if kind is None:
            is_text = re.match("varchar|text|char|string|bpchar|name$", type_name)
            return Column(sql if is_text and "char(" not in type_name else as_text(sql), Kind.TEXT, type_name)
        if kind is Kind.NOTHING:
            return Column(double(exp.null()), kind, type_name)
        if kind is Kind.DECIMAL and dialect == "postgres":  # where a decimal can be NaN
            return Column(null_where([is_nan(double(sql))], sql), kind, type_name)
        return Column(sql, kind, type_name)


# --- DuckDB


def duckdb_engine(connection: Any, close: bool = True) -> Engine:
    """DuckDB, in this process."""
    return Engine(
        "duckdb",
        lambda text: connection.sql(text).to_arrow_table(),
        connection.close if close else lambda: None,
    )


def duckdb_table(engine: Engine, table: str) -> Table:
    """A table or a view of a DuckDB database, by its name; or raises UnknownName."""
    rows = engine.rows("SELECT table_schema, table_name FROM information_schema.tables")
    schema, name = _named(table, rows, "main")
    return described(engine, exp.table_(name, db=schema, quoted=True))


def described(engine: Engine, sql: exp.Expression) -> Table:
    """The columns of what a statement can name."""
    rows = engine.rows(f"DESCRIBE SELECT * FROM {sql.sql(dialect=engine.dialect)}")
    return Table(sql, tuple((str(row[0]), str(row[1])) for row in rows))


# --- PostgreSQL

RELATIONS = """
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND (pg_catalog.has_schema_privilege(n.oid, 'USAGE'))
"""
ATTRIBUTES = """
SELECT a.attname, CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN pg_catalog.format_type(t.typbasetype, NULL)
                  ELSE pg_catalog.format_type(a.atttypid, NULL) END
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = {table}::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def postgres_table(engine: Engine, table: str) -> Table:
    """A table or a view of a PostgreSQL database, by its name; or raises UnknownName."""
    schema = str(engine.rows("SELECT pg_catalog.current_schema()")[0][0] or "public")
    found = _named(table, [(str(a), str(b)) for a, b in engine.rows(RELATIONS)], schema)
    sql = exp.table_(found[1], db=found[0], quoted=True)
    quoted = text(sql.sql(dialect="postgres")).sql(dialect="postgres")
    columns = engine.rows(ATTRIBUTES.format(table=quoted))
    return Table(sql, tuple((str(name), str(kind)) for name, kind in columns))


# --- SQLite


def sqlite_engine(connection: sqlite3.Connection, close: bool = True) -> Engine:
    """SQLite, with the functions that it lacks."""
    refused: list[InvalidValue] = []

    def written(value: object, name: str) -> str | None:
        """The text of a value of any type, whatever the column was declared with; no digit of a number is lost."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bytes):
            refused.append(
                InvalidValue(
                    f"Column {name!r} must hold numbers or texts, it holds binary values (BLOB); name another column, "
                    "or make them texts in the database."
                )
            )
            raise refused[0]
        if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
            return str(int(value))
        return repr(value)

    def matches(value: str | None, pattern: str) -> bool | None:
        return None if value is None else _pattern(pattern).search(value) is not None

    def seconds(value: str | None) -> float | None:
        return seconds_of(value) if value is not None and is_iso(value) else None

    for name, arguments, function in ((WRITTEN, 2, written), (MATCHES, 2, matches), (SECONDS, 1, seconds)):
        connection.create_function(name, arguments, function, deterministic=True)

    def fetched(text: str) -> pyarrow.Table:
        kept, connection.text_factory = connection.text_factory, str
        try:
            with closing(connection.cursor()) as cursor:
                cursor.row_factory = None  # whatever rows the user wants
                return _of_cursor(cursor, text)
        finally:
            connection.text_factory = kept

    return Engine(
        "sqlite",
        fetched,
        connection.close if close else lambda: None,
        lambda: refused[0] if refused else None,
    )


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\$$", r"\\Z", text), re.ASCII)  # re keeps what it has compiled


def sqlite_table(engine: Engine, table: str) -> Table:
    """A table or a view of a SQLite database, by its name; or raises UnknownName."""
    rows = engine.rows("SELECT 'main', name FROM sqlite_schema WHERE type IN ('table', 'view')")
    rows += engine.rows("SELECT 'temp', name FROM sqlite_temp_schema WHERE type IN ('table', 'view')")
    schema, name = _named(table, [(str(a), str(b)) for a, b in rows], "main")
    sql = exp.table_(name, db=schema, quoted=True)
    names = engine.fetched(f"SELECT * FROM {sql.sql(dialect='sqlite')} LIMIT 0").column_names
    return Table(sql, tuple((one, "") for one in names), untyped=True)


# --- any connection with cursors


def cursor_engine(dialect: str, connection: Any, close: bool = True) -> Engine:
    """A database by the connection of any driver: DB-API, or ADBC, which gives Arrow by itself."""

    def fetched(text: str) -> pyarrow.Table:
        with closing(connection.cursor()) as cursor:
            return _of_cursor(cursor, text)

    return Engine(dialect, fetched, connection.close if close else lambda: None)


def psycopg_engine(connection: Any) -> Engine:
    """PostgreSQL by the user's connection of psycopg 3, whose transactions and kinds of rows stay as they are."""
    from psycopg.rows import tuple_row

    def fetched(text: str) -> pyarrow.Table:
        with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
            return _of_cursor(cursor, text)

    return Engine("postgres", fetched)


def _of_cursor(cursor: Any, text: str) -> pyarrow.Table:
    import pyarrow

    cursor.execute(text)
    if hasattr(cursor, "fetch_arrow_table"):
        return _with_numbers(cursor.fetch_arrow_table())
    names = [entry[0] for entry in cursor.description]
    batches = []
    while rows := cursor.fetchmany(BATCH):
        columns = zip(*rows, strict=True)
        arrays = [pyarrow.array([_plain(value) for value in values]) for values in columns]
        batches.append(pyarrow.table(arrays, names=names))
    if not batches:
        return pyarrow.table([pyarrow.nulls(0)] * len(names), names=names)
    return pyarrow.concat_tables(batches, promote_options="permissive")


def _with_numbers(table: pyarrow.Table) -> pyarrow.Table:
    """ADBC leaves the decimals of PostgreSQL as texts."""
    import pyarrow

    for place, entry in enumerate(table.schema):
        if (entry.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
            texts = table.column(place).to_pylist()
            numbers = [None if value is None else _plain(Decimal(value)) for value in texts]
            table = table.set_column(place, entry.name, pyarrow.array(numbers))
    return table


def _plain(value: Any) -> Any:
    """A value as Arrow takes it: sums of whole numbers come as decimals."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


# --- Spark


def spark_engine(session: Any) -> Engine:
    """A Spark session, classic or by Spark Connect; it is the user's, and stays open."""
    return Engine("spark", lambda text: session.sql(text).toArrow())


def spark_table(frame: Any, name: str) -> Table:
    """A DataFrame of Spark, which statements know by this name."""
    frame.createOrReplaceTempView(name)
    columns = tuple((field.name, _spark_type(field.dataType.simpleString())) for field in frame.schema.fields)
    return Table(exp.table_(name, quoted=True), columns)


def _spark_type(name: str) -> str:
    """In Spark a timestamp is an instant unless it says otherwise."""
    return {"timestamp": "timestamptz", "timestamp_ntz": "timestamp", "float": "real"}.get(name, name)


def _named(table: str, known: Sequence[tuple[Any, ...]], default: str) -> tuple[str, str]:
    """Schema and name of a table, which may have its schema in front; or raises UnknownName."""
    names: Mapping[tuple[str, str], None] = dict.fromkeys((str(row[0]), str(row[1])) for row in known)
    places = [(default, table)]  # a dot may be part of the name, or stand behind the schema
    places += [(table[:dot], table[dot + 1 :]) for dot, letter in enumerate(table) if letter == "."]
    for place in places:
        if place in names:
            return place
    schema, short = places[-1]
    raise unknown("table", short, [name for place, name in names if place == schema])

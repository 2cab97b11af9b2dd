"""Rows of SQLite by the values that they hold, whatever types their columns were declared with.

After an import a column declared INTEGER may hold '', 'NA' or '$2', and SQLite counts each of them as 0. So the wanted
columns are copied to DuckDB as texts, as in a CSV file, with numbers written so that none of their digits is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from truant.errors import InvalidValue

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow

EXACT = 2**53  # whole numbers below it are the same as integers
ROWS_AT_ONCE = 100_000


def copied(table: ir.Table, sqlite: Any, names: Mapping[str, str], duckdb: Any) -> ir.Table:
    """The table in DuckDB, as texts; times, too, which may be of any form.

    Parameters
    ----------
    table : in SQLite.
    sqlite, duckdb : backends of Ibis.
    names : of the columns as the user knows them, by those of the table. Binary values raise InvalidValue.
    """
    columns = ", ".join(f'"{name}" VARCHAR' for name in names)
    duckdb.con.execute(f"CREATE TEMP TABLE log ({columns})")
    for batch in _batches(table.select(*names), sqlite, names):
        duckdb.con.register("batch", batch)
        duckdb.con.execute("INSERT INTO log FROM batch")
        duckdb.con.unregister("batch")
    return duckdb.table("log")


def _batches(table: ir.Table, sqlite: Any, names: Mapping[str, str]) -> Iterator[pyarrow.Table]:
    import pyarrow

    sqlite._run_pre_execute_hooks(table)  # which an Ibis table with functions of its own needs
    with closing(sqlite.raw_sql(sqlite.compile(table))) as cursor:
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            columns = zip(names, zip(*rows, strict=True), strict=True)
            yield pyarrow.table({role: _texts(names[role], values) for role, values in columns})


def _texts(name: str, values: Sequence[object]) -> pyarrow.Array:
    import pyarrow

    if any(isinstance(value, bytes) for value in values):
        raise InvalidValue(
            f"Column {name!r} must hold numbers or texts, it holds binary values (BLOB); name another column, or make "
            "them texts in the database."
        )
    return pyarrow.array(map(_text, values), pyarrow.string())


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return repr(value)

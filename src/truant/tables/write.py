"""Tables, Arrow or dicts of columns, as files for others to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.documents import parquet_metadata
from truant.extras import require
from truant.files import written_whole
from truant.tables.labels import PLAIN_NUMBER
from truant.tables.rows import names_and_rows

if TYPE_CHECKING:
    import pyarrow


FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
)  # what makes a spreadsheet compute a text, or start a new cell


_SPLITS = re.compile(r'[,;|\t\r\n"]')


def write_table(
    table: pyarrow.Table | Mapping[str, Any],
    target: Path,
    kind: str,
    schema: int = 1,
    fields: Mapping[str, Any] | None = None,
) -> Path:
    """Write a table as .csv or .parquet, whole or not at all; a Parquet file says its schema, and holds `fields`."""
    with written_whole(target) as temporary:
        if target.suffix.lower() == ".csv":
            write_csv(table, temporary)
        else:
            write_parquet(table, temporary, kind, schema, fields)
    return target


def write_csv(table: pyarrow.Table | Mapping[str, Any], path: Path) -> None:
    """A header and a line for each row, see `write_csv_rows`."""
    write_csv_rows(*names_and_rows(table), path)


def write_csv_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], path: Path) -> None:
    """A header and a line for each row; blank where a value is missing.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP recommends. Texts that hold
    any sign at which a spreadsheet may split are quoted: behind a semicolon a new cell could begin with a formula.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_written, names)) + "\n")
        file.writelines(",".join(map(_written, row)) + "\n" for row in rows)


def _written(cell: Any) -> str:
    text = "" if cell is None else str(_no_formula(cell))
    return '"{}"'.format(text.replace('"', '""')) if _SPLITS.search(text) else text


def _no_formula(cell: Any) -> Any:
    """The cell; a text that begins like a formula, and is not a number, with an apostrophe in front."""
    formula = isinstance(cell, str) and cell.startswith(FORMULA) and not PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if formula else cell


def write_parquet(
    table: pyarrow.Table | Mapping[str, Any],
    path: Path,
    kind: str,
    schema: int,
    fields: Mapping[str, Any] | None = None,
) -> None:
    """A Parquet file whose metadata say which schema it has and which truant wrote it, and hold further fields."""
    require("logs", "Parquet files", "pyarrow")
    from pyarrow import parquet

    from truant.tables.arrow import make_table

    arrow = make_table(table) if isinstance(table, Mapping) else table
    parquet.write_table(arrow.replace_schema_metadata(parquet_metadata(kind, schema, fields)), path)

"""Arrow tables as files for others to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.documents import parquet_metadata
from truant.tables.labels import PLAIN_NUMBER

if TYPE_CHECKING:
    import pyarrow


_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
)  # what makes a spreadsheet compute a text, or start a new cell


_SPLITS = re.compile(r'[,;|\t\r\n"]')


def write_csv(table: pyarrow.Table, path: Path) -> None:
    """A header and a line for each row; blank where a value is missing.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP recommends. Texts that hold
    any sign at which a spreadsheet may split are quoted: behind a semicolon a new cell could begin with a formula.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_written, table.column_names)) + "\n")
        for batch in table.to_batches(
            max_chunksize=10_000
        ):  # a log of millions of rows need not be there twice
            for row in batch.to_pylist():
                file.write(",".join(map(_written, row.values())) + "\n")


def _written(cell: Any) -> str:
    text = "" if cell is None else str(_no_formula(cell))
    return '"{}"'.format(text.replace('"', '""')) if _SPLITS.search(text) else text


def _no_formula(cell: Any) -> Any:
    """The cell; a text that begins like a formula, and is not a number, with an apostrophe in front."""
    formula = isinstance(cell, str) and cell.startswith(_FORMULA) and not PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if formula else cell


def write_parquet(table: pyarrow.Table, path: Path, kind: str, schema: int) -> None:
    """A Parquet file whose metadata say which schema it has and which truant wrote it."""
    from pyarrow import parquet

    parquet.write_table(table.replace_schema_metadata(parquet_metadata(kind, schema)), path)

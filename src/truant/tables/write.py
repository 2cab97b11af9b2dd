"""Arrow tables as files for others to read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

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


def write_csv(table: pyarrow.Table, path: Path) -> None:
    """A header and a line for each row; blank where a value is missing.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP recommends.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(_Lines(file), lineterminator="\r\n")  # with it, a cell with \r alone is quoted
        lines.writerow(map(_no_formula, table.column_names))
        lines.writerows(map(_no_formula, row.values()) for row in table.to_pylist())


class _Lines:
    """Takes lines that end in CR LF, and writes them with LF."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        """One line."""
        return self._file.write(line.removesuffix("\r\n") + "\n")


def _no_formula(cell: Any) -> Any:
    """The cell; a text that begins like a formula, and is not a number, with an apostrophe in front."""
    formula = isinstance(cell, str) and cell.startswith(_FORMULA) and not PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if formula else cell


def write_parquet(table: pyarrow.Table, path: Path, kind: str, schema: int) -> None:
    """A Parquet file whose metadata say which schema it has and which truant wrote it."""
    from pyarrow import parquet

    parquet.write_table(table.replace_schema_metadata(parquet_metadata(kind, schema)), path)

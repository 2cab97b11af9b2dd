"""Arrow tables as files for others to read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from truant.documents import parquet_metadata

if TYPE_CHECKING:
    import pyarrow


def write_csv(table: pyarrow.Table, path: Path) -> None:
    """A header and a line for each row; blank where a value is missing."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(table.column_names)
        lines.writerows(row.values() for row in table.to_pylist())


def write_parquet(table: pyarrow.Table, path: Path, kind: str, schema: int) -> None:
    """A Parquet file whose metadata say which schema it has and which truant wrote it."""
    from pyarrow import parquet

    parquet.write_table(table.replace_schema_metadata(parquet_metadata(kind, schema)), path)

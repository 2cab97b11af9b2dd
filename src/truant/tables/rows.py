"""Names and rows of a small table, be it Arrow or a dict of columns: results are shown and written without Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow

BATCH = 10_000  # rows of Arrow that become Python values at a time


def names_and_rows(
    table: pyarrow.Table | Mapping[str, Any],
) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """The names of the columns, and each row as plain values; None where a value is missing."""
    if isinstance(table, Mapping):
        return list(table), zip(*map(_plain, table.values()), strict=True)
    batches = table.to_batches(max_chunksize=BATCH)  # a log of millions of rows need not be there twice
    return table.column_names, (list(row.values()) for batch in batches for row in batch.to_pylist())


def plain_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each row of a dict of columns by name; NaN is None."""
    names, rows = names_and_rows(columns)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _plain(values: Any) -> list[Any]:
    cells = values.tolist() if isinstance(values, np.ndarray) else values
    return [None if _is_nan(cell) else cell for cell in cells]


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and cell != cell

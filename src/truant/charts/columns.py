"""What charts do with tables: take them from any library, work on plain columns, hand Arrow to Altair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from truant.errors import InvalidValue, visible
from truant.setting import FloatArray
from truant.tables.arrow import as_arrow, make_table, plain_columns

Columns = dict[str, npt.NDArray[Any]]  # by name, all of one length


def chart_columns(table: Any, name: str, *needed: str) -> Columns:
    """The columns of a table of any library; these must be there, and at least one row."""
    arrow = as_arrow(table)
    absent = [column for column in needed if column not in arrow.column_names]
    if absent:
        raise InvalidValue(
            f"{name} must have the columns {', '.join(needed)}; {', '.join(absent)} is missing."
        )
    if arrow.num_rows == 0:
        raise InvalidValue(f"A chart needs at least one row of {name}, got none.")
    return plain_columns(arrow)


def with_visible_labels(columns: Columns) -> Columns:
    """The same columns; characters that cannot be seen, or that turn the direction of writing, as escapes."""
    return {
        name: np.array([visible(value) if isinstance(value, str) else value for value in values], object)
        if values.dtype == object
        else values
        for name, values in columns.items()
    }


def chart_data(columns: Mapping[str, Any]) -> pa.Table:
    """Columns as Altair takes them; NaN is null."""
    return make_table(columns)


def taken(columns: Columns, rows: npt.NDArray[Any] | list[int]) -> Columns:
    """Some of the rows, by number or by a mask."""
    return {name: values[rows] for name, values in columns.items()}


def in_order(values: npt.NDArray[Any]) -> list[Any]:
    """The distinct values in their order of appearance, as plain Python values."""
    return list(dict.fromkeys(values.tolist()))


def reals(values: npt.NDArray[Any]) -> FloatArray:
    """The values as floats; what is not known is NaN."""
    return np.asarray([np.nan if value is None else value for value in values], np.float64)

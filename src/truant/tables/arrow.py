"""Tables of any library as Arrow, and Arrow as plain columns.

Tables come from pandas, polars (lazy ones as well), Arrow, any other library with the Arrow interface
(`__arrow_c_stream__`), or as a dict of columns. pandas is never imported; NaN of pandas and of lists is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.errors import InvalidValue, require

if TYPE_CHECKING:  # slow to import
    import numpy as np
    import pyarrow

KINDS = "a pandas, polars or Arrow table"  # as a message calls what `columns_of` takes, dicts aside


@dataclass(frozen=True)
class Columns:
    """A table in memory: only the columns that are asked for become Arrow, whatever the others hold."""

    names: tuple[str, ...]  # may occur twice, in pandas and Arrow
    _pick: Callable[[Sequence[int]], list[pyarrow.ChunkedArray]]

    def table(self, wanted: Mapping[str, int]) -> pyarrow.Table:
        """These columns under new names (new name -> position)."""
        import pyarrow

        columns = self._pick(list(wanted.values()))
        sizes = {len(column) for column in columns}
        if len(sizes) > 1:
            listed = ", ".join(
                f"{len(column)} of {self.names[i]!r}"
                for i, column in zip(wanted.values(), columns, strict=True)
            )
            raise InvalidValue(f"Columns must have the same number of values, got {listed}.")
        return pyarrow.table(columns, names=list(wanted))


def columns_of(data: Any) -> Columns | None:
    """The columns of a table in memory; None if `data` is no table."""
    require("logs", "Tables in memory", "narwhals", "pyarrow")
    import narwhals.stable.v2 as nw
    import pyarrow

    if isinstance(data, Mapping):
        keys = list(data)
        return _by_column(keys, lambda i: data[keys[i]])
    if nw.dependencies.is_pandas_like_dataframe(data):
        # by position, since names may occur twice
        return _by_column(list(data.columns), lambda i: data.iloc[:, i])
    if nw.dependencies.is_polars_dataframe(data):
        data = data.lazy()  # so that only the wanted columns are converted
    if hasattr(data, "__arrow_c_stream__"):
        table = pyarrow.table(data)
        return Columns(tuple(table.column_names), lambda wanted: [table.column(i) for i in wanted])
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return None
    names = frame.collect_schema().names()

    def collected(wanted: Sequence[int]) -> list[pyarrow.ChunkedArray]:
        rows = frame.select([names[i] for i in dict.fromkeys(wanted)]).collect("pyarrow").to_native()
        return [rows.column(names[i]) for i in wanted]

    return Columns(tuple(names), collected)


def as_arrow(data: Any) -> pyarrow.Table:
    """The whole table as Arrow, or raise InvalidValue."""
    require("logs", "Tables in memory", "narwhals", "pyarrow")
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data
    columns = columns_of(data)
    if columns is None:
        raise InvalidValue(f"A table must be {KINDS} or a dict of columns, got {type(data).__name__}.")
    names = list(columns.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidValue(f"Column {twice!r} occurs {names.count(twice)} times; rename all but one.")
    return columns.table({name: i for i, name in enumerate(names)})


def make_table(columns: Mapping[str, Any]) -> pyarrow.Table:
    """An Arrow table of arrays or lists; NaN is null."""
    require("logs", "Arrow tables", "pyarrow")
    import pyarrow

    return pyarrow.table({name: pyarrow.array(values, from_pandas=True) for name, values in columns.items()})


def plain_columns(table: pyarrow.Table) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Each column as a numpy array: null is NaN among numbers, None among others."""
    return {name: decoded(table.column(name)).to_numpy() for name in table.column_names}


def decoded(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """The column by its values, where it is categories."""
    import pyarrow

    return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column


def _by_column(names: Sequence[Any], column: Callable[[int], Any]) -> Columns:
    def picked(wanted: Sequence[int]) -> list[pyarrow.ChunkedArray]:
        return [_converted(str(names[i]), column(i)) for i in wanted]

    return Columns(tuple(map(str, names)), picked)


def _converted(name: str, values: Any) -> pyarrow.ChunkedArray:
    import pyarrow

    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pyarrow.chunked_array(values)
        array = pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InvalidValue(
            f"Column {name!r} must hold numbers or texts of one type: {_mixture(values, error)}; "
            "if a value stands for missing, leave it blank."
        ) from error
    return array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.chunked_array([array])


def _mixture(values: Any, error: Exception) -> str:
    """Two values of different types, if that is what is wrong."""
    firsts: dict[str, Any] = {}
    for value in values if isinstance(values, Iterable) else ():
        if value is None or (isinstance(value, float) and value != value):
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        firsts.setdefault("number" if number else type(value).__name__, value)
        if len(firsts) > 1:
            return "it mixes " + " and ".join(repr(value)[:60] for value in firsts.values())
    return str(error).strip().partition("\n")[0].rstrip(".:;")

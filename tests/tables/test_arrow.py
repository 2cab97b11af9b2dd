"""Tables of every library become the same Arrow table."""

import datetime
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from truant.errors import InvalidValue
from truant.tables.arrow import as_arrow, columns_of, decoded, make_table, plain_columns

COLUMNS: dict[str, Any] = {"name": ["a", None, "c"], "count": [1, 2, 3], "value": [0.5, None, 2.0]}
SOURCES = [
    COLUMNS,
    {name: np.array(values, object) for name, values in COLUMNS.items()},
    pd.DataFrame(COLUMNS),
    pd.DataFrame(COLUMNS, index=[7, 8, 9]),
    pl.DataFrame(COLUMNS),
    pl.DataFrame(COLUMNS).lazy(),
    pa.table(COLUMNS),
    pa.RecordBatch.from_pydict(COLUMNS),
]


@pytest.mark.parametrize(
    "source", SOURCES, ids=lambda source: type(source).__module__ + type(source).__name__
)
def test_every_library_gives_the_same_table(source):
    assert as_arrow(source).to_pylist() == pa.table(COLUMNS).to_pylist()


def test_only_wanted_columns_are_converted():
    junk = pd.DataFrame(COLUMNS).assign(junk=[object()] * 3)
    odd = pl.DataFrame(COLUMNS).with_columns(junk=pl.Series([object()] * 3, dtype=pl.Object))
    for source in (junk, odd, odd.lazy()):
        columns = columns_of(source)
        assert columns is not None
        assert columns.names == ("name", "count", "value", "junk")
        assert columns.table({"y": 2, "x": 1}).to_pydict() == {"y": [0.5, None, 2.0], "x": [1, 2, 3]}
    with pytest.raises(InvalidValue, match=r"^Column 'junk' must hold numbers or texts of one type: "):
        as_arrow(junk)


def test_names_may_occur_twice_and_need_not_be_texts():
    twice = pd.DataFrame([[1, 2, 3]], columns=["y", "y", 7])
    columns = columns_of(twice)
    assert columns is not None
    assert columns.names == ("y", "y", "7")
    assert columns.table({"first": 0, "second": 1, "last": 2}).to_pylist() == [
        {"first": 1, "second": 2, "last": 3}
    ]
    for table in (twice, pa.table([[1], [2]], names=["y", "y"])):
        assert columns_of(table) is not None
    with pytest.raises(InvalidValue, match=r"^Column 'y' occurs 2 times; rename all but one\.$"):
        as_arrow(twice)


@pytest.mark.parametrize("data", [5, [1, 2], object(), None])
def test_what_is_no_table_is_refused(data):
    assert columns_of(data) is None
    with pytest.raises(
        InvalidValue, match="must be a pandas, polars or Arrow table or a dict of columns, got"
    ):
        as_arrow(data)


def test_nan_of_pandas_and_lists_is_null():
    frame = pd.DataFrame({"y": [1.0, math.nan]})
    for table in (
        as_arrow(frame),
        make_table({"y": [1.0, math.nan]}),
        make_table({"y": np.array([1, math.nan])}),
    ):
        assert table["y"].to_pylist() == [1.0, None]


def test_plain_columns_are_numpy():
    day = datetime.date(2024, 5, 1)
    table = make_table(
        {"x": [1, None], "y": [1, 2], "z": ["a", None], "d": [day, day], "l": [["a"], []], "b": [True, False]}
    )
    columns = plain_columns(table)
    assert [columns["x"][0], columns["y"].dtype, columns["b"].dtype] == [1, np.int64, np.bool_]
    assert math.isnan(columns["x"][1])
    assert columns["z"].tolist() == ["a", None]
    assert [list(values) for values in columns["l"]] == [["a"], []]
    categories = as_arrow(pd.DataFrame({"c": pd.Categorical(["u", "v", "u"])}))
    assert plain_columns(categories)["c"].tolist() == ["u", "v", "u"]
    assert not pa.types.is_dictionary(decoded(categories["c"]).type)

"""What columns of Python tables may hold: booleans, categories, decimals, integers with holes, and no mixtures."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from truant.errors import InvalidValue
from truant.logs.read import read

ARM = ["a", "b"] * 3
NUMBERS = [1, 0, None, 1, 1, 0]
COLUMNS: dict[str, Any] = {
    "pandas boolean": pd.Series([True, False, None, True, True, False], dtype="boolean"),
    "pandas object of booleans": pd.Series([True, False, None, True, True, False], dtype=object),
    "pandas Int64": pd.Series(NUMBERS, dtype="Int64"),
    "pandas categories of texts": pd.Series(["yes", "no", None, "yes", "yes", "no"], dtype="category"),
    "pandas categories of numbers": pd.Series([1, 0, None, 1, 1, 0], dtype="category"),
    "pandas decimals": pd.Series([None if n is None else Decimal(n) for n in NUMBERS], dtype=object),
    "pandas strings": pd.Series(["$1.00", "$0.00", "N/A", "$1.00", "$1.00", "$0.00"], dtype="string"),
    "polars boolean": pl.Series([True, False, None, True, True, False]),
    "polars categories": pl.Series(["1", "0", None, "1", "1", "0"], dtype=pl.Categorical),
    "polars decimals": pl.Series([None if n is None else Decimal(n) for n in NUMBERS]),
    "polars small integers": pl.Series(NUMBERS, dtype=pl.Int8),
    "arrow booleans": pa.array([True, False, None, True, True, False]),
    "arrow decimals": pa.array([None if n is None else Decimal(n) for n in NUMBERS]),
    "arrow dictionary": pa.array(["t", "f", None, "t", "t", "f"]).dictionary_encode(),
    "arrow large strings": pa.array(["on", "off", "null", "on", "on", "off"], type=pa.large_string()),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column(kind):
    column = COLUMNS[kind]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[kind.split()[0]]
    log = read(make({"arm": ARM, "y": column}), arm="arm", outcome="y")
    assert log.counts.levels == (0, 1)
    assert log.counts.table[:, 0].tolist() == [[0, 2, 1], [2, 1, 0]]
    log = read(
        make({"arm": ARM, "y": [0.5, 1.5, 2, 3, 4, 5], "seen": column}),
        arm="arm",
        outcome="y",
        observed="seen",
    )
    assert log.counts.observed.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("values", "mixture"),
    [
        ([1, "two", 3, 4, 5, 6], "1 and 'two'"),
        ([None, "1", 2.5, "3", "4", "5"], "'1' and 2.5"),
        ([True, 2, 0, 1, 1, 0], "True and 2"),
        ([float("nan"), 1, [2], 3, 4, 5], "1 and [2]"),
    ],
)
@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_a_mixture_is_refused_in_one_sentence(values, mixture, make):
    with pytest.raises(InvalidValue) as refusal:
        read(make({"arm": ARM, "y": values}), arm="arm", outcome="y")
    assert str(refusal.value) == (
        f"Column 'y' must hold numbers or texts of one type: it mixes {mixture}; if a value stands for missing, "
        "leave it blank."
    )

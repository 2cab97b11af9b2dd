"""What is missing: every notation of it, in arms, mediators and outcomes."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.logs.places import as_csv, as_sqlite, in_postgres
from truant.counts import PULLS, SUM
from truant.errors import InvalidValue
from truant.logs.read import read

TWO = {"arm": ["a", "b", "a", "b", "a", "b"], "m": [1, 2, 1, 2, 1, 2]}


@pytest.mark.parametrize(
    ("outcomes", "missing_values"),
    [
        ([1.0, 0.0, None, 1.0, None, 0.0], ()),
        ([1.0, 0.0, math.nan, 1.0, math.nan, 0.0], ()),
        (["1", "0", "", "1", "  ", "0"], ()),
        (["1", " 0 ", "nan", "1.0", "NaN", "0"], ()),
        (["1", "0", "NA", "1", "?", "0"], ("NA", "?")),
        ([1, 0, -99, 1, -99, 0], (-99,)),
        ([1, 0, -99, 1, -99, 0], ("-99",)),
        ([1.0, 0.0, -99.0, 1.0, -1.5, 0.0], (-99, "-1.5", "NA")),
        (["1", "0", "-99.0", "1", "-99", "0"], (-99,)),
        ([True, False, None, True, None, False], ()),
        (["true", "False", "", "TRUE", None, "false"], ()),
    ],
)
@pytest.mark.parametrize("kind", [dict, "csv", "parquet"])
def test_every_notation_of_a_missing_outcome(outcomes, missing_values, kind, tmp_path):
    table: Any = TWO | {"y": outcomes}
    if kind == "csv":
        table = as_csv(pd.DataFrame(table), tmp_path)
    if kind == "parquet":
        pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
        table = tmp_path / "log.parquet"
    log = read(table, arm="arm", mediator="m", outcome="y", missing_values=missing_values)
    assert log.counts.levels == (0, 1)
    assert log.mediators == ("1", "2")
    assert log.counts.table.tolist() == [[[0, 1, 2], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [2, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize("uri", ["postgres", "sqlite"])
def test_databases_read_text_as_numbers_too(uri, tmp_path, request):
    """No TRY_CAST there."""
    table = pd.DataFrame(
        TWO | {"y": ["1", " 2.5", "NA", "-1e0", "", "1"], "x": ["3", "1", "2", "NA", "5", " 4"]}
    )
    if uri == "postgres":
        place = in_postgres(request.getfixturevalue("postgres"), table, "texts")
    else:
        place = as_sqlite(table, tmp_path)
    log = read(place, arm="arm", mediator="x:2", outcome="y", missing_values=["NA"], levels=())
    assert log.mediators == ("x <= 3", "x > 3")
    assert log.counts.centre == 0.75
    assert log.counts.table[..., PULLS].tolist() == [[2, 1, 0], [1, 1, 1]]
    assert log.counts.table[..., SUM].tolist() == [[0.25, 0, 0], [1.75, 0.25, -1.75]]
    with pytest.raises(
        InvalidValue, match=r"^Column 'y' must be numbers, it holds 'NA'; .*missing_values=\['NA'\]"
    ):
        read(place, arm="arm", outcome="y", only_missing_values=[""])


@pytest.mark.parametrize(
    ("mediators", "missing_values"),
    [
        ([1, 2, None, 2, None, None], ()),
        ([1.0, 2.0, math.nan, 2.0, math.nan, math.nan], ()),
        (["1", "2", "", "2", " ", None], ()),
        (["1", "2", "NA", "2", "?", ""], ("NA", "?")),
        ([1, 2, -9, 2, -9, 9], (-9, "9")),
    ],
)
def test_every_notation_of_a_missing_mediator(mediators, missing_values):
    table = TWO | {"m": mediators, "y": [1, 0, 1, 1, 0, 0]}
    for outcomes in ({}, {"levels": ()}):
        log = read(table, arm="arm", mediator="m", outcome="y", missing_values=missing_values, **outcomes)
        assert log.mediators == ("1", "2")
        real = log.counts.real().table
        assert real[..., PULLS].tolist() == [[1, 0, 2], [0, 2, 1]]
        assert real[..., SUM].tolist() == [[0.5, 0, 0], [0, 0, -0.5]]


@pytest.mark.parametrize(
    "arms", [[1, 2, None], [1.0, 2.0, math.nan], [1, 2, -99], ["1", "2", " "], ["1", "2", "-99"]]
)
def test_rows_without_an_arm_are_skipped_and_counted(arms):
    log = read({"arm": arms * 2, "y": [0, 1, 5, 1, 0, 5]}, arm="arm", outcome="y", missing_values=[-99])
    assert (log.rows, log.skipped) == (6, 2)
    assert log.arms == ((1, 2) if not isinstance(arms[0], str) else ("1", "2"))
    assert log.counts.levels == (0, 1)  # what a skipped row holds is no level
    assert log.mediators == ("all",)
    assert log.counts.table.tolist() == [[[1, 1, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize(
    "flags",
    [
        [True, True, False, True, False, None],
        [1, 1, 0, 1, 0, 0],
        [1.0, 1.0, 0.0, 1.0, math.nan, 0.0],
        ["true", "yes", "No", "True", "FALSE", ""],
    ],
)
@pytest.mark.parametrize("third", [7.0, None, math.inf])
def test_what_is_not_observed_is_missing_whatever_it_holds(flags, third):
    table = TWO | {"y": [1.0, 0.0, third, None, 8.0, 9.0], "seen": flags}
    log = read(table, arm="arm", outcome="y", observed="seen")
    assert log.counts.levels == (0, 1)
    assert log.counts.table[:, 0].tolist() == [[0, 1, 2], [1, 0, 2]]


def test_text_that_was_not_observed_is_no_fault():
    table = TWO | {"y": ["1", "0", "pending", "", "pending", "0"], "seen": [1, 1, 0, 1, 0, 1]}
    assert read(table, arm="arm", outcome="y", observed="seen").counts.table[:, 0].tolist() == [
        [0, 1, 2],
        [2, 0, 1],
    ]

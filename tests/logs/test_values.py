"""Values at the edges of what is a number: the same answer in every place and in every row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from truant.errors import InvalidValue
from truant.logs import query
from truant.logs.read import read

ARMS = {"arm": ["a", "b"] * 4}
Z = {"z": [0, 1, 1, 0, 1, 0, 0, 1]}


def test_single_precision(tmp_path):
    x = np.array([0.1, 0.2, 0.3, -99.9, 0.3, 0.7, -99.9, 0.1], np.float32)
    pd.DataFrame(ARMS | Z | {"x": x}).to_parquet(tmp_path / "log.parquet")
    where = tmp_path / "log.parquet"
    for roles in ({"outcome": "x"}, {"outcome": "z", "mediator": "x:2"}, {"outcome": "z", "mediator": "x"}):
        log = read(where, arm="arm", missing_values=[-99.9], **roles)
        assert sum(log.missing_markers["x"].values()) == 2
    assert read(where, arm="x", outcome="z", missing_values=[-99.9]).skipped == 2
    assert read(where, arm="arm", outcome="z", where="x between 0 and 0.3").rows == 5
    assert read(where, arm="arm", outcome="z", where="x = 0.1").rows == 2
    assert read(where, arm="arm", outcome="z", where="x <= 0.3", missing_values=["-99.9"]).rows == 5
    read(where, arm="arm", outcome="x", missing_values=[1e300])


@pytest.mark.parametrize("text", ["1_000", "1e1_0", "0x1F", "1d5", "١"])
def test_what_is_no_number_is_none_in_any_row(text, monkeypatch):
    for first_rows in (100_000, 4):
        monkeypatch.setattr(query, "FIRST_ROWS", first_rows)
        with pytest.raises(InvalidValue, match=rf"^Column 'y' must be numbers, it holds '{text}'"):
            read(ARMS | {"y": ["1", "2", "3", "4", "5", "6", "7", text]}, arm="arm", outcome="y")
    assert read(ARMS | {"y": ["1", "2"] * 4, "m": [text, "1000"] * 4}, arm="arm", outcome="y",
                mediator="m", missing_values=[1000]).mediators == (text,)  # fmt: skip


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e5"])
def test_other_forms_are_the_same_in_any_row(text, monkeypatch):
    said = set()
    for first_rows in (100_000, 4):
        monkeypatch.setattr(query, "FIRST_ROWS", first_rows)
        try:
            log = read(ARMS | {"y": ["1", "2", "3", "4", "5", "6", "7", text]}, arm="arm", outcome="y")
            said.add(str(log.counts.levels))
        except InvalidValue as refusal:
            said.add(str(refusal))
    assert len(said) == 1


def test_durations_and_nothing_at_all_in_parquet(tmp_path):
    table = pa.table(
        ARMS
        | Z
        | {
            "d": pa.array(range(8), pa.duration("us")),
            "n": pa.nulls(8),
            "t": pa.array(range(8), pa.time64("us")),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "log.parquet")
    for column, came in (("d", "a duration"), ("t", "time")):
        for roles in ({"outcome": column}, {"outcome": "z", "mediator": f"{column}:2"}):
            with pytest.raises(
                InvalidValue, match=rf"^Column '{column}' must be numbers, got {came}; compute"
            ):
                read(tmp_path / "log.parquet", arm="arm", **roles)
    with pytest.raises(InvalidValue, match=r"^All 8 outcomes in column 'n' are missing; at least one must"):
        read(tmp_path / "log.parquet", arm="arm", outcome="n")
    with pytest.raises(InvalidValue, match=r"^The mediator is missing in every row: 'n'"):
        read(tmp_path / "log.parquet", arm="arm", outcome="z", mediator="n")


@pytest.mark.parametrize(
    ("texts", "decimal", "missing"),
    [
        (["1,5", "2,5", "-99,00", "3", "-99", "4,5", "-99,0", "1"], ",", -99),
        (["$1.5", "$2", "$-99.00", "3", "-99", "$4", "($99)", "1"], ".", -99),
        (["1", "2", "9,999", "3", "9999", "4", "9,999.0", "1"], ".", 9999),
    ],
)
def test_a_number_that_means_missing_however_it_is_written(texts, decimal, missing):
    for roles in ({"outcome": "y"}, {"outcome": "z", "mediator": "y:2"}):
        log = read(ARMS | Z | {"y": texts}, arm="arm", decimal=decimal, missing_values=[missing], **roles)
        assert log.missing_markers == {"y": {str(missing): 3}}


def test_no_is_not_the_number_zero():
    for values in (["Yes", "No"] * 4, [True, False] * 4):
        rows = {"arm": ["a", "a", "b", "b"] * 2, "y": values}
        log = read(rows, arm="arm", outcome="y", missing_values=[0])
        assert log.counts.levels == (0, 1)
        assert log.counts.observed.sum() == 8
        assert log.missing_markers == {}
        assert read(rows | {"w": ["1", "2"] * 4}, arm="arm", outcome="w", where="y = false", missing_values=[0],
                    levels=(1, 2)).rows == 4  # fmt: skip


def test_blank_is_empty_whatever_else_means_missing():
    rows = {"arm": ["a", "b", "  ", "", "a", "b", "NA", "NA"], "y": ["1", "0", "1", "1", " ", "\t", "1", "0"]}
    log = read(rows, arm="arm", outcome="y", only_missing_values=[])
    assert (log.arms, log.skipped) == (("NA", "a", "b"), 2)
    assert log.missing_markers == {"arm": {"empty": 2}, "y": {"empty": 2}}


@pytest.mark.parametrize("values", [np.array(5), 5, "NA", None])
def test_missing_values_are_a_list(values):
    with pytest.raises(InvalidValue, match=r"^missing_values must be a list of values, got "):
        read(ARMS | Z, arm="arm", outcome="z", missing_values=values)

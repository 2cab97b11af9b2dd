"""Tables as files: no text of a CSV file is a formula to a spreadsheet."""

import csv

import pyarrow as pa
import pytest
from pyarrow import parquet

import truant
from truant.tables.write import write_csv, write_parquet


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ('=HYPERLINK("http://x","y")', '\'=HYPERLINK("http://x","y")'),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("-", "'-"),
        ("a=1", "a=1"),
        ("'=1", "'=1"),
        ("-1.5", "-1.5"),  # a number in a text is one
        ("+3e5", "+3e5"),
        ("", ""),
    ],
)
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe(tmp_path, text, cell):
    table = pa.table({text or "x": [text], "number": [-1.5]})
    write_csv(table, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [[cell or "x", "number"], [cell, "-1.5"]]
    write_parquet(table, tmp_path / "t.parquet", "analysis-table", 1)
    assert parquet.read_table(tmp_path / "t.parquet").column(0).to_pylist() == [text]


def test_estimates_of_an_arm_with_such_a_name(tmp_path):
    data = {"g": ["=1+1", "b"] * 20, "y": [-1.0, -2.0, -3.0, None] * 10}
    result = truant.analyze(data, arm="g", outcome="y")
    result.save(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["arm"] for row in rows} == {"'=1+1", "b"}
    assert any(row["mean"].startswith("-") for row in rows)
    assert {arm["arm"] for arm in result.summary()["arms"]} == {"=1+1", "b"}


@pytest.mark.parametrize("text", ["x;=1+1", "x\t=1+1", "x|=1", 'x";=1', "x\r=1"])
def test_a_text_at_which_a_spreadsheet_may_split_is_quoted(tmp_path, text):
    write_csv(pa.table({"arm": [text, None], "mean": [0.5, None]}), tmp_path / "t.csv")
    written = (tmp_path / "t.csv").read_bytes().decode()
    assert written == 'arm,mean\n"{}",0.5\n,\n'.format(text.replace('"', '""'))
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1] == [text, "0.5"]

"""Filters: the same rows as pandas keeps, in every place; what cannot be read is refused with its position."""

from __future__ import annotations

import contextlib
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import truant
from tests.logs.places import KINDS, as_csv, as_duckdb, as_parquet, as_sqlite, frame, in_postgres
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.logs.filter import KEYWORDS, parse
from truant.logs.read import read

# of `frame`, whose columns all have holes: the filter, and the rows that pandas keeps (missing is never true)
CASES = {
    "site = 2": lambda t: t["site"] == 2,
    "site != 2": lambda t: (t["site"] != 2) & t["site"].notna(),
    "not site = 2": lambda t: (t["site"] != 2) & t["site"].notna(),
    "site <> 2.0 and dose >= 9.5": lambda t: (t["site"] != 2) & t["site"].notna() & (t["dose"] >= 9.5),
    "arm in ('A', 'C')": lambda t: t["arm"].isin(["A", "C"]),
    "arm not in ('A')": lambda t: ~t["arm"].isin(["A"]) & t["arm"].notna(),
    "dose between 8 and 11": lambda t: t["dose"].between(8, 11),
    "dose not between 8 and 11": lambda t: ~t["dose"].between(8, 11) & t["dose"].notna(),
    "site is missing": lambda t: t["site"].isna(),
    "site IS NOT NULL OR dose < +5e0": lambda t: t["site"].notna() | (t["dose"] < 5),
    "site = 1 or site = 2 and dose > 10": lambda t: (t["site"] == 1) | (t["site"] == 2) & (t["dose"] > 10),
    '(`site` = 1 or "site" = 2) and dose > 10': lambda t: t["site"].isin([1, 2]) & (t["dose"] > 10),
    "not (arm = 'A' or site = 1)": lambda t: (t["arm"] != "A") & t["arm"].notna() & (t["site"] > 1),
}


def kept(place, text):
    log = read(place, arm="arm", outcome="y", filter=text)
    return log.rows, log.filtered_out, log.counts.pulls.tolist()


def expected(table, keep):
    rows = table[keep(table)]
    sizes = rows.groupby("arm").size()
    return len(rows), len(table) - len(rows), [float(sizes[arm]) for arm in sorted(sizes.index)]


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_sqlite])
def test_the_rows_that_pandas_keeps(kind, text, tmp_path):
    table = frame()
    assert kept(kind(table, tmp_path), text) == expected(table, CASES[text])


EVERYTHING = "not (site = 1 and arm = 'A') and dose between 6 and 12.5 or site is missing"


def everything(t):
    known = (t["site"] != 1) & t["site"].notna() | (t["arm"] != "A") & t["arm"].notna()
    return known & t["dose"].between(6, 12.5) | t["site"].isna()


@pytest.mark.parametrize("kind", KINDS)
def test_every_place(kind, tmp_path):
    table = frame()
    assert kept(kind(table, tmp_path), EVERYTHING) == expected(table, everything)


def test_postgres(postgres):
    table = frame()
    assert kept(in_postgres(postgres, table, "filtered"), EVERYTHING) == expected(table, everything)


@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_duckdb, as_sqlite])
def test_days(kind, tmp_path):
    """A day is the whole day, in a column of moments too; in CSV dates are texts, which ISO dates order."""
    table = frame(60)
    table["when"] = pd.date_range("2024-02-28 09:00", periods=60, freq="2h").astype("datetime64[us]")
    table.loc[5, "when"] = pd.NaT
    day = table["when"].dt.strftime("%Y-%m-%d")
    place = kind(table, tmp_path)
    rows = kept(place, "when between '2024-02-29' and '2024-03-01'")[0]
    if kind is not as_csv:
        assert rows == day.isin(["2024-02-29", "2024-03-01"]).sum()
        assert kept(place, "when = '2024-02-29'")[0] == (day == "2024-02-29").sum()
    assert kept(place, "when < '2024-03-01'")[0] == (table["when"] < "2024-03-01").sum()
    assert kept(place, "when >= '2024-02-29 18:00'")[0] == (table["when"] >= "2024-02-29 18:00").sum()
    if kind is as_parquet:
        with pytest.raises(InvalidValue, match="'when' holds dates, the filter compares it with 'soon'"):
            kept(place, "when > 'soon'")


def test_moments_with_a_zone_are_compared_in_utc(tmp_path):
    table = frame(48)
    table["when"] = pd.date_range("2024-03-01", periods=48, freq="1h", tz="UTC").astype("datetime64[us, UTC]")
    for place in (table, as_parquet(table, tmp_path)):
        assert kept(place, "when < '2024-03-02'")[0] == 24
        assert kept(place, "when <= '2024-03-01T12:00:00+01:00'")[0] == 12


def test_true_and_false_and_large_numbers(tmp_path):
    table = frame(40)
    table["flag"] = np.arange(40) % 4 == 0
    table["id"] = 2**53 + np.arange(40)
    for place in (table, as_csv(table, tmp_path), as_parquet(table, tmp_path), as_sqlite(table, tmp_path)):
        assert kept(place, "flag = true")[0] == 10
        assert kept(place, "flag = FALSE")[0] == 30
    assert kept(table, f"id <= {2**53 + 21}")[0] == 22


def test_missing_values_are_missing_in_a_filter_too():
    table = {"arm": ["a", "b"] * 4, "y": [0, 1] * 4, "x": [-99, 1, 2, -99, 3, 4, 5, 6]}
    log = read(table, arm="arm", outcome="y", missing_values=[-99], filter="x < 5")
    assert log.rows == 4


def test_several_filters_are_all_true(tmp_path):
    table = frame()
    place = as_csv(table, tmp_path)
    both = ["site = 1 or site = 2", "dose > 10"]
    assert kept(place, both) == expected(table, lambda t: t["site"].isin([1, 2]) & (t["dose"] > 10))
    result = truant.analyze(place, arm="arm", outcome="y", filter=both)
    assert f"filter: (site = 1 or site = 2) and (dose > 10) (kept {result.rows} of 400 rows)" in result.about
    options = ["analyze", str(place), "--arm=arm", "--outcome=y", "--json"]
    options += ["--filter", both[0], "--filter", both[1]]
    document = json.loads(CliRunner().invoke(cli, options).stdout)
    assert document["filter"] == both
    assert document["filtered_out"] == 400 - document["rows"] == result.filtered_out


def test_cut_points_are_those_of_the_kept_rows():
    table = frame()
    whole = read(table[table["site"] == 2], arm="arm", outcome="y", mediator="dose:3")
    assert (
        read(table, arm="arm", outcome="y", mediator="dose:3", filter="site = 2").mediators == whole.mediators
    )


def test_a_filter_on_the_outcome_gets_a_warning():
    result = truant.analyze(frame(), arm="arm", outcome="y", filter="y > 0")
    assert result.warnings[0].code == "filter-on-outcome"
    assert "filter-on-outcome" not in [
        w.code for w in truant.analyze(frame(), arm="arm", outcome="y").warnings
    ]


REFUSED = {
    "": r"at position 1 expected the name of a column, the filter ends there\.",
    "country = DE": r"at position 11 expected a value \(texts stand in single quotes, 'DE'\), got 'DE'\.",
    'country = "DE"': r"at position 11 expected a value \(texts stand in single quotes, 'DE'\)",
    "age between 1 or 2": r"at position 15 expected 'and', got 'or'\.",
    "age in (1, 2": r"at position 13 expected '\)', the filter ends there\.",
    "age in ()": r"at position 9 expected a value, got '\)'\.",
    "age is 5": r"at position 8 expected 'missing' or 'not missing', got '5'\.",
    "age 5": r"at position 5 expected =, !=, <, <=, >, >=, 'in', 'between' or 'is missing', got '5'\.",
    "age = 5 age = 6": r"at position 9 expected 'and', 'or' or the end, got 'age'\.",
    "age ; 3": r"at position 5 there is ';'; expected a column, a value or a comparison\.",
    "country = 'DE": r"at position 11 there is no closing '",
    "country = 5": r"compares column 'country' with a number: Column 'country' must be numbers.* in single quotes",
    "age = 'five'": r"Column 'age' holds numbers, the filter compares it with the text 'five'; write the value",
    "country = 'XX'": r"keeps none of the 6 rows; check its values",
    "age = 1e999": r"must be finite, got 1e999\.",
    "cuntry = 'DE'": r"Unknown column 'cuntry'; did you mean 'country'\?",
    "(" * 41 + "age = 1": r"nested at most 40 deep",
    "not " * 41 + "age = 1": r"nested at most 40 deep",
    "age = 1" + " " * 4000: r"at most 4,000 characters",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_say_where_and_what(text):
    table = {
        "arm": ["a", "b"] * 3,
        "y": [0, 1] * 3,
        "country": ["DE", "AT"] * 3,
        "age": [1, 2, 3, 4, 5, None],
    }
    with pytest.raises(TruantError, match=REFUSED[text]):
        read(table, arm="arm", outcome="y", filter=text)


@pytest.mark.parametrize("filters", [5, None, [5], b"age = 1"])
def test_a_filter_must_be_text(filters):
    with pytest.raises(InvalidValue, match="filter must be text"):
        read({"arm": ["a"], "y": [1]}, arm="arm", outcome="y", filter=filters)


def test_the_longest_filter_runs(tmp_path):
    text = " or ".join(["site=1"] * 390)
    assert kept(as_csv(frame(), tmp_path), text)[0] == (frame()["site"] == 1).sum()


def test_quotes_in_names_and_texts():
    table = {"arm": ["a", "b"] * 2, "y": [0, 1] * 2, 'the "x"': ["it's", "it's", "o", "o"]}
    for text in ('"the ""x""" = \'it\'\'s\'', "`the \"x\"` = 'it''s'"):
        assert read(table, arm="arm", outcome="y", filter=text).rows == 2
    with pytest.raises(InvalidValue, match="keeps none of the 4 rows"):
        read(table, arm="arm", outcome="y", filter="`the \"x\"` = 'x'' or 1=1 --'")


WORDS = [*KEYWORDS, "'a'", "''", '"x"', "`y`", "1", "-2.5", "x", "y", *"=<>!(),';-\0é"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(TruantError):  # anything else is a bug
        parse((text,), ("x", "y"))


def written(folder, column, values, rows=40):
    lines = [f"{'ab'[i // 4 % 2]};{values[i % len(values)]};{i // 3 % 2}" for i in range(rows)]
    (folder / "log.csv").write_text("\n".join([f"arm;{column};y", *lines]) + "\n")
    return folder / "log.csv"


@pytest.mark.parametrize(
    ("values", "decimal", "rows"),
    [
        (["1.234", "2.500", "12.000", "800"], ",", 10),
        (["1,5", "999,99", "1000,01", "2000"], ",", 20),
        (["$9.50", "$1,200.00", "$3,000.00", "$999.99"], ".", 20),
        (["9.5", "1200", "3e3", "-1"], ".", 20),
    ],
)
def test_numbers_are_read_as_those_of_outcomes(tmp_path, values, decimal, rows):
    place = written(tmp_path, "price", values)
    log = read(place, arm="arm", outcome="y", filter="price < 1000", decimal=decimal)
    assert log.rows == rows


def test_numbers_of_the_other_decimal_sign_are_refused(tmp_path):
    place = written(tmp_path, "price", ["10,25", "7,5", "12", "3"])
    with pytest.raises(InvalidValue, match=r"if the comma is the decimal sign, say so: decimal=','"):
        read(place, arm="arm", outcome="y", filter="price > 5")


TIMES = ["2024-01-09 23:59:59", "2024-01-10T15:00", "2024-01-10", "2024-01-11T01:30:00.250+02:00"]


@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_duckdb, as_sqlite, "sqlite dates", "postgres"])
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("t <= '2024-01-10'", 4),
        ("t < '2024-01-10'", 1),
        ("t = '2024-01-10'", 3),
        ("t in ('2024-01-09', '2024-01-11')", 1),
        ("t between '2024-01-10 15:00' and '2024-01-10T23:30:00'", 1),
        ("t > '2024-01-10 23:30:00'", 1),
        ("t >= '2024-01-10 23:30:00.250' and t <= '2024-01-11 00:30:01+01:00'", 1),
    ],
)
def test_texts_are_compared_as_times(kind, text, rows, tmp_path, request):
    table = pd.DataFrame(
        {"arm": list("aaaabbbb") * 5, "t": TIMES * 10, "y": [float(i // 8 % 2) for i in range(40)]}
    )
    if kind == "postgres":
        place = in_postgres(request.getfixturevalue("postgres"), table, "text_times")
    elif kind == "sqlite dates":
        place = as_sqlite(table, tmp_path)
        with sqlite3.connect(tmp_path / "log.db") as shop:
            shop.execute("ALTER TABLE visits RENAME TO old")
            shop.execute("CREATE TABLE visits (arm TEXT, t DATETIME, y REAL)")
            shop.execute("INSERT INTO visits SELECT arm, t, y FROM old")
        shop.close()
    else:
        place = kind(table, tmp_path)
    assert read(place, arm="arm", outcome="y", filter=text).rows == 10 * rows


def test_dates_of_other_forms_are_refused(tmp_path):
    for stray in ("31.12.2023", "12/31/2023", "2024-02-30", "2024-1-1"):
        place = written(tmp_path, "d", ["2024-01-05", stray])
        with pytest.raises(
            InvalidValue, match=f"compares column 'd' with a date, it also holds the text '{stray}'"
        ):
            read(place, arm="arm", outcome="y", filter="d >= '2024-01-01'")
        with pytest.raises(
            InvalidValue, match="write dates as '2024-03-01', in the filter and in the column"
        ):
            read(place, arm="arm", outcome="y", filter="d >= '01.01.2024'")
    assert read(place, arm="arm", outcome="y", filter="d in ('2024-01-05', 'x')").rows == 20


@pytest.mark.parametrize("name", ["2024_q", "a-b", "a b", "in", "a-1"])
def test_a_name_that_needs_quotes(name):
    data = {"arm": list("ab") * 20, name: [1, 2] * 20, "y": [0, 1, 1, 0] * 10}
    with pytest.raises(TruantError, match=f'Write the name in double quotes: "{name}"[.]$'):
        read(data, arm="arm", outcome="y", filter=f"{name} > 1")
    assert read(data | {"arm": list("aabb") * 10}, arm="arm", outcome="y", filter=f'"{name}" > 1').rows == 20


def test_a_listed_number_of_another_form_is_missing(tmp_path):
    place = written(tmp_path, "price", ["-99,00", "1.000,50", "12,5", "7"])
    log = read(place, arm="arm", outcome="y", filter="price > 0", decimal=",", missing_values=[-99])
    assert log.rows == 30

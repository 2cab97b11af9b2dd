"""Conditions: the same rows as pandas keeps, in every place; what is not on the white list is refused by its name."""

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
from tests.logs.places import (
    ENGINES,
    KINDS,
    as_csv,
    as_duckdb,
    as_parquet,
    as_sqlite,
    frame,
    in_postgres,
)
from truant.cli import cli
from truant.errors import InvalidValue, TruantError
from truant.logs.read import read
from truant.logs.where import parse

# of `frame`, whose columns all have holes: the condition, and the rows that pandas keeps (missing is never true)
CASES = {
    "site = 2": lambda t: t["site"] == 2,
    "site != 2": lambda t: (t["site"] != 2) & t["site"].notna(),
    "not site = 2": lambda t: (t["site"] != 2) & t["site"].notna(),
    "site <> 2.0 and dose >= 9.5": lambda t: (t["site"] != 2) & t["site"].notna() & (t["dose"] >= 9.5),
    "arm in ('A', 'C')": lambda t: t["arm"].isin(["A", "C"]),
    "arm not in ('A')": lambda t: ~t["arm"].isin(["A"]) & t["arm"].notna(),
    "dose between 8 and 11": lambda t: t["dose"].between(8, 11),
    "dose not between 8 and 11": lambda t: ~t["dose"].between(8, 11) & t["dose"].notna(),
    "site is null": lambda t: t["site"].isna(),
    "site IS NOT NULL OR dose < +5e0": lambda t: t["site"].notna() | (t["dose"] < 5),
    "site = 1 or site = 2 and dose > 10": lambda t: (t["site"] == 1) | (t["site"] == 2) & (t["dose"] > 10),
    '(`site` = 1 or "site" = 2) and dose > 10': lambda t: t["site"].isin([1, 2]) & (t["dose"] > 10),
    "arm like 'A%'": lambda t: t["arm"] == "A",
    "arm not like '_' or 9.5 <= dose": lambda t: t["dose"] >= 9.5,
    "not (arm = 'A' or site = 1)": lambda t: (t["arm"] != "A") & t["arm"].notna() & (t["site"] > 1),
}


def kept(place, text):
    log = read(place, arm="arm", outcome="y", where=text)
    return log.rows, log.filtered_out, log.counts.pulls.tolist()


def expected(table, keep):
    rows = table[keep(table)]
    sizes = rows.groupby("arm").size()
    return len(rows), len(table) - len(rows), [float(sizes[arm]) for arm in sorted(sizes.index)]


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("kind", [as_csv, *ENGINES])
def test_the_rows_that_pandas_keeps(kind, text, put):
    table = frame()
    assert kept(put(kind, table), text) == expected(table, CASES[text])


EVERYTHING = "not (site = 1 and arm = 'A') and dose between 6 and 12.5 or site is null"


def everything(t):
    known = (t["site"] != 1) & t["site"].notna() | (t["arm"] != "A") & t["arm"].notna()
    return known & t["dose"].between(6, 12.5) | t["site"].isna()


@pytest.mark.parametrize("kind", KINDS)
def test_every_place(kind, put):
    table = frame()
    assert kept(put(kind, table), EVERYTHING) == expected(table, everything)


@pytest.mark.parametrize("kind", [as_csv, as_duckdb, *ENGINES])
def test_days(kind, put):
    """A day is the whole day, in a column of moments too; in CSV dates are texts, which ISO dates order."""
    table = frame(60)
    table["when"] = pd.date_range("2024-02-28 09:00", periods=60, freq="2h").astype("datetime64[us]")
    table.loc[5, "when"] = pd.NaT
    day = table["when"].dt.strftime("%Y-%m-%d")
    place = put(kind, table)
    rows = kept(place, "when between '2024-02-29' and '2024-03-01'")[0]
    if kind is not as_csv:
        assert rows == day.isin(["2024-02-29", "2024-03-01"]).sum()
        assert kept(place, "when = '2024-02-29'")[0] == (day == "2024-02-29").sum()
    assert kept(place, "when < '2024-03-01'")[0] == (table["when"] < "2024-03-01").sum()
    assert kept(place, "when >= '2024-02-29 18:00'")[0] == (table["when"] >= "2024-02-29 18:00").sum()
    if kind is as_parquet:
        with pytest.raises(InvalidValue, match="'when' holds dates, where compares it with 'soon'"):
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


def test_missing_values_are_missing_in_a_condition_too():
    table = {"arm": ["a", "b"] * 4, "y": [0, 1] * 4, "x": [-99, 1, 2, -99, 3, 4, 5, 6]}
    log = read(table, arm="arm", outcome="y", missing_values=[-99], where="x < 5")
    assert log.rows == 4


def test_a_condition_is_stated_and_counted(tmp_path):
    table = frame()
    place = as_csv(table, tmp_path)
    both = "(site = 1 or site = 2) and dose > 10"
    assert kept(place, both) == expected(table, lambda t: t["site"].isin([1, 2]) & (t["dose"] > 10))
    result = truant.analyze(place, arm="arm", outcome="y", where=both)
    assert f"where: {both} (kept {result.rows} of 400 rows)" in result.about
    options = ["analyze", str(place), "--arm=arm", "--outcome=y", "--json"]
    document = json.loads(CliRunner().invoke(cli, [*options, "--where", both]).stdout)
    assert document["where"] == both
    assert document["filtered_out"] == 400 - document["rows"] == result.provenance.filtered_out
    twice = CliRunner().invoke(cli, [*options[:-1], "--where", both, "--where", both])
    assert (twice.exit_code, "--where may be given once, got 2 of them." in twice.output) == (2, True)


@pytest.mark.parametrize("command", ["analyze", "plan"])
def test_filter_answers_with_its_successor(command, tmp_path):
    options = [command, str(as_csv(frame(), tmp_path)), "--arm=arm", "--outcome=y", "--filter", "site = 1"]
    answer = CliRunner().invoke(cli, options)
    assert answer.exit_code == 2
    assert "--filter was replaced by --where, which takes one condition in SQL words" in answer.output
    assert "--filter" not in CliRunner().invoke(cli, [command, "--help"]).output


def test_cut_points_are_those_of_the_kept_rows():
    table = frame()
    whole = read(table[table["site"] == 2], arm="arm", outcome="y", mediator="dose:3")
    assert (
        read(table, arm="arm", outcome="y", mediator="dose:3", where="site = 2").mediators == whole.mediators
    )


def test_a_condition_on_the_outcome_gets_a_warning():
    result = truant.analyze(frame(), arm="arm", outcome="y", where="y > 0")
    assert result.warnings[0].code == "where-on-outcome"
    assert "where-on-outcome" not in [
        w.code for w in truant.analyze(frame(), arm="arm", outcome="y").warnings
    ]


REFUSED = {
    "": r"where must hold a condition, as in \"country = 'DE'\"; it is empty\.",
    "country = DE": r"'DE' in 'country = DE' is no value; texts stand in single quotes: 'DE'\.",
    'country = "DE"': r"is no value; texts stand in single quotes: 'DE'\.",
    "age between 1 or 2": r"cannot be read near .* it may hold columns, values, comparisons",
    "age in (1, 2": r"cannot be read",
    "age in ()": r"holds 'age IN \(\)' \(in\)\.",
    "age in (select age from visits)": r"\(in\)\.",
    "age is 5": r"holds 'age IS 5' \(is\)\.",
    "age": r"holds 'age' \(column\)\.",
    "age = age": r"compares columns with values, and 'age'",
    "age + 1 = 2": r"holds 'age \+ 1' \(add\)\.",
    "lower(country) = 'de'": r"holds 'LOWER\(country\)' \(lower\)\.",
    "age = abs(1)": r"holds 'ABS\(1\)' \(abs\)\.",
    "age = (select 1)": r"\(subquery\)\.",
    "exists (select 1)": r"\(exists\)\.",
    "age = ?": r"\(placeholder\)\.",
    "age = :x": r"\(placeholder\)\.",
    "age = null": r"Nothing is equal to NULL; ask for missing values with 'is null'",
    "country ilike 'd%'": r"\(i like\)\.",
    "age like '1%'": r"'like' is for texts, and column 'age' holds (whole )?numbers; compare it with a value\.",
    "case when age = 1 then true end": r"\(case\)\.",
    "select 1": r"\(select\)\.",
    "drop table visits": r"\(drop\)\.",
    "age = 1; drop table visits": r"must be one condition, .* holds a semicolon\.",
    "age 5": r"cannot be read",
    "age = 5 age = 6": r"cannot be read",
    "country = 'DE": r"cannot be read",
    "country like 'a' escape 'b'": r"\((escape|like)\)\.",
    "age between symmetric 5 and 1": r"cannot be read|\(between\)\.",
    "country = 5": r"compares column 'country' with a number: Column 'country' must be numbers.* in single quotes",
    "age = 'five'": r"Column 'age' holds numbers, where compares it with the text 'five'; write the value",
    "country = 'XX'": r"keeps none of the 6 rows; check its values",
    "age = 1e999": r"must be finite, got 1e999\.",
    "cuntry = 'DE'": r"Unknown column 'cuntry'; did you mean 'country'\?",
    "(" * 21 + "age = 1": r"nested at most 20 deep",
    "not " * 21 + "age = 1": r"nested at most 20 deep",
    "age = 1 or age = 2 and (" * 11 + "age = 1" + ")" * 11: r"nested at most 20 deep",
    "a." * 1500 + "b = 1": r"nested at most 20 deep",
    "age " + "is not " * 500 + "null": r"nested at most 20 deep",
    "country = 'a\0b'": r"may hold no NUL and no half of a character, got \"country = 'a\\x00b'\"\.",
    "country = '\ud83d'": r"may hold no NUL and no half of a character",
    "country >= '18'": r"column 'country' with the text '18', letter by letter.* without quotes: 18\.",
    "country between '9' and ' -1.5e3 '": r"write the number without quotes: 9\.",
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
        read(table, arm="arm", outcome="y", where=text)


def test_depth_is_refused_on_the_command_line_too(tmp_path):
    place = str(as_csv(frame(), tmp_path))
    for text in ("a." * 1500 + "b=1", "site " + "is not " * 500 + "null"):
        options = ["analyze", place, "--arm=arm", "--outcome=y", "--json", "--where", text]
        answer = CliRunner().invoke(cli, options)
        assert (answer.exit_code, type(answer.exception)) == (2, SystemExit)
        assert "nested at most 20 deep" in answer.output


def test_the_deepest_conditions_run_on_sqlite(tmp_path):
    """Whose parser has a stack of 100 symbols."""
    place = as_sqlite(frame().assign(day="01.10.2026", site=frame()["site"].astype(str)), tmp_path)
    later = "day >= '2026-09-01' and ("
    for start in ("site = 9 or (" + later, "not (site = 9 or not (", "day < '2026-10-01' or (" + later):
        leaf = "site in (1, 2) and arm like 'A%' and day >= '2026-10-01'"
        text = start * 9 + leaf + "))" * 9
        log = read(place, arm="arm", outcome="y", where=text + " or arm = 'B'", by="site", merge_labels=True)
        kept_rows = (frame()["arm"] == "A") & frame()["site"].isin([1, 2]) | (frame()["arm"] == "B")
        assert log.rows == kept_rows.sum()


LONG = "x" * 8000
LIKE = {
    "a_b": ["a\nb", "a\tb"],
    "A%": ["A*b"],
    "%*%": ["A*b"],
    "%[%]": ["[x]"],
    "_x_": ["[x]"],
    "a?": ["a?"],
    "\\%": ["\\d"],
    "é_": ["éé"],
    "x%_%x": [LONG],
    "%%%%%%%%%%%%%%%%%%%%z": [LONG + "z"],
}
TEXTS = ["a\nb", "a\tb", "A*b", "[x]", "a?", "\\d", "éé", LONG, LONG + "z"]


SLOW = {
    "%x%x%x%_%%z": [LONG + "z"]
}  # in the regular expressions of Java and Python, also in LIKE of Spark and DuckDB


def check_like(place, patterns=LIKE):
    for pattern, fitting in patterns.items():
        assert kept(place, f"text like '{pattern}'")[0] == 10 * len(fitting), pattern
        assert kept(place, f"text not like '{pattern}'")[0] == 10 * (len(TEXTS) - len(fitting))


def texts_to_fit():
    arms = ["A"] * 5 + ["B"] * 5
    return pd.DataFrame(
        [(arm, text, i % 3) for text in TEXTS for i, arm in enumerate(arms)], columns=["arm", "text", "y"]
    )


@pytest.mark.parametrize("kind", [as_csv, *ENGINES])
def test_patterns_fit_whole_texts_of_any_length(kind, put):
    check_like(put(kind, texts_to_fit()), LIKE | SLOW)


def test_many_values_are_one_list(tmp_path):
    """On SQLite, 1,900 comparisons would be an expression that is too deep."""
    table = frame().assign(text=frame()["dose"].astype(str))
    numbers = ",".join(["1", "2", "3"] * 650)
    for place in (as_sqlite(table, tmp_path), table):
        assert kept(place, f"site in ({numbers})")[0] == table["site"].notna().sum()
        assert kept(place, f"text in ('{table['text'][0]}', 10.5)")[0] == (
            table["dose"].isin([table["dose"][0], 10.5]).sum()
        )


def test_words_of_sql_may_be_names_of_columns():
    for name in ("when", "order", "select", "case", "date", "left"):
        data = {"arm": list("aabb") * 10, name: [1, 2] * 20, "y": [0, 1, 1, 0] * 10}
        assert read(data, arm="arm", outcome="y", where=f"{name} > 1 and not {name} = 3").rows == 20


@pytest.mark.parametrize("where", [5, ["a = 1"], b"age = 1"])
def test_a_condition_must_be_text(where):
    with pytest.raises(InvalidValue, match="where must be text"):
        read({"arm": ["a"], "y": [1]}, arm="arm", outcome="y", where=where)


def test_the_longest_condition_runs(tmp_path):
    text = " or ".join(["site=1"] * 390)
    assert kept(as_csv(frame(), tmp_path), text)[0] == (frame()["site"] == 1).sum()


def test_quotes_in_names_and_texts():
    table = {"arm": ["a", "b"] * 2, "y": [0, 1] * 2, 'the "x"': ["it's", "it's", "o", "o"]}
    for text in ('"the ""x""" = \'it\'\'s\'', "`the \"x\"` = 'it''s'"):
        assert read(table, arm="arm", outcome="y", where=text).rows == 2
    with pytest.raises(InvalidValue, match="keeps none of the 4 rows"):
        read(table, arm="arm", outcome="y", where="`the \"x\"` = 'x'' or 1=1 --'")


WORDS = [
    *["and", "or", "not", "in", "between", "like", "is", "null", "true", "case", "select", "from"],
    "'a'",
    "''",
    '"x"',
    "`y`",
    "1",
    "-2.5",
    "x",
    "y",
    *"=<>!(),';-\0é",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(TruantError):  # anything else is a bug
        parse(text, ("x", "y"))


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
    log = read(place, arm="arm", outcome="y", where="price < 1000", decimal=decimal)
    assert log.rows == rows


def test_numbers_of_the_other_decimal_sign_are_refused(tmp_path):
    place = written(tmp_path, "price", ["10,25", "7,5", "12", "3"])
    with pytest.raises(InvalidValue, match=r"if the comma is the decimal sign, say so: decimal=','"):
        read(place, arm="arm", outcome="y", where="price > 5")


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
    assert read(place, arm="arm", outcome="y", where=text).rows == 10 * rows


def test_dates_of_other_forms_are_refused(tmp_path):
    for stray in ("31.12.23", "2/31/2023", "2024-02-30", "2024-1-1"):
        place = written(tmp_path, "d", ["2024-01-05", stray])
        with pytest.raises(
            InvalidValue, match=f"compares column 'd' with a date, it also holds the text '{stray}'"
        ):
            read(place, arm="arm", outcome="y", where="d >= '2024-01-01'")
        with pytest.raises(InvalidValue, match="write a date as '2024-03-01'"):
            read(place, arm="arm", outcome="y", where="d >= '01.01.2024'")
    assert read(place, arm="arm", outcome="y", where="d in ('2024-01-05', 'x')").rows == 20


@pytest.mark.parametrize("name", ["2024_q", "a-b", "a b", "and", "a-1"])
def test_a_name_that_needs_quotes(name):
    data = {"arm": list("ab") * 20, name: [1, 2] * 20, "y": [0, 1, 1, 0] * 10}
    with pytest.raises(TruantError, match=f'Write the name in double quotes: "{name}"[.]$'):
        read(data, arm="arm", outcome="y", where=f"{name} > 1")
    assert read(data | {"arm": list("aabb") * 10}, arm="arm", outcome="y", where=f'"{name}" > 1').rows == 20


def test_a_listed_number_of_another_form_is_missing(tmp_path):
    place = written(tmp_path, "price", ["-99,00", "1.000,50", "12,5", "7"])
    log = read(place, arm="arm", outcome="y", where="price > 0", decimal=",", missing_values=[-99])
    assert log.rows == 30

"""Numbers as spreadsheets write them: currencies, thousands, percent, decimal commas; never a guess without a word."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.logs.places import as_csv, as_duckdb, as_parquet, as_sqlite, in_postgres
from truant.counts import SUM
from truant.errors import InvalidValue
from truant.logs import query
from truant.logs.forms import Shape, written_number
from truant.logs.read import read

ARMS = {"arm": ["a", "b"] * 3}


def values_of(texts: list[Any], **words: Any) -> tuple[tuple[float, ...], str]:
    log = read(ARMS | {"y": texts}, arm="arm", outcome="y", **words)
    assert log.counts.levels is not None
    assert log.counts.observed.sum() == sum(text is not None for text in texts)
    return log.counts.levels, log.notes[0]


@pytest.mark.parametrize(
    ("texts", "decimal", "values", "note"),
    [
        (["$10.10", "$5", "7", None], ".", (5, 7, 10.1), "left out the sign '$' ('$10.10' is 10.10)"),
        (
            ["-$5", "$-6", "($7)", "$(8)"],
            ".",
            (-8, -7, -6, -5),
            "left out the sign '$', read '(...)' as minus",
        ),
        (["€5", "6 €", "EUR 7"], ".", None, "mixes currencies, such as"),
        (["5 EUR", "6 EUR", "7.5 EUR"], ".", (5, 6, 7.5), "left out the sign 'EUR' ('7.5 EUR' is 7.5)"),
        (["10 %", "5%", " 7.5% "], ".", (5, 7.5, 10), "left out the sign '%' ('10 %' is 10)"),
        (["10 %", "5", "7.5%"], ".", None, "mixes numbers with and without %, such as '10 %' and '5'"),
        (
            ["1,234.5", "999", "1,234,567"],
            ".",
            (999, 1234.5, 1234567),
            "left out commas between thousands ('1,234,567' is 1234567)",
        ),
        (
            ["1,234", "2,345", "999"],
            ".",
            (999, 1234, 2345),
            "left out commas between thousands ('1,234' is 1234)",
        ),
        (["12,34,567.5", "5"], ".", (5, 1234567.5), "left out commas between thousands"),
        (
            ["10,25", "2,5", "7"],
            ".",
            None,
            "it holds '10,25'; if the comma is the decimal sign, say so: decimal",
        ),
        (
            ["10,25", "-", "7"],
            ".",
            None,
            "it holds '10,25'; if the comma is the decimal sign, say so: decimal",
        ),
        (["0,125", "1,250", "7"], ".", None, "it holds '0,125'; if the comma is the decimal sign"),
        (["10,25", "2.5", "7"], ".", None, "mixes decimal signs, such as '10,25' and '2.5'"),
        (["1,234", "12,34", "7"], ".", None, "it holds '12,34'; if the comma is the decimal sign"),
        (
            ["10,25", "2,5", "7"],
            ",",
            (2.5, 7, 10.25),
            "read the comma as the decimal sign ('10,25' is 10.25)",
        ),
        (
            ["1.234,50", "2,5", "1.000"],
            ",",
            (2.5, 1000, 1234.5),
            "left out dots between thousands, read the comma as the decimal sign ('1.234,50' is 1234.50)",
        ),
        (
            ["1 234,5", "1\u202f000 €", "2\u00a0500"],
            ",",
            (1000, 1234.5, 2500),
            "left out the sign '€' and blanks between thousands, read the comma as",
        ),
        (["1'234.50", "1\u2019000"], ".", (1000, 1234.5), "left out apostrophes between thousands"),
        (
            ["10.25", "2.5", "7"],
            ",",
            None,
            "it holds '10.25'; if the dot is the decimal sign, leave out decimal",
        ),
        (["1.234", "0.5", "7"], ",", None, "it holds '0.5'; if the dot is the decimal sign"),
        (["1,5E-2", "2,5", "7"], ",", (0.015, 2.5, 7), "read the comma as the decimal sign"),
        (["\u22125", "\u20132.5", "7"], ".", (-5, -2.5, 7), "read '–' and '−' as minus"),
        (["12 kg", "13.5 kg", "7 kg"], ".", None, "write the numbers alone, without a unit"),
        (["R$ 1.234,50", "R$ 3,00"], ",", (3, 1234.5), "left out the sign 'R$' and dots between thousands"),
        (
            ["kr. 1.234,50", "kr. 3,00"],
            ",",
            (3, 1234.5),
            "left out the sign 'kr.' and dots between thousands",
        ),
        (
            ["Rs. 1,000", "Rs. 250.5"],
            ".",
            (250.5, 1000),
            "left out the sign 'Rs.' and commas between thousands",
        ),
        (["\uffe51,000", "\uffe5250"], ".", (250, 1000), "and commas between thousands"),
        (["'5", "'6", "'7"], ".", None, "name a column of numbers, or write a number for each text first"),
        (
            ["5-", "3", "4"],
            ".",
            None,
            "it holds '5-', which looks like a negative number; write the minus in front.",
        ),
        (
            ["1,2,3", "3", "4"],
            ".",
            None,
            "it holds '1,2,3'; name a column of numbers, or write a number for each",
        ),
        (["3.20-", "3", "4"], ".", None, "it holds '3.20-', which looks like a negative number"),
        (["10,- €", "3", "4"], ".", None, "it holds '10,- €', which looks like a whole amount; write"),
        (["<0.1", "3", "4"], ".", None, "it holds '<0.1', which is a limit, not a value; decide which"),
        (["3.20*", "3", "4"], ".", None, "it holds '3.20*', which looks like a number with a mark"),
        (["$-", "$3", "$4"], ".", None, "it holds '$-', which looks like zero as accountants write it"),
        (["1.2k", "900", "900"], ".", None, "it holds '1.2k' and '900'; convert all to one unit"),
        (["2 h", "30 min", "3 h"], ".", None, "it holds '2 h' and '30 min'; convert all to one unit"),
        (["y", "3", "4"], ".", None, "it holds 'y': the header occurs again among the rows"),
        (["?", "3", "4"], ".", None, "it holds '?'; if that stands for missing, say so"),
        (["--5", "3", "4"], ".", None, "it holds '--5'"),
        (["$5%", "3", "4"], ".", None, "it holds '$5%'"),
    ],
)
def test_what_spreadsheets_write(texts, decimal, values, note):
    texts = [*texts, *[texts[-1]] * (6 - len(texts))]
    if values is None:
        with pytest.raises(InvalidValue) as refusal:
            values_of(texts, decimal=decimal)
        assert note in str(refusal.value)
        assert str(refusal.value).startswith("Column 'y' m")
    else:
        found, said = values_of(texts, decimal=decimal)
        assert found == pytest.approx(values, rel=1e-15)
        assert note in said


@pytest.mark.parametrize("place", [as_csv, as_parquet, as_sqlite, as_duckdb, "postgres"])
def test_every_place_reads_them(place, tmp_path, request):
    table = pd.DataFrame(
        {
            "arm": ["a", "b"] * 4,
            "y": ["$1,234.50", "$5", "($3.25)", "\u2212$1", "NA", "", "$1\u00a0", "7"],
            "x": ["1.234,5 €", "5 €", "1 000", "2,5 €", "3", " 4,25", "6", "n/a"],
            "p": ["10 %", "20%", "30%", "40.5 %", "", "5%", "6%", "7%"],
        }
    )
    if place == "postgres":
        where: Any = in_postgres(request.getfixturevalue("postgres"), table, "written")
    else:
        where = place(table, tmp_path)
    log = read(where, arm="arm", outcome="y", levels=())
    assert (log.setting.low, log.setting.high) == (-3.25, 1234.5)
    assert log.counts.observed.tolist() == [3, 3]
    log = read(where, arm="arm", outcome="p", mediator="x:2", decimal=",", missing_values=["40.5 %"])
    assert log.mediators == ("x <= 5", "x > 5")
    assert log.counts.levels == (5, 6, 7, 10, 20, 30)


def test_a_comma_that_comes_late_is_no_guess(monkeypatch):
    """The first rows alone would make 1,5 fifteen."""
    monkeypatch.setattr(query, "FIRST_ROWS", 4)
    rows = {"arm": ["a", "b"] * 4}
    thousands = ["1,234", "2,345", "3,456", "4,567"]
    with pytest.raises(InvalidValue, match=r"it holds '1,5'; if the comma is the decimal sign"):
        read(rows | {"y": [*thousands, "1,5", "2", "3", "4"]}, arm="arm", outcome="y")
    log = read(rows | {"y": ["1", "2", "3", "4", *thousands]}, arm="arm", outcome="y")
    assert log.counts.levels == (1, 2, 3, 4, 1234, 2345, 3456, 4567)
    with pytest.raises(InvalidValue, match=r"it holds '2\.25'; if the dot is the decimal sign"):
        read(rows | {"y": ["1.234", "2", "3", "4"] + ["2.25"] * 4}, arm="arm", outcome="y", decimal=",")
    log = read(rows | {"y": ["1.234", "2", "3", "4"] + ["2,25"] * 4}, arm="arm", outcome="y", decimal=",")
    assert log.counts.levels == (2, 2.25, 3, 4, 1234)


@pytest.mark.parametrize(
    ("texts", "doubted"),
    [
        (["1.234", "12.000", "750", "-2.500"], True),
        (["1.234", "12.000", "750", "2.5"], False),
        (["1.234", "0.125", "750", "2.500"], False),
        (["1.234", "1234", "750", "2.500"], True),  # in a file with semicolons
        (["1.234", "2.345", "3.456"], True),
        (["1.000"], True),
        (["750", "1"], False),
    ],
)
@pytest.mark.parametrize("delimiter", [";", ","])
def test_dots_that_may_stand_between_thousands(texts, doubted, delimiter, tmp_path):
    if delimiter == ",":  # as a program writes them
        doubted = texts == ["1.234", "12.000", "750", "-2.500"]
    rows = "".join(f"{arm}{delimiter}{texts[i % len(texts)]}\n" for i, arm in enumerate("ab" * 6))
    (tmp_path / "log.csv").write_text(f"arm{delimiter}y\n" + rows)
    log = read(tmp_path / "log.csv", arm="arm", outcome="y", levels=(), range=(-3000, 13000))
    assert [warning.code for warning in log.warnings] == ["thousands"] * doubted
    if doubted:
        low = min(texts, key=lambda text: (text[0] != "-", text))
        beside = next((f" beside {text!r}" for text in texts if "." not in text), "")
        assert log.warnings[0].message == (
            f"Every dot in 'y' stands before three digits, as in {low!r}{beside}, and was taken as the decimal sign "
            f"({low!r} is {float(low):g}): if dots stand between thousands, say decimal=',' (--decimal ,)."
        )
        log = read(tmp_path / "log.csv", arm="arm", outcome="y", decimal=",", levels=(), range=(-3000, 13000))
        sums = log.counts.about(0.0).table[..., SUM].sum()
        assert sums == sum(float(texts[i % len(texts)].replace(".", "")) for i in range(12))
        assert log.warnings == ()
        assert "left out dots between thousands" in log.notes[0]


def test_a_thousand_that_comes_late_is_told(tmp_path, monkeypatch):
    """The first rows alone would not show a dot."""
    monkeypatch.setattr(query, "FIRST_ROWS", 4)
    (tmp_path / "log.csv").write_text("arm;y\n" + "a;1\nb;2\n" * 4 + "a;1.000\n")
    assert [w.code for w in read(tmp_path / "log.csv", arm="arm", outcome="y").warnings] == ["thousands"]


def test_texts_that_are_not_observed_have_no_say():
    rows = {"arm": ["a", "b"] * 3, "y": ["$5", "€6", "$7", "€8", "$1", "pending"], "seen": ["y", "n"] * 3}
    log = read(rows | {"arm": ["a", "b", "b", "a", "a", "a"]}, arm="arm", outcome="y", observed="seen")
    assert log.counts.levels == (1, 5, 7)


def test_free_texts_are_refused_quickly():
    rows = {
        "arm": ["a", "b"] * 5000,
        "y": [f"note {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(10000)],
    }
    with pytest.raises(
        InvalidValue, match=r"^Column 'y' must be numbers, it holds 'note aa', .*; name a column"
    ):
        read(rows, arm="arm", outcome="y")


@pytest.mark.parametrize(
    "text", ["", "-", ".", ",", "e9", "()", "$", "%", "9-9", "9.9.9", "9 9", "((9))", "-(9)", "(9"]
)
def test_what_is_no_number(text):
    assert written_number(Shape(text, 1, text, text), ".") is None

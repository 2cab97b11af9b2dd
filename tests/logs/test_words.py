"""Yes and no, true and false become 1 and 0, and other words are refused with what to do."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.logs.places import as_csv, as_duckdb, as_parquet, as_sqlite, in_postgres
from truant.errors import InvalidValue
from truant.logs import query
from truant.logs.read import read

TWO = {"arm": ["a", "b"] * 4, "z": [0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0]}
FLAGS = ["Yes", "no", " YES ", "No", "", "n/a", "yes", "NO"]
EXPECTED = [[0, 3, 1], [3, 0, 1]]


@pytest.mark.parametrize(
    ("yes", "no"), [("Yes", "No"), ("TRUE", "false"), ("Y", "n"), ("T", "F"), ("on", "Off")]
)
def test_words_for_yes_and_no_are_one_and_zero(yes, no):
    y = [yes, no, yes.upper(), no.lower(), None, "NA", f" {yes} ", no]
    log = read(TWO | {"y": y}, arm="arm", outcome="y")
    assert log.counts.levels == (0, 1)
    assert log.counts.table[:, 0].tolist() == EXPECTED
    assert log.notes[0] == f"'y': {yes.lower()} was read as 1 and {no.lower()} as 0"


@pytest.mark.parametrize("place", [as_csv, as_parquet, as_sqlite, as_duckdb, "postgres"])
def test_every_place_reads_them(place, tmp_path, request):
    table = pd.DataFrame(TWO | {"y": FLAGS, "seen": FLAGS})
    if place == "postgres":
        where: Any = in_postgres(request.getfixturevalue("postgres"), table, "words")
    else:
        where = place(table, tmp_path)
    log = read(where, arm="arm", outcome="y")
    assert log.counts.table[:, 0].tolist() == EXPECTED
    log = read(where, arm="arm", outcome="z", observed="seen")
    assert log.counts.levels == (0, 1)
    assert log.counts.table[:, 0].tolist() == [[2, 1, 1], [0, 0, 4]]
    assert log.notes[0] == "'seen': yes was read as 1 and no as 0"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["dead", "alive"] * 4,
            "Column 'y' must be numbers, or yes and no; it holds only 'alive' and 'dead': write 1 for one of the "
            "two and 0 for the other.",
        ),
        (
            ["converted", ""] * 4,
            "Column 'y' must be numbers, or yes and no; it holds only 'converted': write 1 for it, and 0 where it "
            "is known that this did not happen.",
        ),
        (
            ["yes", "no", "no", "maybe"] * 2,
            "Column 'y' must be numbers, it holds 'maybe'; if that stands for missing, say so: "
            "missing_values=['maybe'] (--missing-values=maybe), else write a plain number for it.",
        ),
        (
            ["yes", "no", "2", "no"] * 2,
            "Column 'y' mixes words and numbers, such as 'no' and '2'; write all of it in one way.",
        ),
        (["true", "0", "1", "false"] * 2, "Column 'y' mixes words and numbers, such as 'false' and '0'; "),
        (
            ["low", "mid", "high", "mid"] * 2,
            "Column 'y' must be numbers, it holds 'high', 'low' and 'mid'; name a column of numbers, or write a "
            "number for each text first.",
        ),
        (
            ["ja", "nein"] * 4,
            "Column 'y' must be numbers, or yes and no; it holds only 'ja' and 'nein': write 1",
        ),
        (
            ["Sí", "No", "No", "No"] * 2,
            "Column 'y' must be numbers, or yes and no; it holds only 'No' and 'Sí': write 1 for one of the two and",
        ),
        (["J", "N"] * 4, "Column 'y' must be numbers, or yes and no; it holds only 'J' and 'N': write 1"),
        (
            ["Sí", "No", "No", "quizás"] * 2,
            "Column 'y' must be numbers, it holds 'Sí' and 'quizás'; name a column of numbers, or write a number",
        ),
        (["yes", ""] * 4, "All observed outcomes of 'y' are 1; say what else they could be"),
    ],
)
def test_other_words_are_refused_and_no_hint_discards_all(words, sentence):
    with pytest.raises(InvalidValue) as refusal:
        read(TWO | {"y": words}, arm="arm", outcome="y")
    assert str(refusal.value).startswith(sentence)


def test_words_that_come_late_are_read_all_the_same(monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 4)
    rows = {"arm": ["a", "b"] * 4, "y": ["yes", "no", "yes", "no", "off", "ON", "f", "T"]}
    assert read(rows, arm="arm", outcome="y").counts.table[:, 0].tolist() == [[2, 2, 0], [2, 2, 0]]
    with pytest.raises(InvalidValue, match=r"^Column 'y' mixes words and numbers"):
        read(rows | {"y": ["yes", "no", "yes", "no", "1", "0", "1", "0"]}, arm="arm", outcome="y")
    with pytest.raises(InvalidValue, match=r"^Column 'y' mixes words and numbers"):
        read(rows | {"y": ["1", "0", "1", "0", "yes", "no", "1", "0"]}, arm="arm", outcome="y")


def test_a_word_that_was_listed_as_missing_is_missing():
    rows = TWO | {"y": ["yes", "no", "off", "no", "yes", "yes", "off", "no"]}
    log = read(rows, arm="arm", outcome="y", missing_values=["off"])
    assert log.counts.table[:, 0].tolist() == [[0, 2, 2], [3, 1, 0]]
    assert log.missing_markers == {"y": {"off": 2}}


def test_labels_stay_words():
    rows = TWO | {"y": [1, 0] * 4, "opened": ["yes", "no"] * 4}
    assert read(rows, arm="arm", outcome="y", mediator="opened").mediators == ("no", "yes")

"""What cannot be analysed is refused in one sentence."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from truant.errors import InvalidValue, TruantError
from truant.logs import query
from truant.logs.read import read
from truant.tables import request as table_request

GOOD: dict[str, Any] = {
    "arm": ["a", "b"] * 3,
    "m": [1, 2, 3, 1, 2, 3],
    "y": [0.5, 1, 2, None, 3, 2],
    "when": [pd.Timestamp("2024-01-01")] * 6,
    "many": [[1], [2]] * 3,
}


@pytest.mark.parametrize(
    ("changes", "words", "sentence"),
    [
        ({}, {"arm": "amr"}, "Unknown column 'amr'; did you mean 'arm'? Known: arm, m, many, when, y."),
        ({}, {"mediator": "mm:3"}, "Unknown column 'mm'; did you mean 'm'? Known: arm, m, many, when, y."),
        ({}, {"mediator": "m:x"}, "Unknown column 'm:x'; did you mean 'm'? Known: arm, m, many, when, y."),
        ({}, {"observed": "seen"}, "Unknown column 'seen'"),
        ({}, {"mediator": "m:1"}, "A mediator is cut into 2 to 100 classes, got 'm:1'."),
        ({}, {"mediator": [3]}, "A column name is needed, got 3."),
        ({}, {"arm": None}, "A column name is needed, got None."),
        ({}, {"mediator": "y"}, "Arm, outcome and mediators must be different columns, got 'y' twice."),
        (
            {},
            {"mediator": ["m", "m:2"]},
            "Arm, outcome and mediators must be different columns, got 'm' twice.",
        ),
        ({}, {"observed": "y"}, "observed must be a column of its own, got 'y', which is named already."),
        ({}, {"outcome": "when"}, "Column 'when' must be numbers, got timestamp"),
        ({}, {"mediator": "when:2"}, "Column 'when' must be numbers, got timestamp"),
        ({}, {"arm": "many"}, "Column 'many' must hold plain values, got bigint[]; name another column."),
        ({}, {"missing_values": "NA"}, "missing_values must be a list of values, got 'NA'."),
        ({}, {"levels": (1,)}, "levels must be at least two increasing values"),
        ({}, {"levels": ("a", "b")}, "levels must be numbers"),
        (
            {},
            {"levels": (0, 1, 2, 3)},
            "Outcomes must be one of the levels 0, 1, 2, 3; 'y' holds 0.5; add the level",
        ),
        ({}, {"range": (1, 5)}, "Outcomes must be within the range 1 to 5, 'y' holds 0.5; widen the range"),
        ({}, {"range": (0, 2)}, "Outcomes must be within the range 0 to 2, 'y' holds 3.0; widen the range"),
        ({}, {"range": (2, 1)}, "range must be two numbers, low < high, got (2, 1)."),
        ({}, {"range": (2,)}, "range must be two numbers, low < high, got (2,)."),
        ({}, {"range": (0, math.inf)}, "range must be finite"),
        (
            {},
            {"range": (0, 5), "levels": (0, 1)},
            "range must go from the lowest to the highest level, 0 to 1",
        ),
        ({name: [] for name in GOOD}, {}, "The table has no rows; rows of at least two arms are needed."),
        ({"arm": [None] * 6}, {}, "None of the 6 rows has an arm: column 'arm' is missing throughout."),
        ({"y": [None] * 6}, {}, "All 6 outcomes in column 'y' are missing; at least one must be observed."),
        ({"y": [-9] * 6}, {"missing_values": [-9]}, "All 6 outcomes in column 'y' are missing"),
        ({"y": [""] * 6}, {}, "All 6 outcomes in column 'y' are missing"),
        ({"y": [math.nan] * 6}, {"levels": ()}, "All 6 outcomes in column 'y' are missing"),
        (
            {"m": [None] * 6},
            {"mediator": "m"},
            "The mediator is missing in every row: 'm'; check the columns",
        ),
        (
            {"m": [None] * 6},
            {"mediator": "m:3"},
            "The mediator is missing in every row: 'm'; check the columns",
        ),
        (
            {"y": [4] * 6},
            {},
            "All observed outcomes of 'y' are 4; say what else they could be, with levels or range.",
        ),
        ({"y": [4] * 6}, {"levels": ()}, "All observed outcomes of 'y' are 4; say what else they could be"),
        (
            {"y": ["1", "2", "--", "3", "?", "3"]},
            {},
            "Column 'y' must be numbers, it holds '--' and '?'; if that stands for missing, "
            "say so: missing_values=['--', '?'] ('--missing-values=--,?'), else write a plain number for it.",
        ),
        ({"y": ["u", "v", "w"] * 2}, {}, "Column 'y' must be numbers, it holds 'u', 'v' and 'w'; name"),
        ({"m": ["1", "2", "low"] * 2}, {"mediator": "m:2"}, "Column 'm' must be numbers, it holds 'low'; if"),
        (
            {"m": ["u", "v", "low"] * 2},
            {"mediator": "m:2"},
            "Column 'm' must be numbers, it holds 'low', 'u' and 'v'; name",
        ),
        (
            {"m": [0, 1, 2] * 2},
            {"observed": "m"},
            "Column 'm' must be yes or no, true or false, or 1 or 0; it holds '2'.",
        ),
        (
            {"m": ["yes", "maybe"] * 3},
            {"observed": "m"},
            "Column 'm' must be yes or no, true or false, or 1 or 0; it holds 'maybe'.",
        ),
        (
            {"y": [0, 1, math.inf, 0, 1, 1]},
            {},
            "Outcomes must be finite numbers or missing, 'y' holds an infinite one",
        ),
        (
            {"y": [0, 1, -math.inf, 0, 1, 1]},
            {"levels": ()},
            "Outcomes must be finite numbers or missing, 'y' holds",
        ),
        ({"y": [0, 1, -math.inf, 0, 1, 1]}, {"levels": (0, 1)}, "Outcomes must be finite numbers or missing"),
        ({"y": [0, 1, 1e200, 0, 1, 1]}, {}, "Outcomes must be missing or within ±1e+100, 'y' holds 1e+200."),
        (
            {"y": [1, "u", 2.5, 0, 1, 1]},
            {},
            "Column 'y' must hold numbers or texts of one type: it mixes 1 and 'u'; if a value",
        ),
        ({"y": [1, 2]}, {}, "Columns must have the same number of values, got 6 of 'arm', 2 of 'y'."),
    ],
)
def test_what_cannot_be_analysed_is_refused_in_one_sentence(changes, words, sentence):
    with pytest.raises(TruantError) as refusal:
        read(GOOD | changes, **({"arm": "arm", "outcome": "y"} | words))
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("late", [math.inf, 1e200])
def test_an_impossible_outcome_after_the_first_look_is_refused(late, monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    for early in ([i / 16 for i in range(20)], [0.0, 1.0] * 10):
        with pytest.raises(InvalidValue, match=r"^Outcomes must be "):
            read({"arm": [0, 1] * 11, "y": [*early, late, 0.5]}, arm="arm", outcome="y")


def test_too_many_levels_and_arms():
    n = 2400
    rows = {
        "arm": [0, 1] * (n // 2),
        "id": [i // 2 for i in range(n)],
        "pair": [i % 60 for i in range(n)],
        "y": [0, 1, 1] * (n // 3),
    }
    rows["half"] = [i // 60 % 2 for i in range(n)]
    with pytest.raises(
        InvalidValue, match=r"^A mediator may have at most 100 levels, 'id' has more; .*'id:3'\.$"
    ):
        read(rows, arm="arm", mediator="id", outcome="y")
    with pytest.raises(
        InvalidValue, match=r"^A mediator may have at most 100 levels, 'pair' x 'half' has more; "
    ):
        read(rows, arm="arm", mediator=["pair", "half"], outcome="y")
    with pytest.raises(InvalidValue, match=r"^At most 1,000 arms can be compared, column 'id' holds more; "):
        read(rows, arm="id", outcome="y")
    assert len(read(rows, arm="arm", mediator="pair", outcome="y").mediators) == 60
    assert len(read(rows, arm="arm", mediator="id:100", outcome="y").mediators) == 100


def test_levels_that_hide_from_the_first_look_are_refused_too(monkeypatch):
    monkeypatch.setattr(query, "FIRST_ROWS", 20)
    rows = {"arm": [0, 1] * 600, "id": [i % 600 for i in range(1200)], "y": [0, 1, 1] * 400}
    with pytest.raises(InvalidValue, match=r"at most 100 levels"):
        read(rows, arm="arm", mediator="id", outcome="y")
    monkeypatch.setattr(table_request, "MOST_ARMS", 500)
    with pytest.raises(InvalidValue, match=r"At most 500 arms"):
        read(rows, arm="id", outcome="y")
    monkeypatch.setattr(query, "MOST_CELLS", 500)
    with pytest.raises(InvalidValue, match=r"more than 500 combinations"):
        read(rows, arm="arm", mediator="id", outcome="y")


def test_a_column_that_occurs_twice_is_refused_only_if_it_is_named(tmp_path):
    table = pd.DataFrame([["a", 0, 1, 5], ["b", 1, 0, 6]], columns=["arm", "y", "y", "z"])
    (tmp_path / "twice.csv").write_text("arm,y,y,z\na,0,1,5\nb,1,0,6\n")
    arrow = pa.table([table.iloc[:, i].tolist() for i in range(4)], names=list(table.columns))
    pa.parquet.write_table(arrow, tmp_path / "twice.parquet")
    for place in (table, tmp_path / "twice.csv", arrow, tmp_path / "twice.parquet"):
        with pytest.raises(InvalidValue, match=r"^Column 'y' occurs 2 times; rename all but one\.$"):
            read(place, arm="arm", outcome="y")
        assert read(place, arm="arm", outcome="z").counts.levels == (5, 6)

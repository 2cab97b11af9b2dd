"""Rows that cannot be a world are refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.worlds.visits import COLUMNS, SMALL, VISITS, small, visits
from truant import datasets
from truant.errors import InvalidValue, UnknownName
from truant.worlds import from_table, make

REFUSED: list[tuple[pd.DataFrame, dict[str, Any], str]] = [
    (
        small(m=[1, 0, 1, 0, 0, 2, 1, 0]),
        {},
        "Each cell needs an observed outcome to draw from, and arm 'b' with mediator '2' has none in its 1 rows; "
        "name a mediator with fewer levels, or leave these rows out.",
    ),
    (
        small(y=[None, 2, 3, None, 5, None, None, None]),
        {"mediator": None},
        "Each cell needs an observed outcome to draw from, and arm 'b' has none in its 5 rows; leave the arm out.",
    ),
    (
        small(m=[None, 0, 1, None, 0, None, None, None]),
        {},
        "The mediator of arm 'b' is missing in all of its 5 rows; leave the arm out, or the mediator.",
    ),
    (
        small(m=[None] * 8),
        {},
        "The mediator is missing in every row: 'm'; check the columns, or leave it out.",
    ),
    (small(y=[None] * 8), {}, "All 8 outcomes in column 'y' are missing; at least one must be observed."),
    (
        small(y=["1", "NA", "3", "4", "x", "2", "2", "2"]),
        {},
        "Column 'y' must be numbers, it holds 'x'; if that stands for missing, leave it blank.",
    ),
    (
        small(y=[float("inf"), 2, 3, 4, 5, 6, 7, 8]),
        {},
        "Outcomes must be missing or within ±1e+100, 'y' holds inf; if that stands for missing, leave it blank.",
    ),
    (
        small(y=pd.date_range("2020-01-01", periods=8, unit="ns")),
        {},
        "Column 'y' must be numbers, got timestamp[ns]; name another column.",
    ),
    (
        small(),
        {"range": (2, 9)},
        "Outcomes must be within the range 2 to 9, 'y' holds 1.5; widen the range, or leave it blank if it is missing.",
    ),
    (
        small(),
        {"levels": (1.5, 2, 3, 4)},
        "Outcomes must be one of the levels 1.5, 2, 3, 4; 'y' holds 5; "
        "add the level, or leave it blank if it is missing.",
    ),
    (
        small(y=[3.0] * 8),
        {},
        "All observed outcomes of 'y' are 3; say what else they could be, with levels or range.",
    ),
    (small(arm=["a"] * 8), {}, "At least two arms are needed to compare, column 'arm' holds only 'a'."),
    (small(arm=[None] * 8), {}, "None of the 8 rows has an arm: column 'arm' is missing throughout."),
    (small()[:0], {}, "The table has no rows; rows of at least two arms are needed."),
    (small(m=[[1]] * 8), {}, "Column 'm' must hold plain values; name another column."),
    (
        small(),
        {"gamma": (0.5, 0.9)},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), got (0.5, 0.9).",
    ),
    (
        small(),
        {"gamma": (0.5, 0.9, 0.4), "levels": None},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), or of 2 x 7 (outcome levels), "
        "got (0.5, 0.9, 0.4).",
    ),
    (small(), {"gamma": 1.3}, "gamma must be in (0, 1], got 1.3."),
    (small(), {"gamma": "guessed"}, "gamma must be numbers or 'estimated', got 'guessed'."),
    (small(), {"gamma": "0.5"}, "gamma must be numbers or 'estimated', got '0.5'."),
    (
        small(),
        {"gamma": True},
        "gamma must be one number or 2 rows (arms) of 2 (mediator levels), got True.",
    ),
    (
        small(),
        {"mediator_gamma": True},
        "mediator_gamma must be one number or 2 (one for each arm), got True.",
    ),
    (small(), {"mediator_gamma": "0.5"}, "mediator_gamma must be numbers or 'estimated', got '0.5'."),
    (small(), {"range": (-1e300, 1e300)}, "range must be within ±1e+100, got -1e+300."),
    (small(), {"levels": (0, 1e300)}, "levels must be within ±1e+100, got 1e+300."),
    (small(), {"levels": (0, 10**400)}, "levels must be finite, got a number too large for one."),
    (
        small(y=pd.Series([10**400, *range(7)], dtype=object)),
        {},
        "Column 'y' must hold numbers or texts of one type: …; "
        "if a value stands for missing, leave it blank.",
    ),
    (
        small(y=[{}, *range(7)]),
        {},
        "Column 'y' must hold numbers or texts of one type: …; "
        "if a value stands for missing, leave it blank.",
    ),
    (
        small(y=[1j] * 8),
        {},
        "Column 'y' must hold numbers or texts of one type: …; "
        "if a value stands for missing, leave it blank.",
    ),
    (small(), {"mediator_gamma": 0}, "mediator_gamma must be in (0, 1], got 0."),
    (
        small(),
        {"mediator_gamma": (1, 1, 1)},
        "mediator_gamma must be one number or 2 (one for each arm), got (1, 1, 1).",
    ),
    (small(), {"mediator": 5}, "A column name is needed, got 5."),
    (small(), {"levels": 5}, "levels must be at least two increasing values, got (5.0,)."),
    (small(), {"outcome": "arm"}, "Arm, outcome and mediators must be different columns, got 'arm' twice."),
]


@pytest.mark.parametrize(("table", "given", "sentence"), REFUSED)
def test_refusals(table: pd.DataFrame, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        from_table(table, **{**SMALL, **given})
    head, others_words, tail = sentence.partition("…")  # what pyarrow says is its own
    said = str(caught.value)
    assert said.startswith(head)
    assert said.endswith(tail)
    assert others_words or said == sentence


def test_columns_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match=r"Unknown column 'spend'; did you mean 'spent'\? Known: mail, opened, spent"
    ):
        from_table(VISITS, arm="mail", outcome="spend")
    with pytest.raises(InvalidValue, match=r"^The file 'a{60}' cannot be read: File name too long; check"):
        from_table("a" * 5000 + ".csv", arm="a", outcome="y")
    with pytest.raises(UnknownName, match="Unknown column 'mail:1111"):
        from_table(VISITS, arm="mail", outcome="spent", mediator="mail:" + "1" * 5000)
    with pytest.raises(InvalidValue, match=r"^The file 'no.csv' does not exist; check the path\.$"):
        from_table("no.csv", arm="a", outcome="y")
    (tmp_path / "rows.xlsx").write_text("x", "utf-8")
    with pytest.raises(InvalidValue, match=r"must end in \.csv, .*\.pq, got '.*rows.xlsx'"):
        from_table(tmp_path / "rows.xlsx", arm="a", outcome="y")
    (tmp_path / "rows.csv").write_text("", "utf-8")
    with pytest.raises(InvalidValue, match="it is empty"):
        from_table(tmp_path / "rows.csv", arm="a", outcome="y")
    (tmp_path / "rows.parquet").write_text("no Parquet", "utf-8")
    with pytest.raises(
        InvalidValue, match=r"Cannot read '.*rows.parquet': .*; check that it is whole and readable\."
    ):
        from_table(tmp_path / "rows.parquet", arm="a", outcome="y")
    with pytest.raises(InvalidValue, match=r"data must be a pandas, polars or Arrow table.*got int\."):
        from_table(5, arm="a", outcome="y")
    with pytest.raises(
        InvalidValue, match=r"^Columns must have the same number of values, got 2 of 'a', 1 of 'y'\.$"
    ):
        from_table({"a": [1, 2], "y": [1]}, arm="a", outcome="y")
    with pytest.raises(InvalidValue, match=r"^Column 'y' must hold numbers or texts of one type: .* too "):
        from_table({"a": [1, 2], "y": [1, 10**400]}, arm="a", outcome="y")
    with pytest.raises(
        InvalidValue, match="A mediator may have at most 100 levels, 'cd420' has more; cut numbers"
    ):
        from_table(datasets.actg175(), arm="arms", outcome="cd496", mediator="cd420")


def test_the_named_world_says_what_it_needs() -> None:
    with pytest.raises(InvalidValue) as caught:
        make("table", data=str(VISITS), arm="mail")
    assert str(caught.value) == (
        "World 'table' needs a file and its columns, as in data=visits.csv, arm=mail, outcome=spent; "
        "outcome is not set."
    )
    with pytest.raises(
        InvalidValue, match=r"reads a file, got DataFrame as data; use truant\.worlds\.from_table"
    ):
        make("table", data=visits(), **COLUMNS)

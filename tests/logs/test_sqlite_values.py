"""A SQLite column is what its values are, not what it was declared as: what is null is never zero."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from truant.errors import InvalidValue
from truant.logs.read import read

DECLARED = ["INTEGER", "NUMERIC", "DECIMAL(10,2)", "BOOLEAN", "REAL", "TEXT", ""]
ARMS = ["a", "b"] * 4


def place(folder: Path, declared: str, values: list[Any], **others: list[Any]) -> str:
    rows = {"arm": ARMS, "z": [0, 1, 1, 0, 1, 0, 0, 1], **others}
    path = folder / "log.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        columns = ", ".join(rows)
        connection.execute(f"CREATE TABLE visits (v {declared}, {columns})")
        marks = ", ".join("?" * (len(rows) + 1))
        connection.executemany(
            f"INSERT INTO visits VALUES ({marks})", zip(values, *rows.values(), strict=True)
        )
    connection.close()
    return f"sqlite:///{path}::visits"


@pytest.mark.parametrize("declared", DECLARED)
def test_markers_are_missing_and_numbers_written_as_texts_are_read(declared, tmp_path):
    where = place(tmp_path, declared, [1, "", "NA", 2.5, "$3", "1,234.50", None, "4"])
    log = read(where, arm="arm", outcome="v")
    assert log.counts.levels == (1, 2.5, 3, 4, 1234.5)
    assert log.missing_markers == {"v": {"empty": 2, "NA": 1}}
    log = read(where, arm="arm", outcome="z", mediator="v:2")
    assert log.mediators == ("v <= 3", "v > 3")
    assert log.counts.table[:, -1].sum() == 3


@pytest.mark.parametrize("declared", DECLARED)
def test_texts_are_refused_where_numbers_are_needed(declared, tmp_path):
    where = place(tmp_path, declared, [1, 0, 1, 0, "k.A.", 1, 0, 1])
    for roles in ({"outcome": "v"}, {"outcome": "z", "mediator": "v:2"}):
        with pytest.raises(InvalidValue, match=r"^Column 'v' must be numbers, it holds 'k\.A\.'; "):
            read(where, arm="arm", **roles)
    with pytest.raises(InvalidValue, match=r"^Column 'v' must be yes or no"):
        read(where, arm="arm", outcome="z", observed="v")
    with pytest.raises(InvalidValue, match=r"^where compares column 'v' with a number"):
        read(where, arm="arm", outcome="z", where="v < 1")
    log = read(where, arm="arm", outcome="v", missing_values=["k.A."], where="v < 1", levels=(0, 1))
    assert (log.rows, log.filtered_out) == (3, 5)


@pytest.mark.parametrize("declared", DECLARED)
def test_labels_of_any_declared_type(declared, tmp_path):
    where = place(tmp_path, declared, [1, 2, "x", 1, 2, "x", "NA", ""])
    log = read(where, arm="v", outcome="z")
    assert (log.arms, log.skipped) == (("1", "2", "x"), 2)
    assert read(where, arm="arm", outcome="z", mediator="v").mediators == ("1", "2", "x")
    groups = read(where, arm="arm", outcome="z", by="v").groups
    assert [group.label for group in groups] == ["1", "2", "x", "(missing)"]
    with pytest.raises(InvalidValue, match=r"^2 of 8 rows have no unit"):
        read(where, arm="arm", outcome="z", unit="v")
    assert read(where, arm="arm", outcome="z", unit="v", where="v is not null").units == 3


def test_true_and_false(tmp_path):
    where = place(tmp_path, "BOOLEAN", ["true", "false", "FALSE", "true", "", "true", "false", "true"])
    assert read(where, arm="arm", outcome="v").counts.levels == (0, 1)
    assert read(where, arm="arm", outcome="v").counts.observed.sum() == 7


def test_no_digit_is_lost(tmp_path):
    numbers = [0.1, 1 / 3, 2**53 + 1, -1e-300, 5e15, 1e20, 0.1 + 0.2, 7]
    where = place(tmp_path, "", numbers)
    assert read(where, arm="arm", outcome="v").counts.levels == tuple(sorted(map(float, numbers)))
    ids = place(tmp_path, "INTEGER", [2**60 + 1, 2**60 + 2] * 4)
    assert read(ids, arm="arm", outcome="z", unit="v").units == 2
    assert read(place(tmp_path, "REAL", [1.0, 2.5] * 4), arm="v", outcome="z").arms == (1, 2.5)


def test_binary_values_are_refused_where_they_are_wanted(tmp_path):
    where = place(tmp_path, "INTEGER", [1, 0, b"\x00\x01", 1, 0, 1, 0, 1])
    for roles in ({"arm": "arm", "outcome": "v"}, {"arm": "v", "outcome": "z"}):
        with pytest.raises(
            InvalidValue, match=r"^Column 'v' must hold numbers or texts, it holds binary values"
        ):
            read(where, **roles)
    assert read(where, arm="arm", outcome="z").rows == 8


def test_declared_times_are_times_unless_they_are_not(tmp_path):
    days = [f"2024-03-0{1 + i} 12:00:00" for i in range(8)]
    where = place(tmp_path, "TIMESTAMP", days)
    assert read(where, arm="arm", outcome="z", where="v <= '2024-03-04'").rows == 4
    where = place(tmp_path, "TIMESTAMP", [*days[:7], "soon"])
    with pytest.raises(InvalidValue, match=r"it holds 'soon'"):
        read(where, arm="arm", outcome="z", time="v")

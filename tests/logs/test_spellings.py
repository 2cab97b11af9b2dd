"""Blanks around labels do not count; labels that look alike get a warning."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.logs.places import as_csv, as_dict, as_parquet, as_sqlite, in_postgres
from truant.logs.read import read

ARMS = ["A", "A ", " B", "B"]
SITES = ["x", "y", "x ", "\ty"]


def table(rows=240):
    return pd.DataFrame(
        {
            "arm": [ARMS[i % 4] for i in range(rows)],
            "site": [SITES[i // 4 % 4] for i in range(rows)],
            "who": [f"{i % 40}{' ' * (i % 3)}" for i in range(rows)],
            "y": [float(i // 7 % 2) for i in range(rows)],
        }
    )


@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_dict, as_sqlite])
def test_blanks_around_labels_are_left_out(kind, tmp_path):
    check(kind(table(), tmp_path))


def test_postgres(postgres):
    check(in_postgres(postgres, table(), "spellings"))


def check(place):
    log = read(place, arm="arm", outcome="y", mediator="site", unit="who", filter="site != 'z'")
    assert (list(map(str, log.arms)), log.mediators, log.units) == (["A", "B"], ("x", "y"), 40)
    assert log.counts.pulls.tolist() == [120, 120]
    for name in ("arm", "site", "who"):
        assert log.notes.count(f"{name!r}: blanks around texts were left out") == 1
    assert read(place, arm="arm", outcome="y", filter="site = 'x'").rows == 120
    groups = read(place, arm="arm", outcome="y", by="site")
    assert [(group.label, group.rows) for group in groups.groups] == [("x", 120), ("y", 120)]
    assert "'site': blanks around texts were left out" in groups.notes


def test_a_blank_after_each_comma(tmp_path):
    file = tmp_path / "log.csv"
    lines = [f"{'ab'[i % 2]}, {('DE', 'FR')[i // 2 % 2]}, {i // 3 % 2}" for i in range(80)]
    file.write_text("\n".join(["arm, country, y", *lines]) + "\n")
    log = read(file, arm="arm", outcome="y", filter="country != 'DE'")
    assert (log.rows, log.filtered_out) == (40, 40)


def test_no_note_where_nothing_was_joined(tmp_path):
    plain = table().apply(lambda column: column.str.strip() if column.dtype == object else column)
    log = read(as_csv(plain, tmp_path), arm="arm", outcome="y", mediator="site", unit="who", by="site")
    assert not [note for note in log.notes if "blanks" in note]
    assert not log.warnings


@pytest.mark.parametrize("pair", [("Control", "control"), ("caf\u00e9", "cafe\u0301"), ("A", "A\u00a0")])
def test_labels_that_look_alike_are_named(pair):
    log = read(
        {"arm": [*pair, "other"] * 30, "y": [0, 1, 1, 0, 0, 1] * 15},
        arm="arm",
        outcome="y",
    )
    (warning,) = (w for w in log.warnings if w.code == "alike-labels")
    assert repr(pair[0]) in warning.message
    assert repr(pair[1]) in warning.message


def test_a_row_of_totals_is_named():
    data = {"arm": ["a", "b"] * 100 + ["Total"], "y": [0, 1, 1, 0] * 50 + [1]}
    log = read(data, arm="arm", outcome="y")
    (warning,) = (w for w in log.warnings if w.code == "alike-labels")
    assert "arm != 'Total'" in warning.message
    assert read(data, arm="arm", outcome="y", filter="arm != 'Total'").arms == ("a", "b")
    often = {"arm": ["a", "b", "total"] * 100, "y": [0, 1, 1, 0, 1, 0] * 50}
    assert not read(often, arm="arm", outcome="y").warnings

"""The same markers mean missing in every column, and what was found is listed."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.logs.places import as_csv, as_duckdb, as_parquet, as_sqlite, in_postgres
from truant.cli import cli
from truant.errors import InvalidValue
from truant.logs.read import read

MARKERS = [
    "",
    " ",
    "NA",
    "na",
    "N/A",
    " n/a ",
    "NaN",
    "nan",
    "NULL",
    "null",
    "None",
    "none",
    "#N/A",
    " - ",
    None,
]


def table() -> pd.DataFrame:
    """Each marker once in each column; 26 rows without one."""
    good = {"arm": ["a", "b"] * 13, "m": ["u", "v"] * 13, "x": ["1", "2.5"] * 13, "y": ["1", "0"] * 13}
    good["seen"] = ["yes"] * 26
    rows = [dict(zip(good, row, strict=True)) for row in zip(*good.values(), strict=True)]
    for column in good:
        rows += [
            {"arm": "a", "m": "u", "x": "1", "y": "1", "seen": "yes"} | {column: marker} for marker in MARKERS
        ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("place", [as_csv, as_parquet, as_sqlite, as_duckdb, "postgres", "pandas"])
def test_markers_are_the_same_in_every_column(place, tmp_path, request):
    if place == "postgres":
        where: Any = in_postgres(request.getfixturevalue("postgres"), table(), "markers")
    else:
        where = table() if place == "pandas" else place(table(), tmp_path)
    log = read(where, arm="arm", outcome="y", mediator=["m", "x:2"], observed="seen")
    counted = {"empty": 3, "NA": 1, "na": 1, "N/A": 1, "n/a": 1, "NaN": 1, "nan": 1, "NULL": 1, "null": 1}
    counted |= {"None": 1, "none": 1, "#N/A": 1, "-": 1}
    assert log.missing_markers == dict.fromkeys(("arm", "y", "m", "x", "seen"), counted)
    assert log.skipped == len(MARKERS)
    assert log.mediators == ("m=u, x <= 1", "m=v, x > 1")
    assert log.counts.levels == (0, 1)
    assert log.counts.table.sum() == 26 + 4 * len(MARKERS)
    assert log.counts.table[0].tolist() == [[0, 13, 30], [0, 0, 0], [0, 30, 0]]
    assert any(
        note.startswith("missing in 'y': 3 empty, 1 ") and note.endswith(", 7 more") for note in log.notes
    )


def test_numbers_that_mean_missing_are_listed():
    rows = {"arm": [1, 2, -9, 1, 2, 2], "m": [1.5, 2.0, 3.0, -9.0, math.nan, 1.0], "y": [0, 1, 1, -9, -99, 0]}
    log = read(rows, arm="arm", outcome="y", mediator="m:2", missing_values=[-9, "-99"])
    assert log.missing_markers == {"arm": {"-9": 1}, "y": {"-9": 1, "-99": 1}, "m": {"-9": 1, "empty": 1}}


def test_only_missing_values_replace_the_others():
    rows = {
        "arm": ["None", "NA", "None", "NA", "?", None],
        "m": ["null", "x"] * 3,
        "y": ["1", "0", "-9", "1", "0", "1"],
    }
    log = read(rows, arm="arm", outcome="y", mediator="m", only_missing_values=["?", -9])
    assert log.arms == ("NA", "None")
    assert log.mediators == ("null", "x")
    assert log.missing_markers == {"arm": {"?": 1, "empty": 1}, "y": {"-9": 1}}
    assert not log.warnings
    with pytest.raises(
        InvalidValue, match=r"^Column 'y' must be numbers, it holds 'NA'; .*missing_values=\['NA'\]"
    ):
        read(rows | {"y": ["1", "0", "NA", "1", "0", "1"]}, arm="arm", outcome="y", only_missing_values=[])
    with pytest.raises(InvalidValue, match=r"^only_missing_values must be a list of values, got 'NA'\.$"):
        read(rows, arm="arm", outcome="y", only_missing_values="NA")


def test_an_arm_that_is_taken_as_missing_is_told():
    rows = {"country": ["NA", "DE", "FR", "NA", "DE", "FR"], "y": [1, 0, 1, 0, 1, 0]}
    result = truant.analyze(rows, arm="country", outcome="y")
    warning = result.warnings[0]
    assert (warning.code, warning.value) == ("missing-arm", 2)
    assert warning.message == (
        "2 rows whose 'country' is 'NA' were left out, since that means missing; if it is an arm, say "
        "only_missing_values=[] (--only-missing-values '')."
    )
    assert [arm.arm for arm in result.arms] == ["DE", "FR"]
    named = truant.analyze(rows, arm="country", outcome="y", missing_values=["NA"])
    assert "missing-arm" not in [warning.code for warning in named.warnings]
    with pytest.raises(InvalidValue) as refusal:
        read({"arm": ["None", "drug"] * 3, "y": [1, 0] * 3}, arm="arm", outcome="y")
    assert str(refusal.value) == (
        "At least two arms are needed to compare, column 'arm' holds only 'drug' beside 'None', which means missing; "
        "if it is an arm, say only_missing_values=[] (--only-missing-values '')."
    )


def test_labels_that_may_mean_missing_are_noted():
    rows = {"arm": ["a", "b", "?"] * 3, "m": ["x", "n.a.", "Unknown"] * 3, "y": [1, 0, 1, 0, 1, 0, 1, 1, 0]}
    log = read(rows, arm="arm", outcome="y", mediator="m", by="m")
    assert log.notes[0] == (
        "'?' of 'arm' may mean missing: if so, say missing_values=['?'] ('--missing-values=?')"
    )
    assert log.notes[1].startswith("'Unknown' and 'n.a.' of 'm' may mean missing: if so, say missing_values=")
    assert len(log.notes) == 2
    named = read(rows, arm="arm", outcome="y", mediator="m", missing_values=["?", "n.a.", "Unknown"])
    assert not [note for note in named.notes if "may mean" in note]
    assert not read(
        rows | {"m": ["x", "y", "-1"] * 3, "arm": ["a", "b", "none"] * 3}, arm="arm", outcome="y"
    ).notes[1:]


def test_the_command_and_its_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text('arm;y\nNone;1,5\nA;2,5\nNone;NA\nA;"3,5"\nNone;?\nA;\nNone;4\nA;1\n')
    words = ["analyze", "log.csv", "--arm", "arm", "--outcome", "y", "--decimal", ",", "--json"]
    result = CliRunner().invoke(cli, [*words, "--only-missing-values", "NA", "--missing-values", "?"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert [arm["arm"] for arm in summary["arms"]] == ["A", "None"]
    assert summary["missing_markers"] == {"y": {"NA": 1, "?": 1, "empty": 1}}
    assert summary["notes"] == [
        "'y': read the comma as the decimal sign ('1,5' is 1.5)",
        "missing in 'y': 1 ?, 1 NA, 1 empty",
    ]


@pytest.mark.parametrize("place", [as_csv, as_sqlite, "postgres"])
def test_a_hyphen_and_na_of_spreadsheets_are_missing_unless_others_are_named(place, tmp_path, request):
    marks = {"arm": ["a", "b", "-"] * 4, "m": ["x", "#N/A", "-", "x"] * 3, "y": ["1", "-", "0", "#n/a"] * 3}
    if place == "postgres":
        where: Any = in_postgres(request.getfixturevalue("postgres"), pd.DataFrame(marks), "hyphens")
    else:
        where = place(pd.DataFrame(marks), tmp_path)
    log = read(where, arm="arm", outcome="y", mediator="m")
    assert (log.arms, log.mediators, log.skipped) == (("a", "b"), ("x",), 4)
    assert set(log.notes) == {
        "missing in 'arm': 4 -",
        "missing in 'm': 2 #N/A, 2 -",
        "missing in 'y': 2 #n/a, 2 -",
    }
    (warning,) = log.warnings
    assert (warning.code, warning.value) == ("missing-arm", 4)
    assert "whose 'arm' is '-' were left out, since that means missing; if it is an arm, say only" in str(
        warning.message
    )
    only = ["#N/A", "#n/a"]
    kept = read(where, arm="arm", outcome="y", mediator="m", only_missing_values=only, where="y != '-'")
    assert (kept.arms, kept.mediators) == (("-", "a", "b"), ("-", "x"))
    assert "missing-arm" not in {warning.code for warning in kept.warnings}

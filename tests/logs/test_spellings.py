"""Blanks around labels do not count; labels that look alike get a warning."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.logs.places import as_csv, as_dict, as_parquet, as_sqlite, in_postgres
from truant.cli import cli
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
    log = read(place, arm="arm", outcome="y", mediator="site", unit="who", where="site != 'z'")
    assert (list(map(str, log.arms)), log.mediators, log.units) == (["A", "B"], ("x", "y"), 40)
    assert log.counts.pulls.tolist() == [120, 120]
    for name in ("arm", "site", "who"):
        assert log.notes.count(f"{name!r}: blanks around texts were left out") == 1
    assert read(place, arm="arm", outcome="y", where="site = 'x'").rows == 120
    groups = read(place, arm="arm", outcome="y", by="site")
    assert [(group.label, group.rows) for group in groups.groups] == [("x", 120), ("y", 120)]
    assert "'site': blanks around texts were left out" in groups.notes


def test_a_blank_after_each_comma(tmp_path):
    file = tmp_path / "log.csv"
    lines = [f"{'ab'[i % 2]}, {('DE', 'FR')[i // 2 % 2]}, {i // 3 % 2}" for i in range(80)]
    file.write_text("\n".join(["arm, country, y", *lines]) + "\n")
    log = read(file, arm="arm", outcome="y", where="country != 'DE'")
    assert (log.rows, log.filtered_out) == (40, 40)


def test_no_note_where_nothing_was_joined(tmp_path):
    plain = table().apply(lambda column: column.str.strip() if column.dtype == object else column)
    log = read(as_csv(plain, tmp_path), arm="arm", outcome="y", mediator="site", unit="who", by="site")
    assert not [note for note in log.notes if "blanks" in note]
    assert not log.warnings


PAIRS = [("caf\u00e9", "cafe\u0301"), ("A", "A\u00a0"), ("new", "new\u200b"), ("new", "n\u00adew\ufeff")]


@pytest.mark.parametrize("pair", [("Control", "control"), *PAIRS])
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
    data = {"arm": ["a", "b"] * 100 + ["Total"] * 2, "y": [0, 1, 1, 0] * 50 + [1, 1]}
    log = read(data, arm="arm", outcome="y")
    (warning,) = (w for w in log.warnings if w.code == "alike-labels")
    assert "arm != 'Total'" in warning.message
    assert read(data, arm="arm", outcome="y", where="arm != 'Total'").arms == ("a", "b")
    often = {"arm": ["a", "b", "total"] * 100, "y": [0, 1, 1, 0, 1, 0] * 50}
    assert not read(often, arm="arm", outcome="y").warnings


# Labels that are merged


def untidy(rows=120):
    """Six rows of each arm and site in turn; 'new' is better, and 'OLD' the best of all for want of rows."""
    arms = ["Old", "new", "old", "new", "Old", "OLD"]
    return pd.DataFrame(
        {
            "arm": [arms[i % 6] for i in range(rows)],
            "site": [("North West", "north  west", "South")[i // 6 % 3] for i in range(rows)],
            "who": [f"{i % 40}" for i in range(rows)],
            "day": [float(i % 20) for i in range(rows)],
            "y": [float(i // 7 % 2) if i % 5 else None for i in range(rows)],
        }
    )


@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_dict, as_sqlite, "postgres"])
def test_labels_are_merged_on_request_as_if_they_had_been_spelt_alike(kind, tmp_path, request):
    table, folder = untidy(), tmp_path / "clean"
    folder.mkdir()
    clean = table.assign(
        arm=table["arm"].replace({"old": "Old", "OLD": "Old"}),
        site=table["site"].replace({"north  west": "North West"}),
    )
    if kind == "postgres":
        url = request.getfixturevalue("postgres")
        places = [in_postgres(url, table, "untidy"), in_postgres(url, clean, "tidied")]
    else:
        places = [kind(table, tmp_path), kind(clean, folder)]
    words = {"arm": "arm", "outcome": "y", "mediator": "site", "unit": "who", "time": "day", "levels": (0, 1)}
    merged = read(places[0], **words, merge_labels=True)
    plain = read(places[1], **words)
    assert (merged.arms, merged.mediators) == (("Old", "new"), ("North West", "South"))
    assert merged.counts.table.tolist() == plain.counts.table.tolist()
    assert merged.over_time == plain.over_time
    assert repr(merged.clusters) == repr(plain.clusters)
    assert "alike-labels" not in {warning.code for warning in merged.warnings}
    assert merged.notes[:2] == (
        "'arm': 'OLD' (20 rows) was counted as 'Old', 'old' (20 rows) was counted as 'Old'",
        "'site': 'north  west' (42 rows) was counted as 'North West'",
    )
    groups = read(places[0], arm="arm", outcome="y", by="site", merge_labels=True)
    assert [(group.label, group.rows) for group in groups.groups] == [("North West", 84), ("South", 36)]


@pytest.mark.parametrize("pair", [*PAIRS, ("Stra\u00dfe", "STRASSE")])
def test_characters_that_are_stored_otherwise_are_merged(pair):
    rows = {"arm": [*pair, pair[0], "other"] * 30, "y": [0, 1, 1, 0] * 30}
    log = read(rows, arm="arm", outcome="y", merge_labels=True)
    assert log.arms == (pair[0], "other") or log.arms == ("other", pair[0])
    assert log.counts.pulls.sum() == 120


def test_a_plan_lists_the_rows_of_merged_arms(tmp_path):
    """Calls of both spellings, in numbers that fit the merged arm."""
    place = as_csv(untidy(), tmp_path)
    found = truant.plan(place, arm="arm", outcome="y", mediator="site", budget=10, merge_labels=True)
    old = untidy()["y"].isna() & (untidy()["arm"] != "new")
    assert (found.missing_rows.arms == 0).sum() == old.sum()
    assert "'arm': 'OLD' (20 rows) was counted as 'Old', 'old' (20 rows) was counted as 'Old'" in found.notes
    assert set(untidy()["y"].isna().to_numpy().nonzero()[0] + 1) == set(found.missing_rows.names.to_pylist())


def test_a_spelling_that_leads_makes_no_winner_clear(tmp_path):
    """53 rows of a second spelling with good luck, beside 2,000 of the first."""
    rows = {
        "arm": ["control"] * 1000 + ["treated"] * 1000 + ["Control"] * 53,
        "y": [0, 1] * 500 + [0, 1, 0, 1, 1] * 200 + [1] * 53,
    }
    result = truant.analyze(rows, arm="arm", outcome="y")
    assert result.verdict.kind == "unsettled"
    assert result.verdict.doubtful_label
    sentence = result.verdict_sentence
    assert sentence.startswith("Not settled: 'Control' leads under mcar")
    assert (
        "No winner is clear while it is in doubt which rows are of 'Control': 'Control' and 'control' of 'arm' differ "
        "only in upper and lower case and count as two; if they are one, say merge_labels=True (--merge-labels)."
    ) in sentence
    assert sentence in " ".join(str(result).split())
    assert result.to_settle == ["Settle which rows are of which arm, and analyze again."]
    merged = truant.analyze(rows, arm="arm", outcome="y", merge_labels=True)
    assert (merged.verdict.kind, merged.verdict.arm) == ("clear", "treated")
    other = truant.analyze(rows | {"y": [0, 1] * 500 + [1] * 1000 + [0] * 53}, arm="arm", outcome="y")
    assert (other.verdict.kind, other.verdict.arm) == ("clear", "treated")  # which no label puts in doubt


def test_a_spelling_that_leads_in_a_group():
    rows = {"arm": ["a", "b", "B"] * 100, "y": [0, 0, 1] * 99 + [1, 1, 0], "g": ["x", "y"] * 150}
    result = truant.analyze(rows, arm="arm", outcome="y", by="g")
    for group in result.groups.values():
        assert group.verdict.doubtful_label
        assert "--merge-labels" in group.verdict_sentence


def test_a_row_of_totals_that_leads_makes_no_winner_clear():
    rows = {"arm": ["a", "b"] * 500 + ["Total"] * 20, "y": [0, 1, 1, 0] * 250 + [1] * 20}
    result = truant.analyze(rows, arm="arm", outcome="y")
    assert result.verdict.kind == "unsettled"
    assert "leave it out with where: arm != 'Total'" in result.verdict_sentence


def test_the_next_command_merges_labels_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_csv(untidy(), tmp_path)
    words = ["plan", "log.csv", "--arm", "arm", "--outcome", "y", "--merge-labels", "--budget", "5"]
    shown = CliRunner().invoke(cli, [*words, "--out", "calls.csv"])
    assert shown.exit_code == 0, shown.output
    assert "--followed-up followed_up --merge-labels" in " ".join(shown.output.split())
    shown = CliRunner().invoke(
        cli, ["analyze", "log.csv", "--arm", "arm", "--outcome", "y", "--merge-labels"]
    )
    assert "'OLD' (20 rows) was counted as 'Old'" in " ".join(shown.output.split())

"""Arms that cannot be compared are set aside with a warning, and the others are compared as if these were not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import truant
from tests.logs.places import as_csv, as_parquet, as_sqlite, in_postgres
from truant.errors import InvalidValue
from truant.logs.read import read

RNG = np.random.default_rng(7)
N = 400


def table() -> pd.DataFrame:
    """Two arms with outcomes, `new` with one row, `late` with none observed."""
    arm = [*RNG.choice(["a", "b"], N), "new", *["late"] * 30]
    y = np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(size=N) + (np.array(arm[:N]) == "b"))
    rows = N + 31
    return pd.DataFrame(
        {
            "arm": arm,
            "m": RNG.integers(0, 2, rows).astype(float),
            "x": RNG.normal(size=rows),
            "who": [f"u{i % 120}" for i in range(rows)],
            "day": [float(i % 20) for i in range(rows)],
            "g": [float(i // 3 % 2) for i in range(rows)],
            "p": [0.5] * rows,
            "y": [*y, 99.0, *[np.nan] * 30],
        }
    )


TABLE = table()
WORDS = {"arm": "arm", "outcome": "y"}
SINGLE = "Set aside: 'new', with a single row (1 row); the other arms are compared without."
UNSEEN = "Set aside: 'late', with no observed outcome (30 rows); the other arms are compared without."


def without(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["arm"].isin(["a", "b"])]


@pytest.mark.parametrize("kind", [as_csv, as_parquet, as_sqlite, "postgres"])
def test_the_others_are_counted_as_if_these_were_not_there(kind, tmp_path, request):
    place = (
        in_postgres(request.getfixturevalue("postgres"), TABLE, "thin_arms")
        if kind == "postgres"
        else kind(TABLE, tmp_path)
    )
    log = read(place, **WORDS, mediator="x:3", time="day", unit="who")
    alone = read(without(TABLE), **WORDS, mediator="x:3", time="day", unit="who")
    assert (log.arms, log.mediators, log.setting.high) == (alone.arms, alone.mediators, alone.setting.high)
    assert log.counts.table == pytest.approx(alone.counts.table)
    assert repr(log.over_time) == repr(alone.over_time)
    assert (log.units, log.clusters.arms[0].units) == (alone.units, alone.clusters.arms[0].units)
    assert (log.rows, log.skipped, log.set_aside) == (N + 31, 0, ("late", "new"))
    assert [w.message for w in log.warnings if w.code == "set-aside"] == [SINGLE, UNSEEN]
    assert [(w.arm, w.value) for w in log.warnings[:2]] == [("new", 1.0), ("late", 30.0)]


@pytest.mark.parametrize(
    "options", [{}, {"mediator": "m"}, {"mediator": "m", "cut_outcome": 2}, {"probability": "p"}]
)
def test_the_analysis_is_that_of_the_others(options):
    result = truant.analyze(TABLE, **WORDS, **options, expected_split=[1, 1, 1, 1])
    alone = truant.analyze(without(TABLE), **WORDS, **options, expected_split=[1, 1])
    assert [arm.arm for arm in result.arms] == ["a", "b"]
    assert result.assumptions == alone.assumptions != []
    for one, other in zip(result.arms, alone.arms, strict=True):
        assert repr(one) == repr(other)
    assert SINGLE in str(result)
    assert UNSEEN in str(result)


def test_arms_that_are_numbers_or_days():
    """A filter on the arm is written by the type of its column."""
    for values in ([1, 2, 30], [0.5, 1.5, 2.5], list(pd.date_range("2024-01-01", periods=3).date)):
        arms = [values[i % 2] for i in range(40)] + [values[2]]
        log = read({"arm": arms, "y": [float(i // 2 % 2) for i in range(41)]}, **WORDS)
        assert (len(log.arms), log.counts.pulls.tolist(), log.rows) == (2, [20, 20], 41)


@pytest.mark.parametrize("label", ["B", " b\u00a0", "b\u200b"])
def test_another_spelling_of_an_arm_may_be_merged(label):
    rows = {"arm": [*"ab" * 20, label, "c"], "y": [0.0, 1.0, 1.0, 0.0] * 10 + [1.0, 0.0]}
    (warning,) = (w for w in read(rows, **WORDS).warnings if w.code == "set-aside")
    shown = label.strip(" ")
    assert (
        f"{shown!r} may be 'b': if they are one, say merge_labels=True (--merge-labels)." in warning.message
    )
    assert "'c' may be" not in warning.message
    merged = read(rows, **WORDS, merge_labels=True)
    assert merged.counts.pulls.tolist() == [20, 21]
    twice = read(rows | {"arm": [*"ab" * 20, "c", "C"]}, **WORDS)
    assert "'C' may be 'c'" in twice.warnings[0].message or "'c' may be 'C'" in twice.warnings[0].message


def test_two_arms_must_remain():
    few = {"arm": ["a", "a", "b"], "y": [1, 0, 1]}
    assert (read(few, **WORDS).arms, read(few, **WORDS).warnings) == (("a", "b"), ())
    single = {"arm": ["a", "b", "c", "d"], "y": [1, 0, 1, 0]}
    assert read(single, **WORDS).arms == ("a", "b", "c", "d")


def test_an_arm_of_one_group_is_set_aside_there():
    rows = TABLE.assign(arm=np.where((TABLE["arm"] == "new") | (TABLE["arm"] == "late"), "a", TABLE["arm"]))
    third = pd.DataFrame({"arm": ["c"] * 21, "g": [0.0] * 20 + [1.0], "y": [0.5] * 10 + [0.1] * 11})
    third = third.assign(day=[float(i % 20) for i in range(21)], m=0.0)
    rows = pd.concat([rows, third], ignore_index=True)
    result = truant.analyze(rows, **WORDS, by="g", time="day", expected_split=[1, 1, 1])
    assert [[arm.arm for arm in group.arms] for group in result.groups.values()] == [
        ["a", "b", "c"],
        ["a", "b"],
    ]
    warnings = result.groups["1"].warnings
    assert [w.message for w in warnings if w.code == "set-aside"] == [SINGLE.replace("new", "c")]
    assert not [w for w in result.groups["0"].warnings if w.code == "set-aside"]
    assert {one.arm for one in result.groups["1"].over_time.periods} == {"a", "b"}
    assert list(truant.analyze(rows, **WORDS, by="g", control="c").groups) == ["0"]


def test_a_control_that_was_set_aside_is_refused():
    with pytest.raises(InvalidValue) as refusal:
        truant.analyze(TABLE, **WORDS, control="new")
    assert str(refusal.value) == (
        "The control 'new' has a single row, or no observed outcome; name another arm."
    )


def test_answers_of_follow_ups_are_outcomes():
    arms = ["a", "b"] * 30 + ["c"] * 20
    rows = {
        "arm": arms,
        "y": [0, 1, 1, 0] * 15 + [1, 0] * 5 + [None] * 10,
        "asked": ["no"] * 60 + ["yes"] * 20,
    }
    rows["asked"][3], rows["asked"][0] = "yes", "yes"
    assert read(rows, **WORDS, followed_up="asked").arms == ("a", "b", "c")
    assert read(
        rows | {"asked": ["yes", *["no"] * 79], "y": [*rows["y"][:60], *[None] * 20]}, **WORDS
    ).arms == (
        "a",
        "b",
    )


def test_a_plan_is_that_of_the_others(tmp_path):
    found = truant.plan(as_csv(TABLE, tmp_path), **WORDS, mediator="x:2", budget=20, range=(-5, 100))
    missing = TABLE["y"].isna() & TABLE["arm"].isin(["a", "b"])
    assert set(found.missing_rows.names.to_pylist()) == set(np.flatnonzero(missing) + 1)
    assert (SINGLE in found.notes, UNSEEN in found.notes) == (True, True)

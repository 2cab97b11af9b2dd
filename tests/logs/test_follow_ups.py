"""Tables that contain follow-ups: read in every place, refused where the column cannot be right, shown where it is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.logs.places import ENGINES, as_csv, as_dict, as_duckdb
from truant.cli import cli
from truant.counts import Counts
from truant.errors import InvalidValue, UnknownName
from truant.logs.read import read

COLUMNS = {"arm": "mail", "outcome": "bought", "mediator": "opened"}


def survey(
    rows: int = 600, asked: int = 40, success: float = 0.8, seed: int = 3, real: bool = False
) -> pd.DataFrame:
    """Customers who bought report it more often; some of the others were called."""
    rng = np.random.default_rng(seed)
    mail, opened = rng.integers(0, 2, rows), rng.random(rows) < 0.5
    bought = (rng.random(rows) < 0.3 + 0.2 * opened + 0.15 * mail).astype(float)
    if real:
        bought = bought * np.round(rng.gamma(2, 20, rows), 2)
    seen = rng.random(rows) < np.where(bought > 0, 0.8, 0.4)
    called = np.zeros(rows, bool)
    for arm in (0, 1):
        called[rng.choice(np.flatnonzero((mail == arm) & ~seen), asked, replace=False)] = True
    answered = called & (rng.random(rows) < success)
    return pd.DataFrame(
        {
            "mail": np.where(mail, "new", "old"),
            "opened": np.where(opened, "yes", "no"),
            "bought": np.where(seen | answered, bought, np.nan),
            "called": np.where(called, "yes", "no"),
            "seen": seen.astype(float),
            "reached": np.where(called, 1.0, np.nan),
        }
    )


def by_hand(table: pd.DataFrame, log) -> Counts:
    """The same counts, row by row."""
    arms = [log.arms.index(arm) for arm in table["mail"]]
    mediators = [log.mediators.index(level) for level in table["opened"]]
    return Counts.fold(
        log.setting, arms, mediators, table["bought"].to_numpy(), (table["called"] == "yes").to_numpy()
    )


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("place", [as_csv, as_duckdb, as_dict, *ENGINES])
def test_every_backend_gives_the_counts_of_the_rows(place, real, put):
    table = survey(real=real)
    log = read(put(place, table), followed_up="called", **COLUMNS)
    expected = by_hand(table, log)
    assert (log.counts.levels is None) is real
    np.testing.assert_allclose(log.counts.table, expected.table, rtol=1e-9)
    np.testing.assert_allclose(log.counts.followed_up, expected.followed_up, rtol=1e-9)
    assert log.counts.follow_ups.tolist() == [40, 40]


def test_marks_may_be_numbers_or_truth_or_empty():
    table = survey()
    wanted = read(table, followed_up="called", **COLUMNS).counts
    truth = table.assign(called=table["called"] == "yes")
    for data, column in ((truth, "called"), (table, "reached")):
        counts = read(data, followed_up=column, **COLUMNS).counts
        assert np.array_equal(counts.table, wanted.table)
        assert np.array_equal(counts.followed_up, wanted.followed_up)


def test_with_a_column_of_what_was_observed():
    """Answers count although they were not observed at first; what else is not observed does not."""
    table = survey()
    wanted = read(table, followed_up="called", **COLUMNS).counts
    junk = table["bought"].where((table["seen"] == 1) | (table["called"] == "yes"), 1.0)
    found = read(table.assign(bought=junk), followed_up="called", observed="seen", **COLUMNS).counts
    assert np.array_equal(found.table, wanted.table)
    assert np.array_equal(found.followed_up, wanted.followed_up)


def test_groups_filters_and_texts(tmp_path):
    table = survey().assign(half=lambda rows: np.where(rows.index < 300, "first", "last"))
    log = read(as_csv(table, tmp_path), followed_up="called", by="half", **COLUMNS)
    for group in log.groups:
        own = table[table["half"] == group.label]
        kept = read(table, followed_up="called", where=f"half = '{group.label}'", **COLUMNS)
        for counts in (group.log.counts, kept.counts):
            expected = by_hand(own, log)
            assert np.array_equal(counts.table, expected.table)
            assert np.array_equal(counts.followed_up, expected.followed_up)


def test_a_cut_outcome_is_cut_in_answers_too():
    table = survey(real=True, rows=2000, success=1.0)
    log = read(table, followed_up="called", cut_outcome=[20], **COLUMNS)
    high = table[(table["called"] == "yes") & (table["bought"] > 20)]
    assert log.counts.followed_up[:, :, 1].sum() == len(high)
    assert log.uncut.counts.answered.tolist() == log.counts.answered.tolist() == [40, 40]
    result = truant.analyze(table, followed_up="called", cut_outcome=[20], **COLUMNS)
    plain = truant.analyze(table, followed_up="called", **COLUMNS)
    for cut, whole in zip(result.arms, plain.arms, strict=True):
        ends = [
            [getattr(one.estimates["follow-up"], end) for end in ("mean", "low", "high")]
            for one in (cut, whole)
        ]
        assert ends[0] == pytest.approx(ends[1])  # of the outcome as it was


def test_shares_over_time_are_those_at_first():
    table = survey().assign(day=lambda rows: rows.index // 60)
    result = truant.analyze(table, followed_up="called", time="day", **COLUMNS)
    observed = sum(period.observed for period in result.over_time.periods)
    assert observed == int(table["seen"].sum())


REFUSED = [
    ({"followed_up": "caled"}, UnknownName, "did you mean 'called'"),
    ({"followed_up": "bought"}, InvalidValue, "followed_up must be another column than arm and outcome"),
    (
        {"followed_up": "seen", "observed": "seen"},
        InvalidValue,
        "followed_up must be a column of its own",
    ),
    (
        {"followed_up": "how"},
        InvalidValue,
        "Column 'how' must be yes or no, true or false, or 1 or 0; it holds 'letter' and 'phone'.",
    ),
    ({"followed_up": "day"}, InvalidValue, "Column 'day' of followed_up must be yes or no"),
    ({"followed_up": "nobody"}, InvalidValue, "Column 'nobody' of followed_up marks no row"),
    (
        {"followed_up": "failed"},
        InvalidValue,
        "None of the 5 rows that 'failed' marks as followed up has an outcome",
    ),
    (
        {"followed_up": "has"},
        InvalidValue,
        "'has' marks every row that has an outcome, so it seems to mark observed rows.",
    ),
    (
        {"followed_up": "called", "observed": "all"},
        InvalidValue,
        "in 80 of the 80 rows that 'called' marks, 'all' says that it was observed.",
    ),
    ({"followed_up": "called", "unit": "row"}, InvalidValue, "unit cannot be used with followed_up"),
    ({"failed_follow_ups": "ignorable"}, InvalidValue, "name their column with followed_up"),
    ({"followed_up": "called", "failed_follow_ups": "worst"}, UnknownName, "did you mean 'worst-case'"),
]


@pytest.mark.parametrize(("options", "error", "sentence"), REFUSED)
def test_refusals(options, error, sentence, tmp_path):
    table = survey()
    missing = table.index[table["bought"].isna() & (table["called"] == "no")]
    table = table.assign(
        day=pd.Timestamp("2024-01-01"),
        nobody=0,
        failed=table.index.isin(missing[:5]).astype(int),
        has=table["bought"].notna().astype(int),
        all=1,
        how=np.where(table.index % 2, "letter", "phone"),
        row=table.index,
    )
    with pytest.raises(error) as caught:
        truant.analyze(table, **COLUMNS, **options)
    assert sentence in str(caught.value)
    assert str(caught.value).count("\n") == 0
    if "day" not in options.values():  # text in a file
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        names = ["--arm", "mail", "--outcome", "bought", "--mediator", "opened"]
        result = CliRunner().invoke(cli, ["analyze", str(as_csv(table, tmp_path)), *names, *words])
        assert result.exit_code == 2
        assert sentence in " ".join(result.stderr.split())


def test_the_command_shows_follow_ups(tmp_path):
    path = str(as_csv(survey(), tmp_path))
    names = ["--arm", "mail", "--outcome", "bought", "--mediator", "opened", "--followed-up", "called"]
    found = json.loads(CliRunner().invoke(cli, ["analyze", path, *names, "--json"]).stdout)
    table = survey()
    called = table[table["called"] == "yes"]
    for arm in found["arms"]:
        own = called[called["mail"] == arm["arm"]]
        assert (arm["follow_ups"], arm["answered"]) == (40, int(own["bought"].notna().sum()))
    assert sum(cell["answered"] for cell in found["missing"]) == int(called["bought"].notna().sum())
    assert found["columns"]["followed_up"] == "called"
    assert found["sorted_by"] == "follow-up"
    assert {"by_follow_up", "more_follow_ups"} <= set(found["verdict"])
    codes = [warning["code"] for warning in found["warnings"]]
    assert codes.count("failed-follow-ups") == 2  # once for each arm
    shown = CliRunner().invoke(cli, ["analyze", path, *names], env={"COLUMNS": "200"}).stdout
    assert f"80 missing outcomes followed up, {int(called['bought'].notna().sum())} answered" in shown


def test_failures_are_taken_as_stated():
    table = survey()
    worst = truant.analyze(table, followed_up="called", **COLUMNS)
    stated = truant.analyze(table, followed_up="called", failed_follow_ups="ignorable", **COLUMNS)
    named = truant.analyze(table, followed_up="called", assume=["follow-up:failures=ignorable"], **COLUMNS)
    for a, arm in enumerate(stated.arms):
        own = arm.estimates["follow-up"]
        assert own == named.arms[a].estimates["follow-up:failures=ignorable"]
        wide = worst.arms[a].estimates["follow-up"]
        failed = (arm.follow_ups - arm.answered) / arm.follow_ups
        assert wide.high - wide.low > own.high - own.low + 0.5 * failed * arm.missing_share
    # by hand: the answers of a level stand for all its missing outcomes
    new = table[(table["mail"] == "new")]
    total = 0.0
    for _, level in new.groupby("opened"):
        at_first = level[level["seen"] == 1]["bought"]
        answers = level[level["called"] == "yes"]["bought"]
        total += at_first.sum() + (level["seen"] == 0).sum() * answers.mean()
    assert stated.arms[0].arm == "new"
    assert stated.arms[0].estimates["follow-up"].mean == pytest.approx(total / len(new))


def test_no_winner_is_clear_while_follow_ups_cannot_be_used():
    """One failed call and no range: `mar` alone would call a winner clear, whom the range makes unsettled."""
    rng = np.random.default_rng(2)
    arm, visit = np.repeat([0, 1], 300), np.tile([0, 1], 300)
    weight = 60 + 4.0 * arm + visit + rng.normal(0, 8, 600)
    missing = rng.random(600) < 0.3 + 0.2 * visit
    called = np.zeros(600, bool)
    for a in (0, 1):
        called[np.flatnonzero(missing & (arm == a))[:15]] = True
    failed = np.flatnonzero(called)[:6]
    table = pd.DataFrame({"arm": np.where(arm, "b", "a"), "visit": visit, "weight": weight, "called": called})
    table.loc[missing & ~called, "weight"] = np.nan
    table.loc[failed, "weight"] = np.nan
    names = {"arm": "arm", "mediator": "visit", "outcome": "weight", "followed_up": "called"}
    mar = truant.analyze(table.drop(columns="called"), arm="arm", mediator="visit", outcome="weight")
    assert mar.verdict.kind == "clear"
    bounded = truant.analyze(table, **names, range=(0, 150))
    assert (bounded.verdict.kind, bounded.verdict.unused_follow_ups) == ("unsettled", None)
    open_ = truant.analyze(table, **names)
    assert open_.verdict.kind == "unsettled"
    sentence = open_.verdict_sentence
    assert "No winner is clear while the follow-ups cannot be used: 6 of 15 follow-ups of arm 'a'" in sentence
    assert "--range LOW,HIGH, in Python range=(low, high)" in sentence
    assert 'failed_follow_ups="ignorable"' in sentence
    assert open_.summary()["verdict"]["to_settle"][0].startswith("Make the follow-ups usable")
    tolerant = truant.analyze(table, **names, tolerance=100.0)
    assert tolerant.verdict.kind == "unsettled"
    stated = truant.analyze(table, **names, failed_follow_ups="ignorable")
    assert stated.verdict.unused_follow_ups is None


def test_without_the_option_nothing_changes():
    """The mark is a column like any other then: answers count as observed, and no field is added."""
    found = truant.analyze(survey(), **COLUMNS).summary()
    assert not {"follow_ups", "answered"} & set(found["arms"][0]) | {"follow_ups"} & set(found["missing"][0])
    assert "followed_up" not in found["columns"]
    assert "by_follow_up" not in found["verdict"]
    assert "mar" in {item["assumption"] for item in found["untestable"]}
    assert all("follow" not in test["question"] for test in found["tests"])

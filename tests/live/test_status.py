"""Status: what is known, what is pending, and whether the experiment runs well."""

import json

import pytest

from tests.live.campaign import ARMS, MAIL, run
from truant.errors import InvalidValue
from truant.live.experiment import Experiment


@pytest.fixture
def make_mails(clock):
    """Makes the campaign in memory: what is shown does not depend on the store."""

    def make(store="sqlite://", **settings):
        wanted = {name: value for name, value in (MAIL | settings).items() if value is not None}
        return Experiment.create("mails", list(ARMS), store=store, clock=clock, seed=1, **wanted)

    return make


@pytest.fixture
def mails(make_mails):
    return make_mails()


def test_nothing_is_known_yet(mails):
    status = mails.status()
    assert (status.decisions, status.pending, status.settled) == (0, 0, 0)
    assert status.analysis.verdict.kind == "not-identified"
    assert "No outcome can settle before Thursday 5 March 2026, 09:00 UTC" in status.sentences[-1]
    assert json.loads(json.dumps(status.summary()))["schema"] == "truant/status/1"
    assert "mails" in str(status)


def test_numbers_add_up(make_mails, store_url, clock):
    mails = make_mails(store_url)
    run(mails, clock)
    mails.ask(7)
    status = mails.status(calibrate=False)
    assert status.decisions == 20 * 60 + 7
    assert status.pending == 2 * 60 + 7  # the last window that is over is that of three days ago
    assert status.settled == status.decisions - status.pending
    assert sum(arm.asked for arm in status.arms) == status.decisions
    assert (
        sum(arm.missing for arm in status.arms) == sum(status.reasons.values()) == status.reasons["expired"]
    )
    assert sum(arm.late for arm in status.arms) == status.late > 50
    assert sum(arm.share for arm in status.arms) == pytest.approx(1)
    assert sum(status.arrivals) == status.observed
    mails.store.close()


def test_analysis_is_made_once_for_each_version_of_the_counts(mails, clock):
    run(mails, clock)
    first = mails.status(calibrate=False)
    mails.ask(5)
    again = mails.status(calibrate=False)
    assert again.analysis is first.analysis
    assert again.pending == first.pending + 5
    clock.advance("4d")
    assert mails.status(calibrate=False).analysis is not first.analysis


def test_intervals_allow_for_the_policy(mails, clock):
    run(mails, clock)
    replayed = mails.status().analysis.collection
    assert (replayed.kind, replayed.policy, replayed.intervals["mar"].method) == (
        "replayed",
        "mar-thompson",
        "replayed",
    )
    mails.retire_arm("old")
    after = mails.status()
    assert {one.method for one in after.analysis.collection.intervals.values()} == {"confidence-sequence"}
    assert "arms were added or retired" in str(after.analysis.collection)


@pytest.mark.parametrize(("shift", "rejected"), [(0.0, False), (25.0, True)])
def test_late_outcomes_test_the_assumption(make_mails, clock, shift, rejected):
    mails = make_mails()
    run(mails, clock, late_shift=shift)
    (test,) = mails.status(calibrate=False).late_tests
    assert test.assumption == "mar"
    assert (test.p_value < 0.001) == rejected
    assert any("after their window" in sentence for sentence in mails.status(calibrate=False).sentences)


def test_arms_are_drawn_as_often_as_their_probabilities_say(mails, clock):
    run(mails, clock)
    test = mails.status(calibrate=False).share_tests["asked"]
    assert test.p_value > 0.01
    mails.store.write(
        lambda transaction: transaction.run("UPDATE decisions SET arm = 0 WHERE state = 'pending'")
    )  # somebody tampers
    clock.advance("4d")
    assert mails.status(calibrate=False).share_tests["asked"].p_value_any_time < 0.01


def test_an_arm_without_outcomes_does_not_hide_the_others(mails, clock):
    run(mails, clock)
    mails.add_arm("bold")
    status = mails.status(calibrate=False)
    assert [arm.mean is None for arm in status.arms] == [False, False, True]
    assert [arm.arm for arm in status.analysis.arms] == ["old", "new"]
    assert "'new' leads under mcar" in status.verdict
    assert status.arms[2].share == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("rule", "met"), [({"stop_loss": 1.0}, True), ({"stop_level": 0.5}, True), ({"stop_loss": 1e-9}, False)]
)
def test_stop_rule(make_mails, clock, rule, met):
    mails = make_mails(**rule)
    run(mails, clock, days=12)
    stopping = mails.status(calibrate=False).stopping
    assert stopping.met is met
    assert ("may stop" in stopping.sentence) is met


def test_holdout_is_kept_apart(make_mails, clock):
    mails = make_mails(holdout=0.3)
    run(mails, clock, days=12)
    status = mails.status(calibrate=False)
    assert 0.2 < status.holdout.decisions / status.settled < 0.4
    assert int(status.analysis.counts.pulls.sum()) == status.settled - status.holdout.decisions
    # the policy has found the better mail, the fixed split has not
    assert status.holdout.adaptive_mean > status.holdout.mean
    assert any(sentence.startswith("Holdout:") for sentence in status.sentences)


def test_warm_up_keeps_the_split(make_mails, clock):
    mails = make_mails(warm_up="10d", split={"old": 0.8, "new": 0.2})
    run(mails, clock, days=9)
    assert mails.state.allocation.probabilities == [0.8, 0.2]
    run(mails, clock, days=4)
    assert mails.state.allocation.probabilities != [0.8, 0.2]


def test_horizon_that_is_passed_is_doubled(make_mails, clock):
    mails = make_mails(horizon=100)
    run(mails, clock, days=10)
    assert mails.configuration.horizon == 800
    changes = [one for one in mails.events() if one["kind"] == "changed"]
    assert changes[0]["body"]["horizon"]["old"] == 100
    assert "more than the horizon" in changes[0]["why"]


def test_window_that_is_too_short_is_noticed(make_mails, clock):
    mails = make_mails()
    for part in range(4):
        asked = mails.ask(20)
        clock.advance("70h")
        for one in asked:
            mails.tell(one.id, outcome=float(part))
        clock.advance("3h")
    assert any(
        "the window looks too short" in sentence for sentence in mails.status(calibrate=False).sentences
    )


def test_page(mails, clock, tmp_path):
    run(mails, clock, days=12)
    page = mails.status(calibrate=False).report(tmp_path / "mails.html").read_text(encoding="utf-8")
    for text in (
        "How it runs",
        "Probability of each arm in a new decision",
        "When outcomes arrive",
        "The mean of each arm",
    ):
        assert text in page
    with pytest.raises(InvalidValue, match="must end in"):
        mails.status(calibrate=False).report(tmp_path / "mails.txt")

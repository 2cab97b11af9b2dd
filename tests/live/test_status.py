"""Status: what is known, what is pending, and whether the experiment runs well."""

import json
import random
import time

import numpy as np
import pytest

import truant
from tests.live.campaign import ARMS, MAIL, run
from truant.errors import InvalidValue
from truant.live.experiment import Experiment
from truant.live.question import configure
from truant.live.times import shown


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
    assert status.sentences[0] == "No decision has been made yet."
    assert "No window closes before Thursday 5 March 2026, 09:00 UTC" in status.sentences[1]
    assert json.loads(json.dumps(status.summary()))["schema"] == "truant/status/1"
    assert "mails" in str(status)


def test_outcomes_that_are_told_before_the_window_closes_are_seen(mails, tmp_path):
    for one in mails.ask(10)[:4]:
        mails.tell(one.id, outcome=1.0)
    status = mails.status()
    assert (status.pending, status.pending_with_outcome, status.observed) == (10, 4, 0)
    first = "No window has closed yet; the first closes on Thursday 5 March 2026, 09:00 UTC."
    waiting = f"{first} Until then nothing is counted."
    assert status.sentences == [waiting]
    assert "10 pending (4 with an outcome already), 0 observed" in str(status)
    page = status.report(tmp_path / "mails.html").read_text(encoding="utf-8")
    assert waiting in page
    assert "pending, with an outcome" in page
    assert "running at 2026-03-02 09:00 UTC" in page
    assert "10 decisions: 10 pending" in page
    assert page.index("Nothing is counted yet") < page.index(waiting) < page.index("State of the experiment")
    assert "What would settle it" not in page


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


def told(status):
    """All that a status says but for the moment."""
    return {name: value for name, value in status.summary().items() if name != "at"}


@pytest.mark.parametrize("calibrate", [None, False])
def test_the_second_status_is_that_of_a_fresh_process_and_quick(make_mails, store_url, clock, calibrate):
    mails = make_mails(store_url, stop_loss=0.5)
    run(mails, clock)
    mails.ask(7)
    mails.status(calibrate=calibrate, progress=False)
    start = time.process_time()
    again = mails.status(calibrate=calibrate, progress=False)
    assert time.process_time() - start < 0.25
    other = Experiment.open("mails", store=store_url, clock=clock)
    assert told(again) == told(other.status(calibrate=calibrate, progress=False))
    other.store.close()
    mails.store.close()


CHANGES = {
    "settled": lambda mails, clock, one: clock.advance("4d"),
    "corrected": lambda mails, clock, one: mails.correct(one.id, outcome=29.0),
    "withdrawn": lambda mails, clock, one: mails.withdraw(one.id),
    "changed": lambda mails, clock, one: mails.change(level=0.9),
    "an arm more": lambda mails, clock, one: mails.add_arm("bold"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_the_counts_or_the_settings_makes_a_new_analysis(mails, clock, what):
    one = mails.ask()
    mails.tell(one.id, mediator="opened", outcome=1.0)
    run(mails, clock, days=12)
    mails.ask(30)
    before = mails.status(calibrate=False)
    assert mails.status(calibrate=False).analysis is before.analysis
    CHANGES[what](mails, clock, one)
    after = mails.status(calibrate=False)
    assert after.analysis is not before.analysis
    mails.cached.clear()
    assert told(mails.status(calibrate=False)) == told(after)


def test_imported_decisions_make_a_new_analysis_though_nothing_is_counted_yet(mails, clock, tmp_path):
    run(mails, clock, days=12)
    before = mails.status()
    rows = tmp_path / "rows.csv"
    rows.write_text(f"n,arm,asked\n1,old,{shown(clock())}\n")
    mails.import_rows(rows, source="shop", identified_by="n")
    assert "imported" in str(mails.status().analysis.collection)
    assert "imported" not in str(before.analysis.collection)


def test_intervals_allow_for_the_policy(mails, clock):
    run(mails, clock)
    replayed = mails.status().analysis.collection
    assert (replayed.kind, replayed.policy, replayed.intervals["mar"].method) == (
        "replayed",
        "mar-ucb",
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
    assert any(sentence.startswith("Holdout (") for sentence in status.sentences)


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
        "the window may be too short" in sentence for sentence in mails.status(calibrate=False).sentences
    )


def test_missing_outcomes_at_the_end_are_advised_on_for_experiments(mails, clock):
    """Told outcomes stop on the tenth day; the mediators of the last day are missing, too."""
    for day in range(14):
        for one in mails.ask(60):
            if day < 13:
                mails.tell(one.id, mediator="opened")
            if day < 10:
                mails.tell(one.id, outcome=20.0 + int(one.id[:1], 36) % 7)
        clock.advance("1d")
    clock.advance("3d")
    warnings = {one.code: one.message for one in mails.status(calibrate=False).analysis.warnings}
    assert "check that outcomes are still told" in warnings["recent-missing"]
    assert "filter" not in warnings["recent-missing"]
    assert "find out these mediators or collect more" in warnings["empty-cell"]


def test_page(mails, clock, tmp_path):
    run(mails, clock, days=12)
    page = mails.status(calibrate=False).report(tmp_path / "mails.html").read_text(encoding="utf-8")
    for text in (
        "State of the experiment",
        "Probability of each arm in a new decision",
        "When outcomes arrive",
        "The mean of each arm",
    ):
        assert text in page
    with pytest.raises(InvalidValue, match="must end in"):
        mails.status(calibrate=False).report(tmp_path / "mails.txt")


def days_of_two_arms(experiment, clock, days, chance_of_one, seed=3):
    """Two arms that are equal at every moment; the mean depends on the day."""
    rng = random.Random(seed)
    for day in range(days):
        tells = [
            {"id": one.id, "outcome": float(rng.random() < chance_of_one(day, one.arm))}
            for one in experiment.ask(60)
        ]
        clock.advance("20h")
        experiment.tell_many(tells)
        clock.advance("5h")
        experiment.close_windows()


def make_rates(clock, **settings):
    usual = {
        "levels": [0, 1],
        "assume": "mcar",
        "window": "1d",
        "clock": clock,
        "seed": 2,
        "store": "sqlite://",
    }
    return Experiment.create("rates", ["a", "b"], **(usual | settings))


def test_no_winner_is_clear_while_means_and_shares_change(clock):
    """Equal arms whose mean rises after an early lead: the arm that is used more on good days looks better."""
    rates = make_rates(clock)
    days_of_two_arms(
        rates, clock, 16, lambda day, arm: (0.2 + 0.05 * (arm == "b" and day < 3)) if day < 8 else 0.7
    )
    status = rates.status(calibrate=False)
    assert status.analysis.verdict.kind == "unsettled"
    assert "change over time" in status.verdict
    assert any("compared on different days" in one for one in status.sentences)


def test_steady_means_leave_the_winner_clear(clock):
    rates = make_rates(clock)
    days_of_two_arms(rates, clock, 16, lambda day, arm: 0.3 + 0.3 * (arm == "b"))
    status = rates.status(calibrate=False)
    assert status.analysis.verdict.kind == "clear"
    assert not any(one.code == "drift" for one in status.analysis.warnings)


def test_drift_test_keeps_its_size_with_skewed_outcomes():
    """Over periods of 97% zeros and of log-normal outcomes that do not change: at most 2% below 1%, up to chance."""
    from truant.live.counting import SETTLED
    from truant.live.course import find_drift

    configuration = configure(arms=["a", "b"], window="1d", assume="mcar", range=(0, 10_000))
    rng = np.random.default_rng(4)
    low = 0
    for number in range(300):
        cells = {}
        for day in range(12):
            n = 80
            y = (
                np.where(rng.random(n) < 0.03, rng.lognormal(3, 1, n), 0)
                if number % 2
                else rng.lognormal(1, 1.2, n)
            )
            counts = truant.Counts.fold(configuration.setting(), rng.integers(0, 2, n), np.zeros(n, int), y)
            cells[SETTLED, day] = counts.table.tolist()
        low += find_drift(cells, configuration).p_value < 0.001
    assert low <= 0.02 * 300 + 3 * np.sqrt(300 * 0.02)


def test_late_outcomes_say_nothing_where_absent_means_a_value(clock):
    rates = make_rates(clock, absent=0)
    asked = rates.ask(200)
    clock.advance("25h")
    for one in asked[:60]:
        assert rates.tell(one.id, outcome=1.0).verdict == "late"
    status = rates.status(calibrate=False)
    assert (status.observed, status.late_tests) == (200, ())


def test_shares_are_not_tested_on_arrival(clock):
    """Which decisions are settled depends on the arm there."""
    rates = make_rates(clock, settle="on_arrival", window="5d")
    for one in rates.ask(300):
        if one.arm == "a":
            rates.tell(one.id, outcome=1.0)
    clock.advance("1m")
    status = rates.status(calibrate=False)
    assert status.settled > 100
    assert status.share_tests == {}
    assert any("counted as they arrive" in one for one in status.sentences)


def test_outcomes_that_happened_in_time_and_were_told_late_point_to_grace(clock):
    rates = make_rates(clock)
    asked = rates.ask(50)
    clock.advance("30h")
    for one in asked[:20]:
        assert rates.tell(one.id, outcome=1.0, at="2026-03-02 20:00").verdict == "late"
    status = rates.status(calibrate=False)
    assert status.told_late == 20
    assert any("set grace" in one for one in status.sentences)


def test_many_arms_get_sequences_at_once(clock):
    many = Experiment.create(
        "many",
        [f"a{i}" for i in range(60)],
        levels=[0, 1],
        assume="mcar",
        window="1d",
        clock=clock,
        seed=1,
        store="sqlite://",
    )
    many.tell_many([{"id": one.id, "outcome": float(i % 2)} for i, one in enumerate(many.ask(600))])
    clock.advance("25h")
    assert many.status().analysis.collection.kind == "adaptive"


def test_a_level_that_is_never_told_is_hinted_at_and_the_advice_helps(make_mails, clock, tmp_path):
    """A mail system reports "opened" and never "closed", a shop purchases and never that there was none."""
    settings = {"range": None, "levels": [0, 1]}
    mails = make_mails(**settings)
    asked = mails.ask(99)
    for one in asked[:40]:
        mails.tell(one.id, mediator="opened", outcome=1.0)
    clock.advance("4d")
    assert not any("None of the" in one for one in mails.status(calibrate=False).sentences)  # too few
    mails.ask(1)
    clock.advance("4d")
    status = mails.status(calibrate=False)
    hints = [one for one in status.sentences if "None of the 100 settled decisions" in one]
    assert "the mediator 'closed', and 60 have no mediator" in hints[0]
    assert "mediator_absent='closed' (--mediator-absent closed)" in hints[0]
    assert "the outcome 0, and 60 have no outcome" in hints[1]
    assert "absent=0 (--absent 0)" in hints[1]
    assert [one.code for one in status.analysis.warnings][:2] == ["never-told"] * 2

    better = make_mails(mediator_absent="closed", absent=0, **settings)
    assert better.import_rows(mails.export(tmp_path / "mails.csv")) == 100
    assert not any("None of the" in one for one in better.status(calibrate=False).sentences)
    assert better.status(calibrate=False).observed == 100


@pytest.mark.parametrize("told", [[], [{"mediator": "closed", "outcome": 5.0}]])
def test_a_level_that_is_never_told_though_nothing_is_missing_is_to_be_checked(make_mails, clock, told):
    mails = make_mails()
    mails.tell_many([{"id": one.id} | values for one in mails.ask(100) for values in told])
    clock.advance("4d")
    [hint] = [one for one in mails.status(calibrate=False).sentences if "None of the" in one]
    assert ("'closed' or 'opened'" if not told else "mediator 'opened'") in hint
    assert hint.endswith("check how your system tells it, and how the levels are spelled.")

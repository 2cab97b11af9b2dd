"""Follow-ups of missing decisions: random picks with kept probabilities, and answers that count once."""

import numpy as np
import pytest

from tests.live.campaign import ARMS, MAIL, run
from truant.errors import Conflict, InvalidValue


@pytest.fixture
def mails(create, clock):
    experiment = create("mails", ARMS, **MAIL)
    run(experiment, clock, days=8)
    return experiment


def test_picks_are_missing_decisions_with_the_probability_of_the_pick(mails):
    before = mails.status(calibrate=False)
    picked = mails.follow_up(n=40, actor="ada")
    assert len(picked) == 40
    assert picked.available == before.settled - before.observed
    missing = {(arm.arm): arm.missing for arm in before.arms}
    for arm, number in missing.items():
        own = [one for one in picked if one.arm == arm]
        # by level: sum over the picked of 1/probability is the number that could have been picked
        assert sum(1 / one.pick_probability for one in own) == pytest.approx(number)
    assert mails.events()[-1]["body"] == {"decisions": 40, "available": picked.available}


def test_nobody_is_picked_twice_and_the_budget_holds(mails):
    first = {one.id for one in mails.follow_up(n=30)}
    second = {one.id for one in mails.follow_up(n=30, budget=50)}
    assert len(first | second) == 50
    assert mails.follow_up(budget=50).notes == ("The budget is used up.",)
    rest = mails.follow_up(n=100_000)
    assert len(rest) == rest.available
    assert mails.follow_up(n=1).notes == ("There is no missing outcome that was not picked before.",)


def test_answers_enter_the_counts_once(mails, clock):
    counts = mails.status(calibrate=False).analysis.counts
    picked = list(mails.follow_up(n=60))
    for one in picked[:45]:
        assert mails.tell(one.id, outcome=12.0, followed_up=True).verdict == "accepted"
        assert mails.tell(one.id, outcome=12.0, followed_up=True).verdict == "repeated"
    for one in picked[45:55]:
        mails.tell(one.id, outcome=None, followed_up=True)
    status = mails.status(calibrate=False)
    assert status.follow_ups == {"picked": 60, "answered": 45, "failed": 10, "outstanding": 5, "rounds": 1}
    after = status.analysis.counts
    assert np.array_equal(after.table, counts.table)  # they stay missing there
    assert (after.follow_ups.sum(), after.answered.sum()) == (55, 45)
    assert "follow-up" in status.analysis.assumptions
    assert any("5 of 60 decisions" in sentence for sentence in status.sentences)
    assert mails.doctor(allocations=None).healthy
    mails.correct(picked[0].id, outcome=14.0, followed_up=True)
    mails.withdraw(picked[1].id)
    after = mails.status(calibrate=False).analysis.counts
    assert (after.follow_ups.sum(), after.answered.sum()) == (54, 44)
    assert mails.doctor(allocations=None).healthy


def test_an_answer_of_a_decision_that_was_not_picked_is_refused(mails):
    picked = {one.id for one in mails.follow_up(n=10)}
    other = mails.follow_up(n=10)
    assert not picked & {one.id for one in other}
    decision = mails.ask()
    with pytest.raises(Conflict, match="was not picked for follow-up"):
        mails.tell(decision.id, outcome=1.0, followed_up=True)
    with pytest.raises(InvalidValue, match="how many to pick"):
        mails.follow_up()


def test_list_as_a_file(mails, tmp_path):
    picked = mails.follow_up(n=5)
    lines = picked.save(tmp_path / "calls.csv").read_text().splitlines()
    assert lines[0] == "id,arm,mediator,asked,pick_probability,late_outcome"
    assert [line.split(",")[0] for line in lines[1:]] == [one.id for one in picked]
    assert picked.summary()["follow_ups"][0]["id"] == picked.follow_ups[0].id


def test_export_reads_as_a_log_with_follow_ups(mails, tmp_path):
    import truant

    for number, one in enumerate(mails.follow_up(n=60)):
        mails.tell(one.id, outcome=None if number % 6 == 0 else 12.0, followed_up=True)
    mails.close_windows()
    for ending in ("csv", "parquet"):
        log = truant.analyze(
            mails.export(tmp_path / f"rows.{ending}"),
            arm="arm",
            mediator="mediator",
            outcome="outcome",
            followed_up="followed_up",
            range=(0, 200),
        )
        live = mails.status(calibrate=False).analysis
        names = list(log.labels.arms)
        for number, arm in enumerate(live.arms):
            other = log.arms[names.index(arm.arm)]
            assert (other.follow_ups, other.answered) == (arm.follow_ups, arm.answered)
            assert other.estimates["follow-up"].mean == pytest.approx(arm.estimates["follow-up"].mean)
            assert int(live.counts.pulls[number]) == other.pulls

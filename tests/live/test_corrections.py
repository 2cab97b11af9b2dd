"""Corrections and withdrawals of what is counted already."""

import numpy as np

from tests.live.counted import assert_sound, folded, kept, rows
from truant.live import counting


def test_the_only_answer_of_a_day_can_be_withdrawn(create, clock):
    """Nothing of it stays in the counts, and the day is not counted again for ever."""
    experiment = create()
    experiment.ask(3)
    clock.advance("8d")
    experiment.close_windows()
    [picked] = experiment.follow_up(1)
    experiment.tell(picked.id, outcome=1, followed_up=True)
    experiment.close_windows()
    answers = kept(experiment, counting.FOLLOW_UP)
    assert np.array_equal(answers.table, folded(experiment, [(picked.arm, None, 1)]).table)
    experiment.withdraw(picked.id)
    experiment.close_windows()
    assert not kept(experiment, counting.FOLLOW_UP).table.any()
    version = experiment.refresh().head.counts_version
    experiment.close_windows()
    assert experiment.refresh().head.counts_version == version
    assert_sound(experiment)


def test_a_correction_that_is_not_counted_yet_is_no_finding(create, clock):
    experiment = create()
    decisions = experiment.ask(20)
    experiment.tell_many([{"id": decision.id, "outcome": 1} for decision in decisions])
    clock.advance("8d")
    experiment.close_windows()
    for decision in decisions[:10]:
        experiment.correct(decision.id, outcome=0)
    assert_sound(experiment)
    experiment.close_windows()
    assert_sound(experiment)
    assert kept(experiment).table[:, :, 1].sum() == 10
    assert {row.outcome for row in rows(experiment)} == {0, 1}
    events = [event for event in experiment.events() if event["kind"] == "corrected"]
    bodies = [{name: event["body"][name] for name in ("old", "new")} for event in events]
    assert bodies == [{"old": {"outcome": 1.0}, "new": {"outcome": 0.0}}] * 10


def test_answers_can_be_corrected_also_before_they_are_counted(create, clock):
    experiment = create()
    experiment.ask(4)
    clock.advance("8d")
    experiment.close_windows()
    first, second = experiment.follow_up(2)
    experiment.tell(first.id, outcome=1, followed_up=True)
    experiment.correct(first.id, outcome=0, followed_up=True)
    experiment.tell(second.id, outcome=1, followed_up=True)
    experiment.close_windows()
    experiment.correct(second.id, outcome=None, followed_up=True)
    experiment.close_windows()
    told = [(first.arm, None, 0), (second.arm, None, None)]
    assert np.array_equal(kept(experiment, counting.FOLLOW_UP).table, folded(experiment, told).table)
    assert_sound(experiment)

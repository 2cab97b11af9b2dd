"""What follow-ups do to an analysis: they decide where they are clear, and nothing is clear where they are few."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses import analyzed
from tests.analysis.test_verdict import answer, judged
from truant.analysis import Labels
from truant.counts import Counts
from truant.documents.graphs import assumption_graphs
from truant.documents.verdict import settling_sentences, verdict_sentence
from truant.setting import Setting

FOLLOW_UP = answer("follow-up", "a", 0.97)
CASES = [
    ([FOLLOW_UP, answer("mar", "b", 0.99)], {}, "clear", "a", True),
    (
        [FOLLOW_UP, answer("mar", "b", 0.99)],
        {"proof_doubts": ["a"], "doubtful_arms": ["a"]},
        "depends",
        None,
        False,
    ),
    ([FOLLOW_UP], {"proof_doubts": ["a"], "doubtful_arms": ["a"]}, "unsettled", "a", False),
    ([FOLLOW_UP], {"doubtful_arms": ["b"]}, "clear", "a", True),  # under another assumption
    ([FOLLOW_UP], {"has_mediator": False}, "clear", "a", True),
    ([FOLLOW_UP, answer("mar", "a", 0.99)], {"mediator_informs": False}, "clear", "a", True),
    ([answer("follow-up", "a", 0.9), answer("mar", "a", 0.99)], {}, "unsettled", "a", False),
    (
        [answer("follow-up", "a", 0.9), answer("mar", "a", 0.99)],
        {"has_mediator": False},
        "unsettled",
        "a",
        False,
    ),
    ([answer("follow-up", "b", 0.9), answer("mar", "a", 0.99)], {}, "depends", None, False),
    ([answer("mar", "a", 0.99)], {"has_mediator": False}, "no-mediator", "a", False),  # they cannot be used
    ([FOLLOW_UP], {"arms": ["a"]}, "one-arm", None, False),
]


@pytest.mark.parametrize(("answers", "options", "kind", "arm", "decides"), CASES)
def test_kinds(answers, options, kind, arm, decides):
    found = judged(answers, proof="follow-up", **options)
    assert (found.kind, found.arm, found.by_follow_up) == (kind, arm, decides)


def analysis(asked=60, rows=1000, effect=0.3, seed=1, **options):
    """Outcomes of arm b are missing if they are high; arm b is better."""
    rng = np.random.default_rng(seed)
    a = np.repeat([0, 1], rows)
    m = rng.integers(0, 2, 2 * rows)
    y = (rng.random(2 * rows) < 0.3 + effect * a + 0.05 * m).astype(float)
    seen = rng.random(2 * rows) < np.where(a * y == 1, 0.2, 0.7)
    marked = np.zeros(2 * rows, bool)
    for arm in (0, 1):
        missing = np.flatnonzero((a == arm) & ~seen)
        marked[rng.choice(missing, min(asked, len(missing)), replace=False)] = True
    setting = Setting(arms=2, mediators=2, levels=(0, 1), minimize=options.pop("minimize", False))
    counts = Counts.fold(setting, a, m, np.where(seen | marked, y, np.nan), marked)
    return analyzed(counts, setting, Labels.of(["a", "b"], ["low", "high"]), **options)


def test_they_decide_against_all_assumptions():
    found = analysis(effect=0.15)
    assert found.verdict.kind == "clear"
    assert (found.winner["naive"], found.winner["mar"], found.winner["follow-up"]) == ("a", "a", "b")
    sentence = verdict_sentence(found)
    assert sentence.startswith(
        "'b' is the clear winner, whatever the reason for missingness: it leads under follow-up"
    )
    assert "which rests on 120 answered follow-ups." in sentence
    assert "The data contradict mcar and mar" in sentence
    assert settling_sentences(found) == []
    assert found.sorted_by == "follow-up"
    assert "mar" not in {item.assumption for item in found.untestable}
    assert found.verdict.more_follow_ups == 0


def test_less_is_better():
    found = analysis(minimize=True)
    assert (found.verdict.kind, found.verdict.arm) == ("clear", "a")


def test_few_answers_make_nothing_clear():
    found = analysis(asked=9, rows=4000, effect=0.5)
    assert found.verdict.kind != "clear"
    assert set(found.verdict.doubtful_arms) >= {"b"}
    assert "at least 10 answers are needed" in settling_sentences(found)[0]
    assert analysis(asked=10, rows=4000, effect=0.5).verdict.kind == "clear"


def test_how_many_more():
    """Following up as many as are said makes the leader about clear."""
    found = analysis(asked=30, effect=0.0, seed=8)
    more = found.verdict.more_follow_ups
    assert found.verdict.kind in ("unsettled", "depends")
    assert more > 0
    assert "more, with the same shares of arms" in settling_sentences(found)[0]
    assert "truant plan" in settling_sentences(found)[0]
    leader = found.winner["follow-up"]
    reached = [
        arm.estimates["follow-up"].standard_error
        for arm in analysis(asked=30 + more // 2, effect=0.0, seed=8).arms
    ]
    before = [arm.estimates["follow-up"].standard_error for arm in found.arms]
    assert all(after < error for after, error in zip(reached, before, strict=True))
    assert leader in ("a", "b")
    assert analysis(asked=2000, effect=0.005, rows=300).verdict.more_follow_ups is None  # all are followed up


def test_no_tipping_point_and_no_forbidden_arrow():
    found = analysis()
    assert "follow-up" not in {tip.assumption for tip in found.sensitivity} | set(found.tipping_curves)
    drawn = {graph.assumption: graph for graph in assumption_graphs(found)}
    assert all(arrow.cross is None for arrow in drawn["follow-up"].arrows)
    assert drawn["follow-up"].alternative.endswith("Forbidden: none.")


def test_an_arm_that_was_not_followed_up():
    found = analysis()
    counts = found.counts
    block = counts.followed_up.copy()
    block[0] = 0
    some = Counts(counts.table, counts.levels, counts.centre, block)
    again = analyzed(some, found.setting, found.labels)
    assert "follow-up" in again.verdict.not_tried
    assert not again.verdict.by_follow_up
    assert again.verdict.evidence is None

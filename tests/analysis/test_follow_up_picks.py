"""Which missing outcomes to follow up next: whole numbers, shares of a plan, and what was listed already."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truant.analysis import Labels
from truant.counts import Counts
from truant.errors import InvalidValue
from truant.follow_up.plan import pick_follow_ups, plan_counts
from truant.follow_up.result import PlanOptions
from truant.setting import Setting

LABELS = Labels.of("abc", ["x", "y"])
SETTING = Setting(arms=3, mediators=2, low=0, high=10)


def counts_of(rows=900, seed=3, means=(5.0, 4.8, 1.0), missing=0.4, setting=SETTING):
    rng = np.random.default_rng(seed)
    arms, mediators = np.arange(rows) % 3, rng.integers(-1, 2, rows)
    spread = np.where(mediators == 1, 2.0, 0.5)
    outcomes = np.clip(rng.normal(np.array(means)[arms], spread), 0, 10)
    outcomes[rng.random(rows) < missing] = np.nan
    return Counts.fold(setting, arms, mediators, outcomes)


def open_of(counts):
    return (counts.missing_by_cell() - counts.follow_ups_by_cell()).astype(np.int64)


def test_picks_are_those_of_a_plan_with_that_budget():
    counts = counts_of()
    found = pick_follow_ups(counts, SETTING, LABELS, open_of(counts), 120)
    plan = plan_counts(counts, SETTING, LABELS, PlanOptions(budget=120))
    assert found.numbers.ravel().tolist() == [cell.follow_ups for cell in plan.cells]
    assert found.remark is None
    assert found.total == 120


def test_arms_that_may_be_best_and_levels_that_vary_get_more():
    counts = counts_of()
    found = pick_follow_ups(counts, SETTING, LABELS, open_of(counts), 120)
    assert found.numbers[:2].sum() > 3 * found.numbers[2].sum()
    assert found.numbers[0, 1] > 2 * found.numbers[0, 0]


def test_less_is_better_turns_the_arms_that_matter_round():
    counts = counts_of(means=(9.0, 1.2, 1.0))
    setting = Setting(arms=3, mediators=2, low=0, high=10, minimize=True)
    found = pick_follow_ups(counts, setting, LABELS, open_of(counts), 120)
    assert found.numbers[1:].sum() > 3 * found.numbers[0].sum()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    number=st.integers(0, 300),
    rows=st.integers(30, 200),
    share=st.floats(0, 1),
    success=st.floats(0.05, 1),
)
def test_whole_numbers_within_what_is_available(seed, number, rows, share, success):
    counts = counts_of(rows, seed)
    available = (open_of(counts) * share).astype(np.int64)
    found = pick_follow_ups(counts, SETTING, LABELS, available, number, success=success)
    assert found.numbers.dtype == np.int64
    assert (found.numbers >= 0).all()
    assert (found.numbers <= available).all()
    assert found.total == min(number, available.sum())
    assert (found.probabilities <= 1).all()
    assert (found.probabilities * available).sum() == pytest.approx(found.total)


def test_listed_ones_are_expected_to_be_answered_and_not_listed_twice_as_often():
    counts = counts_of()
    available = open_of(counts)
    first = pick_follow_ups(counts, SETTING, LABELS, available, 60)
    second = pick_follow_ups(counts, SETTING, LABELS, available - first.numbers, 60)
    both = pick_follow_ups(counts, SETTING, LABELS, available, 120)
    # in two steps as in one, but for the least numbers that each step begins with
    assert np.abs(first.numbers + second.numbers - both.numbers).max() <= 2


def test_answers_in_the_counts_are_allowed_for():
    counts = counts_of()
    for _ in range(30):
        counts.follow_up(0, 1, 5.0)
    found = pick_follow_ups(counts, SETTING, LABELS, open_of(counts), 60)
    before = pick_follow_ups(counts_of(), SETTING, LABELS, open_of(counts_of()), 60)
    assert found.numbers[0].sum() < before.numbers[0].sum()
    with pytest.raises(InvalidValue, match="between 0 and the missing outcomes that were not followed up"):
        pick_follow_ups(counts, SETTING, LABELS, open_of(counts_of()), 10)


def test_an_arm_without_an_outcome_makes_shares_proportional_and_says_so():
    counts = counts_of()
    counts.table[2, :, 1:] = 0.0  # nothing of arm c was seen
    available = open_of(counts)
    found = pick_follow_ups(counts, SETTING, LABELS, available, 100)
    exact = 100 * available / available.sum()
    assert np.abs(found.numbers - exact).max() < 1
    assert found.total == 100
    assert found.remark == (
        "Arm 'c' has no observed outcome yet, so follow-ups cannot be planned: they are shared out in proportion to "
        "what is missing."
    )


def test_outcomes_that_are_all_equal_make_shares_proportional():
    setting = Setting(arms=2, mediators=1, low=0, high=10)
    counts = Counts.fold(setting, [0, 0, 1, 1], [0] * 4, [3.0, np.nan, 3.0, np.nan])
    found = pick_follow_ups(counts, setting, Labels.of("ab", "x"), open_of(counts), 1)
    assert found.total == 1
    assert found.remark.startswith("All observed outcomes are equal, so follow-ups cannot be planned")


def test_one_arm_and_nothing_missing_and_two_levels():
    setting = Setting(arms=1, mediators=2, levels=(0.0, 1.0))
    labels = Labels.of("a", "xy")
    counts = Counts.fold(setting, [0] * 6, [0, 0, 0, 1, 1, 1], [0, 1, np.nan, 1, np.nan, np.nan])
    assert pick_follow_ups(counts, setting, labels, open_of(counts), 9).numbers.tolist() == [[1, 2, 0]]
    assert pick_follow_ups(counts, setting, labels, open_of(counts), 0).total == 0
    nothing = pick_follow_ups(counts, setting, labels, np.zeros((1, 3), int), 9)
    assert nothing.total == 0
    assert (nothing.probabilities == 0).all()


@pytest.mark.parametrize(
    ("available", "sentence"),
    [
        (
            np.zeros((3, 2), int),
            "available must be whole numbers of shape (3, 3), got int64 of shape (3, 2).",
        ),
        (np.zeros((3, 3)), "available must be whole numbers of shape (3, 3), got float64 of shape (3, 3)."),
        (-np.ones((3, 3), int), "available must be between 0 and the missing outcomes"),
    ],
)
def test_what_cannot_be_available_is_refused(available, sentence):
    with pytest.raises(InvalidValue) as refused:
        pick_follow_ups(counts_of(), SETTING, LABELS, available, 5)
    assert str(refused.value).startswith(sentence)


def test_it_takes_less_than_half_a_second():
    counts = counts_of(30_000)
    start = time.process_time()
    pick_follow_ups(counts, SETTING, LABELS, open_of(counts), 2000)
    assert time.process_time() - start < 0.5

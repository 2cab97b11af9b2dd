"""Tests of assumptions by follow-ups: moments against all permutations, sizes and powers with fixed seeds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from research.validation.follow_up_tests import ARMS, drawn
from scipy.stats import gamma, norm

from truant import registry
from truant.assumptions import ChiSquare, NoTest
from truant.assumptions.cells import (
    QUESTION,
    _in_arm,
    _within_levels,
    normal_scores,
    same_in_arm,
    same_within_levels,
)
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.counts import Counts
from truant.evidence.contradictions import p_value
from truant.setting import Setting

REAL = Setting(arms=2, mediators=2, low=-10, high=10)


def counts_of(seen, answers):
    """One arm that is used; by mediator level its outcomes seen at once and its answers."""
    m = [level for level, own in enumerate(seen) for _ in own] + [
        level for level, own in enumerate(answers) for _ in own
    ]
    y = [value for own in (*seen, *answers) for value in own]
    first = sum(map(len, seen))
    marked = np.arange(len(y)) >= first
    return Counts.fold(REAL, np.zeros(len(y), int), m, np.array(y, float), marked)


def test_moments_are_those_of_all_ways_to_choose_the_answers():
    seen, answers = [[1.0, 2.0, 7.0], [0.0, -1.0]], [[4.0, 3.0], [5.0]]
    counts = counts_of(seen, answers)
    contrast = _within_levels(counts.real_row(0), counts.followed_up_row(0))
    sums = []
    pools = [first + later for first, later in zip(seen, answers, strict=True)]
    for chosen in itertools.product(
        *(itertools.combinations(pool, len(later)) for pool, later in zip(pools, answers, strict=True))
    ):
        sums.append(sum(map(sum, chosen)))
    away = np.array(sums) - np.mean(sums)
    assert contrast.away == pytest.approx(sum(map(sum, answers)) - np.mean(sums))
    assert contrast.variance == pytest.approx(np.mean(away**2))
    assert contrast.third == pytest.approx(np.mean(away**3))


def test_an_arm_without_levels_has_the_same_contrast_either_way():
    counts = counts_of([[1.0, 2.0, 7.0, 3.0], []], [[4.0, 3.0], []])
    within = _within_levels(counts.real_row(0), counts.followed_up_row(0))
    whole = _in_arm(counts.real_row(0), counts.followed_up_row(0))
    assert within.away / within.variance**0.5 == pytest.approx(whole.away / whole.variance**0.5)


def test_answers_of_a_level_stand_for_all_its_missing_outcomes():
    """Levels that are followed up at different rates do not contradict mcar by themselves."""
    rng = np.random.default_rng(5)
    rows = 20_000
    m = rng.integers(0, 2, rows)
    y = np.clip(rng.normal(2.0 * m, 1.0), -10, 10)
    missing = rng.random(rows) < 0.4
    marked = missing & (rng.random(rows) < np.where(m == 0, 0.3, 0.03))
    counts = Counts.fold(REAL, np.zeros(rows, int), m, np.where(missing & ~marked, np.nan, y), marked)
    contrast = _in_arm(counts.real_row(0), counts.followed_up_row(0))
    assert abs(contrast.away) < 4 * contrast.variance**0.5
    plain = y[marked].mean() - y[~missing].mean()
    assert plain < -10 * contrast.variance**0.5  # which it would be without weights


@pytest.mark.parametrize("skewness", [-1.2, -0.3, 0.0, 0.4, 1.5])
def test_normal_scores_have_the_right_tails(skewness):
    z = np.linspace(0.5, 6, 12) * (1 if skewness >= 0 else -1)
    scores = normal_scores(z, skewness)
    if skewness == 0:
        assert scores == pytest.approx(z)
        return
    shape = 4 / skewness**2
    tail = gamma.sf(shape + np.abs(z) * np.sqrt(shape), shape)
    assert np.abs(scores) == pytest.approx(norm.isf(tail))
    assert np.sign(scores[-1]) == np.sign(skewness)
    wide = normal_scores(np.linspace(-8, 8, 400), skewness)
    assert np.all(np.diff(wide) > -0.05)  # rises, but for the joint of its two sides


def test_without_follow_ups_there_are_the_tests_there_were():
    counts, setting = drawn("none", "two levels", 20, 1)
    plain = counts.without_follow_ups()
    assert same_within_levels("mar", plain) == same_in_arm("mcar", plain) == []
    assert isinstance(Mar().tests(plain, setting)[0], NoTest)
    assert all(test.question != QUESTION for test in Mcar().tests(plain, setting))
    (test,) = Mar().tests(counts, setting)
    assert isinstance(test, ChiSquare)
    assert (test.freedom, test.arm) == (ARMS, None)
    assert test.remark == "It compares the mean of the 40 answers with what mar says of the missing outcomes."
    assert QUESTION in {one.question for one in Mcar().tests(counts, setting)}


def test_mediator_mar_leaves_out_missing_mediators():
    counts, setting = drawn("none", "normal", 50, 2)
    assert all(one.question != QUESTION for one in MediatorMar().tests(counts, setting))  # it is mar then
    table, block = counts.table.copy(), counts.followed_up.copy()
    table[:, -1], block[:, -1] = table[:, 0] + [0, 0, 999, 0, 0], block[:, 0]
    both = Counts(table, None, counts.centre, block)
    found = [one for one in MediatorMar().tests(both, setting) if one.question == QUESTION]
    (alone,) = same_within_levels("mar", counts)
    assert found[0].statistic == pytest.approx(alone.statistic)


def test_answers_that_do_not_vary_test_nothing():
    counts = counts_of([[1.0, 1.0], [2.0]], [[1.0], [2.0]])
    assert same_within_levels("mar", counts) == []


def share_rejected(name, reason, outcome, asked, runs):
    model = registry.find("assumption", name).build()
    rejected = []
    for seed in range(runs):
        counts, setting = drawn(reason, outcome, asked, 1000 + seed)
        tests = [*model.tests(counts, setting)]
        tests += model.read(counts, 0, setting).tests if name == "mnar" else []
        (test,) = [one for one in tests if isinstance(one, ChiSquare) and one.question == QUESTION]
        rejected.append(p_value(test) < 0.05)
    return float(np.mean(rejected))


@pytest.mark.parametrize("outcome", ["rare, two levels", "five levels", "lognormal"])
@pytest.mark.parametrize(("name", "reason"), [("mcar", "none"), ("mar", "mediator")])
def test_size(name, reason, outcome):
    runs = 400
    assert share_rejected(name, reason, outcome, 20, runs) < 0.05 + 3 * np.sqrt(0.0475 / runs)


@pytest.mark.parametrize("asked", [20, 200])
def test_size_of_a_fit(asked):
    runs = 100
    assert share_rejected("mnar", "outcome", "two levels", asked, runs) < 0.05 + 3 * np.sqrt(0.0475 / runs)


@pytest.mark.parametrize(
    ("name", "reason", "outcome", "least"),
    [
        ("mar", "outcome", "three levels", 0.9),
        ("mcar", "outcome", "normal", 0.9),
        ("mnar", "mediator", "two levels", 0.5),
    ],
)
def test_power(name, reason, outcome, least):
    runs = 60
    power = share_rejected(name, reason, outcome, 50, runs)
    assert power > least - 3 * np.sqrt(least * (1 - least) / runs)

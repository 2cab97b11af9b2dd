"""The share test: closed forms, sizes under adaptive shares at one look and at all of them, power."""

import math

import numpy as np
import pytest
from research.validation.share_test import looks
from scipy.stats import norm, poisson

from truant.errors import InvalidValue
from truant.evidence.live_tests import RATES, share_test

LEVEL = 0.05


def test_scores_are_standardised_and_large_ones_have_nearly_normal_p_values():
    found = share_test(
        [50_500, 29_900, 19_600], [50_000.0, 30_000.0, 20_000.0], [25_000.0, 21_000.0, 16_000.0]
    )
    assert found.z == pytest.approx((500 / 25_000**0.5, -100 / 21_000**0.5, -400 / 16_000**0.5))
    assert found.arm in (0, 2)
    z = max(map(abs, found.z))
    assert found.p_value == pytest.approx(3 * 2 * norm.sf(z), rel=0.1)  # Bonferroni, both sides


def test_two_arms_are_one_comparison():
    found = share_test([5200, 4800], [5000.0, 5000.0], [2500.0, 2500.0])
    assert found.z == (4.0, -4.0)
    assert found.p_value == pytest.approx(2 * poisson.sf(2699, 2500))
    beside = share_test([5200, 4800, 70], [5000.0, 5000.0, 70.0], [2500.0, 2500.0, 0.0])  # always by design
    assert beside.p_value == found.p_value
    assert beside.z == (4.0, -4.0, 0.0)


def test_a_single_draw_of_a_rare_arm_has_the_probability_that_it_has():
    """By the normal distribution it would be ten standard deviations away."""
    found = share_test([1, 999], [0.01, 999.99], [0.01, 0.01])
    assert found.z[0] == pytest.approx(9.9)
    assert found.p_value == pytest.approx(2 * (1 - math.exp(-0.01)), rel=1e-6)
    assert found.p_value_any_time > 0.1
    assert share_test([4, 996], [0.01, 999.99], [0.01, 0.01]).p_value_any_time < 1e-5


def test_any_time_p_value_is_one_over_the_mean_of_supermartingales():
    n, expected, variance = np.array([45, 5, 50]), np.array([20.0, 12.0, 68.0]), np.array([15.0, 10.0, 20.0])
    terms = [
        math.exp(sign * rate * (n[a] - expected[a]) - (math.exp(rate) - 1 - rate) * variance[a])
        for a in range(3)
        for rate in RATES
        for sign in (1, -1)
    ]
    assert share_test(n, expected, variance).p_value_any_time == pytest.approx(1 / np.mean(terms))


@pytest.mark.parametrize("p", [0.001, 0.2, 0.5, 0.97])
def test_each_choice_is_expected_to_lower_the_supermartingale(p):
    for rate in RATES:
        for sign in (1, -1):
            mean = p * math.exp(sign * rate * (1 - p)) + (1 - p) * math.exp(-sign * rate * p)
            assert mean <= math.exp(min((math.exp(rate) - 1 - rate) * p * (1 - p), 700.0)) * (1 + 1e-12)


def test_what_was_decided_by_design_is_no_evidence_and_cannot_differ():
    found = share_test([0, 10], [0.0, 10.0 + 1e-12], [0.0, 0.0])
    assert (found.z, found.arm, found.p_value, found.p_value_any_time) == ((0.0, 0.0), None, 1.0, 1.0)
    assert "none of them was random" in found.sentence
    found = share_test([1, 9], [0.0, 10.0], [0.0, 0.0])
    assert found.z == (math.inf, -math.inf)
    assert found.p_value == found.p_value_any_time == 0.0


def test_sentences_name_the_arm():
    found = share_test([5200, 4800], [5000.0, 5000.0], [2500.0, 2500.0], names=["old", "new"])
    assert "arm 'old' 5,200 times instead of 5,000.0 (p = 0.013" in found.sentence
    assert "as often as" in share_test([501, 499], [500.0, 500.0], [250.0, 250.0]).sentence


@pytest.mark.parametrize(
    "columns",
    [
        ([1, 2], [1.0], [0.5]),
        ([], [], []),
        ([[1]], [[1.0]], [[0.5]]),
        ([-1], [1.0], [0.5]),
        ([1], [math.nan], [0.5]),
        ([1], [1.0], [-0.5]),
        ([1], [1.0], [2.0]),
        (["a"], [1.0], [0.5]),
    ],
)
def test_other_columns_are_refused(columns):
    with pytest.raises(InvalidValue):
        share_test(*columns)


def most(replications):
    return LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / replications)


ADAPTIVE = [
    ("mcar-thompson", 2, 0.0, 10, 0.0),
    ("mcar-thompson", 5, 0.4, 10, 0.0),
    ("mcar-ucb", 5, 0.4, 1, 0.0),  # shares are 0 and 1, but for ties: some arms have no variance
    ("mcar-ucb", 4, 0.2, 10, 0.01),
]


@pytest.mark.parametrize("shape", ADAPTIVE)
def test_the_test_keeps_its_size_under_adaptive_shares(shape):
    runs = 60
    found = [[share_test(*look) for look in looks(*shape, 0.0, seed)] for seed in range(runs)]
    assert np.mean([run[-1].p_value < LEVEL for run in found]) <= most(runs)
    assert np.mean([min(test.p_value_any_time for test in run) < LEVEL for run in found]) <= most(runs)


def test_shares_of_one_and_zero_leave_arms_without_variance():
    n, expected, variance = looks("mcar-ucb", 5, 0.4, 1, 0.0, 0.0, 3)[-1]
    found = share_test(n, expected, variance)
    assert (variance < expected * 0.5).any()
    assert all(map(math.isfinite, found.z))
    assert found.p_value > 0


def stopping(rng, decisions):
    """Fair choices of two arms until one is ahead by 2.2 standard deviations, by design from then on."""
    ahead = np.cumsum(rng.integers(0, 2, decisions) - 0.5)
    variance = 0.25 * np.arange(1, decisions + 1)
    over = np.flatnonzero((np.abs(ahead) > 2.2 * np.sqrt(variance)) & (variance > 10))
    last = over[0] if len(over) else decisions - 1
    return ahead[last], variance[last]


def test_an_allocation_that_stops_on_its_own_score_fools_one_look_only():
    rng, runs = np.random.default_rng(2), 400
    found = []
    for _ in range(runs):
        away, variance = stopping(rng, 2000)
        half = 2 * variance
        found.append(share_test([half + away, half - away], [half, half], [variance, variance]))
    assert np.mean([test.p_value < LEVEL for test in found]) > 0.2
    assert np.mean([test.p_value_any_time < LEVEL for test in found]) <= most(runs)


def test_lost_decisions_are_found():
    found = [share_test(*looks("mcar-thompson", 2, 0.0, 10, 0.0, 0.6, seed)[-1]) for seed in range(20)]
    assert np.mean([test.p_value < LEVEL for test in found]) >= 0.8
    assert np.mean([test.p_value_any_time < LEVEL for test in found]) >= 0.5

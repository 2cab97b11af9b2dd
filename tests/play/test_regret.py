"""The regret of many runs in a few figures, against numpy, for one policy and for several at once."""

import math

import numpy as np
import pytest

from truant.play.run import paired_difference, second_half_ratio, standard_deviation, summarize_regret

FINAL = np.random.default_rng(3).pareto(1.0, size=(3, 40)) * 100
HALF = FINAL * 0.6


def test_the_figures_are_those_of_numpy():
    final, half = FINAL[1], HALF[1]
    found = summarize_regret(final, half)
    assert found.runs == 40
    assert found.mean == final.mean()
    assert found.sd == final.std(ddof=1)
    assert found.se == final.std(ddof=1) / math.sqrt(40)
    assert found.median == np.median(final)
    assert found.p90 == np.quantile(final, 0.9)
    assert found.share_above_10x_median == (final > 10 * np.median(final)).mean() > 0
    assert found.first_half_mean == half.mean()


def test_several_policies_at_once_have_the_figures_of_each():
    together = summarize_regret(FINAL, HALF)
    for p in range(3):
        alone = summarize_regret(FINAL[p], HALF[p])
        for name in ("mean", "sd", "se", "median", "p90", "share_above_10x_median", "first_half_mean"):
            assert getattr(together, name)[p] == getattr(alone, name), name


def test_one_run_says_nothing_about_how_far_runs_differ():
    found = summarize_regret(FINAL[:, :1], HALF[:, :1])
    assert found.sd.tolist() == [0.0] * 3
    assert np.isnan(found.se).all()
    mean, se = paired_difference(FINAL[0, :1], FINAL[1, :1])
    assert mean == FINAL[0, 0] - FINAL[1, 0]
    assert math.isnan(se)


def test_differences_are_paired_run_by_run():
    mean, se = paired_difference(FINAL, FINAL[0])
    difference = FINAL[2] - FINAL[0]
    assert (mean[0], se[0]) == (0.0, 0.0)
    assert mean[2] == difference.mean()
    assert se[2] == pytest.approx(difference.std(ddof=1) / math.sqrt(40), rel=1e-15)


def test_the_second_half_over_the_first():
    assert second_half_ratio(50.0, 100.0) == 1.0  # a line
    assert second_half_ratio(50.0, 60.0) == pytest.approx(0.2)
    assert math.isnan(second_half_ratio(0.0, 0.0))  # nothing was lost


def test_standard_deviation_over_any_axis():
    values = np.random.default_rng(1).random((2, 5, 4))
    np.testing.assert_array_equal(standard_deviation(values, axis=1), values.std(axis=1, ddof=1))
    np.testing.assert_array_equal(standard_deviation(values[:, :1], axis=1), np.zeros((2, 4)))

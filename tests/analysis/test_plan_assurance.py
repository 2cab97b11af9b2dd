"""The simulated follow-up analysis, beside the analysis itself."""

import numpy as np
import pytest

from truant.analysis.best import best_probabilities
from truant.analysis.plan_assurance import Draws, missing_means, simulated_moments
from truant.analysis.plan_cells import plan_cells
from truant.analysis.plan_curves import ArmMoments, leader_probability
from truant.assumptions.follow_up import FollowUp
from truant.counts import Counts
from truant.setting import Setting

REAL = Setting(arms=2, mediators=2, low=-10, high=10, range_known=False)
BINARY = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
ASKED = np.array([[8, 12, 0], [20, 7, 0]])


def table(setting, seed):
    rng = np.random.default_rng(seed)
    a, m = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    y = (
        rng.normal(0.3 * a + 0.5 * m)
        if setting is REAL
        else (rng.random(400) < 0.3 + 0.1 * a + 0.3 * m).astype(float)
    )
    return a, m, y, rng.random(400) < 0.4


def followed(setting, seed, rng):
    """The table after ASKED follow-ups, whose outcomes are drawn anew like those that were seen."""
    a, m, y, missing = table(setting, seed)
    asked = np.zeros(len(a), bool)
    for arm in range(2):
        for level in range(2):
            rows = np.flatnonzero(missing & (a == arm) & (m == level))
            asked[rng.choice(rows, ASKED[arm, level], replace=False)] = True
    return Counts.fold(setting, a, m, np.where(missing & ~asked, np.nan, y), asked), a, m, asked, y


@pytest.mark.parametrize("setting", [REAL, BINARY], ids=["real", "0/1"])
def test_moments_and_probabilities_are_those_of_the_analysis(setting):
    counts, *_ = followed(setting, 1, np.random.default_rng(2))
    estimates = [FollowUp().estimate(counts, arm, setting) for arm in range(2)]
    cells = plan_cells(counts, setting)
    draws = Draws.of(cells)
    moments = simulated_moments(cells, draws, missing_means(cells, draws, 0.0), np.zeros((2, 3)))
    np.testing.assert_allclose(moments.mean[0] + counts.centre, [one.mean for one in estimates], rtol=1e-9)
    for arm in range(2):
        own = FollowUp()._cells(counts, arm, setting)
        expected = own.moments(own.pulls / own.pulls.sum())
        assert moments.variance[0, arm] == pytest.approx(expected.variance, rel=1e-9)
        if setting is REAL:  # with two levels it has no part
            assert moments.freedom[0, arm] == pytest.approx(expected.freedom, rel=1e-9)
    highest = best_probabilities(estimates)[0].max()
    # of thin cells the skewness is taken from the arm
    assert leader_probability(moments, cells)[0] == pytest.approx(highest, abs=0.03)


def test_three_arms_have_the_probabilities_of_the_quadrature():
    from truant.assumptions.tilted import Moments, tilted

    setting = Setting(arms=3, mediators=1, low=-10, high=10, range_known=False)
    a, y = np.repeat([0, 1, 2], 30), np.random.default_rng(1).normal(size=90)
    cells = plan_cells(Counts.fold(setting, a, np.zeros(90, int), y), setting)
    numbers = [[1.0, 0.9, 0.4], [0.04, 0.02, 0.09], [0.001, 0.0, -0.004], [9.0, 30.0, 5.0]]
    moments = ArmMoments(*(np.array([row]) for row in numbers))
    estimates = [tilted(Moments(*(row[arm] for row in numbers))) for arm in range(3)]
    expected = best_probabilities(estimates)[0][0]
    assert leader_probability(moments, cells)[0] == pytest.approx(expected, abs=0.01)


def test_the_spread_of_the_estimate_is_that_of_analyses_with_drawn_answers():
    """The table is fixed, answers are drawn 1,500 times; the variance of the estimate within 4 standard errors."""
    rng = np.random.default_rng(5)
    a, m, y, missing = table(REAL, 3)
    counts = Counts.fold(REAL, a, m, np.where(missing, np.nan, y))
    cells = plan_cells(counts, REAL)
    runs = 1500
    estimates = np.empty((runs, 2))
    for run in range(runs):
        drawn = counts.merge(Counts.empty(REAL))
        for arm in range(2):
            for level in range(2):
                own = cells.seen_means[arm, level] + counts.centre
                noise = np.sqrt(cells.variances[arm, level])
                for outcome in rng.normal(own, noise, ASKED[arm, level]):
                    drawn.follow_up(arm, level, outcome)
        estimates[run] = [FollowUp().estimate(drawn, arm, REAL).mean for arm in range(2)]
    draws = Draws.of(cells)
    exact = np.broadcast_to(cells.seen_means, draws.means.shape)
    simulated = simulated_moments(cells, draws, exact, ASKED.astype(float)).mean
    share = cells.missing / cells.totals
    formula = (share**2 * cells.variances / np.maximum(ASKED, 1) * (ASKED > 0)).sum(axis=1)
    error = np.sqrt(2 / runs)  # relative, of a variance of normal numbers
    np.testing.assert_allclose(estimates.var(axis=0), formula, rtol=4 * error)
    np.testing.assert_allclose(simulated.var(axis=0), formula, rtol=4 * np.sqrt(2 / len(simulated)))

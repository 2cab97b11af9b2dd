"""The simulated follow-up analysis, beside the analysis itself."""

import numpy as np
import pytest

from tests.analyses import analyzed
from truant.analysis import Labels
from truant.assumptions.follow_up import FollowedUp
from truant.counts import Counts
from truant.estimates.ranking import Z_GRID, best_probabilities
from truant.follow_up.assurance import Draws, missing_means, simulated_moments
from truant.follow_up.cells import ArmMoments, curves, leader_probability, plan_cells
from truant.follow_up.plan import plan_counts
from truant.follow_up.result import PlanOptions
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
    estimates = [FollowedUp().estimate(counts, arm, setting) for arm in range(2)]
    cells = plan_cells(counts, setting)
    draws = Draws.of(cells)
    moments = simulated_moments(cells, draws, missing_means(cells, draws, 0.0), np.zeros((2, 3)))
    np.testing.assert_allclose(moments.mean[0] + counts.centre, [one.mean for one in estimates], rtol=1e-9)
    for arm in range(2):
        own = FollowedUp()._cells(counts, arm, setting)
        expected = own.moments(own.pulls / own.pulls.sum())
        assert moments.variance[0, arm] == pytest.approx(expected.variance, rel=1e-9)
        if setting is REAL:  # with two levels it has no part
            assert moments.freedom[0, arm] == pytest.approx(expected.freedom, rel=1e-9)
    highest = best_probabilities(estimates)[0].max()
    # of thin cells the skewness is taken from the arm
    assert leader_probability(moments, cells)[0] == pytest.approx(highest, abs=0.03)


def test_three_arms_have_the_probabilities_of_the_quadrature():
    from truant.assumptions.assumption import Moments, tilted

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
        estimates[run] = [FollowedUp().estimate(drawn, arm, REAL).mean for arm in range(2)]
    draws = Draws.of(cells)
    exact = np.broadcast_to(cells.seen_means, draws.means.shape)
    simulated = simulated_moments(cells, draws, exact, ASKED.astype(float)).mean
    share = cells.missing / cells.totals
    formula = (share**2 * cells.variances / np.maximum(ASKED, 1) * (ASKED > 0)).sum(axis=1)
    error = np.sqrt(2 / runs)  # relative, of a variance of normal numbers
    np.testing.assert_allclose(estimates.var(axis=0), formula, rtol=4 * error)
    np.testing.assert_allclose(simulated.var(axis=0), formula, rtol=4 * np.sqrt(2 / len(simulated)))


BOUNDED = Setting(arms=2, mediators=2, low=-4, high=5)


@pytest.mark.parametrize("setting", [BOUNDED, BINARY], ids=["real", "0/1"])
def test_failed_follow_ups_widen_the_curves_as_in_the_analysis(setting):
    """A third of the follow-ups failed; the leader's probability is that of the analysis under `worst-case`."""
    rng = np.random.default_rng(2)
    a, m, y, missing = table(REAL if setting is BOUNDED else setting, 1)
    y = y + 1.2 * a if setting is BOUNDED else y
    asked = missing & (rng.random(400) < 0.6)
    failed = asked & (rng.random(400) < 1 / 3)
    outcomes = np.where((missing & ~asked) | failed, np.nan, y)
    counts = Counts.fold(setting, a, m, outcomes, asked)
    cells = plan_cells(counts, setting)
    draws = Draws.of(cells)
    none = np.zeros((2, 3), np.int64)
    moments = simulated_moments(cells, draws, missing_means(cells, draws, 0.0), none[None] * 1.0, none)
    estimates = [FollowedUp().estimate(counts, arm, setting) for arm in range(2)]
    drawn = curves(moments, cells)[0] + counts.centre
    for arm in range(2):
        for value, z in zip(drawn[arm], Z_GRID, strict=True):
            assert value == pytest.approx(estimates[arm].at(float(z)), abs=0.02 if abs(z) < 4 else 0.1)
    probabilities = best_probabilities(estimates)[0]
    assert 0.5 < probabilities.max() < 1
    assert leader_probability(moments, cells)[0] == pytest.approx(probabilities.max(), abs=0.03)


CLINIC = Setting(arms=3, mediators=2, low=0, high=30)
CLINIC_LABELS = Labels.of(["a", "b", "c"], ["no", "yes"])


def clinic(seed=4):
    rng = np.random.default_rng(seed)
    a, m = rng.integers(0, 3, 900), rng.integers(0, 2, 900)
    y = np.clip(rng.normal(12 + 1.5 * (a == 1) + 3.0 * (a == 2) + m, 3), 0, 30)
    missing = rng.random(900) < np.where(m == 1, 0.2, 0.45)
    return Counts.fold(CLINIC, a, m, np.where(missing, np.nan, y))


def share_that_gets_clear(counts, plan, failures, success, runs, seed):
    """The plan carried out in `runs` tables, whose missing outcomes are like those observed, and analyzed."""
    rng = np.random.default_rng(seed)
    cells = plan_cells(counts, CLINIC)
    means = missing_means(cells, Draws.of(cells, seed), 0.0) + counts.centre
    calls = np.zeros(cells.rows.shape, int)
    for cell in plan.cells:
        calls[
            CLINIC_LABELS.arms.index(cell.arm), (*CLINIC_LABELS.mediators, "missing").index(cell.mediator)
        ] = cell.follow_ups
    clear = 0
    for run in range(runs):
        table = counts.merge(Counts.empty(CLINIC))
        for arm, level in zip(*np.nonzero(calls), strict=True):
            own, noise = means[run, arm, level], np.sqrt(cells.variances[arm, level])
            for outcome in rng.normal(own, noise, calls[arm, level]):
                answered = rng.random() < success
                table.follow_up(arm, level, float(np.clip(outcome, 0, 30)) if answered else None)
        found = analyzed(
            table, CLINIC, CLINIC_LABELS, assume=["follow-up"], failed_follow_ups=failures
        ).verdict
        clear += found.by_follow_up
    return clear / runs


@pytest.mark.parametrize("failures", ["ignorable", "worst-case"])
@pytest.mark.parametrize("success", [0.75, 0.95])
def test_plans_hold_what_they_promise_if_calls_fail(failures, success):
    """The promise is within 4 standard errors of the share of 100 tables (a standard error is 0.05 at most)."""
    counts = clinic()
    plan = plan_counts(counts, CLINIC, CLINIC_LABELS, PlanOptions(success=success, failures=failures))
    runs = 100
    share = share_that_gets_clear(counts, plan, failures, success, runs, 7)
    promise = plan.point.chances["alike"]
    assert abs(share - promise) < 4 * np.sqrt(max(promise * (1 - promise), 0.02) / runs)

"""The whole fit: maxima, profile limits and coverage, against general-purpose optimisers and closed forms."""

import numpy as np
import pytest

from tests.assumptions.tables import best_by_optimiser, cells, log_likelihood, random_table
from truant.assumptions import likelihood, profile
from truant.assumptions.exact import LikelihoodFit, exact_limit
from truant.assumptions.likelihood import solve_mnar
from truant.compile import link
from truant.counts import Counts
from truant.worlds import make

MODELS = {"mnar": (True, False), "mediator-mnar": (False, True), "both-mnar": (True, True)}


def fitted(table, by_outcome):
    L = table.shape[1] - 1
    return LikelihoodFit(table, np.linspace(0, 1, L), by_outcome)


def value_of(fit):
    """The log likelihood of the fitted parameters, by the independent formula."""
    probabilities = cells(fit.joint, fit.observation, fit.mediator_observation, fit.by_outcome)
    return log_likelihood(fit.table, probabilities)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_maximum_agrees_with_a_general_purpose_optimiser(model, seed):
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(seed)
    table, _ = random_table(rng, 3, 3, int(rng.choice([60, 400])), by_outcome, mediator_missing)
    fit = fitted(table, by_outcome)
    assert value_of(fit) == pytest.approx(fit.log_likelihood, abs=1e-6)
    assert fit.log_likelihood >= best_by_optimiser(table, fit.levels, by_outcome, rng) - 1e-4


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_constrained_maximum_agrees_with_a_general_purpose_optimiser(model, seed):
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(100 + seed)
    table, _ = random_table(rng, 3, 3, 200, by_outcome, mediator_missing)
    fit = fitted(table, by_outcome)
    for u in (fit.mean - 0.15, fit.mean + 0.1, 0.08, 0.92):
        ours = fit.log_likelihood_at(u)
        theirs = best_by_optimiser(table, fit.levels, by_outcome, rng, u=u)
        assert ours == pytest.approx(theirs, abs=2e-3) or ours > theirs
        assert ours <= fit.log_likelihood + 1e-6


@pytest.mark.parametrize(("model", "K", "L"), [("mnar", 4, 2), ("mediator-mnar", 2, 4)])
def test_unequal_numbers_of_levels(model, K, L):
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(31)
    table, (pi, g, lam) = random_table(rng, K, L, 400, by_outcome, mediator_missing)
    fit = fitted(table, by_outcome)
    assert value_of(fit) == pytest.approx(fit.log_likelihood, abs=1e-6)
    assert fit.log_likelihood >= best_by_optimiser(table, fit.levels, by_outcome, rng) - 1e-4
    whole = fitted(1e6 * cells(pi, g, lam, by_outcome), by_outcome)
    assert whole.mean == pytest.approx(pi.sum(axis=0) @ whole.levels, abs=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_choosing_finds_the_limits_that_reporting_finds(model):
    """A table that grows as in the loop, with warm starts: each z's signed root is near its z."""
    by_outcome, mediator_missing = MODELS[model]
    z_grid = np.array([-2.0, 0.0, 1.0, 3.4])
    _, (pi, g, lam) = random_table(np.random.default_rng(8), 3, 3, 10, by_outcome, mediator_missing)
    chances, rng = cells(pi, g, lam, by_outcome).ravel(), np.random.default_rng(9)
    P = likelihood.size(3, 3, by_outcome)
    memory, work = np.zeros(1 + P + 4 * (1 + P)), np.empty(likelihood.work_size(3, 3, by_outcome))
    score_arm = link(profile.score_by_likelihood.py_func)
    table, values, roots = np.zeros((4, 4)), np.zeros(4), []
    for pulls in (30, 30, 60, 100, 200, 400, 800):
        table += rng.multinomial(pulls, chances).reshape(4, 4)
        score_arm(table, by_outcome, memory, np.linspace(0, 1, 3), z_grid, values, work)
        fit = fitted(table, by_outcome)
        drop = [max(fit.log_likelihood - fit.log_likelihood_at(u), 0) for u in values]
        roots.append(np.sign(values - fit.mean) * np.sqrt(2 * np.array(drop)))
    roots = np.array(roots)
    assert np.abs(roots[:, 1]).max() < 0.6  # the loose stop leaves the maximum a little off
    assert np.median(np.abs(roots - z_grid), axis=0).max() < 0.2
    inside = np.abs(roots - z_grid) < 0.35
    # far out the soft floor, which reporting does without, keeps a limit nearer, and never farther away
    inside[:, 3] |= (roots[:, 3] < 3.4 + 0.35) & (roots[:, 3] > 2.0)
    at_the_edge = (values < 1e-6) | (values > 1 - 1e-6)
    assert np.mean(inside | at_the_edge) > 0.9


def test_infeasible_tables_are_among_those_tried():
    infeasible = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table, _ = random_table(rng, 3, 3, int(rng.choice([60, 400])), True, False)
        infeasible += not solve_mnar(table, np.linspace(0, 1, 3)).feasible
    assert 1 <= infeasible <= 5


def test_a_feasible_linear_solution_is_the_maximum():
    """True of mnar with K = L, which leaves no degree of freedom over."""
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(40):
        table, _ = random_table(rng, 3, 3, 3000, True, False)
        linear = solve_mnar(table, np.linspace(0, 1, 3))
        fit = fitted(table, True)
        if linear.feasible:
            assert fit.mean == pytest.approx(linear.mean, abs=2e-4)
            compared += 1
        else:
            assert 0 <= fit.mean <= 1
    assert 10 <= compared < 40


@pytest.mark.parametrize("model", MODELS)
def test_population_tables_give_back_the_parameters(model):
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(3)
    pi = 0.7 * np.eye(3) / 3 + 0.3 * rng.dirichlet(np.ones(9)).reshape(3, 3)
    g, lam = rng.uniform(0.3, 0.9, 3), rng.uniform(0.4, 0.9, 3) if mediator_missing else np.ones(3)
    fit = fitted(1e6 * cells(pi, g, lam, by_outcome), by_outcome)
    assert fit.joint == pytest.approx(pi, abs=1e-4)
    assert fit.observation == pytest.approx(g, abs=1e-3)
    assert fit.mediator_observation == pytest.approx(lam, abs=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_at_is_the_signed_root(model):
    by_outcome, mediator_missing = MODELS[model]
    table, _ = random_table(np.random.default_rng(5), 3, 3, 500, by_outcome, mediator_missing)
    fit = fitted(table, by_outcome)
    values = [fit.at(z) for z in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    assert values == sorted(values)
    for z, u in zip((-2, -1, 1, 2), (values[0], values[1], values[3], values[4]), strict=True):
        root = np.sign(u - fit.mean) * np.sqrt(2 * (fit.log_likelihood - fit.log_likelihood_at(u)))
        assert root == pytest.approx(z, rel=1e-3)


def test_without_missing_values_the_limits_are_those_of_a_multinomial_mean():
    rng = np.random.default_rng(2)
    table = np.zeros((3, 4))
    table[:2, :3] = rng.multinomial(4000, [1 / 6] * 6).reshape(2, 3)
    fit = fitted(table, True)
    p = table[:2, :3].sum(axis=0) / 4000
    mean = p @ fit.levels
    sd = np.sqrt(p @ (fit.levels - mean) ** 2 / 4000)
    assert fit.mean == pytest.approx(mean, abs=1e-8)
    assert (fit.at(1) - fit.at(-1)) / 2 == pytest.approx(sd, rel=0.01)


def test_limits_stay_in_the_range_of_the_outcome():
    table = np.zeros((4, 4))
    table[0, 2] = table[1, 2] = table[2, 2] = 5  # only the top level was ever seen, nothing is missing
    fit = fitted(table, True)
    assert fit.mean == pytest.approx(1, abs=1e-6)
    assert 0 <= fit.at(-3) < 1
    assert fit.at(3) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", [21, 27])
def test_several_maxima_are_searched(seed):
    """Tables of the world mnar-hidden whose maximum is missed from a flat start."""
    world = make("mnar-hidden", seed=seed)
    arms = np.full(1000, np.argmax(world.means))
    table = Counts.fold(world.setting, arms, *world.pulls(arms, seed)).table[arms[0]]
    best = fitted(table, True)
    theta = np.empty(likelihood.size(5, 5, True))
    link(profile.start.py_func)(table, True, theta, 0)
    work = np.empty(likelihood.work_size(5, 5, True))
    value = link(profile.fit.py_func)(table, best.levels, True, theta, likelihood.REPORTING, np.nan, work)
    assert best.log_likelihood > value + 0.05
    missed = theta[:25].reshape(5, 5).sum(axis=0) @ best.levels
    assert abs(missed - best.mean) > 0.05
    # a search from here that comes upon the higher maximum goes on from there
    z = 3 * np.sign(best.mean - missed)
    work = np.empty(len(theta) + likelihood.work_size(5, 5, True))
    found = exact_limit(table, best.levels, True, z, theta, value, likelihood.EVERY, work)
    assert found == pytest.approx(best.at(z), abs=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_profile_intervals_cover(model):
    """400 tables of 1000 pulls: the root at the truth is within 1.96 in 95% of them, se .011."""
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(9)
    pi = 0.6 * np.eye(3) / 3 + 0.4 * rng.dirichlet(np.ones(9)).reshape(3, 3)
    g, lam = np.array([0.9, 0.6, 0.4]), np.array([0.5, 0.8, 0.7]) if mediator_missing else np.ones(3)
    truth = pi.sum(axis=0) @ np.linspace(0, 1, 3)
    tables = rng.multinomial(1000, cells(pi, g, lam, by_outcome).ravel(), size=400).reshape(-1, 4, 4)
    roots = []
    for table in tables.astype(float):
        fit = fitted(table, by_outcome)
        roots.append(np.sqrt(2 * max(fit.log_likelihood - fit.log_likelihood_at(truth), 0)))
    assert 0.95 - 3 * 0.011 <= np.mean(np.array(roots) <= 1.96) <= 0.95 + 3 * 0.011


def test_the_shortcut_for_choosing_is_the_maximum():
    """Where the linear solution is feasible, and only there, the loop starts from it."""
    rng = np.random.default_rng(12)
    taken = 0
    for _ in range(30):
        table, _ = random_table(rng, 3, 3, 3000, True, False)
        theta = np.empty(likelihood.size(3, 3, True))
        feasible = profile.solved.py_func(
            table, theta, likelihood.REPORTING, np.empty(likelihood.work_size(3, 3, True))
        )
        assert feasible == solve_mnar(table, np.linspace(0, 1, 3)).feasible
        if feasible:
            fit = fitted(table, True)
            value = log_likelihood(table, cells(theta[:9].reshape(3, 3), theta[9:12], theta[12:], True))
            assert value == pytest.approx(fit.log_likelihood, abs=1e-5)
            taken += 1
    assert 10 <= taken < 30
    missing, _ = random_table(rng, 3, 3, 3000, True, True)
    assert not profile.solved.py_func(missing, theta, likelihood.REPORTING, np.empty(200))


def test_a_large_table_needs_no_fresh_starts_where_it_has_one_maximum():
    """Forty mediator levels that tell two outcomes apart: the limits are those of a search from all starts."""
    rng = np.random.default_rng(7)
    mediator = rng.integers(0, 40, 4000)
    outcome = (rng.random(4000) < 0.1 + 0.8 * mediator / 39).astype(int)
    column = np.where(rng.random(4000) < np.where(outcome, 0.5, 0.9), outcome, 2)
    table = np.zeros((41, 3))
    np.add.at(table, (mediator, column), 1.0)
    fit = LikelihoodFit(table, np.array([0.0, 1.0]), True)
    assert fit._profile_starts == 0
    for z in (-1.96, 1.0, 1.96):
        work = np.empty(len(fit.theta) + likelihood.work_size(40, 2, True))
        everywhere = exact_limit(
            table, fit.levels, True, z, fit.theta.copy(), fit.log_likelihood, likelihood.EVERY, work
        )
        assert fit.at(z) == pytest.approx(everywhere, abs=1e-5)

"""The search for a limit, part by part: every value is checked by the independent likelihood of tables.py."""

import numpy as np
import pytest

from tests.assumptions.tables import cells, floor_cost, log_likelihood, random_table
from tests.assumptions.test_likelihood import LEVELS, MODELS
from truant.assumptions import likelihood, profile
from truant.assumptions.exact import LikelihoodFit, exact_limit, exact_maximum, exact_profile
from truant.assumptions.likelihood import EVERY, solve_mnar
from truant.compile import link

CARES = {"choosing": (likelihood.CHOOSING, 0.03), "reporting": (likelihood.REPORTING, 1e-5)}


def value_at(table, theta, by_outcome, care=None):
    """Log likelihood and mean outcome of a vector of parameters, less the cost of care's soft floor."""
    K, L = table.shape[0] - 1, table.shape[1] - 1
    pi, g, lam = theta[: K * L].reshape(K, L), theta[K * L : -K], theta[-K:]
    value = log_likelihood(table, cells(pi, g, lam, by_outcome)) - floor_cost(g, care)
    return value, pi.sum(axis=0) @ LEVELS


def floored_maximum(table, by_outcome, theta=None):
    """The maximum with the soft floor of choosing, found with the care of reporting."""
    K, L = table.shape[0] - 1, table.shape[1] - 1
    care = likelihood.REPORTING._replace(doubt=likelihood.CHOOSING.doubt, floor=likelihood.CHOOSING.floor)
    theta = np.empty(likelihood.size(K, L, by_outcome)) if theta is None else theta
    work = np.empty(likelihood.work_size(K, L, by_outcome))
    maximise = link(profile.maximise.py_func)
    return maximise(table, LEVELS, by_outcome, theta, care, np.nan, care.starts, False, work)


def fitted(model, seed, pulls=300, K=3):
    by_outcome, mediator_missing = MODELS[model]
    table, _ = random_table(np.random.default_rng(seed), K, 3, pulls, by_outcome, mediator_missing)
    fit = LikelihoodFit(table, LEVELS, by_outcome)
    return fit, by_outcome, np.empty(len(fit.theta) + likelihood.work_size(K, 3, by_outcome))


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("model", MODELS)
def test_the_parts_of_a_fit(model, K):
    fit, by_outcome, work = fitted(model, 1, K=K)
    g = 3 if by_outcome else K
    assert len(fit.theta) == 3 * K + g + K
    assert fit.joint.tolist() == fit.theta[: 3 * K].reshape(K, 3).tolist()
    assert fit.observation.tolist() == fit.theta[3 * K : 3 * K + g].tolist()
    assert fit.mediator_observation.tolist() == fit.theta[3 * K + g :].tolist()
    assert fit.mean == pytest.approx(fit.joint.sum(axis=0) @ LEVELS, abs=1e-12)
    assert fit.at(0.0) == fit.mean
    assert len(fit._work()) >= len(work)


def test_the_first_guess_by_hand():
    guess = profile.first_guess.py_func
    assert guess(0.5, 2.0, LEVELS, 99.0) == pytest.approx(0.5 + 2 * 3 / 20)
    assert guess(0.5, -2.0, LEVELS, 99.0) == pytest.approx(0.5 - 2 * 3 / 20)
    assert guess(1.9, 2.0, LEVELS, 99.0) == pytest.approx(1.95)  # half way to the edge, if it would be passed
    assert guess(1.9, -2.0, LEVELS, 99.0) == pytest.approx(1.9 - 2 * 3 / 20)
    assert guess(-0.9, -2.0, LEVELS, 99.0) == pytest.approx(-0.95)


@pytest.mark.parametrize("care", CARES)
@pytest.mark.parametrize("model", MODELS)
def test_a_limit_has_the_root_that_was_asked_for(model, care):
    """To 3% when choosing; whatever the first guess, and with the state left at the limit."""
    care, precision = CARES[care]
    limit = link(profile.limit.py_func)
    for seed in range(3):
        fit, by_outcome, work = fitted(model, seed)
        for z, guess in [(-2.0, 0.0), (-0.5, 5.0), (1.0, fit.mean), (1.0, fit.mean + 0.01), (2.5, 1.999)]:
            state, highest = fit.theta.copy(), fit.log_likelihood
            for _ in range(5):  # the maximum may turn out to be a little higher
                best = state.copy()
                start = (z, best, highest, guess, state, care, work)
                u, higher = limit(fit.table, LEVELS, by_outcome, *start)
                value, mean = value_at(fit.table, state, by_outcome)
                if not higher:
                    break
                assert highest < value < highest + 1e-4
                highest = value
            assert not higher
            assert mean == pytest.approx(u, abs=1e-8)
            assert (u - fit.mean) * z > 0
            root = np.sqrt(2 * (highest - value))
            assert root == pytest.approx(abs(z), rel=precision * 1.01)
            if care is likelihood.REPORTING:  # which goes on from the higher maximum, too
                assert fit.at(z) == pytest.approx(u, abs=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_a_higher_maximum_on_the_way_is_handed_back(model):
    fit, by_outcome, work = fitted(model, 1)
    state, care = fit.theta.copy(), likelihood.CHOOSING
    low = fit.log_likelihood - 3
    start = (fit.theta, low, fit.mean + 0.05, state, care, work)
    u, higher = link(profile.limit.py_func)(fit.table, LEVELS, by_outcome, 2.0, *start)
    value, mean = value_at(fit.table, state, by_outcome)
    assert higher
    assert value > low + 0.01
    assert mean == pytest.approx(u, abs=1e-8)


def test_no_limit_lies_beyond_the_edge():
    table = np.zeros((4, 4))
    table[0, 2] = table[1, 2] = table[2, 2] = 5
    top = np.array([0, 0, 1 / 3] * 3 + [0.9] * 3 + [1.0] * 3)
    bottom = np.array([1 / 3, 0, 0] * 3 + [0.9] * 3 + [1.0] * 3)
    work = np.empty(200)
    for best, z, edge in [(top, 2.0, 2 - 3e-9), (bottom, -2.0, -1 + 3e-9)]:
        start = (best, 0.0, 1.0, best.copy(), likelihood.CHOOSING, work)
        found = link(profile.limit.py_func)(table, LEVELS, True, z, *start)
        assert found == (edge, False)


@pytest.mark.parametrize("model", MODELS)
def test_a_constrained_maximum_is_the_better_of_two_starts(model):
    """From the state before, loosened, and from the maximum, mixed with a flat one."""
    fit_from, search = link(profile.fit.py_func), link(profile.profile.py_func)
    care, second_better = likelihood.CHOOSING, []
    for seed in range(12):
        fit, by_outcome, work = fitted(model, seed, pulls=60)
        u = fit.mean + (0.5 if fit.mean < 0.5 else -0.5)
        rng = np.random.default_rng(seed)
        state = np.concatenate([rng.dirichlet(np.full(9, 0.2)), rng.uniform(0, 1, len(fit.theta) - 9)])
        ends = [state.copy(), 0.8 * fit.theta + 0.2 * np.where(np.arange(len(state)) < 9, 1 / 9, 0.5)]
        profile.loosen.py_func(ends[0], 9)
        values = [fit_from(fit.table, LEVELS, by_outcome, end, care, u, work) for end in ends]
        value = search(fit.table, LEVELS, by_outcome, u, fit.theta, care, state, work)
        second_better.append(values[1] > values[0])
        assert value == pytest.approx(max(values), abs=1e-9)
        assert state == pytest.approx(ends[int(second_better[-1])], abs=1e-9)
        assert value_at(fit.table, state, by_outcome) == pytest.approx((value, u), abs=1e-8)
    assert 0 < sum(second_better) < 12


def test_the_shortcut_by_hand():
    table = np.array([[30.0, 6.0, 12.0], [10.0, 24.0, 24.0], [0.0, 0.0, 0.0]])
    x = np.linalg.solve(table[:2, :2], table[:2, 2])
    assert x.min() > 0
    theta = np.empty(8)
    free, floored = likelihood.REPORTING, likelihood.CHOOSING
    assert profile.solved.py_func(table, theta, free, np.empty(50))
    pi = table[:2, :2] * (1 + x) / table.sum()
    assert theta == pytest.approx(np.concatenate([pi.ravel(), 1 / (1 + x), [1, 1]]), rel=1e-12)
    assert pi.sum() == pytest.approx(1)
    least, kept = 1 / (1 + x.max()), theta.copy()
    for floor, below in ((0.999 * least, False), (1.001 * least, True)):  # then it is not the maximum
        theta[:] = 7.0
        assert profile.solved.py_func(table, theta, floored._replace(floor=floor), np.empty(50)) != below
        assert theta.tolist() == ([7.0] * 8 if below else kept.tolist())
    table[0, :2] = 2 * table[1, :2]
    assert not profile.solved.py_func(table, theta, free, np.empty(50))  # singular
    table[0] = [30, 6, 1]  # negative odds: what was there stays, to start from
    assert not profile.solved.py_func(table, theta, free, np.empty(50))
    assert theta.tolist() == [7.0] * 8
    assert not profile.solved.py_func(
        np.ones((4, 3)) * [1, 2, 3], np.empty(11), free, np.empty(50)
    )  # K is not L


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("model", MODELS)
def test_choosing_keeps_what_it_found(model, K):
    """Values at the z_grid, and in memory K, the maximum, and at each z its value and a state that has it."""
    score_arm, z_grid = link(profile.score_by_likelihood.py_func), np.array([-1.5, 0.0, 1.0, 2.5])
    care = likelihood.CHOOSING
    for seed in range(4):
        fit, by_outcome, work = fitted(model, seed, K=K)
        P = len(fit.theta)
        memory, values = np.zeros(1 + P + 4 * (1 + P)), np.zeros(4)
        for _ in range(2):  # cold, then warm
            score_arm(fit.table, by_outcome, memory, LEVELS, z_grid, values, work)
            highest, mean = value_at(fit.table, memory[1 : 1 + P], by_outcome, care)
            kept = memory[1 + P :].reshape(4, 1 + P)
            assert memory[0] == K
            assert fit.log_likelihood + 1e-6 > highest > floored_maximum(fit.table, by_outcome) - 0.1
            assert values[1] == pytest.approx(mean, abs=1e-12)
            for k in (0, 2, 3):
                value, mean = value_at(fit.table, kept[k, 1:], by_outcome, care)
                assert values[k] == kept[k, 0] == pytest.approx(mean, abs=1e-8)
                assert np.sqrt(2 * (highest - value)) == pytest.approx(abs(z_grid[k]), rel=0.031)
            assert np.all(np.diff(values) > 0)
        linear = solve_mnar(fit.table, LEVELS)
        if model == "mnar" and K == 3 and linear.feasible:
            assert values[1] == pytest.approx(linear.mean, abs=2e-3)


def test_choosing_starts_anew_when_a_level_is_added():
    """mnar's missing mediators are one more level: the memory of a smaller table is of no use."""
    score_arm, z_grid = link(profile.score_by_likelihood.py_func), np.array([0.0, 1.0])
    small, _, _ = fitted("mnar", 2)
    large, _, work = fitted("mnar", 3, K=4)
    P = len(large.theta)
    used, fresh = np.zeros(1 + P + 2 * (1 + P)), np.zeros(1 + P + 2 * (1 + P))
    values, expected = np.zeros(2), np.zeros(2)
    score_arm(small.table, True, used, LEVELS, z_grid, values, work)
    score_arm(large.table, True, used, LEVELS, z_grid, values, work)
    score_arm(large.table, True, fresh, LEVELS, z_grid, expected, work)
    assert values.tolist() == expected.tolist()
    assert used[0] == 4


def test_a_higher_maximum_is_taken_when_choosing():
    """Small tables with several maxima: no state at a z may be likelier than the maximum it is measured from."""
    score_arm, z_grid = link(profile.score_by_likelihood.py_func), np.array([-2.0, 0.0, 1.0, 2.5])
    care = likelihood.CHOOSING
    for K, seed in [(K, seed) for K in (3, 4) for seed in range(150)]:
        table, _ = random_table(np.random.default_rng(seed), K, 3, [20, 60, 200][seed % 3], True)
        P = likelihood.size(K, 3, True)
        memory, values = np.zeros(1 + P + 4 * (1 + P)), np.zeros(4)
        score_arm(table, True, memory, LEVELS, z_grid, values, np.empty(likelihood.work_size(K, 3, True)))
        highest, _ = value_at(table, memory[1 : 1 + P], True, care)
        states = memory[1 + P :].reshape(4, 1 + P)[[0, 2, 3], 1:]
        assert max(value_at(table, state, True, care)[0] for state in states) <= highest + 0.01


def test_choosing_tries_several_starts():
    """From a flat start alone, 6 of these 100 tables are left more than .2 below their maximum."""
    score_arm = link(profile.score_by_likelihood.py_func)
    P, work = likelihood.size(3, 3, True), np.empty(likelihood.work_size(3, 3, True))
    for seed in range(100):
        table, _ = random_table(np.random.default_rng(seed), 3, 3, 300, True)
        memory = np.zeros(2 * (1 + P))
        score_arm(table, True, memory, LEVELS, np.zeros(1), np.zeros(1), work)
        found, _ = value_at(table, memory[1 : 1 + P], True, likelihood.CHOOSING)
        assert found > floored_maximum(table, True) - 0.2


def test_a_level_never_seen_cannot_hide_for_ever_when_choosing():
    """The limit falls with the number of pulls, and is the one that the soft floor gives; without it, it stays."""
    shares = np.array([[60.0, 20.0, 0.0, 40.0], [20.0, 60.0, 0.0, 40.0], [20.0, 20.0, 0.0, 20.0], [0.0] * 4])
    P, work = likelihood.size(3, 3, True), np.empty(2 * likelihood.work_size(3, 3, True))
    score_arm, search = link(profile.score_by_likelihood.py_func), link(profile.profile.py_func)
    care = likelihood.REPORTING._replace(doubt=likelihood.CHOOSING.doubt, floor=likelihood.CHOOSING.floor)
    limits, free = [], []
    for pulls in (1e3, 1e4, 1e5):
        table, values = pulls * shares / shares.sum(), np.zeros(2)
        score_arm(table, True, np.zeros(1 + P + 2 * (1 + P)), LEVELS, np.array([0.0, 3.0]), values, work)
        best = np.empty(P)
        highest = floored_maximum(table, True, best)
        value = search(table, LEVELS, True, values[1], best, care, best.copy(), work)
        assert np.sqrt(2 * (highest - value)) == pytest.approx(3.0, rel=0.1)  # loose stops
        limits.append(values[1])
        free.append(LikelihoodFit(table, LEVELS, True).at(3.0))
    assert limits[0] < 0.1
    assert limits[2] < limits[1] < -0.2  # the mean of what is seen is -.25
    assert min(free) > 0.5


# how a maximum is missed, and how a flat one is noticed

# a level is hidden: an outcome, a mediator, or a mediator together with its outcome
HIDDEN = [
    ("mnar", [[3, 2, 0, 14, 18], [51, 11, 1, 34, 11], [0, 14, 0, 11, 4], [16, 82, 2, 2, 24], [0] * 5]),
    (
        "both-mnar",
        [[6, 3, 142, 1, 19], [22, 2, 3, 4, 29], [0, 0, 1, 1, 0], [5, 1, 5, 20, 6], [6, 1, 17, 5, 1]],
    ),
    (
        "both-mnar",
        [[42, 22, 23, 38, 13], [1, 0, 0, 0, 0], [0, 33, 50, 18, 13], [3, 0, 1, 2, 0], [7, 16, 5, 10, 3]],
    ),
    (
        "mediator-mnar",
        [[17, 66, 8, 27, 19], [8, 16, 48, 24, 1], [0, 1, 0, 1, 0], [0, 6, 2, 12, 1], [6, 4, 11, 18, 4]],
    ),
    (
        "mediator-mnar",
        [[3, 1, 1, 1, 4], [0, 0, 0, 0, 3], [3, 29, 11, 26, 13], [40, 70, 13, 10, 22], [4, 5, 1, 10, 30]],
    ),
]


@pytest.mark.parametrize(("model", "table"), HIDDEN)
def test_a_hidden_level_is_found(model, table):
    """The five starts over straight lines end .7 or more below the maximum; none of 60 random ones is above it."""
    table, levels, by_outcome = np.array(table, float), np.linspace(0, 1, 4), MODELS[model][0]
    found = LikelihoodFit(table, levels, by_outcome)
    assert found.ends[:5, 0].max() < found.log_likelihood - 0.7
    rng, work, values = np.random.default_rng(1), np.empty(likelihood.work_size(4, 4, by_outcome)), []
    fit = link(profile.fit.py_func)
    for _ in range(60):
        chances = 0.02 + 0.96 * rng.beta(0.7, 0.7, 8)
        theta = np.concatenate([0.98 * rng.dirichlet(np.ones(16)) + 0.02 / 16, chances])
        values.append(fit(table, levels, by_outcome, theta, likelihood.REPORTING, np.nan, work))
    assert max(values) == pytest.approx(found.log_likelihood, abs=1e-4)


def test_a_hidden_level_is_found_at_a_given_mean():
    """From straight lines, the state at the maximum and that mixed with a flat one, l(u) is .14 too low."""
    table = [[35, 18, 2, 25, 33], [1, 7, 1, 3, 1], [7, 6, 2, 35, 20], [1, 68, 1, 9, 25], [0] * 5]
    fit, u = LikelihoodFit(np.array(table, float), np.linspace(0, 1, 4), True), 0.589
    lines, search = likelihood.REPORTING._replace(profile_starts=5), link(profile.profile.py_func)
    value = search(fit.table, fit.levels, True, u, fit.theta, lines, fit.theta.copy(), fit._work())
    assert fit.log_likelihood_at(u) > value + 0.1


def test_a_flat_maximum_is_noticed():
    """The top level was never seen, and what is missing can be made of the others alone, or of it alone."""
    shares = np.array([[60.0, 20.0, 0.0, 40.0], [20.0, 60.0, 0.0, 40.0], [20.0, 20.0, 0.0, 20.0], [0.0] * 4])
    low = (-1.0 + 0.5) / 2  # as in the rows that were seen
    high = 2 / 3 * low + 1 / 3 * 2.0
    for pulls in (300, 30_000):
        fit = LikelihoodFit(pulls / 300 * shares, LEVELS, True)
        assert fit.plateau == pytest.approx((low, high), abs=0.5 / np.sqrt(pulls))
        for u in fit.plateau:
            assert fit.log_likelihood_at(u) == pytest.approx(fit.log_likelihood - 0.001, abs=1e-4)


def test_too_few_mediator_levels_leave_a_plateau():
    table = np.array([[50.0, 10.0, 30.0, 30.0], [10.0, 40.0, 30.0, 40.0], [0.0] * 4])
    low, high = LikelihoodFit(table, LEVELS, True).plateau
    assert high - low > 0.1


def test_two_maxima_of_the_same_height_are_a_plateau():
    fit, _, _ = fitted("mnar", 3, pulls=3000)
    assert fit.plateau is None
    mean, width = fit.mean, fit.at(1.959963984540054) - fit.at(-1.959963984540054)
    for below, away, noticed in ((0.0009, 0.11, True), (0.0011, 0.11, False), (0.0009, 0.09, False)):
        fit, _, _ = fitted("mnar", 3, pulls=3000)
        fit.ends[0] = fit.log_likelihood - below, mean + away * width
        assert (fit.plateau is not None) == noticed
        if noticed:
            assert fit.plateau[0] < mean
            assert fit.plateau[1] == mean + away * width


@pytest.mark.parametrize("model", MODELS)
def test_an_ordinary_maximum_is_no_plateau(model):
    by_outcome, mediator_missing = MODELS[model]
    rng = np.random.default_rng(3)
    pi = 0.7 * np.eye(3) / 3 + 0.3 * rng.dirichlet(np.ones(9)).reshape(3, 3)
    g, lam = np.array([0.4, 0.7, 0.9]), np.array([0.5, 0.8, 0.7]) if mediator_missing else np.ones(3)
    for pulls in (200, 2000, 20_000):
        for table in rng.multinomial(pulls, cells(pi, g, lam, by_outcome).ravel(), size=5):
            fit = LikelihoodFit(table.reshape(4, 4).astype(float), LEVELS, by_outcome)
            assert fit.plateau is None


@pytest.mark.parametrize("model", MODELS)
def test_scratch_space_may_hold_anything(model):
    fit, by_outcome, work = fitted(model, 2)
    found = []
    for junk in (0.0, np.nan):
        work[:] = junk
        theta = np.full(len(fit.theta), np.nan)
        ends = np.full(fit.ends.shape, np.nan)
        highest = exact_maximum(fit.table, LEVELS, by_outcome, theta, ends, work)
        assert highest == fit.log_likelihood == ends[:, 0].max()
        assert ends.tolist() == fit.ends.tolist()
        work[:] = junk
        value = exact_profile(fit.table, LEVELS, by_outcome, 0.4, theta, EVERY, work)
        work[:] = junk
        u = exact_limit(fit.table, LEVELS, by_outcome, 1.5, theta, highest, EVERY, work)
        found.append((value, u))
    assert found[0] == found[1] == (fit.log_likelihood_at(0.4), fit.at(1.5))

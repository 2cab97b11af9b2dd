"""The parts of the likelihood, one by one: each against the model's words, or a closed form."""

import numpy as np
import pytest
from scipy import optimize

from tests.assumptions.tables import cells, floor_cost, log_likelihood, random_table
from truant.assumptions import likelihood, profile
from truant.compile import link

MODELS = {"mnar": (True, False), "mediator-mnar": (False, True), "both-mnar": (True, True)}

LEVELS = np.array([-1.0, 0.5, 2.0])


def parameters(K, L, by_outcome, mediator_missing=True, seed=4):
    """A random table and a random point to start from, as parts and as one vector."""
    rng = np.random.default_rng(seed)
    table, _ = random_table(rng, K, L, 300, by_outcome, mediator_missing)
    pi = rng.dirichlet(np.ones(K * L)).reshape(K, L)
    g, lam = rng.uniform(0.2, 0.9, L if by_outcome else K), rng.uniform(0.2, 0.9, K)
    return table, (pi, g, lam), np.concatenate([pi.ravel(), g, lam])


def one_map(table, pi, g, lam, by_outcome, care):
    """Expected numbers of all (mediator seen, outcome seen, m, y), and the chances that make them likeliest."""
    K, L = pi.shape
    seen = g[None, :] if by_outcome else g[:, None]
    chance_q, chance_o = np.stack([1 - lam, lam]), np.stack([1 - seen, seen])
    full = pi * chance_q[:, None, :, None] * chance_o[None]
    number = np.empty_like(full)
    number[1, 1] = table[:K, :L]
    number[1, 0] = table[:K, L][:, None] * full[1, 0] / full[1, 0].sum(axis=1)[:, None]
    number[0, 1] = table[K, :L] * full[0, 1] / np.maximum(full[0, 1].sum(axis=0), 1e-300)
    number[0, 0] = table[K, L] * full[0, 0] / max(full[0, 0].sum(), 1e-300)
    joint = number.sum(axis=(0, 1)) + care.prior
    axes = (0, 1) if by_outcome else (0, 2)
    seen_g, all_g = number[:, 1].sum(axis=axes), number.sum(axis=1).sum(axis=axes)
    seen_lam, all_lam = number[1].sum(axis=(0, 2)), number.sum(axis=(0, 1, 3))
    soft = np.minimum((seen_g + care.doubt) / (all_g + care.doubt), care.floor)
    return joint, np.maximum(seen_g / all_g, soft), seen_lam / all_lam


@pytest.mark.parametrize("by_outcome", [True, False])
@pytest.mark.parametrize("mediator_missing", [True, False])
@pytest.mark.parametrize("K", [2, 4])
def test_one_map_is_expectation_and_maximisation(by_outcome, mediator_missing, K):
    table, parts, theta = parameters(K, 3, by_outcome, mediator_missing)
    care = likelihood.REPORTING._replace(prior=0.05)
    joint, g, lam = one_map(table, *parts, by_outcome, care)
    out, columns = np.full(len(theta), np.nan), np.empty(3)
    arguments = (table, LEVELS, by_outcome, theta, out, care)
    value, tilt = likelihood.step.py_func(*arguments, np.nan, 0.3, columns, True)
    assert value == pytest.approx(log_likelihood(table, cells(*parts, by_outcome)), rel=1e-12)
    assert tilt == 0
    expected = np.concatenate([joint.ravel() / joint.sum(), g, lam])
    assert out == pytest.approx(expected, rel=1e-12)
    # with a mean to keep: every cell of an outcome is scaled alike, by 1/(1 + t (y - u))
    value, tilt = likelihood.step.py_func(*arguments, 0.7, 0.0, columns, False)
    assert value == 0
    pi = out[: 3 * K].reshape(K, 3)
    assert pi.sum() == pytest.approx(1, abs=1e-9)
    assert pi.sum(axis=0) @ LEVELS == pytest.approx(0.7, abs=1e-9)
    scale = joint / joint.sum() / pi
    assert scale == pytest.approx(np.tile(1 + tilt * (LEVELS - 0.7), (K, 1)), rel=1e-12)
    assert out[3 * K :] == pytest.approx(expected[3 * K :], rel=1e-12)


def test_the_chance_with_a_soft_floor_by_brute_force():
    """Against a dense grid: above the floor, below it, and at its kink."""
    grid = np.concatenate([np.geomspace(1e-7, 0.5, 200_000), np.linspace(0.5, 1, 20_000)[1:-1]])
    places = set()
    for doubt, floor in ((2.0, 0.1), (0.5, 0.3), (7.0, 0.02)):
        care = likelihood.CHOOSING._replace(doubt=doubt, floor=floor)
        for seen, total in [(0, 3), (0, 400), (0, 1e5), (1, 60), (3, 1000), (9, 95), (30, 250), (60, 80.5)]:
            values = seen * np.log(grid) + (total - seen) * np.log1p(-grid)
            values += doubt * np.log(np.minimum(grid / floor, 1))
            found = likelihood.likeliest_chance.py_func(float(seen), float(total), 0.6, care)
            assert found == pytest.approx(grid[np.argmax(values)], rel=1e-4)
            places.add("floor" if found == floor else "above" if found > floor else "below")
        assert likelihood.likeliest_chance.py_func(0.0, 0.0, 0.01, care) == 0.01
    assert places == {"floor", "above", "below"}
    free = likelihood.REPORTING
    assert likelihood.likeliest_chance.py_func(1.0, 1e6, 0.6, free) == 1e-6
    assert likelihood.likeliest_chance.py_func(0.0, 5.0, 0.6, free) == 0


@pytest.mark.parametrize("model", MODELS)
def test_one_map_with_a_soft_floor(model):
    """It counts in the value that is returned, and no map lowers that value; lambda has no floor."""
    by_outcome, mediator_missing = MODELS[model]
    care = likelihood.CHOOSING._replace(prior=0.0, doubt=3.0, floor=0.5)
    table, _, theta = parameters(3, 3, by_outcome, mediator_missing, seed=7)
    columns, before, below = np.empty(3), -np.inf, 0
    for _ in range(40):
        parts = theta[:9].reshape(3, 3), theta[9:12], theta[12:]
        out = np.empty(len(theta))
        value, _ = likelihood.step.py_func(
            table, LEVELS, by_outcome, theta, out, care, np.nan, 0.0, columns, True
        )
        cost = floor_cost(parts[1], care)
        assert value == pytest.approx(log_likelihood(table, cells(*parts, by_outcome)) - cost, rel=1e-12)
        assert value > before - 1e-9
        joint, new_g, new_lam = one_map(table, *parts, by_outcome, care)
        assert out == pytest.approx(np.concatenate([joint.ravel() / joint.sum(), new_g, new_lam]), rel=1e-12)
        theta, before, below = out, value, below + (cost > 0.01)
    assert below > 20


def test_what_the_soft_floor_costs():
    """g = .001 costs 27.6 when choosing, g above .1 nothing; reporting has no floor."""
    care = likelihood.CHOOSING
    cost = likelihood.floor_cost.py_func
    theta = np.array([0.0, 0.001, 0.1, 0.9, 0.001])  # one of pi, three of g, one of lambda
    assert cost(theta, 1, 4, care) == pytest.approx(6 * np.log(100), rel=1e-12)
    assert cost(theta, 2, 4, care) == 0
    assert (care.doubt, care.floor) == (6.0, 0.1)
    assert (likelihood.REPORTING.doubt, likelihood.REPORTING.floor) == (0.0, 0.0)


@pytest.mark.parametrize("by_outcome", [True, False])
def test_a_chance_of_which_nothing_is_known_stays(by_outcome):
    """No pulls at one mediator level and one outcome level, which pi excludes."""
    table, (pi, g, lam), _ = parameters(3, 3, by_outcome)
    table[1] = table[:, 2] = 0.0
    pi[1] = pi[:, 2] = 0.0
    theta = np.concatenate([pi.ravel() / pi.sum(), g, lam])
    out = np.empty(len(theta))
    care = likelihood.CHOOSING._replace(prior=0.0)
    likelihood.step.py_func(table, LEVELS, by_outcome, theta, out, care, np.nan, 0.0, np.empty(3), True)
    kept = 2 if by_outcome else 1
    assert (out[9 + kept], out[13]) == (g[kept], lam[1])
    assert not np.any(out[9:][[0, 3, 5]] == theta[9:][[0, 3, 5]])
    assert out[3:6].sum() == out[2:9:3].sum() == 0


def test_the_tilt_is_the_root():
    rng = np.random.default_rng(5)
    for _ in range(200):
        columns = rng.gamma(0.3, size=3) + 1e-6
        target = rng.uniform(-0.999, 1.999)

        def excess(t, columns=columns, target=target):
            return np.sum(columns * (LEVELS - target) / (1 + t * (LEVELS - target)))

        low, high = -1 / (LEVELS[-1] - target), -1 / (LEVELS[0] - target)
        edge = 1e-13 * (high - low)
        expected = optimize.brentq(excess, low + edge, high - edge, xtol=1e-14, rtol=1e-14)
        for first in (0.0, low / 2, 2 * low, 2 * high, high):
            found = likelihood.tilt_root.py_func(columns, LEVELS, target, first)
            assert low < found < high
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_an_extrapolated_step_by_hand():
    """The step of SQUAREM, cut at a tenth of the distance to 0 (and for chances to 1), pi brought back to sum 1."""
    rng = np.random.default_rng(6)
    cut = 0
    for _ in range(50):
        theta, one, two = (
            np.concatenate([rng.dirichlet(np.ones(4)), rng.uniform(0, 1, 3)]) for _ in range(3)
        )
        two = one + rng.uniform(0.5, 1.3) * (one - theta) if rng.random() < 0.5 else two
        two = np.clip(two, 0.01, 0.99)
        r, v = one - theta, two - 2 * one + theta
        length = max(np.sqrt(np.sum(r**2) / np.sum(v**2)), 1.0)
        free = theta + 2 * length * r + length**2 * v
        expected = np.maximum(free, 0.1 * two)
        expected[4:] = np.minimum(expected[4:], 1 - 0.1 * (1 - two[4:]))
        cut += np.any(expected != free)
        expected[:4] /= expected[:4].sum()
        profile.extrapolate.py_func(theta, one, two, 4)
        assert theta == pytest.approx(expected, rel=1e-12)
    assert cut > 10
    theta, one, two = np.array([0.5, 0.5, 0.25]), np.array([0.5, 0.5, 0.375]), np.array([0.5, 0.5, 0.5])
    profile.extrapolate.py_func(theta, one, two, 2)  # no bend: the second iterate
    assert theta.tolist() == two.tolist()


def squarem_by_hand(table, theta, by_outcome, care, target):
    """The cycles of `fit`, from the independent map and a root finder; also how often a step was taken back."""
    K, L = table.shape[0] - 1, table.shape[1] - 1

    def parts(vector):
        return vector[: K * L].reshape(K, L), vector[K * L : -K], vector[-K:]

    def mapped(vector):
        joint, g, lam = one_map(table, *parts(vector), by_outcome, care)
        pi = joint / joint.sum()
        if np.isfinite(target):
            d = LEVELS - target
            edges = -1 / d[-1] + 1e-12, -1 / d[0] - 1e-12
            columns = pi.sum(axis=0)
            pi = pi / (
                1 + optimize.brentq(lambda t: np.sum(columns * d / (1 + t * d)), *edges, xtol=1e-15) * d
            )
        return np.concatenate([pi.ravel(), g, lam])

    def value(vector):
        return log_likelihood(table, cells(*parts(vector), by_outcome)) - floor_cost(parts(vector)[1], care)

    two, before, maps, back = theta, -np.inf, 0, 0
    if np.isfinite(target):
        theta = mapped(theta)
    while True:
        if value(theta) < before:
            theta, back = two, back + 1
        gained, before = value(theta) - before, value(theta)
        maps += 3
        if gained < care.gain or maps >= care.maps:
            return before, theta, back
        one = mapped(theta)
        two = mapped(one)
        r, v = one - theta, two - 2 * one + theta
        length = max(np.linalg.norm(r) / np.linalg.norm(v), 1.0)
        theta = np.maximum(theta + 2 * length * r + length**2 * v, 0.1 * two)
        theta[K * L :] = np.minimum(theta[K * L :], 1 - 0.1 * (1 - two[K * L :]))
        theta[: K * L] /= theta[: K * L].sum()
        theta = mapped(theta)


@pytest.mark.parametrize("target", [np.nan, 0.9])
@pytest.mark.parametrize("model", MODELS)
def test_cycles_of_a_fit_by_hand(model, target):
    """After one cycle, after some, and until the gain is too small; some steps must be taken back."""
    by_outcome, mediator_missing = MODELS[model]
    fit, backs = link(profile.fit.py_func), 0
    work = np.empty(likelihood.work_size(3, 3, by_outcome))
    for seed in range(6):
        table, _, first = parameters(3, 3, by_outcome, mediator_missing, seed)
        for maps, gain in ((3, -np.inf), (6, -np.inf), (7, -np.inf), (30, -np.inf), (300, 0.05)):
            care = likelihood.CHOOSING._replace(prior=0.02, maps=maps, gain=gain, floor=0.5)
            expected, end, back = squarem_by_hand(table, first, by_outcome, care, target)
            theta = first.copy()
            value = fit(table, LEVELS, by_outcome, theta, care, target, work)
            assert value == pytest.approx(expected, abs=1e-6)
            assert theta == pytest.approx(end, abs=1e-6)
            backs += back
    assert backs > 0


@pytest.mark.parametrize("by_outcome", [True, False])
def test_starts_by_hand(by_outcome):
    table, _, theta = parameters(4, 3, by_outcome)
    size = 3 if by_outcome else 4

    def line(n, way):
        return np.full(n, 0.7) if way == 0 else np.linspace(0.3, 0.95, n)[::-way]

    def hidden(n, k):
        return np.where(np.arange(n) == k, 0.1, 0.9)

    lines = [(line(size, o), line(4, q)) for o, q in [(0, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)]]
    shapes = lines + [(hidden(size, k), hidden(4, -1)) for k in range(size)]
    shapes += [(hidden(size, -1), hidden(4, m)) for m in range(4)]
    shapes += [] if by_outcome else [(hidden(4, m), hidden(4, m)) for m in range(4)]
    assert profile.number_of_starts.py_func(table, by_outcome) == len(shapes)
    for shape, (g, lam) in enumerate(shapes):
        profile.start.py_func(table, by_outcome, theta, shape)
        assert theta[12:] == pytest.approx(np.concatenate([g, lam]), rel=1e-12)
        pi = (table[:4, :3] + 0.5) / (g[None, :] if by_outcome else g[:, None])
        assert theta[:12] == pytest.approx(pi.ravel() / pi.sum(), rel=1e-12)
    assert profile.chance_at.py_func(0, 1, 1) == 0.95  # a single level is the first one
    table[-1] = 0.0  # no mediator is missing: none is hidden
    assert profile.number_of_starts.py_func(table, by_outcome) == 5 + size


def test_loosening_by_hand():
    theta = np.array([0.0, 0.25, 0.75, 0.0, 0.0, 0.01, 0.5, 1.0])
    profile.loosen.py_func(theta, 4)
    assert theta == pytest.approx([0.005, 0.25, 0.74, 0.005, 0.03, 0.03, 0.5, 0.97], rel=1e-12)


def test_the_mean_of_the_joint():
    pi = np.random.default_rng(1).dirichlet(np.ones(6))
    expected = pi.reshape(2, 3).sum(axis=0) @ LEVELS
    theta = np.append(pi, [0.5] * 5)
    assert profile.mean_outcome.py_func(theta, LEVELS, 2) == pytest.approx(expected, rel=1e-12)


def test_sizes():
    """pi, g and lambda; the deepest call holds five vectors of parameters and one of levels."""
    assert likelihood.size(4, 3, True) == 12 + 3 + 4
    assert likelihood.size(4, 3, False) == 12 + 4 + 4
    assert likelihood.work_size(4, 3, True) == 5 * 19 + 3
    assert likelihood.work_size(4, 3, False) == 5 * 20 + 3


@pytest.mark.parametrize("model", MODELS)
def test_the_maximum_is_the_best_of_its_starts(model):
    """Choosing: each of three starts ends where its value is the one returned, and the best is kept."""
    by_outcome, mediator_missing = MODELS[model]
    fit, maximise = link(profile.fit.py_func), link(profile.maximise.py_func)
    differ, care = 0, likelihood.CHOOSING._replace(floor=0.4)
    for seed in range(8):
        table, _, theta = parameters(3, 3, by_outcome, mediator_missing, seed)
        work = np.empty(likelihood.work_size(3, 3, by_outcome))
        ends = []
        for shape in range(4):
            end = theta.copy()
            if shape < 3:
                profile.start.py_func(table, by_outcome, end, shape)
            else:
                profile.loosen.py_func(end, 9)
            value = fit(table, LEVELS, by_outcome, end, care, np.nan, work)
            parts = end[:9].reshape(3, 3), end[9:12], end[12:]
            expected = log_likelihood(table, cells(*parts, by_outcome)) - floor_cost(parts[1], care)
            assert value == pytest.approx(expected, abs=1e-8)
            ends.append((value, end))
        differ += np.ptp([value for value, _ in ends]) > 0.01
        for starts, warm, used in (
            (3, False, ends[:3]),
            (2, True, [ends[3], *ends[:2]]),
            (0, True, ends[3:]),
        ):
            found = theta.copy()
            value = maximise(table, LEVELS, by_outcome, found, care, np.nan, starts, warm, work)
            best, end = max(used, key=lambda pair: pair[0])
            assert value == best
            assert found.tolist() == end.tolist()
    assert differ > 0

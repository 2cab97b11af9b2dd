"""The paper's policies against their formulas, written out in numpy.

Each formula below goes from an arm's mediators and outcomes (not from counts) to the best guess and the width;
the compiled fills must give the same numbers on random pulls.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from tests.scoring import guess_and_scores, score

from truant.compile import link
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.lab.simulate import simulate
from truant.policies import Policy, named
from truant.setting import Setting
from truant.worlds import RealWorld, make

FloatArray = npt.NDArray[np.float64]
Pulls = tuple[npt.NDArray[np.int64], FloatArray]  # of one arm: mediators (-1 missing), outcomes (NaN missing)


def table_of(policy: Policy, arms: list[Pulls], setting: Setting) -> FloatArray:
    codes = np.repeat(np.arange(len(arms)), [len(m) for m, _ in arms])
    columns = [np.concatenate(part) for part in zip(*arms, strict=True)]
    counts = Counts.fold(setting, codes, *columns)
    return counts.table if policy.curve(setting, 1000).discrete else counts.real().table


def assert_same(
    policy: Policy, arms: list[Pulls], setting: Setting, expected: list[tuple[float, float]], **near
):
    for horizon in (2000, 10**6):
        found = guess_and_scores(policy, table_of(policy, arms, setting), setting, horizon)
        for a, (mean, width) in enumerate(expected):  # width: the bonus over sqrt(log T)
            if math.isinf(width):
                assert np.all(found[a] == np.inf), a
                continue
            upper = mean + width * math.sqrt(math.log(horizon))
            np.testing.assert_allclose(found[a], [mean, upper], **near, err_msg=f"arm {a}, T={horizon}")


# The formulas: best guess, and bonus/sqrt(log T)


def hoeffding_mean(pulls: Pulls, alpha: float) -> tuple[float, float]:
    y = pulls[1][~np.isnan(pulls[1])]
    return (float(y.mean()), math.sqrt(alpha / (2 * len(y)))) if len(y) else (np.nan, np.inf)


def widened(expected: list[tuple[float, float]], setting: Setting) -> list[tuple[float, float]]:
    """Hoeffding's width is that of range 1, times the range."""
    return [(mean, (setting.high - setting.low) * width) for mean, width in expected]


def over_levels(pulls: Pulls, p: dict[int, float], alpha: float, factor: float) -> tuple[float, float]:
    """sum p mu_m + factor sqrt(alpha/2 sum p^2/n_m); infinite if a cell with p > 0 shows no outcome."""
    mean = squares = 0.0
    for level, share in p.items():
        if share == 0:
            continue
        y = pulls[1][(pulls[0] == level) & ~np.isnan(pulls[1])]
        if not len(y):
            return np.nan, np.inf
        mean += share * float(y.mean())
        squares += share**2 / len(y)
    return mean, factor * math.sqrt(alpha / 2 * squares)


def estimated_levels(pulls: Pulls, alpha: float) -> tuple[float, float]:
    m = pulls[0]
    return over_levels(pulls, {int(level): float(np.mean(m == level)) for level in np.unique(m)}, alpha, 8)


def seen_mediators(pulls: Pulls, alpha: float) -> tuple[float, float]:
    keep = pulls[0] >= 0
    return estimated_levels((pulls[0][keep], pulls[1][keep]), alpha) if keep.any() else (np.nan, np.inf)


def frequencies(
    pulls: Pulls, K: int, levels: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """P(m, y, both seen), P(m, outcome missing), P(y, mediator missing), P(m, mediator seen): over all pulls."""
    m, y = pulls
    theta = np.array([[np.mean((m == k) & (y == level)) for level in levels] for k in range(K)])
    outcome_missing = np.array([np.mean((m == k) & np.isnan(y)) for k in range(K)])
    mediator_missing = np.array([np.mean((m == -1) & (y == level)) for level in levels])
    return theta, outcome_missing, mediator_missing, np.array([np.mean(m == k) for k in range(K)])


def norm(matrix: FloatArray) -> float:
    return float(np.linalg.norm(matrix, np.inf))


def mnar_inverse(pulls: Pulls, K: int, levels: FloatArray, C: float, alpha: float) -> tuple[float, float]:
    theta, b, _, _ = frequencies(pulls, K, levels)
    x = np.linalg.pinv(theta) @ b
    L, gamma = len(levels), 1 / np.max(1 + x)
    T_a, T_ao = len(pulls[0]), int(np.sum(~np.isnan(pulls[1])))
    if T_ao == 0:
        return np.nan, np.inf
    bonus = 8 * L * C / (norm(theta) * gamma) * math.sqrt(alpha / T_a) + K / gamma * math.sqrt(alpha / T_ao)
    return float(levels @ ((1 + x) * theta.sum(axis=0))), np.abs(levels).sum() * bonus


def mediator_mnar_inverse(
    pulls: Pulls, K: int, levels: FloatArray, C: float, alpha: float
) -> tuple[float, float]:
    theta, _, b, seen = frequencies(pulls, K, levels)
    x = np.linalg.pinv(theta.T) @ b
    p, lam, T_a = (1 + x) * seen, 1 / np.max(1 + x), len(pulls[0])
    mean = squares = 0.0
    for k in range(K):
        y = pulls[1][(pulls[0] == k) & ~np.isnan(pulls[1])]
        if seen[k] == 0:
            continue
        if not len(y):
            return np.nan, np.inf
        mean += p[k] * float(y.mean())
        squares += 4 * p[k] ** 2 / len(y)
    if not theta.any():
        return np.nan, np.inf
    system = 8 * C / norm(theta.T) * K / lam + K / lam  # norms of the matrix that is solved
    bonus = 2 * math.sqrt(alpha / (2 * T_a)) * system + math.sqrt(alpha / 2 * squares)
    return mean, np.abs(levels).sum() * bonus


# Random pulls


def real_pulls(rng: np.random.Generator, size: int, K: int, low: float, q: float = 1.0) -> Pulls:
    m = rng.choice(K, size=size, p=rng.dirichlet(np.ones(K)))
    y = low + rng.random(size) * rng.random(K)[m]
    y[rng.random(size) > rng.uniform(0.2, 1, K)[m]] = np.nan
    m[rng.random(size) > q] = -1
    return m, y


def level_pulls(rng: np.random.Generator, size: int, K: int, levels: FloatArray, q: float = 1.0) -> Pulls:
    joint = rng.dirichlet(np.ones(K * len(levels)))
    m, code = np.divmod(rng.choice(K * len(levels), size=size, p=joint), len(levels))
    y = levels[code].copy()
    y[rng.random(size) > rng.uniform(0.4, 1, len(levels))[code]] = np.nan
    m[rng.random(size) > q] = -1
    return m, y


SIZES = (1, 3, 20, 400, 400)
RANGES = [(0.0, 1.0), (-3.0, 5.0), (1e6, 1e6 + 1)]


@pytest.mark.parametrize("alpha", [2.0, 0.5])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("seed", range(6))
def test_mcar(seed, low, high, alpha):
    rng = np.random.default_rng(seed)
    setting = Setting(arms=len(SIZES), mediators=3, low=low, high=high)
    arms = [real_pulls(rng, size, 3, low) for size in SIZES]
    expected = widened([hoeffding_mean(pulls, alpha) for pulls in arms], setting)
    assert_same(named(f"paper-mcar:alpha={alpha}"), arms, setting, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [2.0, 0.5])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("seed", range(6))
def test_mar(seed, low, high, alpha):
    """Known p, estimated p (times 8), and estimated p on the pulls with the mediator seen."""
    rng = np.random.default_rng(seed)
    K = 3
    p = rng.dirichlet(np.ones(K), len(SIZES))
    p[1] = [0.0, 0.25, 0.75]  # a level that cannot be needs no outcomes
    setting = Setting(arms=len(SIZES), mediators=K, low=low, high=high, mediator_probabilities=p)
    arms = [real_pulls(rng, size, K, low) for size in SIZES]
    near = {"rtol": 1e-12, "atol": 1e-12}
    known = [over_levels(pulls, dict(enumerate(p[a])), alpha, 1) for a, pulls in enumerate(arms)]
    known = widened(known, setting)
    assert_same(named(f"paper-mar-known:alpha={alpha}"), arms, setting, known, **near)
    estimated = widened([estimated_levels(pulls, alpha) for pulls in arms], setting)
    assert_same(named(f"paper-mar:alpha={alpha}"), arms, setting, estimated, **near)
    holes = [real_pulls(rng, size, K, low, q=0.6) for size in SIZES]
    on_seen = widened([seen_mediators(pulls, alpha) for pulls in holes], setting)
    assert_same(named(f"paper-mediator-mar:alpha={alpha}"), holes, setting, on_seen, **near)
    assert any(math.isinf(width) for _, width in known + estimated + on_seen)
    assert sum(math.isfinite(width) for _, width in known + estimated + on_seen) >= 6


def test_a_cell_without_outcomes_is_infinitely_good_only_where_it_occurs():
    setting = Setting(arms=1, mediators=2, mediator_probabilities=[[0.5, 0.5]])
    one_sided: list[Pulls] = [(np.array([0, 0, 1]), np.array([0.2, 0.4, np.nan]))]
    never: list[Pulls] = [(np.array([0, 0, 0]), np.array([0.2, 0.4, np.nan]))]
    for name in ("paper-mar", "paper-mediator-mar", "paper-mar-known"):
        assert np.all(
            guess_and_scores(named(name), table_of(named(name), one_sided, setting), setting, 100) == np.inf
        )
    assert np.all(
        guess_and_scores(named("paper-mar-known"), table_of(named("paper-mar"), never, setting), setting, 100)
        == np.inf
    )
    for name in ("paper-mar", "paper-mediator-mar", "paper-mcar"):
        assert guess_and_scores(named(name), table_of(named(name), never, setting), setting, 100)[
            0, 0
        ] == pytest.approx(0.3)


def test_before_any_outcome_everything_is_infinitely_good():
    setting = Setting(
        arms=1, mediators=2, levels=(0.0, 1.0), mediator_probabilities=[[0.5, 0.5]], condition_numbers=[5.0]
    )
    unseen: list[Pulls] = [(np.array([0, 1, -1]), np.full(3, np.nan))]
    for name in ("mcar", "mar-known", "mar", "mediator-mar", "mnar", "mnar-literal", "mediator-mnar"):
        policy = named(f"paper-{name}")
        assert guess_and_scores(policy, table_of(policy, unseen, setting), setting, 100)[0, 1] == np.inf, name


LEVELS = [(0.0, 0.25, 0.75), (-2.0, 0.5, 1.0, 4.0), (0.0, 1.0)]


@pytest.mark.parametrize("alpha", [2.0, 0.7])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("more", [0, 2], ids=["square", "tall"])
@pytest.mark.parametrize("seed", range(4))
def test_mnar(seed, more, levels, alpha):
    """K >= L; a trace of ridge in the compiled inverse costs up to 1e-5 where the table is nearly singular."""
    rng = np.random.default_rng(seed)
    values, K = np.array(levels), len(levels) + more
    C = rng.uniform(1, 30, (len(SIZES), 2))
    setting = Setting(arms=len(SIZES), mediators=K, levels=levels, condition_numbers=C)
    arms = [level_pulls(rng, size, K, values) for size in SIZES]
    expected = [mnar_inverse(pulls, K, values, C[a, 0], alpha) for a, pulls in enumerate(arms)]
    policy = named(f"paper-mnar:alpha={alpha}")
    assert_same(policy, arms, setting, expected, rtol=1e-4, atol=1e-4)
    assert_same(policy, arms[3:], _arms(setting, 3), expected[3:], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("alpha", [2.0, 0.7])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("fewer", [0, 1], ids=["square", "wide"])
@pytest.mark.parametrize("seed", range(4))
def test_mediator_mnar(seed, fewer, levels, alpha):
    """K <= L, the transposed system, C of the transpose."""
    rng = np.random.default_rng(seed)
    values, K = np.array(levels), len(levels) - fewer
    C = rng.uniform(1, 30, (len(SIZES), 2))
    setting = Setting(arms=len(SIZES), mediators=K, levels=levels, condition_numbers=C)
    arms = [level_pulls(rng, size, K, values, q=0.7) for size in SIZES]
    expected = [mediator_mnar_inverse(pulls, K, values, C[a, 1], alpha) for a, pulls in enumerate(arms)]
    policy = named(f"paper-mediator-mnar:alpha={alpha}")
    assert_same(policy, arms, setting, expected, rtol=1e-4, atol=1e-4)
    assert_same(policy, arms[3:], _arms(setting, 3), expected[3:], rtol=1e-6, atol=1e-6)


def _arms(setting: Setting, first: int) -> Setting:
    """The same setting without its first arms."""
    assert setting.condition_numbers is not None
    return Setting(
        arms=setting.arms - first,
        mediators=setting.mediators,
        levels=setting.levels,
        condition_numbers=setting.condition_numbers[first:],
    )


@pytest.mark.parametrize("name", ["paper-mnar", "paper-mnar-literal", "paper-mediator-mnar"])
def test_outcomes_in_other_units_scale_the_guess_and_the_bonus(name):
    """The printed bonus is for sum |y| = 1; in units s times as small everything is s times as large."""
    rng = np.random.default_rng(5)
    unit = np.array([0.1, 0.3, 0.6])  # sum |y| = 1
    m, y = level_pulls(rng, 500, 3, unit, q=0.8)
    found = []
    for s in (1.0, 40.0):
        setting = Setting(arms=1, mediators=3, levels=tuple(s * unit), condition_numbers=[9.0])
        code = np.searchsorted(unit, y)
        outcome = np.append(s * unit, np.nan)[code]
        policy = named(name)
        found.append(guess_and_scores(policy, table_of(policy, [(m, outcome)], setting), setting, 10**4))
    np.testing.assert_allclose(found[1], 40 * found[0], rtol=1e-9)


# Populations: what the estimators tend to

MANY = 1e8  # pulls: the table is exact up to rounding


def mnar_table(joint: FloatArray, gamma: FloatArray) -> FloatArray:
    """Exact P(m, y or missing) of an arm with O ⟂ M given Y, and an empty row of missing mediators."""
    K, L = joint.shape
    table = np.zeros((K + 1, L + 1))
    table[:K, :L] = joint * gamma
    table[:K, L] = (joint * (1 - gamma)).sum(axis=1)
    return table


def test_the_printed_algorithm_4_turns_the_order_of_two_arms_round():
    """y = (.2, .8), mu = (.62, .5), P(O=1) = (.95, .5) become (.653, 1.0); with joint frequencies they stay."""
    levels = np.array([0.2, 0.8])
    top = np.array([0.7, 0.5])  # P(Y = .8)
    gamma = np.array([[0.9, 0.68 / 0.7], [0.8, 0.2]])
    shadow = np.array([[0.8, 0.3], [0.2, 0.7]])  # P(m|y)
    joint = shadow * np.stack([1 - top, top], axis=1)[:, None]
    assert levels @ joint[0].sum(axis=0) == pytest.approx(0.62)
    assert levels @ joint[1].sum(axis=0) == pytest.approx(0.5)
    tables = np.stack([mnar_table(joint[a], gamma[a]) for a in (0, 1)])
    assert tables[:, :, :2].sum(axis=(1, 2)) == pytest.approx([0.95, 0.5])
    setting = Setting(arms=2, mediators=2, levels=tuple(levels), condition_numbers=[5.0, 5.0])
    joint_form = guess_and_scores(named("paper-mnar"), MANY * tables, setting, 10**5)[:, 0]
    as_printed = guess_and_scores(named("paper-mnar-literal"), MANY * tables, setting, 10**5)[:, 0]
    np.testing.assert_allclose(joint_form, [0.62, 0.5], rtol=1e-9)
    np.testing.assert_allclose(as_printed, [0.62 / 0.95, 1.0], rtol=1e-9)
    assert np.round(as_printed, 3).tolist() == [0.653, 1.0]


@pytest.mark.parametrize("K", [3, 5])
def test_mnar_tends_to_mu_and_the_printed_form_to_mu_over_the_share_seen(K):
    rng = np.random.default_rng(6)
    levels = np.array([-1.0, 0.5, 3.0])
    arms = 20
    joint = rng.dirichlet(np.ones(K * 3), arms).reshape(arms, K, 3)
    gamma = rng.uniform(0.3, 1, (arms, 3))
    tables = np.stack([mnar_table(joint[a], gamma[a]) for a in range(arms)])
    mu = joint.sum(axis=1) @ levels
    seen = (joint.sum(axis=1) * gamma).sum(axis=1)
    setting = Setting(arms=arms, mediators=K, levels=tuple(levels), condition_numbers=np.ones(arms))
    near = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(
        guess_and_scores(named("paper-mnar"), MANY * tables, setting, 100)[:, 0], mu, **near
    )
    literal = guess_and_scores(named("paper-mnar-literal"), MANY * tables, setting, 100)[:, 0]
    np.testing.assert_allclose(literal, mu / seen, **near)
    assert np.all(np.abs(mu / seen - mu) > 1e-3)


def test_mediator_mnar_tends_to_mu():
    """Y, O and Q independent given M; the observed mean does not tend to mu."""
    rng = np.random.default_rng(7)
    K, levels, arms = 3, np.array([0.0, 0.2, 0.7, 1.0]), 20
    p, law = rng.dirichlet(np.ones(K), arms), rng.dirichlet(np.ones(4), (arms, K))
    gamma, lam = rng.uniform(0.2, 1, (arms, K)), rng.uniform(0.2, 1, (arms, K))
    joint = p[..., None] * law
    tables = np.zeros((arms, K + 1, 5))
    tables[:, :K, :4] = joint * (gamma * lam)[..., None]
    tables[:, :K, 4] = p * lam * (1 - gamma)
    tables[:, K, :4] = (joint * (gamma * (1 - lam))[..., None]).sum(axis=1)
    tables[:, K, 4] = (p * (1 - lam) * (1 - gamma)).sum(axis=1)
    setting = Setting(arms=arms, mediators=K, levels=tuple(levels), condition_numbers=np.ones(arms))
    found = guess_and_scores(named("paper-mediator-mnar"), MANY * tables, setting, 100)[:, 0]
    np.testing.assert_allclose(found, joint.sum(axis=1) @ levels, rtol=1e-5, atol=1e-5)


def test_mediator_mar_divides_by_the_pulls_with_the_mediator_seen():
    """Dividing by all pulls would shrink mu by P(Q=1)."""
    p, gamma, mu, q = np.array([0.2, 0.8]), np.array([0.9, 0.3]), np.array([0.75, 0.35]), 0.6
    table = np.zeros((1, 3, 4))
    table[0, :2] = MANY * q * np.stack([p, p * gamma, p * gamma * (mu - 0.5), p * gamma], axis=1)
    table[0, 2] = MANY * (1 - q) * np.array([1, p @ gamma, p @ (gamma * (mu - 0.5)), p @ gamma])
    setting = Setting(arms=1, mediators=2)
    assert guess_and_scores(named("paper-mediator-mar"), table, setting, 100)[0, 0] == pytest.approx(
        p @ mu, rel=1e-12
    )
    assert guess_and_scores(named("paper-mcar"), table, setting, 100)[0, 0] == pytest.approx(
        p * gamma @ mu / (p @ gamma)
    )


# First pulls

EVERY = ("mar-known", "mar", "mnar", "mnar-literal", "mediator-mar", "mediator-mnar")
SETTING = Setting(
    arms=2, mediators=2, levels=(0.0, 1.0), mediator_probabilities=[[0.5, 0.5]] * 2, condition_numbers=[3, 4]
)


@pytest.mark.parametrize(
    ("horizon", "pulls"), [(1, 1), (2, 1), (10, 6), (1000, 48), (10**4, 85), (10**5, 133)]
)
def test_all_but_algorithm_1_begin_with_log_squared_pulls_of_each_arm(horizon, pulls):
    """ceil(log(T)^2): log(10)^2 = 5.3, log(1000)^2 = 47.7, log(1e4)^2 = 84.8, log(1e5)^2 = 132.5."""
    for name in EVERY:
        assert named(f"paper-{name}").curve(SETTING, horizon).first_pulls == pulls, name
    assert named("paper-mcar").curve(SETTING, horizon).first_pulls == 1


def test_the_loop_makes_the_first_pulls():
    """T = 300: ceil(log(300)^2) = 33 of each of three arms, the best of which then wins; T = 30: 10 of each."""
    world = RealWorld(np.full((3, 2), 0.5), [[0.0, 0.0], [9.0, 9.0], [0.0, 0.0]], 0.9, outcome_sd=0.1)
    world.setting = replace(world.setting, low=0.0, high=1.0)  # told too small a range, it does not explore
    long = simulate(world, "paper-mar", horizon=300, runs=1, threads=1)
    assert long.pulls[0, 0].tolist() == [33, 234, 33]
    short = simulate(world, "paper-mar", horizon=30, runs=1, threads=1)
    assert short.pulls[0, 0].tolist() == [10, 10, 10]


# What is refused


def test_needs():
    bare = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
    with pytest.raises(NotIdentified, match="needs mediator_probabilities"):
        named("paper-mar-known").curve(bare, 100)
    for name in ("mnar", "mnar-literal", "mediator-mnar"):
        with pytest.raises(
            NotIdentified, match=r"^The paper's MNAR policies need condition_numbers, a bound C_a"
        ):
            named(f"paper-{name}").curve(bare, 100)
        with pytest.raises(NotIdentified, match="needs a discrete outcome"):
            named(f"paper-{name}").curve(Setting(arms=2, mediators=2, condition_numbers=[3, 4]), 100)
    three = Setting(arms=1, mediators=2, levels=(0.0, 0.5, 1.0), condition_numbers=[3])
    with pytest.raises(NotIdentified, match="got K=2 < L=3"):
        named("paper-mnar").curve(three, 100)
    two = Setting(arms=1, mediators=3, levels=(0.0, 1.0), condition_numbers=[3])
    with pytest.raises(NotIdentified, match="got L=2 < K=3"):
        named("paper-mediator-mnar").curve(two, 100)


@pytest.mark.parametrize("name", ["mcar", *EVERY])
def test_alpha_is_a_positive_number(name):
    for alpha, shown in (
        ("nan", "nan"),
        ("0", "0"),
        ("-1", "-1"),
        ("inf", "inf"),
        ("cautious", "'cautious'"),
    ):
        with pytest.raises(InvalidValue) as refusal:
            named(f"paper-{name}:alpha={alpha}")
        assert str(refusal.value) == f"alpha must be a positive number, got {shown}."
    with pytest.raises(UnknownName, match=f"Unknown parameter of policy 'paper-{name}': 'beta'"):
        named(f"paper-{name}:beta=1")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "K", "L"), [("paper-mcar", 3, 3), ("paper-mnar", 4, 4), ("paper-mnar", 5, 3)]
)
def test_following_each_pull_gives_what_the_whole_counts_give(name, K, L, seed):
    """100,000 pulls by rank-one updates: no rounding left over, nothing missed, missing mediators included."""
    world = make("both-mnar" if K == L else "mnar", seed=seed, arms=2, K=K, L=L)
    curve = named(name).curve(world.setting, 100_000)
    z_grid = np.array([0.0, 2.0])
    counts = Counts.empty(world.setting)
    table = (counts if curve.discrete else counts.real()).table[0]
    memory, shared = np.zeros(curve.memory(2)), np.zeros(curve.pooled + curve.scratch)
    arms = np.zeros(100_000, int)
    mediators, outcomes = world.pulls(arms, seed)
    levels = np.searchsorted(world.setting.levels, np.where(np.isnan(outcomes), 9.0, outcomes))
    followed, fresh = np.zeros((2, 2))
    follow_all = link(follow_every_pull, note_pull=curve.note_pull, score_arm=curve.score_arm)
    mediators = np.where(mediators < 0, K, mediators)
    counted = levels if curve.discrete else outcomes - world.setting.centre
    for start in (0, 50, 1000, 99_000):
        stop = {0: 50, 50: 1000, 1000: 99_000, 99_000: 100_000}[start]
        part = slice(start, stop)
        follow_all(
            table,
            memory,
            shared,
            curve.parameters[0],
            z_grid,
            followed,
            mediators[part],
            counted[part],
            curve.discrete,
        )
        fresh = score(replace(curve, parameters=curve.parameters[:1]), table[None], z_grid).values[0]
        assert followed == pytest.approx(fresh, rel=1e-8)
    assert table.sum() > 0


def follow_every_pull(row, memory, shared, parameters, z_grid, values, mediators, outcomes, discrete):
    for i in range(len(mediators)):
        if discrete:
            row[mediators[i], int(outcomes[i])] += 1
        else:
            row[mediators[i], 0] += 1
            if not np.isnan(outcomes[i]):
                row[mediators[i], 1] += 1
                row[mediators[i], 2] += outcomes[i]
        note_pull(row, memory, mediators[i], outcomes[i])  # noqa: F821 - bound by link
        score_arm(row, memory, shared, parameters, z_grid, values)  # noqa: F821

"""The curves of mcar, mar, mar-known and mediator-mar: against a second implementation, and what they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from tests.assumptions.reference import Reference
from tests.scoring import score
from truant.assumptions.borrowing import score_arm as fill_borrowing
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.robust import rarity, width
from truant.compile import link
from truant.counts import Counts
from truant.setting import Setting

NAMES = ["mcar", "mar", "mar-known", "mediator-mar"]
Z = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
RANGES = [
    (-1.0, 3.0, 1.5, None),
    (0.0, 1.0, None, None),
    (0.0, 100.0, None, (0.0, 5.0)),
    (1e6, 1e6 + 2, 0.2, None),
]


def assumption_of(name, kappa=1.0, floor=0.8):
    if name == "mcar":
        return Mcar(kappa=kappa)
    if name == "mediator-mar":
        return MediatorMar(kappa=kappa, floor=floor)
    return Mar(kappa=kappa, floor=floor, known=name == "mar-known")


def problem(seed, mediators_missing=True):
    """A setting and random counts: arms from never to often pulled, outcomes normal, rare, constant or noisy."""
    rng = np.random.default_rng(seed)
    A, K = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    low, high, scale, mean_range = RANGES[seed % len(RANGES)]
    setting = Setting(
        arms=A,
        mediators=K,
        low=low,
        high=high,
        scale=scale,
        mean_range=mean_range,
        mediator_probabilities=rng.dirichlet(np.ones(K), A),
    )
    half, centre = setting.half_range, setting.centre
    columns = []
    for arm in range(A):
        size = int(rng.choice([0, 1, 2, 5, 30, 300, 3000]))
        m = rng.choice(K, size, p=rng.dirichlet(np.ones(K)))
        noise = half * rng.choice([0.02, 0.3, 2.0]) * rng.choice([1.0, 5.0], size=K, p=[0.8, 0.2])
        kind = rng.integers(0, 4)
        if kind == 0:  # rare jumps
            y = np.where(rng.random(size) < 0.05, high, low)
        elif kind == 1:  # all alike
            y = np.full(size, centre + half * rng.uniform(-1, 1))
        else:
            y = centre + half * rng.choice([0.0, 0.1, 2.0]) * rng.normal(size=K)[m]
            y = y + noise[m] * rng.normal(size=size)
        y = np.where(rng.random(size) < rng.uniform(0.1, 1, K)[m], y, np.nan)
        if mediators_missing:
            m = np.where(rng.random(size) < rng.choice([0.0, 0.3, 1.0], p=[0.5, 0.4, 0.1]), -1, m)
        columns.append((np.full(size, arm), m, y))
    return setting, Counts.fold(setting, *(np.concatenate(part) for part in zip(*columns, strict=True)))


def reference_of(name, counts, setting, kappa=1.0, floor=0.8):
    shares = setting.mediator_probabilities if name == "mar-known" else None
    return Reference(name, counts.table, setting, kappa, floor, shares)


# Against a second implementation


@pytest.mark.parametrize("name", NAMES)
def test_as_a_second_implementation_says(name):
    """To 1e-9; every branch of the formulas must have been met."""
    met = {"clip": 0, "noisy arm": 0, "noisy cell": 0, "no pulls": 0, "between": 0}
    for seed in range(200):
        setting, counts = problem(seed)
        kappa, floor = [(1.0, 0.8), (2.5, 0.1)][seed % 2]
        found = score(assumption_of(name, kappa, floor).curve(setting), counts.table, Z)
        expected = reference_of(name, counts, setting, kappa, floor)
        np.testing.assert_allclose(found.known, expected.known, rtol=1e-8, err_msg=f"known, seed {seed}")
        for k, z in enumerate(Z):
            np.testing.assert_allclose(
                found.values[:, k] - setting.centre,
                expected.at(z) - setting.centre,
                rtol=1e-9,
                atol=1e-9 * setting.half_range * (1e-3 if setting.low < 1e3 else 1),
                err_msg=f"seed {seed}, z {z}",
            )
            if name != "mcar" and z:
                met["clip"] += expected.inside.sum()
        met["noisy arm"] += expected.noisy_arm.sum()
        met["no pulls"] += (counts.pulls == 0).sum()
        if name != "mcar":
            met["noisy cell"] += expected.noisy_cell.sum()
            waiting = expected.J * (expected.p / (expected.cells.n + 1)).max(axis=1)
            met["between"] += (2 * expected.j > waiting * 1.001).sum()
    for branch, times in met.items():
        if name != "mcar" or branch in ("noisy arm", "no pulls"):
            assert times > 10 or (branch == "between" and name == "mar-known"), branch


# What the curve promises


@pytest.mark.parametrize("name", NAMES)
def test_at_rises_with_z_from_the_shrunk_mean(name):
    z = np.linspace(0, 8, 60)
    for seed in range(40):
        setting, counts = problem(seed)
        values = score(assumption_of(name).curve(setting), counts.table, z).values
        assert np.all(np.diff(values, axis=1) > 0)
        mean = setting.centre + reference_of(name, counts, setting).mean
        np.testing.assert_allclose(values[:, 0], mean, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_at_falls_below_the_mean(name):
    z = np.linspace(-8, 0, 60)
    for seed in range(40):
        setting, counts = problem(seed)
        values = score(assumption_of(name).curve(setting), counts.table, z).values
        assert np.all(np.diff(values, axis=1) > 0), seed


def test_the_mean_is_shrunk_to_the_centre():
    """By at most kappa pseudo-observations in each cell."""
    for seed in range(40):
        setting, counts = problem(seed)
        n, total = counts.table.sum(axis=1)[:, 1:3].T
        found = score(Mcar(kappa=2.0).curve(setting), counts.table, np.zeros(1)).values[:, 0] - setting.centre
        raw = total / np.maximum(n, 1)
        assert np.all(np.abs(found) <= np.abs(raw) * (1 + 1e-9))
        assert np.all(np.abs(found) * (1 + 1e-9) >= np.abs(total) / (n + 2))
        assert np.all(found * raw >= 0)


def test_rarity_is_that_of_a_normal_outcome():
    z = np.concatenate([np.linspace(0, 36, 200), [-2.0, -31.0]])
    expected = -np.log(2) - stats.norm.logsf(np.abs(z))
    found = [rarity.py_func(x) for x in z]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12)  # beyond 30 by its first terms
    near = np.abs(z) <= 30
    np.testing.assert_allclose(np.array(found)[near], expected[near], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("z", [-4.0, -1.0, 0.5, 3.0])
def test_limits_of_the_width(z):
    """Without a jump and with much freedom the normal width; without variance that of a jump not seen yet."""
    assert width.py_func(z, 0.25, 1e12, 0.0) == pytest.approx(0.5 * z, rel=1e-6)
    beta = -np.log(2 * stats.norm.sf(abs(z)))
    for j in (0.01, 3.0):
        unseen = width.py_func(z, 0.0, 5.0, j)
        assert unseen == pytest.approx(2 * j * beta if z > 0 else 0.0, rel=1e-12)
    # n outcomes, none a jump: chance c has likelihood (1 - c)^n, and J c = 2 j beta at c = beta/n, J = 2 j n
    n, J = 1000, 5.0
    assert (1 - width.py_func(abs(z), 0.0, 5.0, J / n / 2) / J) ** n == pytest.approx(
        2 * stats.norm.sf(abs(z)), rel=0.05
    )


@pytest.mark.parametrize("phi", [3, 10, 200])
def test_unknown_variance_has_the_likelihood_ratio_limit(phi):
    """Of n = phi normal outcomes with variance fitted for each mean: 2 log LR = z^2 at v phi (exp(z^2/phi) - 1)."""
    y = np.random.default_rng(phi).normal(2, 3, phi)

    def profile(mean):
        variance = optimize.minimize_scalar(
            lambda log: phi * log + np.sum((y - mean) ** 2) / np.exp(log), bounds=(-10, 30), method="bounded"
        )
        return variance.fun

    best = profile(y.mean())
    for z in (0.5, 2.0):
        limit = optimize.brentq(lambda d, z=z: profile(y.mean() + d) - best - z**2, 1e-9, 1e4)
        v = y.var() / phi
        for side in (1, -1):
            assert side * width.py_func(side * z, v, float(phi), 0.0) == pytest.approx(limit, rel=1e-4)
    assert width.py_func(2.0, 1.0, 3.0, 0.0) > 1.2 * 2.0  # wider than the normal one


@pytest.mark.parametrize("name", NAMES)
def test_scores_do_not_depend_on_the_order_of_arms(name):
    for seed in range(30):
        setting, counts = problem(seed)
        order = np.random.default_rng(seed).permutation(setting.arms)
        turned = replace(setting, mediator_probabilities=setting.mediator_probabilities[order])
        here = score(assumption_of(name).curve(setting), counts.table, Z)
        there = score(assumption_of(name).curve(turned), counts.table[order], Z)
        np.testing.assert_allclose(there.values, here.values[order], rtol=1e-12)
        np.testing.assert_allclose(there.known, here.known[order], rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_an_arm_without_pulls_contributes_zeros(name):
    setting, _ = problem(3)
    curve = assumption_of(name).curve(setting)
    out = np.full(curve.pooled, np.nan)
    row = np.zeros((setting.mediators + 1, 5))
    link(curve.contribute.py_func)(row, curve.parameters[0], out)
    assert out.tolist() == [0.0] * curve.pooled


@pytest.mark.parametrize("name", NAMES)
def test_units_do_not_matter(name):
    """Outcomes times ten plus a hundred: at(z) likewise, and as many outcomes known."""
    for seed in range(0, 40, 4):  # not the ranges that are far from zero already
        setting, counts = problem(seed)
        moved = replace(
            setting, low=10 * setting.low + 100, high=10 * setting.high + 100, scale=10 * setting.scale
        )
        table = counts.table * [1, 1, 10, 100, 1000]
        here = score(assumption_of(name).curve(setting), counts.table, Z)
        there = score(assumption_of(name).curve(moved), table, Z)
        np.testing.assert_allclose(there.values, 100 + 10 * here.values, rtol=1e-9)
        np.testing.assert_allclose(there.known, here.known, rtol=1e-9)


def test_missing_mediators_are_a_level_of_mar_and_none_of_mediator_mar():
    """Their outcomes move the mean of mar; under mediator-mar they only lend strength to the borrowed value."""
    setting = Setting(arms=1, mediators=2, low=-1, high=1)
    m, y = [0, 0, 1, 1] * 10, [0.1, 0.3, -0.2, 0.2] * 10
    without = Counts.fold(setting, [0] * 40, m, y)
    beside = Counts.fold(setting, [0] * 60, m + [-1] * 20, y + [0.9, 0.7] * 10)
    guess = {
        name: [
            score(assumption_of(name).curve(setting), counts.table, np.zeros(1)).values[0, 0]
            for counts in (without, beside)
        ]
        for name in ("mar", "mediator-mar", "mcar")
    }
    assert guess["mediator-mar"][0] == guess["mediator-mar"][1] == pytest.approx(0.1, abs=0.01)
    assert guess["mar"][1] == pytest.approx(1 / 3, abs=0.02)
    assert guess["mcar"][1] == pytest.approx(1 / 3, abs=0.02)


def test_an_arm_without_seen_mediators_is_as_open_as_a_cell_without_outcomes():
    setting = Setting(arms=2, mediators=2, low=0, high=2, scale=0.5)
    counts = Counts.fold(setting, [0, 0, 0], [-1, -1, -1], [0.1, 0.1, np.nan])
    values = score(MediatorMar().curve(setting), counts.table, Z).values
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)  # the other was never pulled
    assert values[0, 2] == 1.0  # the centre
    assert values[0, 3] - 1.0 > 1.0  # more than half the range


def test_an_empty_cell_shrinks_to_the_centre_of_the_range():
    setting = Setting(arms=1, mediators=2, low=0, high=2)
    outcomes = [4.0, 6.0] * 50 + [np.nan] * 100  # sd 1, half the range 1: a whole pseudo-observation
    counts = Counts.fold(setting, [0] * 200, [0] * 100 + [1] * 100, outcomes)
    found = score(Mar().curve(setting), counts.table, np.zeros(1)).values[0, 0]
    assert found == pytest.approx(1 + 0.5 * 400 / 101)


def test_an_arm_noisier_than_the_others_is_worth_fewer_outcomes():
    rng = np.random.default_rng(1)
    setting = Setting(arms=4, low=-5, high=5, scale=1.0)
    sd = np.repeat([0.1, 0.1, 0.1, 2.0], 100)
    counts = Counts.fold(setting, np.repeat(np.arange(4), 100), np.zeros(400, int), sd * rng.normal(size=400))
    for name in ("mcar", "mar"):
        known = score(assumption_of(name).curve(setting), counts.table, Z).known
        assert known[3] < 0.7 * known[:3].min()
        assert known[:3] == pytest.approx(100, rel=0.1)


def test_known_and_estimated_shares_have_one_curve():
    setting, _ = problem(2)
    assert Mar().curve(setting).score_arm is Mar(known=True).curve(setting).score_arm is fill_borrowing
    assert MediatorMar().curve(setting).score_arm is fill_borrowing

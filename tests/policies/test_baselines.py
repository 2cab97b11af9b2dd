"""The baselines against their formulas in numpy, from the raw pulls; oracles against what they are made of."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from tests.scoring import guess_and_scores

from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.indices.thompson import Thompson
from truant.lab.simulate import simulate
from truant.policies import named
from truant.setting import Setting
from truant.worlds import RealWorld

FloatArray = npt.NDArray[np.float64]
Pulls = list[tuple[npt.NDArray[np.int64], FloatArray]]  # per arm: mediators, outcomes (NaN missing)
ARMS, K = 6, 3
SIZES = (1, 2, 5, 60, 700, 700)
RANGES = [(0.0, 1.0, None), (-3.0, 5.0, 0.7), (1e6, 1e6 + 2, None)]
P = np.random.default_rng(0).dirichlet(np.ones(K), ARMS)


def pulls(seed: int, low: float, high: float, every_outcome: bool = False) -> Pulls:
    """Per arm: mediators and outcomes, all mediators seen."""
    rng = np.random.default_rng(seed)
    arms = []
    for size in SIZES:
        m = rng.choice(K, size=size, p=rng.dirichlet(np.ones(K)))
        y = low + (high - low) * rng.random(size) * rng.random(K)[m]
        if not every_outcome:
            y[rng.random(size) > rng.uniform(0.3, 1, K)[m]] = np.nan
        arms.append((m, y))
    return arms


def setting_of(low: float, high: float, scale: float | None) -> Setting:
    return Setting(arms=ARMS, mediators=K, low=low, high=high, scale=scale, mediator_probabilities=P)


def fold(arms: Pulls, setting: Setting) -> Counts:
    codes = np.repeat(np.arange(len(arms)), [len(m) for m, _ in arms])
    return Counts.fold(setting, codes, *(np.concatenate(part) for part in zip(*arms, strict=True)))


everywhere = pytest.mark.parametrize(("low", "high", "scale"), RANGES)
seeds = pytest.mark.parametrize("seed", range(5))
HORIZON = 5000
NEAR = {"rtol": 1e-11, "atol": 1e-10}


@everywhere
@seeds
def test_naive_ucb_is_algorithm_1_at_alpha_2(seed, low, high, scale):
    """Mean of the observed + range sqrt(2 log T/(2 n)); infinite before the first."""
    setting, arms = setting_of(low, high, scale), pulls(seed, low, high)
    table = fold(arms, setting).table
    found = guess_and_scores(named("naive-ucb"), table, setting, HORIZON)
    np.testing.assert_array_equal(
        found, guess_and_scores(named("paper-mcar:alpha=2"), table, setting, HORIZON)
    )
    for a, (_, outcomes) in enumerate(arms):
        y = outcomes[~np.isnan(outcomes)]
        if len(y) == 0:
            assert np.all(found[a] == np.inf)
        else:
            expected = [y.mean(), y.mean() + (high - low) * math.sqrt(math.log(HORIZON) / len(y))]
            np.testing.assert_allclose(found[a], expected, **NEAR)


@everywhere
@seeds
@pytest.mark.parametrize("alpha", [2.0, 0.5])
def test_zero_ucb_counts_the_missing_as_zero(seed, low, high, scale, alpha):
    """(sum of the observed)/N + range sqrt(alpha log T/(2 N)), N all pulls."""
    setting, arms = setting_of(low, high, scale), pulls(seed, low, high)
    counts = fold(arms, setting)
    policy = named(f"zero-ucb:alpha={alpha}")
    found = guess_and_scores(policy, counts.table, setting, HORIZON)
    for a, (_, outcomes) in enumerate(arms):
        y = np.nan_to_num(outcomes, nan=0.0)
        bonus = (high - low) * math.sqrt(alpha * math.log(HORIZON) / (2 * len(y)))
        expected = [y.mean(), y.mean() + bonus]
        np.testing.assert_allclose(found[a], expected, **NEAR)
        estimate = policy.estimate(counts, a, setting)
        assert estimate.mean == pytest.approx(y.mean(), rel=1e-11, abs=1e-12)
        rounding = 1e-12 * low**2  # zero is far from the outcomes here, and so is their mean
        assert estimate.standard_error**2 == pytest.approx(y.var() / len(y), rel=1e-6, abs=1e-15 + rounding)


@pytest.mark.parametrize(
    ("oracle", "policy"),
    [
        ("oracle-ucb", "mar-ucb"),
        ("oracle-ucb:level=cautious,horizon=unknown", "mar-cautious:horizon=unknown"),
        ("oracle-thompson", "mar-thompson"),
    ],
)
@everywhere
def test_oracles_are_mar_with_nothing_missing(oracle, policy, low, high, scale):
    """The same curve and index; with every outcome seen the best guess is nearly the plain mean."""
    setting, arms = setting_of(low, high, scale), pulls(1, low, high, every_outcome=True)
    table = fold(arms, setting).table
    assert named(oracle).index == named(policy).index
    found = guess_and_scores(named(oracle), table, setting, HORIZON)
    np.testing.assert_array_equal(found, guess_and_scores(named(policy), table, setting, HORIZON))
    for a, (_, y) in enumerate(arms):
        # each of the K + 1 cells has at most one pseudo-observation at the centre, half the range away
        assert abs(found[a, 0] - y.mean()) <= (K + 1) * (high - low) / 2 / (len(y) + 1), a


def test_mar_known_needs_p():
    with pytest.raises(NotIdentified, match="mar-known needs mediator_probabilities"):
        named("mar-known-ucb").curve(Setting(arms=2, mediators=2), 100)


def test_naive_thompson_is_mcar_thompson():
    setting = setting_of(0.0, 1.0, None)
    table = fold(pulls(1, 0.0, 1.0), setting).table
    naive, mcar = named("naive-thompson"), named("mcar-thompson")
    assert naive.index == mcar.index == Thompson()
    np.testing.assert_array_equal(
        guess_and_scores(naive, table, setting, 100), guess_and_scores(mcar, table, setting, 100)
    )


def test_only_oracles_see_what_is_missing():
    assert named("oracle-ucb").reveals
    assert named("oracle-thompson").reveals
    for name in ("naive-ucb", "naive-thompson", "zero-ucb", "mar-known-ucb", "paper-mar"):
        assert not named(name).reveals


def test_in_a_run_the_baselines_are_what_they_say():
    """One seed: naive-ucb is paper-mcar pull for pull; the oracle's last estimate is a mean of every outcome."""
    means, seen = [[0.0, 1.0], [0.3, 0.3]], [[1.0, 0.05], [1.0, 1.0]]
    world = RealWorld(np.full((2, 2), 0.5), means, seen, outcome_sd=0.01, scale=0.5)
    policies = ["naive-ucb", "paper-mcar", "oracle-ucb"]
    result = simulate(world, policies, horizon=3000, runs=2, seed=2, threads=1)
    np.testing.assert_array_equal(result.regret[0], result.regret[1])
    np.testing.assert_array_equal(result.pulls[0], result.pulls[1])
    # arm 0 is worth .5 and shows .05/1.05 of it: naive prefers arm 1, the oracle does not
    assert np.all(result.pulls[0].argmax(axis=1) == 1)
    assert np.all(result.pulls[2].argmax(axis=1) == 0)
    error = 0.5 / np.sqrt(result.pulls[2][:, 0])
    assert np.all(np.abs(result.estimates[2][:, 0] - 0.5) < 4 * error)


def test_what_is_refused():
    for name in ("naive-ucb", "zero-ucb"):
        with pytest.raises(InvalidValue, match=r"^alpha must be a positive number, got nan\.$"):
            named(f"{name}:alpha=nan")
        with pytest.raises(UnknownName, match=f"^Unknown parameter of policy '{name}': 'level'"):
            named(f"{name}:level=2")
    with pytest.raises(UnknownName, match="did you mean 'cautious'"):
        named("oracle-ucb:level=cautius")
    with pytest.raises(UnknownName, match="Unknown parameter of policy 'oracle-thompson': 'level'"):
        named("oracle-thompson:level=2")

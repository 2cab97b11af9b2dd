"""Every named world draws what its own arrays say: cells, outcomes, true means."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from truant import registry
from truant.worlds import DiscreteWorld, RealWorld, SkewedWorld, World, make
from truant.worlds.discrete import cell_probabilities

FloatArray = npt.NDArray[np.float64]
Worlds = list[tuple[str, dict[str, Any]]]

PULLS = 60_000  # per arm
VISITS = str(Path(__file__).parents[2] / "examples" / "visits.csv")
NEEDED: dict[str, dict[str, Any]] = {
    "table": {"data": VISITS, "arm": "mail", "mediator": "opened", "outcome": "spent"}
}
ALWAYS_THE_SAME = ("pbc", "actg175", "table")
INSTANCES: Worlds = [(name, NEEDED.get(name, {})) for name in registry.built_in_names("world")]
INSTANCES += [
    ("mediator-mar", {"linked": True, "gamma": (0.2, 1.0)}),
    ("mnar", {"arms": 3, "K": 7, "L": 3}),
    ("mediator-mnar", {"arms": 3, "K": 2, "L": 4}),
    ("mcar", {"arms": 1, "gamma": 1.0}),
    ("pbc", {"gap": 20.0, "gamma": 0.7}),
    ("lognormal", {"arms": 3, "K": 4, "sigma": 0.5}),
    ("jackpots", {"arms": 2, "K": 2, "chance": 0.05, "lift": 2}),
]
REAL = [entry for entry in INSTANCES if isinstance(make(entry[0], **entry[1]), RealWorld)]
DISCRETE = [entry for entry in INSTANCES if entry not in REAL]


def every_arm(world: World, pulls: int = PULLS) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(world.setting.arms), pulls)


def expected_cells(world: World) -> FloatArray:
    """P(m or missing, y or missing|a) or, of real worlds, P(m or missing, O|a), one pull's path at a time."""
    n, K = world.setting.arms, world.setting.mediators
    columns = 2 if isinstance(world, RealWorld) else world.setting.outcomes + 1
    cells = np.zeros((n, K + 1, columns))
    for a in range(n):
        for m in range(K):
            for seen in (0, 1):
                row = m if seen else K
                if isinstance(world, RealWorld):
                    q = world.mediator_observation[a, m]
                    o = (world.observation if seen else world.observation_without_mediator)[a, m]
                    path = world.mediator_probabilities[a, m] * (q if seen else 1 - q)
                    cells[a, row, 1] += path * o
                    cells[a, row, 0] += path * (1 - o)
                    continue
                assert isinstance(world, DiscreteWorld)
                q = world.mediator_observation[a, m]
                for y in range(columns - 1):
                    path = world.joint[a, m, y] * (q if seen else 1 - q)
                    cells[a, row, y] += path * world.observation[a, m, y]
                    cells[a, row, -1] += path * (1 - world.observation[a, m, y])
    return cells


def drawn_cells(world: World, arms: npt.NDArray[np.int64], seed: int) -> FloatArray:
    mediators, outcomes = world.pulls(arms, seed=seed)
    rows = np.where(mediators < 0, world.setting.mediators, mediators)
    counts = np.zeros(expected_cells(world).shape)
    if world.setting.levels is None:
        columns = (~np.isnan(outcomes)).astype(int)
    else:
        levels = [*world.setting.levels, np.nan]
        columns = np.array([np.isnan(outcomes) if np.isnan(v) else outcomes == v for v in levels]).argmax(0)
    np.add.at(counts, (arms, rows, columns), 1)
    return counts


def chi_square(counts: FloatArray, expected: FloatArray) -> float:
    """p-value over all arms; cells that expect fewer than 10 are pooled within their arm."""
    total, freedom = 0.0, 0
    for seen, due in zip(counts.reshape(len(counts), -1), expected.reshape(len(counts), -1), strict=True):
        assert np.all(seen[due == 0] == 0)  # what cannot happen did not
        large = due >= 10
        seen = np.append(seen[large], seen[~large].sum())
        due = np.append(due[large], due[~large].sum())
        seen, due = seen[due > 0.5], due[due > 0.5]
        total += float(((seen - due) ** 2 / due).sum())
        freedom += len(due) - 1
    return float(stats.chi2.sf(total, freedom)) if freedom else 1.0


@pytest.mark.parametrize(("name", "parameters"), INSTANCES)
def test_cells_have_the_worlds_own_probabilities(name: str, parameters: dict[str, Any]) -> None:
    for seed in (1, 2):
        world = make(name, seed=seed, **parameters)
        counts = drawn_cells(world, every_arm(world), seed=seed + 100)
        assert chi_square(counts, PULLS * expected_cells(world)) > 1e-5


@pytest.mark.parametrize(("name", "parameters"), DISCRETE)
def test_cells_of_discrete_worlds_to_the_last_digit(name: str, parameters: dict[str, Any]) -> None:
    world = make(name, seed=3, **parameters)
    assert isinstance(world, DiscreteWorld)
    cells = cell_probabilities(world.joint, world.observation, world.mediator_observation)
    np.testing.assert_allclose(cells, expected_cells(world), rtol=0, atol=1e-14)
    np.testing.assert_allclose(cells.sum(axis=(1, 2)), 1, rtol=0, atol=1e-12)


def test_every_sample_is_as_likely_as_the_others() -> None:
    cells = [[[0.0, 1.0, 2.0], [3.0, 4.0]], [[5.0], [6.0, 7.0, 8.0, 9.0]]]
    world = RealWorld([[0.5, 0.5], [0.2, 0.8]], None, samples=cells)
    arms = every_arm(world)
    mediators, outcomes = world.pulls(arms, seed=14)
    for a in (0, 1):
        for m in (0, 1):
            values, counts = np.unique(outcomes[(arms == a) & (mediators == m)], return_counts=True)
            np.testing.assert_array_equal(values, cells[a][m])
            assert len(counts) == 1 or stats.chisquare(counts).pvalue > 1e-4


def test_the_chi_square_notices_two_hundredths() -> None:
    world = make("mar", seed=1, gamma=0.80)
    assert isinstance(world, RealWorld)
    other = RealWorld(world.mediator_probabilities, world.outcome_means, 0.82)
    counts = drawn_cells(other, every_arm(other), seed=3)
    assert chi_square(counts, PULLS * expected_cells(world)) < 1e-12


def moment(world: RealWorld, a: int, m: int, about: float, power: int) -> float:
    """E[(Y - about)^power | m, a]."""
    if world.samples is not None:
        return float(np.mean((np.asarray(world.samples[a][m]) - about) ** power))
    if isinstance(world, SkewedWorld):
        chance, median, sigma = (
            table[a, m] for table in (world.jump_chance, world.jump_median, world.jump_sigma)
        )
        jump = [median**k * np.exp((k * sigma) ** 2 / 2) for k in range(power + 1)]  # of a lognormal variable
        jumps = sum(comb(power, k) * jump[k] * (-about) ** (power - k) for k in range(power + 1))
        stays = normal_moment(world.base_mean[a, m] - about, world.base_sd[a, m] ** 2, power)
        return float(chance * jumps + (1 - chance) * stays)
    return normal_moment(world.outcome_means[a, m] - about, world.outcome_sd[a, m] ** 2, power)


def normal_moment(d: float, v: float, power: int) -> float:
    """E[X^power] of a normal variable with mean d and variance v."""
    return float({1: d, 2: d**2 + v, 4: d**4 + 6 * d**2 * v + 3 * v**2}[power])


@pytest.mark.parametrize(("name", "parameters"), REAL)
def test_real_outcomes_have_the_worlds_means_and_variances(name: str, parameters: dict[str, Any]) -> None:
    world = make(name, seed=4, **parameters)
    assert isinstance(world, RealWorld)
    arms = every_arm(world)
    mediators, outcomes = world.pulls(arms, seed=5)
    K = world.setting.mediators
    for a in range(world.setting.arms):
        for m in (*range(K), -1):
            y = outcomes[(arms == a) & (mediators == m) & ~np.isnan(outcomes)]
            weights = np.eye(K)[m]
            if m < 0:  # a mixture of what the missing mediators were
                q, o = world.mediator_observation[a], world.observation[a, 0]
                weights = world.mediator_probabilities[a] * (1 - q) * o
            if len(y) < 100:
                assert len(y) == 0 or weights.sum() > 0
                continue
            weights = weights / weights.sum()
            mean = sum(w * moment(world, a, k, 0.0, 1) for k, w in enumerate(weights))
            variance, fourth = (
                sum(w * moment(world, a, k, mean, power) for k, w in enumerate(weights)) for power in (2, 4)
            )
            assert abs(y.mean() - mean) <= 5 * np.sqrt(variance / len(y))
            # the variance of a sample variance is (fourth central moment - variance^2) / n
            error = np.sqrt((fourth - variance**2) / len(y))
            assert abs(np.mean((y - mean) ** 2) - variance) <= 5 * error


def test_normal_outcomes_are_normal() -> None:
    world = make("mar", seed=6, arms=2, K=2, sd=0.3)
    assert isinstance(world, RealWorld)
    arms = every_arm(world)
    mediators, outcomes = world.pulls(arms, seed=7)
    z = (outcomes - world.outcome_means[arms, mediators]) / 0.3
    assert stats.kstest(z[~np.isnan(z)], "norm").pvalue > 1e-4


def brute_means(world: World) -> list[float]:
    n, K = world.setting.arms, world.setting.mediators
    if isinstance(world, RealWorld):
        p, mu = world.mediator_probabilities, world.outcome_means
        return [sum(p[a, m] * mu[a, m] for m in range(K)) for a in range(n)]
    assert isinstance(world, DiscreteWorld)
    L = world.setting.outcomes
    return [sum(world.joint[a, m, y] * world.levels[y] for m in range(K) for y in range(L)) for a in range(n)]


@pytest.mark.parametrize(("name", "parameters"), INSTANCES)
def test_means_and_gaps(name: str, parameters: dict[str, Any]) -> None:
    world = make(name, seed=8, **parameters)
    means = brute_means(world)
    np.testing.assert_allclose(world.means, means, rtol=0, atol=1e-14)
    np.testing.assert_allclose(world.gaps, [max(means) - mean for mean in means], rtol=0, atol=1e-14)
    assert world.gaps.min() == 0


@pytest.mark.parametrize(("name", "parameters"), INSTANCES)
def test_revealed_hides_nothing_and_keeps_the_means(name: str, parameters: dict[str, Any]) -> None:
    world = make(name, seed=9, **parameters).revealed()
    assert world.name == name
    arms = every_arm(world)
    mediators, outcomes = world.pulls(arms, seed=10)
    assert mediators.min() >= 0
    for a in range(world.setting.arms):
        y = outcomes[arms == a]  # a missing one would make the mean NaN
        assert abs(y.mean() - world.means[a]) < 5 * y.std() / np.sqrt(len(y))


@pytest.mark.parametrize("name", registry.built_in_names("world"))
def test_one_seed_is_one_world(name: str) -> None:
    first, second, other = (make(name, seed=seed, **NEEDED.get(name, {})) for seed in (11, 11, 12))
    arms = every_arm(first, 50)
    for one, two in zip(first.pulls(arms, seed=3), second.pulls(arms, seed=3), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(first.means, second.means)
    if name not in ("confounded", *ALWAYS_THE_SAME):  # of which there are two, one per place, one
        assert np.all(first.means != other.means)


@pytest.mark.parametrize("name", registry.built_in_names("world"))
def test_a_policy_is_told_the_truth(name: str) -> None:
    world = make(name, seed=13, **NEEDED.get(name, {}))
    setting = world.setting
    assert setting.mediator_probabilities is not None
    assert setting.mediator_probabilities.shape == (setting.arms, setting.mediators)
    np.testing.assert_allclose(setting.mediator_probabilities.sum(axis=1), 1, atol=1e-12)
    means = world.outcome_means if isinstance(world, RealWorld) else np.array(setting.levels)
    if name in ("actg175", "table"):  # the range of the outcomes themselves
        assert isinstance(world, RealWorld)
        assert world.samples is not None
        means = np.concatenate([cell for row in world.samples for cell in row])
    if isinstance(world, SkewedWorld):  # the range of nearly all outcomes; test_zoo.py has the exact rule
        assert setting.low <= means.min() < means.max() <= setting.high
        return
    outside = means.min() < 0 or means.max() > 1
    assert (setting.low, setting.high) == ((means.min(), means.max()) if outside else (0.0, 1.0))
    if isinstance(world, DiscreteWorld):
        theta = world.seen
        for a, (of_table, of_transpose) in enumerate(np.asarray(setting.condition_numbers)):
            inverse = np.linalg.pinv(theta[a])
            for found, table, other in ((of_table, theta[a], inverse), (of_transpose, theta[a].T, inverse.T)):
                expected = np.linalg.norm(table, np.inf) * np.linalg.norm(other, np.inf)
                assert found == pytest.approx(expected, rel=1e-4)

"""Costs and bounds against numbers by hand, brute force and special cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import research  # noqa: F401 - finds its worlds
from truant import Counts, theory
from truant.errors import InvalidValue, NotIdentified
from truant.worlds import DiscreteWorld, RealWorld, World, make

FloatArray = npt.NDArray[np.float64]
T = 10_000

# Two arms, two levels: P = (.5/.5 + .5/1, .8/.8 + .2/.4) = (1.5, 1.5) and lambda = (.5, 1) in the second.
HAND = RealWorld([[0.5, 0.5], [0.8, 0.2]], [[0.0, 1.0], [0.5, 0.0]], [[0.5, 1.0], [0.8, 0.4]])
HAND_MISSING = RealWorld(
    [[0.5, 0.5], [0.8, 0.2]],
    [[0.0, 1.0], [0.5, 0.0]],
    [[0.5, 1.0], [0.8, 0.4]],
    mediator_observation=[[0.5], [1.0]],
)
# One arm, Theta = [[.2, .1], [.05, .4]]: gamma = (.5, .8), joint = Theta / gamma.
THETA = np.array([[0.2, 0.1], [0.05, 0.4]])
HAND_MNAR = DiscreteWorld([THETA / [0.5, 0.8] / (THETA / [0.5, 0.8]).sum()], [[[0.5, 0.8]]])


def brute_cost(world: RealWorld) -> list[float]:
    p, gamma, q = world.mediator_probabilities, world.observation, world.mediator_observation
    n, K = p.shape
    return [sum(p[a, m] / gamma[a, m] / q[a, m] for m in range(K)) for a in range(n)]


def test_costs_by_hand() -> None:
    np.testing.assert_allclose(theory.observation_cost(HAND), [1.5, 1.5], rtol=1e-14)
    np.testing.assert_allclose(theory.observation_cost(HAND_MISSING), [3.0, 1.5], rtol=1e-14)
    assert theory.mean_cost(HAND_MISSING) == pytest.approx(2.25)
    assert theory.harmonic_mean_cost(HAND_MISSING) == pytest.approx(2.0)  # 2 / (1/3 + 2/3)


@pytest.mark.parametrize(
    "name", ["mar", "mar-low", "mediator-mar", "no-mediator", "confounded", "null", "pbc"]
)
def test_costs_by_brute_force(name: str) -> None:
    world = make(name, seed=1)
    assert isinstance(world, RealWorld)
    costs = brute_cost(world)
    np.testing.assert_allclose(theory.observation_cost(world), costs, rtol=1e-12)
    assert theory.mean_cost(world) == pytest.approx(sum(costs) / len(costs))
    assert theory.harmonic_mean_cost(world) == pytest.approx(len(costs) / sum(1 / cost for cost in costs))
    assert theory.harmonic_mean_cost(world) <= theory.mean_cost(world) * (1 + 1e-12)


def test_linked_costs_use_the_pulls_with_a_mediator() -> None:
    plain, linked = (make("mediator-mar", seed=2, linked=flag) for flag in (False, True))
    np.testing.assert_array_equal(theory.observation_cost(plain), theory.observation_cost(linked))


@pytest.mark.parametrize("gamma", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("name", ["mcar", "mar", "no-mediator", "null"])
def test_equal_gammas_make_every_bound_the_mcar_one(name: str, gamma: float) -> None:
    world = make(name, seed=3, gamma=gamma)
    assert theory.mean_cost(world) == pytest.approx(1 / gamma)
    assert theory.harmonic_mean_cost(world) == pytest.approx(1 / gamma)
    upper = theory.mcar_upper_bound(world, T, alpha=3.0)
    assert upper == pytest.approx(np.sqrt(3 * 10 * T * np.log(T) / gamma))
    assert theory.mar_upper_bound(world, T, alpha=3.0) == pytest.approx(upper)
    assert theory.mediator_mar_upper_bound(world, T, alpha=3.0) == pytest.approx(upper)
    lower = theory.mcar_lower_bound(world, T)
    assert lower == pytest.approx(np.sqrt(10 * T / gamma))
    assert theory.mar_lower_bound(world, T) == pytest.approx(lower)
    assert theory.no_mediator_lower_bound(world, T) == pytest.approx(lower)


def test_mar_bounds_by_hand() -> None:
    assert theory.mar_upper_bound(HAND, T, alpha=2.0) == pytest.approx(np.sqrt(2 * T * np.log(T) * 2 * 1.5))
    assert theory.mar_upper_bound(HAND, T) == theory.mar_upper_bound(HAND, T, alpha=2.0)
    assert theory.mar_lower_bound(HAND, T) == pytest.approx(np.sqrt(T * 2 * 1.5))
    assert theory.mediator_mar_upper_bound(HAND_MISSING, T) == pytest.approx(
        np.sqrt(2 * T * np.log(T) * 2 * 2.25)
    )
    two = RealWorld([[1.0], [1.0]], [[0.0], [1.0]], [[0.5], [0.25]])
    assert theory.no_mediator_lower_bound(two, T) == pytest.approx(np.sqrt(T * 2 * 2 / 0.75))
    assert theory.mar_lower_bound(two, T) == pytest.approx(theory.no_mediator_lower_bound(two, T))


def test_mar_bounds_of_discrete_outcomes() -> None:
    joint = np.array([[[0.1, 0.4], [0.3, 0.2]], [[0.4, 0.4], [0.1, 0.1]]])
    world = DiscreteWorld(joint, [[[0.5], [1.0]], [[0.8], [0.4]]])
    assert theory.mar_upper_bound(world, T) == pytest.approx(theory.mar_upper_bound(HAND, T))


def test_mnar_difficulty_by_hand() -> None:
    """Theta^-1 = [[.4, -.1], [-.05, .2]] / .075, so C/|Theta| = .5/.075 before the table is normalised."""
    total = 0.2 / 0.5 + 0.1 / 0.8 + 0.05 / 0.5 + 0.4 / 0.8
    inverse_norm = 0.5 / 0.075 * total
    seen = 0.75 / total
    (found,) = theory.mnar_difficulty(HAND_MNAR)
    assert found == pytest.approx(max(2 * inverse_norm / 0.5, 2 / (0.5 * np.sqrt(seen))))
    rate = np.sqrt(2 * T * np.log(T))
    assert theory.mnar_upper_bound(HAND_MNAR, T) == pytest.approx(rate * found)  # sum |y| = 0 + 1
    assert theory.mnar_simple_upper_bound(HAND_MNAR, T) == pytest.approx(rate * 2 * inverse_norm / 0.5)


def test_the_other_side_of_the_mnar_difficulty() -> None:
    """A mediator that tells everything, K = 40 of which 38 never happen: K/gamma^(3/2) is the larger one."""
    joint = np.zeros((1, 40, 2))
    joint[0, 0, 0] = joint[0, 1, 1] = 0.5
    world = DiscreteWorld(joint, 0.25)  # |Theta^+| = 1/.125
    assert theory.mnar_difficulty(world)[0] == pytest.approx(40 / 0.25**1.5)
    assert 2 * 8 / 0.25 < 40 / 0.25**1.5
    assert theory.mnar_simple_upper_bound(world, T) == pytest.approx(theory.mnar_upper_bound(world, T))


@pytest.mark.parametrize("name", ["mnar", "mnar-hidden", "mnar-clear", "mnar-hidden-clear"])
def test_mnar_bounds_by_brute_force(name: str) -> None:
    world = make(name, seed=4)
    assert isinstance(world, DiscreteWorld)
    squares = 0.0
    for a in range(10):
        gamma = world.observation[a, 0]
        theta = world.joint[a] * gamma
        condition, size = np.linalg.cond(theta, np.inf), np.linalg.norm(theta, np.inf)
        seen = sum(world.joint[a, m, y] * gamma[y] for m in range(5) for y in range(5))
        squares += max(5 * condition / (gamma.min() * size), 5 / (gamma.min() * np.sqrt(seen))) ** 2
    bound = theory.mnar_upper_bound(world, T, alpha=1.5)
    assert bound == pytest.approx(2.5 * np.sqrt(1.5 * T * np.log(T) * squares), rel=1e-6)
    assert theory.mnar_simple_upper_bound(world, T, alpha=1.5) >= bound


def test_mnar_bounds_scale_with_the_outcomes() -> None:
    far = DiscreteWorld(HAND_MNAR.joint, HAND_MNAR.observation, levels=(0.0, 7.0))
    assert theory.mnar_upper_bound(far, T) == pytest.approx(7 * theory.mnar_upper_bound(HAND_MNAR, T))


def test_mediator_mnar_difficulty_by_hand() -> None:
    """Theta = .125 times the identity: 32 2 8/.5 + 2 2/.5 = 1032; the other side is sqrt(32/.25)."""
    world = DiscreteWorld([[[0.5, 0.0], [0.0, 0.5]]], 0.5, 0.5, levels=(1.0, 3.0))
    np.testing.assert_allclose(theory.mediator_mnar_difficulty(world), [1032.0], rtol=1e-12)
    bound = theory.mediator_mnar_upper_bound(world, T)
    assert bound == pytest.approx(3 * 1032 * np.sqrt(2 * T * np.log(T)))  # max |y| = 3


@pytest.mark.parametrize("name", ["mediator-mnar", "mediator-mnar-hidden", "mediator-mnar-clear"])
def test_mediator_mnar_bound_by_brute_force(name: str) -> None:
    world = make(name, seed=5, K=4, L=4)
    assert isinstance(world, DiscreteWorld)
    squares = 0.0
    for a in range(10):
        gamma, seen = world.observation[a, :, 0], world.mediator_observation[a]
        p = world.joint[a].sum(axis=1)
        transposed = (world.joint[a] * (gamma * seen)[:, None]).T
        condition, size = np.linalg.cond(transposed, np.inf), np.linalg.norm(transposed, np.inf)
        odds = 32 * condition / size * 4 / seen.min() + 2 * 4 / seen.min()
        squares += max(odds, np.sqrt((32 * p / (seen * gamma)).sum())) ** 2
    bound = theory.mediator_mnar_upper_bound(world, T)
    assert bound == pytest.approx(np.sqrt(2 * T * np.log(T) * squares), rel=1e-6)
    assert theory.mediator_mnar_difficulty(world).shape == (10,)


def test_worst_case_pair() -> None:
    first, second = theory.worst_case_pair(K=4, eps=0.1)
    np.testing.assert_allclose(first.means, [0.9, 0.1 / 3], rtol=1e-12)
    np.testing.assert_allclose(second.means, first.means[::-1], rtol=1e-12)
    for world in (first, second):
        shown = world.mediator_probabilities * world.observation  # P(m, O=1|a): all there is to see
        np.testing.assert_allclose(shown, np.full((2, 4), 0.0439 / 4), atol=2e-5)
        np.testing.assert_allclose(shown, shown[0, 0] * np.ones((2, 4)), rtol=1e-12)
        np.testing.assert_array_equal(world.outcome_means, [[1, 0, 0, 0], [1, 0, 0, 0]])
    assert theory.mediator_agnostic_lower_bound(T, K=4, eps=0.1) == pytest.approx(T * (0.9 - 0.1 / 3) / 2)


def test_an_agnostic_policy_loses_what_the_bound_says() -> None:
    """Follow the arm with the higher mean of the seen: its two regrets add up to T gap."""
    rounds, runs = 400, 200
    regrets = np.zeros((2, runs))
    for i, world in enumerate(theory.worst_case_pair(K=2, eps=0.1)):
        for run in range(runs):
            streams = [world.pulls(np.full(rounds, a), seed=2 * run + a + 1000 * i)[1] for a in (0, 1)]
            sums, seen, pulls = np.zeros(2), np.zeros(2), np.zeros(2, np.int64)
            for _ in range(rounds):
                arm = int(np.argmax(sums / np.maximum(seen, 1) + np.sqrt(4 / np.maximum(seen, 0.01))))
                outcome = streams[arm][pulls[arm]]
                pulls[arm] += 1
                if not np.isnan(outcome):
                    sums[arm] += outcome
                    seen[arm] += 1
            regrets[i, run] = pulls @ world.gaps
    total = regrets.sum(axis=0)
    bound = 2 * theory.mediator_agnostic_lower_bound(rounds, K=2, eps=0.1)
    assert abs(total.mean() - bound) < 4 * total.std() / np.sqrt(runs)


@pytest.mark.parametrize(
    "bound", [theory.mnar_upper_bound, theory.mnar_simple_upper_bound, theory.mediator_mnar_upper_bound]
)
def test_mnar_bounds_need_discrete_outcomes(bound: Callable[..., float]) -> None:
    with pytest.raises(
        NotIdentified, match=r"World 'mar' does not satisfy '.*mnar': its outcomes are not discrete."
    ):
        bound(make("mar"), T)


@pytest.mark.parametrize(
    ("quantity", "name", "parameters", "why"),
    [
        (theory.mcar_upper_bound, "mar", {}, "an arm's outcomes are not all seen with one probability"),
        (theory.mcar_lower_bound, "no-mediator", {}, "arms differ in P(O=1)"),
        (
            theory.no_mediator_lower_bound,
            "mar",
            {},
            "an arm's outcomes are not all seen with one probability",
        ),
        (theory.mar_upper_bound, "mediator-mar", {}, "its mediators are not always seen"),
        (theory.mar_lower_bound, "mediator-mar", {}, "its mediators are not always seen"),
        (theory.mar_upper_bound, "mnar", {}, "depends on the outcome itself"),
        (
            theory.mediator_mar_upper_bound,
            "mediator-mnar",
            {},
            "whether a mediator is seen depends on its level",
        ),
        (theory.mnar_upper_bound, "mediator-mnar", {}, "its mediators are not always seen"),
        (theory.mnar_upper_bound, "mnar", {"K": 2, "L": 3}, "its table of K=2, L=3 has a rank below 3"),
        (theory.mediator_mnar_upper_bound, "mediator-mnar", {"K": 3, "L": 2}, "has a rank below 3"),
        (theory.mediator_mnar_upper_bound, "mnar", {}, "depends on the outcome itself"),
    ],
)
def test_bounds_that_a_world_does_not_have(
    quantity: Callable[..., float], name: str, parameters: dict[str, Any], why: str
) -> None:
    with pytest.raises(NotIdentified) as caught:
        quantity(make(name, seed=15, **parameters), T)
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"World '{name}' does not satisfy ")


def test_bad_arguments() -> None:
    world = make("mcar")
    with pytest.raises(InvalidValue, match="horizon must be a whole number of at least 1, got 0"):
        theory.mcar_lower_bound(world, 0)
    with pytest.raises(InvalidValue, match="alpha must be above 1, got 1"):
        theory.mcar_upper_bound(world, T, alpha=1.0)
    with pytest.raises(InvalidValue, match="alpha must be a finite number, got nan"):
        theory.mcar_upper_bound(world, T, alpha=float("nan"))
    with pytest.raises(InvalidValue, match="K must be a whole number of at least 2, got 1"):
        theory.worst_case_pair(K=1)


def test_worlds_of_other_packages_are_refused() -> None:
    class Other(World):
        name = "other"

        def revealed(self) -> World:
            return self

    with pytest.raises(NotIdentified, match="RealWorld or a DiscreteWorld, got Other"):
        theory.observation_cost(Other())


def test_condition_numbers_of_a_table_of_counts_and_of_a_world() -> None:
    """Theta = [[.2, .1], [.05, .4]]: |Theta| = .45, |Theta^-1| = .5/.075; transposed .5 and .45/.075."""
    expected = [[0.45 * 0.5 / 0.075, 0.5 * 0.45 / 0.075]]
    np.testing.assert_allclose(theory.condition_numbers([THETA]), expected, rtol=1e-12)
    np.testing.assert_allclose(theory.condition_numbers(HAND_MNAR), expected, rtol=1e-12)
    table = np.zeros((1, 3, 3))
    table[0, :2, :2] = 1000 * THETA
    table[0, 2], table[0, :, 2] = 7.0, 9.0  # missing ones do not count
    counts = Counts(table, levels=(0.0, 1.0))
    np.testing.assert_allclose(theory.condition_numbers(counts), expected, rtol=1e-12)
    tall = theory.condition_numbers(make("mnar", seed=1, K=4, L=3))
    np.testing.assert_array_equal(tall, make("mnar", seed=1, K=4, L=3).setting.condition_numbers)
    with pytest.raises(InvalidValue, match=r"shape \(arms, K, L\).* got shape \(2, 2\)"):
        theory.condition_numbers(THETA)
    with pytest.raises(InvalidValue, match="counts of a discrete outcome"):
        theory.condition_numbers(counts.real())
    with pytest.raises(NotIdentified, match="its outcomes are not discrete"):
        theory.condition_numbers(HAND)

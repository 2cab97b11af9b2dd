"""Efficient variances against formulas, influence functions and simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import research  # noqa: F401 - finds its worlds
from truant import theory
from truant.errors import NotIdentified, UnknownName
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


def test_efficient_variance_by_hand() -> None:
    # arm 1: 1 (.5/.5 + .5/1) + .25; arm 2: 1 (1 + .5) + .8 .2 .25
    np.testing.assert_allclose(theory.efficient_variance(HAND, "mar"), [1.75, 1.54], rtol=1e-14)
    np.testing.assert_allclose(
        theory.efficient_variance(HAND_MISSING, "mediator-mar"), [3.5, 1.54], rtol=1e-14
    )
    even = RealWorld([[0.5, 0.5]], [[0.0, 1.0]], 0.5, outcome_sd=2.0)
    np.testing.assert_allclose(theory.efficient_variance(even, "mcar"), [4.25 / 0.5], rtol=1e-14)


def simulated_variance(world: World, pulls: int, estimate: Callable[..., float]) -> tuple[float, float]:
    """N times the variance of an estimate over 2000 samples of N pulls of the first arm, and its error."""
    mediators, outcomes = world.pulls(np.zeros(2000 * pulls, np.int64), seed=6)
    samples = zip(mediators.reshape(2000, pulls), outcomes.reshape(2000, pulls), strict=True)
    found = np.array([estimate(m, y) for m, y in samples])
    about = (found - found.mean()) ** 2
    return pulls * float(about.mean()), pulls * float(about.std()) / np.sqrt(2000)


def saturated_mar(mediators: npt.NDArray[np.int64], outcomes: FloatArray) -> float:
    levels, counts = np.unique(mediators[mediators >= 0], return_counts=True)
    p = counts / counts.sum()
    return float(sum(q * np.nanmean(outcomes[mediators == m]) for m, q in zip(levels, p, strict=True)))


@pytest.mark.parametrize(
    ("name", "assumption", "parameters"),
    [
        ("mar", "mar", {"K": 3, "gamma": (0.3, 1.0)}),
        ("null", "mar", {"K": 3, "gamma": (0.3, 1.0), "sd": 0.3}),
        ("mediator-mar", "mediator-mar", {"K": 3, "linked": True}),
        ("pbc", "mar", {}),
    ],
)
def test_efficient_variance_is_that_of_the_saturated_estimate(
    name: str, assumption: str, parameters: dict[str, Any]
) -> None:
    world = make(name, seed=7, **parameters)
    variance, error = simulated_variance(world, 2000, saturated_mar)
    assert abs(variance - theory.efficient_variance(world, assumption)[0]) < 4 * error
    assert error < 0.05 * variance


def test_mnar_variance_is_that_of_the_linear_estimate() -> None:
    """K = L: the odds solve Theta x = b exactly, so the plain inverse has the efficient variance."""
    world = make("mnar-clear", seed=8, K=3, L=3)
    levels = np.array(world.setting.levels)

    def inverse(mediators: npt.NDArray[np.int64], outcomes: FloatArray) -> float:
        seen = ~np.isnan(outcomes)
        theta = np.zeros((3, 3))
        np.add.at(theta, (mediators[seen], np.searchsorted(levels, outcomes[seen])), 1 / len(outcomes))
        missing = np.bincount(mediators[~seen], minlength=3) / len(outcomes)
        return float(theta.sum(axis=0) * (1 + np.linalg.solve(theta, missing)) @ levels)

    variance, error = simulated_variance(world, 3000, inverse)
    assert abs(variance - theory.efficient_variance(world, "mnar")[0]) < 4 * error
    assert error < 0.05 * variance


@pytest.mark.parametrize("name", ["mnar", "mnar-hidden", "mnar-clear"])
def test_mnar_variance_is_that_of_the_influence_function(name: str) -> None:
    """O (1 + x_Y) Y - O x_Y h(M) + (1 - O) h(M) - mu, with Theta' h = y * (Theta' 1)."""
    world = make(name, seed=9, K=4, L=4)
    assert isinstance(world, DiscreteWorld)
    expected = []
    for a in range(10):
        gamma, y = world.observation[a, 0], world.levels
        theta = world.joint[a] * gamma
        h = np.linalg.solve(theta.T, y * theta.sum(axis=0))
        x = (1 - gamma) / gamma
        seen = (1 + x) * y - x * h[:, None] - world.means[a]
        missing = h - world.means[a]
        expected.append(
            (theta * seen**2).sum() + ((world.joint[a] * (1 - gamma)).sum(axis=1) * missing**2).sum()
        )
    np.testing.assert_allclose(theory.efficient_variance(world, "mnar"), expected, rtol=1e-6)


def test_more_mediator_levels_than_outcomes_never_hurt() -> None:
    """Merging two levels throws information away: the finer table has the smaller variance."""
    fine = make("mnar", seed=10, K=4, L=2)
    assert isinstance(fine, DiscreteWorld)
    coarse = DiscreteWorld(np.add.reduceat(fine.joint, [0, 2], axis=1), fine.observation[:, :1])
    assert np.all(theory.efficient_variance(fine, "mnar") < theory.efficient_variance(coarse, "mnar"))


def test_the_table_of_counts_gives_the_mar_formula() -> None:
    """Where every mediator is seen `mediator-mnar` is `mar`: an information matrix against a formula."""
    joint = np.random.default_rng(11).dirichlet(np.ones(12), size=3).reshape(3, 3, 4)
    gamma = np.array([0.3, 0.6, 0.9])[None, :, None]
    world = DiscreteWorld(joint, gamma)
    np.testing.assert_allclose(
        theory.efficient_variance(world, "mediator-mnar"), theory.efficient_variance(world, "mar"), rtol=1e-9
    )


@pytest.mark.parametrize("assumption", ["mnar", "mediator-mnar", "both-mnar"])
def test_variance_from_a_numerical_information_matrix(assumption: str) -> None:
    """Parameters by logits, derivatives by differences, the delta method: nothing shared with the code."""
    world = make(assumption, seed=17, arms=1, K=3, L=3)
    assert isinstance(world, DiscreteWorld)
    missing_mediators = assumption != "mnar"

    def unpack(theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        weights = np.exp(np.append(theta[:8], 0.0)).reshape(3, 3)
        o, q = 1 / (1 + np.exp(-theta[8:11])), 1 / (1 + np.exp(-theta[11:14]))
        return weights / weights.sum(), o, q if missing_mediators else np.ones(3)

    def cells(theta: FloatArray) -> FloatArray:
        pi, o, q = unpack(theta)
        found = []
        for m in range(4):
            for y in range(4):
                total = 0.0
                for i in range(3) if m == 3 else [m]:
                    for j in range(3) if y == 3 else [y]:
                        seen = o[i] if assumption == "mediator-mnar" else o[j]
                        total += pi[i, j] * (1 - q[i] if m == 3 else q[i]) * (1 - seen if y == 3 else seen)
                found.append(total)
        return np.array(found)

    pi, q = world.joint[0].ravel(), world.mediator_observation[0]
    o = world.observation[0, :, 0] if assumption == "mediator-mnar" else world.observation[0, 0]
    theta = np.concatenate([np.log(pi[:8] / pi[8]), np.log(o / (1 - o))])
    if missing_mediators:
        theta = np.concatenate([theta, np.log(q / (1 - q))])
    steps = 1e-5 * np.eye(len(theta))
    jacobian = np.array([(cells(theta + step) - cells(theta - step)) / 2e-5 for step in steps])
    slope = np.array(
        [((unpack(theta + s)[0] - unpack(theta - s)[0]).sum(axis=0) / 2e-5) @ world.levels for s in steps]
    )
    happens = cells(theta) > 0
    information = jacobian[:, happens] / cells(theta)[happens] @ jacobian[:, happens].T
    expected = slope @ np.linalg.solve(information, slope)
    assert theory.efficient_variance(world, assumption)[0] == pytest.approx(expected, rel=1e-4)


def test_nothing_missing_leaves_the_plain_variance() -> None:
    world = make("both-mnar", seed=12, gamma=1.0, mediator_gamma=1.0)
    assert isinstance(world, DiscreteWorld)
    plain = world.joint.sum(axis=1) @ world.levels**2 - world.means**2
    for assumption in ("mcar", "mar", "mnar", "mediator-mar", "mediator-mnar", "both-mnar"):
        np.testing.assert_allclose(theory.efficient_variance(world, assumption), plain, rtol=1e-9)


def test_both_mnar_variance_exceeds_that_of_seeing_all_mediators() -> None:
    hidden = make("both-mnar", seed=13, K=3, L=3)
    assert isinstance(hidden, DiscreteWorld)
    seen = DiscreteWorld(hidden.joint, hidden.observation)
    both = theory.efficient_variance(hidden, "both-mnar")
    assert np.all(both > theory.efficient_variance(seen, "mnar"))
    near = DiscreteWorld(hidden.joint, hidden.observation, 1 - 1e-9)
    np.testing.assert_allclose(
        theory.efficient_variance(near, "both-mnar"), theory.efficient_variance(seen, "mnar"), rtol=1e-5
    )


def test_instance_regret() -> None:
    # means (.5, .4): one worse arm, 2 1.54 / .1 log T
    assert theory.instance_regret(HAND, T, "mar") == pytest.approx(2 * 1.54 / 0.1 * np.log(T))
    world = make("mnar-clear", seed=14)
    variances, gaps = theory.efficient_variance(world, "mnar"), world.gaps
    expected = sum(2 * variances[a] / gaps[a] for a in range(10) if a != world.means.argmax()) * np.log(T)
    assert theory.instance_regret(world, T, "mnar") == pytest.approx(expected)
    assert theory.instance_regret(make("null"), T, "mar") == 0


@pytest.mark.parametrize(
    ("assumption", "name", "parameters", "why"),
    [
        ("mar", "mnar", {}, "depends on the outcome itself"),
        ("mcar", "mar", {}, "not all seen with one probability"),
        ("mnar", "mediator-mnar", {}, "its mediators are not always seen"),
        ("mnar", "mnar", {"K": 2, "L": 3}, "the mean of arm 0 does not follow from what is seen"),
        ("mnar", "mar", {}, "its outcomes are not discrete"),
        ("mediator-mnar", "both-mnar", {}, "depends on the outcome itself"),
        ("both-mnar", "mediator-mnar", {}, "depends on the mediator, given the outcome"),
        ("both-mnar", "both-mnar", {"K": 2, "L": 4}, "does not follow from what is seen"),
    ],
)
def test_variances_that_a_world_does_not_have(
    assumption: str, name: str, parameters: dict[str, Any], why: str
) -> None:
    with pytest.raises(NotIdentified) as caught:
        theory.efficient_variance(make(name, seed=16, **parameters), assumption)
    assert why in str(caught.value)


def test_an_outcome_that_is_never_seen_is_refused() -> None:
    world = DiscreteWorld([[[0.5, 0.5]]], [[[0.0, 0.5]]])
    with pytest.raises(NotIdentified, match="something that happens is never seen"):
        theory.efficient_variance(world, "mnar")


def test_unknown_assumptions() -> None:
    with pytest.raises(UnknownName, match=r"Unknown assumption 'mnr'; did you mean 'mnar'\?"):
        theory.efficient_variance(make("mar"), "mnr")


@pytest.mark.parametrize("cost", [0.0, 0.02, 0.5, 20.0])
def test_the_cheapest_mix_of_pulls_and_follow_ups(cost: float) -> None:
    """Against a search over both numbers, within what is missing."""
    world = DiscreteWorld([[[0.3, 0.2], [0.1, 0.4]], [[0.5, 0.1], [0.2, 0.2]]], [[[0.9, 0.3], [0.6, 0.2]]])
    gap = float(world.gaps[1])
    pi, o = world.joint[1], world.observation[1]
    cells = [(float((pi * w)[m].sum()), (pi * w)[m]) for w in (o, 1 - o) for m in range(2)]
    means = np.array([weights[1] / share for share, weights in cells])
    shares = np.array([share for share, _ in cells])
    variances = means * (1 - means)
    between = shares @ (means - shares @ means) ** 2
    A = shares[:2] @ variances[:2] + between
    missing = shares[2:].sum()
    needed = gap**2 / (2 * np.log(T))
    fractions = np.linspace(1e-4, 1, 20_001)  # followed up, of the missing outcomes
    B = (shares[2:] @ np.sqrt(variances[2:])) ** 2
    pulls = (A + B / (fractions * missing)) / needed
    found = (gap * pulls + cost * fractions * missing * pulls).min()
    assert theory.follow_up_total_cost(world, T, cost) == pytest.approx(found, rel=1e-3)
    if cost == 0:
        seen = theory.instance_regret(world.revealed(), T, "mar")
        assert theory.follow_up_total_cost(world, T, cost) == pytest.approx(seen, rel=0.02)

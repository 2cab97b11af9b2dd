"""The named worlds follow their recipes: ranges, boosted arms, what hides, what is clear."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import research  # noqa: F401 - finds its worlds
from truant.worlds import DiscreteWorld, RealWorld, make

FloatArray = npt.NDArray[np.float64]

SEEDS = range(200)
FALLING, RISING = np.linspace(0.9, 0.15, 5), np.linspace(0.3, 0.95, 5)
MAR = ["mar", "mar-low", "mar-uniform", "mar-peaked", "mediator-mar"]
MNAR = ["mnar", "mnar-hidden", "mnar-clear", "mnar-hidden-clear"]
MEDIATOR_MNAR = [f"mediator-{name}" for name in MNAR]


def real(name: str, seed: int, **parameters: Any) -> RealWorld:
    world = make(name, seed=seed, **parameters)
    assert isinstance(world, RealWorld)
    return world


def discrete(name: str, seed: int, **parameters: Any) -> DiscreteWorld:
    world = make(name, seed=seed, **parameters)
    assert isinstance(world, DiscreteWorld)
    return world


def check_follows(values: npt.ArrayLike, distribution: str, *shape: float) -> None:
    assert stats.kstest(np.ravel(values), distribution, shape).pvalue > 1e-4


def check_uniform(values: npt.ArrayLike, low: float, high: float) -> None:
    assert low <= np.min(values) <= np.max(values) <= high
    check_follows(values, "uniform", low, high - low)


def check_mean(values: npt.ArrayLike, mean: float) -> None:
    found = np.ravel(values)
    assert abs(found.mean() - mean) < 4 * found.std() / np.sqrt(found.size)


def check_dirichlet_one(vectors: FloatArray) -> None:
    """One coordinate of a Dirichlet(1,..,1) of k coordinates is Beta(1, k-1)."""
    np.testing.assert_allclose(vectors.sum(axis=-1), 1, atol=1e-12)
    check_follows(vectors[..., 0], "beta", 1, vectors.shape[-1] - 1)


def test_mcar_has_one_gamma_for_all_arms() -> None:
    worlds = [real("mcar", seed) for seed in SEEDS]
    assert all(world.setting.mediators == 1 and np.ptp(world.observation) == 0 for world in worlds)
    check_uniform([world.observation[0, 0] for world in worlds], 0.5, 1.0)
    check_uniform([world.means for world in worlds], 0.0, 1.0)
    assert all(np.all(world.outcome_sd == 1) for world in worlds)


def test_no_mediator_has_a_gamma_for_each_arm() -> None:
    worlds = [real("no-mediator", seed) for seed in SEEDS]
    assert all(world.setting.mediators == 1 for world in worlds)
    check_uniform([world.observation[:, 0] for world in worlds], 0.2, 1.0)
    check_uniform([world.means for world in worlds], 0.0, 1.0)


@pytest.mark.parametrize("name", MAR)
def test_mar_worlds_boost_one_arm(name: str) -> None:
    for seed in SEEDS:
        world = real(name, seed)
        best = int(world.means.argmax())
        others = np.delete(world.outcome_means, best, axis=0)
        assert 0.6 <= world.outcome_means[best].min() <= world.outcome_means[best].max() <= 1.0
        assert 0.0 <= others.min() <= others.max() <= 0.4


@pytest.mark.parametrize(
    ("name", "low"), [("mar", 0.8), ("mar-low", 0.1), ("mar-peaked", 0.8), ("mediator-mar", 0.5)]
)
def test_mar_gammas_are_uniform(name: str, low: float) -> None:
    check_uniform([real(name, seed).observation for seed in SEEDS], low, 1.0)


def test_mediators_of_the_mar_worlds() -> None:
    check_dirichlet_one(np.array([real("mar", seed).mediator_probabilities for seed in SEEDS]))
    assert np.all(real("mar-uniform", 1).mediator_probabilities == 0.2)
    peaked = np.array([real("mar-peaked", seed).mediator_probabilities for seed in SEEDS])
    # Dirichlet(5,1,1,1,1): E[p_i^2] = w_i (w_i + 1) / (9 * 10), 38/90 in all against 1/3 of Dirichlet(1)
    check_mean((peaked**2).sum(axis=-1), 38 / 90)
    top = np.bincount(peaked.argmax(axis=-1).ravel(), minlength=5)
    assert stats.chisquare(top).pvalue > 1e-4


@pytest.mark.parametrize("name", [*MAR, *MNAR, *MEDIATOR_MNAR, "both-mnar"])
def test_the_best_arm_can_be_anywhere(name: str) -> None:
    places = [int(make(name, seed=seed, arms=4).means.argmax()) for seed in SEEDS]
    assert stats.chisquare(np.bincount(places, minlength=4)).pvalue > 1e-4


def test_mediator_mar_hides_mediators_by_arm() -> None:
    chances = np.array([real("mediator-mar", seed).mediator_observation for seed in SEEDS])
    assert np.ptp(chances, axis=-1).max() == 0
    check_uniform(chances[..., 0], 0.5, 1.0)


def test_linked_gives_pulls_without_a_mediator_their_own_gamma() -> None:
    plain, linked = (real("mediator-mar", 5, linked=flag) for flag in (False, True))
    np.testing.assert_array_equal(plain.observation_without_mediator, plain.observation)
    np.testing.assert_array_equal(linked.observation, plain.observation)
    assert np.all(linked.observation_without_mediator != linked.observation)
    np.testing.assert_array_equal(linked.means, plain.means)
    check_uniform(
        [real("mediator-mar", s, linked=True).observation_without_mediator for s in SEEDS], 0.5, 1.0
    )


def test_null_arms_differ_only_in_what_is_missing() -> None:
    spans = []
    for seed in SEEDS:
        world = real("null", seed)
        assert np.all(world.gaps == 0)
        assert np.ptp(world.mediator_probabilities, axis=0).max() == 0
        assert np.ptp(world.outcome_means, axis=0).max() == 0
        assert np.all(np.ptp(world.observation, axis=0) > 0)
        spans.append(np.ptp(complete_case_limits(world)))
    assert np.median(spans) > 0.1  # dropping the missing rows sees differences


def complete_case_limits(world: RealWorld) -> FloatArray:
    """What the mean of the seen outcomes tends to."""
    seen = world.mediator_probabilities * world.observation
    limits: FloatArray = (seen * world.outcome_means).sum(axis=1) / seen.sum(axis=1)
    return limits


def test_confounded_arms_look_the_same() -> None:
    for seed in SEEDS:
        world = real("confounded", seed, K=4, eps=0.1)
        seen = (world.mediator_probabilities * world.observation).sum(axis=1)
        np.testing.assert_allclose(seen, [0.0439, 0.0439], atol=5e-5)
        np.testing.assert_allclose(complete_case_limits(world), [0.25, 0.25], rtol=1e-12)
        np.testing.assert_allclose(np.sort(world.means), [0.1 / 3, 0.9], rtol=1e-12)
    assert (
        stats.binomtest(
            sum(make("confounded", seed=seed).means[0] > 0.5 for seed in SEEDS), len(SEEDS)
        ).pvalue
        > 1e-4
    )
    assert real("confounded", 1).setting.mediators == 5


@pytest.mark.parametrize("name", [*MNAR, "both-mnar"])
def test_mnar_outcomes_are_seen_by_their_own_value(name: str) -> None:
    world = discrete(name, 3)
    assert np.ptp(world.observation, axis=1).max() == 0
    np.testing.assert_array_equal(world.levels, [0, 0.25, 0.5, 0.75, 1])
    if name != "both-mnar":
        assert np.all(world.mediator_observation == 1)


@pytest.mark.parametrize("name", ["mnar", "mnar-clear", "both-mnar"])
def test_mnar_gammas_are_uniform(name: str) -> None:
    check_uniform([discrete(name, seed).observation[:, 0] for seed in SEEDS], 0.5, 1.0)


def test_both_mnar_hides_mediators_by_level() -> None:
    chances = np.array([discrete("both-mnar", seed).mediator_observation for seed in SEEDS])
    check_uniform(chances, 0.5, 1.0)
    assert np.ptp(chances, axis=-1).min() > 0


@pytest.mark.parametrize("name", ["mnar-hidden", "mnar-hidden-clear"])
def test_the_boosted_arm_hides_its_high_outcomes(name: str) -> None:
    boosted_top, other_top = [], []
    for seed in SEEDS:
        world = discrete(name, seed)
        falls = world.observation[:, 0, 0] > world.observation[:, 0, -1]
        assert falls.sum() == 1
        np.testing.assert_allclose(world.observation[falls][0, 0], FALLING, atol=1e-15)
        assert np.all(np.abs(world.observation[~falls] - RISING) < 1e-15)
        top = world.joint[..., -1].sum(axis=1)
        boosted_top.append(top[falls])
        other_top.append(top[~falls])
    check_mean(boosted_top, 5 / 9)  # Dirichlet(1,1,1,1,5)
    check_mean(other_top, 1 / 5)


def test_mnar_tables() -> None:
    worlds = [discrete("mnar", seed) for seed in SEEDS]
    p = np.array([world.joint.sum(axis=2) for world in worlds])
    check_dirichlet_one(p)
    given = np.array([world.joint for world in worlds]) / p[..., None]
    hidden = np.array([discrete("mnar-hidden", seed).observation[:, 0, 0] for seed in SEEDS])
    boosted = hidden == 0.9  # one seed has one table in both worlds
    check_dirichlet_one(given[~boosted])
    check_follows(given[boosted][..., -1], "beta", 5, 4)


@pytest.mark.parametrize("name", ["mnar-clear", "mnar-hidden-clear"])
def test_clear_mediators_tell_the_outcome(name: str) -> None:
    noise = []
    for seed in SEEDS:
        clear, faint = discrete(name, seed), discrete(name.replace("-clear", ""), seed)
        np.testing.assert_allclose(clear.joint.sum(axis=1), faint.joint.sum(axis=1), atol=1e-14)
        mediators = np.swapaxes(clear.joint / clear.joint.sum(axis=1, keepdims=True), 1, 2)  # (a, y, m)
        noise.append((mediators - 0.7 * np.eye(5)) / 0.3)
    assert np.min(noise) > -1e-12
    check_dirichlet_one(np.array(noise))


@pytest.mark.parametrize("name", MEDIATOR_MNAR)
def test_mediator_mnar_outcomes_are_seen_by_the_mediator(name: str) -> None:
    for seed in SEEDS:
        world = discrete(name, seed)
        assert np.ptp(world.observation, axis=2).max() == 0
        assert np.ptp(world.mediator_observation, axis=1).min() > 0


@pytest.mark.parametrize("name", ["mediator-mnar", "mediator-mnar-hidden"])
def test_mediator_levels_are_sorted(name: str) -> None:
    for seed in SEEDS:
        world = discrete(name, seed)
        given = world.joint / world.joint.sum(axis=2, keepdims=True)
        assert np.all(np.diff(given @ world.levels, axis=1) > 0)
    check_dirichlet_one(np.array([discrete(name, seed).joint.sum(axis=2) for seed in SEEDS]))
    alone = [discrete(name, seed, arms=1).joint[0] for seed in SEEDS]  # the only arm is the boosted one
    check_mean([(table / table.sum(axis=1, keepdims=True))[:, -1].mean() for table in alone], 5 / 9)


@pytest.mark.parametrize("name", ["mediator-mnar", "mediator-mnar-clear"])
def test_mediator_mnar_chances_are_uniform(name: str) -> None:
    worlds = [discrete(name, seed) for seed in SEEDS]
    check_uniform([world.observation[..., 0] for world in worlds], 0.5, 1.0)
    check_uniform([world.mediator_observation for world in worlds], 0.5, 1.0)
    assert np.all(worlds[0].observation[..., 0] != worlds[0].mediator_observation)


@pytest.mark.parametrize("name", ["mediator-mnar-hidden", "mediator-mnar-hidden-clear"])
def test_the_best_arm_hides_its_good_mediators(name: str) -> None:
    for seed in SEEDS:
        world = discrete(name, seed)
        best = int(world.means.argmax())
        for chances in (world.observation[..., 0], world.mediator_observation):
            np.testing.assert_allclose(chances[best], FALLING, atol=1e-15)
            assert np.all(np.abs(np.delete(chances, best, axis=0) - RISING) < 1e-15)


@pytest.mark.parametrize("name", ["mediator-mnar-clear", "mediator-mnar-hidden-clear"])
def test_clear_outcomes_tell_the_mediator(name: str) -> None:
    worlds = [discrete(name, seed) for seed in SEEDS]
    p = np.array([world.joint.sum(axis=2) for world in worlds])
    given = np.array([world.joint for world in worlds]) / p[..., None]
    noise = (given - 0.7 * np.eye(5)) / 0.3
    assert noise.min() > -1e-12
    check_dirichlet_one(noise)
    alone = [discrete(name, seed, arms=1).joint[0, -1].sum() for seed in range(1000)]  # it is the boosted one
    check_mean(alone, 5 / 9)  # Dirichlet(1,1,1,1,5)
    check_follows(alone, "beta", 5, 4)


@pytest.mark.parametrize("name", ["mnar-clear", "mnar-hidden-clear"])
def test_match_says_how_telling_the_mediator_is(name: str) -> None:
    noise = []
    for match in (0.0, 0.4, 0.7, 1.0):
        world = discrete(name, 1, match=match)
        mediators = np.swapaxes(world.joint / world.joint.sum(axis=1, keepdims=True), 1, 2)  # (a, y, m)
        noise.append(mediators - match * np.eye(5))
        np.testing.assert_allclose(world.joint.sum(axis=1), discrete(name, 1).joint.sum(axis=1), atol=1e-14)
    for share, left in zip((0.6, 0.3, 0.0), noise[1:], strict=True):  # one seed, one draw, whatever the match
        np.testing.assert_allclose(left, share * noise[0], atol=1e-12)
    np.testing.assert_array_equal(discrete(name, 1, match=0.7).joint, discrete(name, 1).joint)


@pytest.mark.parametrize("name", ["mediator-mnar-clear", "mediator-mnar-hidden-clear"])
def test_match_says_how_telling_the_outcome_is(name: str) -> None:
    noise = []
    for match in (0.0, 0.4, 0.7, 1.0):
        joint = discrete(name, 1, match=match).joint
        noise.append(joint / joint.sum(axis=2, keepdims=True) - match * np.eye(5))
    for share, left in zip((0.6, 0.3, 0.0), noise[1:], strict=True):
        np.testing.assert_allclose(left, share * noise[0], atol=1e-12)
    np.testing.assert_array_equal(discrete(name, 1, match=0.7).joint, discrete(name, 1).joint)


def test_pbc_is_the_trial() -> None:
    world = real("pbc", 1)
    np.testing.assert_allclose(world.means, [0.4424, 0.4383], atol=5e-5)
    np.testing.assert_allclose(world.mediator_probabilities, [[0.589, 0.411], [0.610, 0.390]], atol=5e-4)
    np.testing.assert_allclose(complete_case_limits(world), [0.4129, 0.4665], atol=5e-5)
    assert world.samples is not None
    assert sum(np.size(cell) for row in world.samples for cell in row) == 312


def test_pbc_gap_scales_the_difference() -> None:
    plain = real("pbc", 1)
    for gap in (0.0, 0.5, 10.0):
        world = real("pbc", 1, gap=gap)
        assert world.means[0] - world.means[1] == pytest.approx(gap * plain.gaps[1], abs=1e-12)
        assert world.means[1] == plain.means[1]
        _, outcomes = world.pulls(np.zeros(20_000, np.int64))
        assert world.setting.low <= np.nanmin(outcomes) <= np.nanmax(outcomes) <= world.setting.high


def test_pbc_gamma_can_be_flat_or_one_number() -> None:
    table = real("pbc", 1, gamma=[[0.1, 0.2], [0.3, 0.4]]).observation
    np.testing.assert_array_equal(table, [[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_array_equal(real("pbc", 1, gamma=(0.1, 0.2, 0.3, 0.4)).observation, table)
    assert np.all(real("pbc", 1, gamma=0.6).observation == 0.6)

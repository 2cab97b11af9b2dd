"""What a follow-up finds: the outcomes that are missing at an arm and mediator, no others."""

import numpy as np
import pytest

from truant.worlds import DiscreteWorld, RealWorld, SkewedWorld, make

from .test_worlds import INSTANCES

DRAWS = 4_000


def found(world, arm, mediator, rng):
    tables = world.missing_tables
    return np.array([world.draw_missing(rng, arm, mediator, tables) for _ in range(DRAWS)], np.float64)


@pytest.mark.parametrize(("name", "parameters"), INSTANCES)
def test_every_world_can_be_followed_up(name, parameters):
    world, rng = make(name, seed=2, **parameters), np.random.default_rng(0)
    tables = world.missing_tables
    for mediator in range(world.setting.mediators + 1):
        value = world.draw_missing(rng, 0, mediator, tables)
        if world.setting.levels is None:
            assert np.isfinite(value)
        else:
            assert 0 <= value < world.setting.outcomes


def test_levels_have_their_probabilities_given_that_they_are_missing():
    world, rng = make("mediator-mnar", seed=3, arms=2, K=3, L=4), np.random.default_rng(1)
    hidden = world.joint * (1 - world.observation)
    q = world.mediator_observation[..., None]
    for mediator in range(4):
        weights = (hidden * q)[1, mediator] if mediator < 3 else (hidden * (1 - q))[1].sum(axis=0)
        shares = np.bincount(found(world, 1, mediator, rng).astype(int), minlength=4) / DRAWS
        expected = weights / weights.sum()
        error = 4 * np.sqrt(expected * (1 - expected) / DRAWS)
        assert (np.abs(shares - expected) <= error).all()


def test_real_outcomes_are_those_of_the_cell_and_of_all_hidden_ones_without_a_mediator():
    world = RealWorld(
        [[0.5, 0.5]],
        [[0.0, 1.0]],
        0.5,
        outcome_sd=0.1,
        observation_without_mediator=[[0.9, 0.1]],  # of missing mediators, mostly level 1 hides its outcome
        mediator_observation=[[0.5, 0.5]],
    )
    rng = np.random.default_rng(2)
    for mediator, mean in ((0, 0.0), (1, 1.0), (2, 0.9)):
        assert found(world, 0, mediator, rng).mean() == pytest.approx(mean, abs=4 * 0.32 / DRAWS**0.5)
    samples = RealWorld([[0.5, 0.5]], None, 0.5, samples=[[[1.0, 3.0], [7.0]]])
    values, counts = np.unique(found(samples, 0, 0, rng), return_counts=True)
    assert values.tolist() == [1.0, 3.0]
    assert abs(counts[0] / DRAWS - 0.5) < 4 * 0.5 / DRAWS**0.5
    assert set(found(samples, 0, 1, rng)) == {7.0}


def test_jumps_come_as_often_as_elsewhere():
    world = SkewedWorld([[1.0]], 0.2, 50.0, base_mean=1.0, observation=0.5)
    values = found(world, 0, 0, np.random.default_rng(3))
    assert abs((values == 50.0).mean() - 0.2) < 4 * (0.16 / DRAWS) ** 0.5
    assert set(values) == {1.0, 50.0}


def test_every_assumption_about_the_new_world_is_wrong():
    """O depends on the outcome within a mediator level, and on the mediator within an outcome level."""
    world = make("mediator-and-outcome", seed=0)
    assert isinstance(world, DiscreteWorld)
    assert (np.ptp(world.observation, axis=2) > 0.5).any(axis=1).all()
    assert (np.ptp(world.observation, axis=1) > 0.5).any(axis=1).all()


def test_what_a_world_says_of_its_observation_can_be_given_to_its_constructor():
    """P(O=1|m,a) with the mediator seen has shape (arms, K); with the mediator missing it has a name of its own."""
    world = make("mediator-mar", seed=2, linked=True)
    assert world.observation.shape == world.observation_without_mediator.shape == (10, 5)
    both = np.stack([world.observation_without_mediator, world.observation], axis=1)
    for given in (
        {
            "observation": world.observation,
            "observation_without_mediator": world.observation_without_mediator,
        },
        {"observation": both},
    ):
        same = RealWorld(
            world.mediator_probabilities,
            world.outcome_means,
            mediator_observation=world.mediator_observation,
            **given,
        )
        np.testing.assert_array_equal(same.observed_shares, world.observed_shares)
        for ours, theirs in zip(
            same.pulls(np.arange(10), seed=1), world.pulls(np.arange(10), seed=1), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    plain = RealWorld(world.mediator_probabilities, world.outcome_means, world.observation)
    np.testing.assert_array_equal(plain.observation_without_mediator, plain.observation)

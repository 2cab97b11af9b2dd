"""What borrowing between mediator levels brings, and that units of the outcomes change no pull."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.scoring import score

from truant.counts import Counts
from truant.errors import InvalidValue, UnknownName
from truant.lab.simulate import simulate
from truant.policies import named
from truant.setting import Setting
from truant.worlds import DiscreteWorld, RealWorld, make


def test_regret_is_lower_where_dropping_rows_is_harmless_and_as_low_where_not():
    """Paired over 60 runs; with floor=1 nothing is borrowed."""
    policies = ["mar-ucb:floor=1", "mar-ucb"]
    result = simulate("mar", policies, horizon=100_000, runs=60, seed=3, progress=False)
    difference = result.final[1] - result.final[0]
    assert difference.mean() + 4 * difference.std(ddof=1) / np.sqrt(60) < 0
    hard = simulate("confounded", policies, horizon=100_000, runs=60, seed=3, progress=False)
    difference = hard.final[1] - hard.final[0]
    assert difference.mean() < 4 * difference.std(ddof=1) / np.sqrt(60)


def test_a_floor_of_one_leaves_the_plain_width():
    setting = Setting(arms=2, mediators=3, low=-1, high=1)
    rng = np.random.default_rng(1)
    counts = Counts.fold(setting, rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.normal(0, 0.3, 200))
    z = np.array([0.0, 2.0])
    least, some, most = (
        score(named(f"mar-ucb:floor={floor}").curve(setting, 1000), counts.table, z).values
        for floor in (0.0, 0.8, 1.0)
    )
    np.testing.assert_array_equal(least[:, 0], most[:, 0])
    assert np.all(least[:, 1] <= some[:, 1])
    assert np.any(least[:, 1] < some[:, 1])
    assert np.all(some[:, 1] < most[:, 1])


@pytest.mark.parametrize("floor", ["-0.1", "1.5", "nan", "x"])
@pytest.mark.parametrize("name", ["mar-ucb", "mediator-mar-thompson"])
def test_floor_is_a_share(name, floor):
    with pytest.raises(InvalidValue, match=r"floor must be in \[0, 1\]"):
        named(f"{name}:floor={floor}")


@pytest.mark.parametrize("name", ["mar-sharp-ucb", "mar-plain-ucb", "mediator-mar-sharp-ucb"])
def test_there_is_one_curve_and_one_name_for_it(name):
    with pytest.raises(UnknownName, match=r"did you mean '(mediator-)?mar-ucb'"):
        named(name)


@pytest.mark.parametrize("name", ["mar", "mediator-mar"])
def test_an_unknown_horizon_changes_the_index_and_not_the_curve(name):
    setting = Setting(arms=2, mediators=3)
    known, unknown = named(f"{name}-ucb"), named(f"{name}-ucb:horizon=unknown,kappa=2")
    assert known.curve(setting, 10).score_arm is unknown.curve(setting, 1000).score_arm
    assert (known.index.horizon_known, unknown.index.horizon_known) == (True, False)
    assert unknown.assumption.kappa == 2


# Units


def moved(world):
    """Outcomes times ten plus a hundred; range and scale likewise."""
    if isinstance(world, DiscreteWorld):
        levels = tuple(100 + 10 * world.levels)
        return DiscreteWorld(world.joint, world.observation, world.mediator_observation, levels=levels)
    setting = world.setting
    other = RealWorld(
        world.mediator_probabilities,
        100 + 10 * world.outcome_means,
        world.observation,
        mediator_observation=world.mediator_observation,
        outcome_sd=10 * world.outcome_sd,
    )
    other.setting = replace(
        setting, low=100 + 10 * setting.low, high=100 + 10 * setting.high, scale=10 * setting.scale
    )
    return other


@pytest.mark.parametrize(
    ("name", "policies"),
    [
        ("mar-low", ["mcar-ucb", "mar-ucb", "mar-known-ucb", "mar-thompson", "mar-provable", "oracle-ucb"]),
        ("mediator-mar", ["mediator-mar-ucb", "mediator-mar-thompson", "mar-ucb:horizon=unknown"]),
        ("confounded", ["mar-ucb", "mcar-thompson"]),
        ("mnar", ["mnar-ucb", "mar-ucb", "mcar-ucb"]),
    ],
)
def test_units_change_no_pull(name, policies):
    """To the last pull, and the regret is ten times as large."""
    world = make(name, seed=2)
    here = simulate(world, policies, horizon=20_000, runs=2, seed=5, progress=False)
    there = simulate(moved(world), policies, horizon=20_000, runs=2, seed=5, progress=False)
    for policy, pulls, again in zip(policies, here.pulls, there.pulls, strict=True):
        np.testing.assert_array_equal(pulls, again, err_msg=policy)
    np.testing.assert_allclose(there.final, 10 * here.final, rtol=1e-9)

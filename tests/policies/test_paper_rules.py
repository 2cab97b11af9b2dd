"""First pulls, refusals, and following each pull, of the paper's policies."""

from dataclasses import replace

import numpy as np
import pytest
from tests.scoring import score

from truant.compile import link
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.lab.simulate import simulate
from truant.policies import named
from truant.setting import Setting
from truant.worlds import RealWorld, make

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
            NotIdentified,
            match=r"^The paper's MNAR policies need condition_numbers, a bound C_a .*theory.condition_numbers",
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

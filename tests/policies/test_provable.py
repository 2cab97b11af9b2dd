import numpy as np
import pytest

from truant.counts import Counts
from truant.errors import InvalidValue
from truant.lab.simulate import simulate
from truant.policies import named
from truant.worlds import make


def upper(counts, arm, setting, horizon, delta=0.1):
    curve = named(f"mar-provable:delta={delta}").curve(setting, horizon)
    values = np.zeros(1)
    curve.score_arm.py_func(counts.table[arm], None, None, curve.parameters[arm], np.zeros(1), values)
    return values[0]


def test_by_hand():
    world = make("mar-low", seed=4, arms=2, K=3, sd=0.7)
    arms = np.zeros(60, np.int64)
    m, y = world.pulls(arms, 5)
    y[m == 2] = np.nan  # a level that is never seen
    counts = Counts.fold(world.setting, arms, m, y)
    p = np.bincount(m, minlength=3) / 60
    n = np.array([np.sum(~np.isnan(y[m == k])) for k in range(3)])
    means = [np.nanmean(y[m == k]) for k in range(2)]
    beta = np.log(4 * 2 * 1000 / 0.1)
    expected = (
        p[:2] @ means
        + world.setting.outcome_scale * np.sqrt(2 * beta * np.sum(p[:2] ** 2 / n[:2]))
        + np.sqrt(beta / 120)
        + p[2]
    )
    assert upper(counts, 0, world.setting, 1000) == pytest.approx(expected, rel=1e-12)


def test_the_bound_holds_and_is_tighter_than_the_papers():
    """Of 2000 samples none may miss: a miss has probability delta/(4 n T) by the bound."""
    missed, ratios = 0, []
    for seed in range(100):
        world = make("mar", seed=seed, arms=20)
        arms = np.repeat(np.arange(20), 400)
        counts = Counts.fold(world.setting, arms, *world.pulls(arms, seed))
        paper = named("paper-mar").curve(world.setting, 10_000)
        for arm in range(20):
            bound = upper(counts, arm, world.setting, 10_000)
            missed += bound < world.means[arm]
            values = np.zeros(2)
            z = np.array([0.0, np.sqrt(2 * np.log(10_000))])
            paper.score_arm.py_func(counts.table[arm], None, None, paper.parameters[arm], z, values)
            if np.isfinite(values[0]):  # the paper's is infinite while a cell has no outcome
                ratios.append((bound - values[0]) / (values[1] - values[0]))
    assert missed == 0
    assert len(ratios) > 1500
    assert np.median(ratios) < 0.6


def test_it_learns():
    result = simulate("confounded", "mar-provable", horizon=50_000, runs=4, seed=1, progress=False)
    assert result.best_arm_share.mean() > 0.75


@pytest.mark.parametrize("delta", ["0", "1", "nan", "x"])
def test_delta_is_a_probability(delta):
    with pytest.raises(InvalidValue, match="delta must be between 0 and 1"):
        named(f"mar-provable:delta={delta}")

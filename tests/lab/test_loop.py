"""The compiled loop against a plain one: the same parts in ordinary Python, one statement after the other."""

import numpy as np
import pytest

from truant import registry
from truant.counts import Counts
from truant.lab import loop
from truant.lab.play import checkpoints
from truant.lab.simulate import simulate
from truant.policies import named
from truant.worlds import make
from truant.worlds.world import draw_cell


def python(function):
    return getattr(function, "py_func", function)


def plain(world, policy, horizon, seed, run=0):
    """Play round by round; returns pulls and cumulative regret after every round."""
    setting = world.setting
    curve = policy.curve(setting, horizon)
    knots = policy.index.knots(horizon, curve.linear)
    counts = Counts.empty(setting) if curve.discrete else Counts.empty(setting).real()
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(run,)).spawn(2)[1]))
    values = np.zeros((setting.arms, len(knots)))
    memory, shared = np.zeros((setting.arms, curve.memory(len(knots)))), np.zeros(curve.shared)
    own, parameters = np.zeros(policy.index.memory(setting.arms)), policy.index.parameters(horizon)
    pulls, due = np.zeros(setting.arms, int), np.full(setting.arms, curve.first_pulls)
    regret, last = [0.0], -1
    levels = None if setting.levels is None else np.append(setting.levels, np.nan)
    for t in range(1, horizon + 1):
        if t <= setting.arms * curve.first_pulls:
            arm = (t - 1) % setting.arms
        else:
            arm = last = policy.index.choose(values, knots, parameters, own, last, t, rng)
        mediator, outcome = world.draw(rng, arm, world.tables)
        y = outcome if levels is None else levels[outcome]
        counts.update(arm, None if mediator == setting.mediators else mediator, None if np.isnan(y) else y)
        counted = outcome if curve.discrete else y - counts.centre
        curve.follow(counts.table[arm], memory[arm], mediator, counted)
        pulls[arm] += 1
        if pulls[arm] >= due[arm]:
            curve.fill(counts.table[arm], memory[arm], shared, curve.parameters[arm], knots, values[arm])
            due[arm] = pulls[arm] + max(1, int(curve.growth * pulls[arm]))
        regret.append(regret[-1] + world.gaps[arm])
    return pulls, np.array(regret)


CASES = [
    ("mar", "mar-ucb"),
    ("mar", "mar-ucb:horizon=unknown"),
    ("mar", "mar-thompson"),
    ("mar", "mar-plain-ucb"),
    ("mar", "mar-epsilon-greedy"),
    ("mediator-mar", "mediator-mar-ucb"),
    ("mnar", "mar-ucb"),
    ("mnar-clear", "mnar-ucb"),
    ("mnar-clear", "mnar-ucb:horizon=unknown"),
    ("mnar", "paper-mnar"),
    ("mnar:K=5,L=3", "paper-mnar"),
    ("mar", "paper-mcar"),
    ("mnar", "paper-mcar"),
    ("mediator-mnar", "paper-mnar"),
]


@pytest.mark.parametrize(("world", "policy"), CASES)
def test_every_checkpoint_agrees(world, policy):
    assert python(draw_cell) is not draw_cell  # the parts are compiled ones
    name, parameters = registry.parse(world)
    instance = make(name, seed=6, arms=4, **parameters)
    horizon = 700
    result = simulate(instance, policy, horizon=horizon, runs=1, seed=9, progress=False)
    pulls, regret = plain(instance, named(policy), horizon, seed=9)
    assert np.array_equal(result.pulls[0, 0], pulls)
    assert result.regret[0, 0] == pytest.approx(regret[checkpoints(horizon)], abs=1e-9)
    assert np.array_equal(result.rounds, checkpoints(horizon))


def test_runs_of_one_world_differ():
    result = simulate(make("mar", seed=1), "mar-thompson", horizon=500, runs=3, seed=1, progress=False)
    assert len({tuple(pulls) for pulls in result.pulls[0]}) == 3


def test_an_arm_that_is_not_there_stops_the_loop():
    from truant.compile import hot
    from truant.errors import InvalidValue
    from truant.indices import Index
    from truant.policies.policy import Policy

    @hot
    def far(values, knots, parameters, memory, last, t, rng):
        return values.shape[0] + 1000

    class Far(Index):
        choose = staticmethod(far)

        def knots(self, horizon, linear):
            return np.zeros(1)

    policy = Policy("far", Far(), named("mar-ucb").curve)
    with pytest.raises(InvalidValue, match="chose an arm that is not there"):
        simulate("mar", policy, horizon=100, runs=1, progress=False)
    assert loop.NO_SUCH_ARM != loop.FINISHED


def test_nanoseconds_are_cpu_time_of_the_loop():
    """Between a nanosecond and a hundred microseconds per round, and no more than the whole call took."""
    import time

    start = time.perf_counter_ns()
    result = simulate("mar", "mar-ucb", horizon=200_000, runs=1, seed=1, threads=1, progress=False)
    taken = time.perf_counter_ns() - start
    assert 200_000 < result.nanoseconds[0, 0] < min(taken, 200_000 * 100_000)

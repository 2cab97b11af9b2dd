"""The compiled loop against a plain one: the same parts in ordinary Python, one statement after the other."""

import numpy as np
import pytest

from truant.counts import Counts
from truant.lab.simulate import simulate
from truant.play import loop
from truant.play.run import checkpoints, play
from truant.policies import named
from truant.worlds import make
from truant.worlds.world import draw_cell


def python(function):
    return getattr(function, "py_func", function)


class Plain:
    """A run as it is meant: an arm's score is a function of the counts, and of nothing else that happened.

    Pulls are drawn from the stream of the compiled loop, and scores use the same curve and index. What differs is
    all bookkeeping: counts are Counts, pending pulls are a list, and an arm is scored from scratch.
    """

    def __init__(self, world, policy, horizon, seed, delay):
        self.world, self.policy, self.horizon, self.delay = world, policy, horizon, delay
        self.setting = world.setting
        self.curve, self.index = policy.curve(self.setting, horizon), policy.index
        arms = self.setting.arms
        self.z_grid = self.index.z_grid(self.curve.linear)
        self.log_horizon = np.log(horizon)
        self.counts = Counts.empty(self.setting) if self.curve.discrete else Counts.empty(self.setting).real()
        self.values = np.zeros((arms, len(self.z_grid)))
        self.shared = np.zeros(self.curve.pooled + self.curve.scratch)
        self.put_in = np.zeros((arms, self.curve.pooled))
        self.memory = np.zeros((arms, self.curve.memory(len(self.z_grid))))
        self.own, self.numbers = np.zeros(self.index.memory(arms)), self.index.parameters()
        self.pulls, self.settled = np.zeros(arms, int), np.zeros(arms, int)
        self.due = dict.fromkeys(range(arms), (self.curve.first_pulls, self.curve.first_pulls))
        stream = np.random.SeedSequence(seed, spawn_key=(0,)).spawn(2)[1]
        self.rng = np.random.Generator(np.random.SFC64(stream))
        self.begins = arms * self.curve.first_pulls + delay  # the round of the first choice
        self.renewal = self.begins

    @property
    def pending_counts(self):
        return self.delay > 0 and self.index.counts_pending

    def play(self):
        """All rounds; gives regret after each."""
        regret, waiting = [0.0], []
        for t in range(self.horizon):
            if t < self.begins:
                arm = t % self.setting.arms
            else:
                arm = self.index.choose(self.values, self.z_grid, self.numbers, self.own, t + 1, self.rng)
            waiting.append((arm, *self.world.draw(self.rng, arm, self.world.tables)))
            self.pulls[arm] += 1
            changed = []
            if len(waiting) > self.delay:
                changed.append(self.settle(*waiting.pop(0)))
            if self.pending_counts and arm not in changed:
                changed.append(arm)
            self.score(changed, t + 1)
            regret.append(regret[-1] + self.world.gaps[arm])
        for pull in waiting:
            self.settle(*pull)
        return np.array(regret)

    def settle(self, arm, mediator, outcome):
        if self.setting.levels is not None:
            outcome = np.append(self.setting.levels, np.nan)[int(outcome)]
        seen = None if mediator == self.setting.mediators else mediator
        self.counts.update(arm, seen, None if np.isnan(outcome) else outcome)
        self.settled[arm] += 1
        return arm

    def score(self, changed, t):
        """Arms whose counts have changed; all arms where arms share sums or T is guessed, now and then."""
        everyone = (self.curve.pooled > 0 or not self.index.horizon_known) and t >= self.renewal
        if everyone:
            self.renewal = int(t * 1.5) + 1
            if not self.index.horizon_known:
                self.log_horizon = np.log(4.0 * t + 1000.0)
            for arm in range(self.setting.arms):
                self.curve.contribute(self.counts.table[arm], self.curve.parameters[arm], self.put_in[arm])
            self.shared[: self.curve.pooled] = 0.0
            for put_in in self.put_in:
                self.shared[: self.curve.pooled] += put_in
        for arm in range(self.setting.arms) if everyone else changed:
            if self.settled[arm] and (everyone or self.is_due(arm)):
                self.score_arm(arm, everyone)
                if t > self.begins and not everyone:
                    self.index.update(self.values, self.z_grid, self.numbers, self.own, arm, self.rng)
        if t == self.begins or (everyone and t > self.begins):
            self.index.update(self.values, self.z_grid, self.numbers, self.own, -1, self.rng)

    def is_due(self, arm):
        by_pulls = self.pending_counts and self.pulls[arm] >= self.due[arm][1]
        return self.settled[arm] >= self.due[arm][0] or by_pulls

    def score_arm(self, arm, everyone):
        row, parameters = self.counts.table[arm], self.curve.parameters[arm]
        if self.curve.growth > 0:
            self.due[arm] = tuple(
                n + max(1, int(self.curve.growth * n)) for n in (self.settled[arm], self.pulls[arm])
            )
        if self.curve.pooled and not everyone:
            fresh = np.zeros(self.curve.pooled)
            self.curve.contribute(row, parameters, fresh)
            self.shared[: self.curve.pooled] += fresh - self.put_in[arm]
            self.put_in[arm] = fresh
        if self.pending_counts:
            row = row * (self.pulls[arm] / self.settled[arm])
        if self.curve.growth == 0:  # a formula: it needs no memory
            self.memory[arm] = 0.0
        known = self.curve.known(row, self.shared, parameters)
        self.index.aim(known, self.log_horizon, self.numbers, self.z_grid)
        self.curve.score_arm(row, self.memory[arm], self.shared, parameters, self.z_grid, self.values[arm])


CASES = [
    ("mar", "mar-ucb"),
    ("mar", "mar-ucb:horizon=unknown"),
    ("mar", "mar-thompson"),
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


def compared(world, policy, delay, horizon=700):
    instance = make(world, seed=6, arms=4)
    result = simulate(instance, policy, horizon=horizon, runs=1, seed=9, delay=delay, progress=False)
    reference = Plain(instance, named(policy), horizon, 9, delay)
    return result, reference, reference.play()


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize(("world", "policy"), CASES)
def test_every_checkpoint_agrees(world, policy, delay):
    assert python(draw_cell) is not draw_cell  # the parts are compiled ones
    result, reference, regret = compared(world, policy, delay)
    assert np.array_equal(result.pulls[0, 0], reference.pulls)
    assert result.regret[0, 0] == pytest.approx(regret[checkpoints(700)], abs=1e-9)
    assert np.array_equal(result.rounds, checkpoints(700))


@pytest.mark.parametrize("policy", ["mar-ucb", "naive-ucb", "mar-thompson", "mar-greedy"])
def test_a_long_delay_agrees(policy):
    """An arm changes when its outcomes come in, long after the last pull of it."""
    result, reference, regret = compared("mar", policy, delay=150, horizon=2000)
    assert np.array_equal(result.pulls[0, 0], reference.pulls)
    assert result.regret[0, 0] == pytest.approx(regret[checkpoints(2000)], abs=1e-9)


@pytest.mark.parametrize("policy", ["mar-ucb", "mar-thompson", "mnar-ucb", "zero-ucb"])
@pytest.mark.parametrize("delay", [0, 7, 400, 500])
def test_the_final_counts_have_every_outcome(policy, delay):
    world, horizon = make("mnar", seed=6, arms=4), 500
    rng = np.random.Generator(np.random.SFC64(3))
    ended = play(named(policy), world, rng, horizon, np.array([horizon]), delay=delay)
    assert ended.pulls.sum() == horizon
    assert np.array_equal(ended.counts.pulls, ended.pulls)
    if delay == horizon:  # nothing is known before the end
        assert np.ptp(ended.pulls) <= 1


def test_the_counts_of_a_delayed_run_are_those_of_its_pulls():
    world = make("mar", seed=6, arms=4)
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(9, spawn_key=(0,)).spawn(2)[1]))
    ended = play(named("mar-ucb"), world, rng, 700, np.array([700]), delay=7)
    reference = Plain(world, named("mar-ucb"), 700, 9, 7)
    reference.play()
    assert np.array_equal(ended.counts.table, reference.counts.table)


def test_no_delay_is_delay_zero():
    first, second = (
        simulate("mar", ["mar-ucb", "mar-thompson"], horizon=500, runs=3, seed=1, progress=False, **late)
        for late in ({}, {"delay": 0})
    )
    assert np.array_equal(first.regret, second.regret)
    assert np.array_equal(first.estimates, second.estimates, equal_nan=True)
    late = simulate("mar", ["mar-ucb", "mar-thompson"], horizon=500, runs=3, seed=1, progress=False, delay=1)
    assert not np.array_equal(first.regret, late.regret)


def test_runs_of_one_world_differ():
    result = simulate(make("mar", seed=1), "mar-thompson", horizon=500, runs=3, seed=1, progress=False)
    assert len({tuple(pulls) for pulls in result.pulls[0]}) == 3


def test_an_arm_that_is_not_there_stops_the_loop():
    from truant.compile import hot
    from truant.errors import InvalidValue
    from truant.indices import Index
    from truant.policies.policy import Policy

    @hot
    def far(values, z_grid, parameters, memory, t, rng):
        return values.shape[0] + 1000

    class Far(Index):
        choose = staticmethod(far)

        def z_grid(self, linear):
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

"""Follow-ups in the compiled loop against a plain one, and what a run with follow-ups leaves."""

import numpy as np
import pytest

import truant
from truant.assumptions.follow_up import DESCRIBED, describe
from truant.errors import InvalidValue
from truant.play.run import checkpoints, play
from truant.policies import named
from truant.policies.follow_up_rules import FollowUps
from truant.worlds import make

from .test_loop import Plain

T = 700


class PlainWithFollowUps(Plain):
    """The same with follow-ups: an answer comes at once, or as many rounds later as outcomes do."""

    def __init__(self, world, policy, horizon, seed, delay, terms):
        super().__init__(world, policy, horizon, seed, delay)
        self.rule, self.terms = policy.follow_up, terms
        self.counts.followed_up = np.zeros_like(self.counts.table)
        self.told = self.rule.numbers(terms, horizon)
        self.described = np.zeros((self.setting.arms, DESCRIBED))
        self.wanted = np.full(self.setting.arms, -1.0)
        self.round, self.asked, self.coming = 0, 0, []
        self.missing_tables = world.missing_tables
        self.describe_all(range(self.setting.arms))

    def both(self, arm):
        own = [self.counts.table[arm]]
        return np.concatenate([*own, self.counts.followed_up[arm]]) if self.curve.follows_up else own[0]

    def describe_all(self, arms):
        if self.rule.describes:
            for arm in arms:
                row = self.both(arm)
                if self.pending_counts and self.settled[arm]:
                    row = row * (self.pulls[arm] / self.settled[arm])
                describe(row, self.shared, self.curve.parameters[arm], self.described[arm])
                self.wanted[arm] = -1.0

    def settle(self, arm, mediator, outcome):
        if self.coming and self.coming[0][0] == self.round and self.delay:
            self.answer(*self.coming.pop(0)[1:])
        before = self.counts.observed[arm]
        super().settle(arm, mediator, outcome)
        at_end = self.round >= self.horizon
        possible = self.counts.observed[arm] == before and not at_end and self.asked < self.rule.budget
        state = (self.told, self.described, self.wanted, self.rng)
        if possible and self.rule.worth(arm, self.round - 1, *state):
            self.ask(arm, mediator)
        return arm

    def ask(self, arm, mediator):
        self.asked += 1
        self.due[arm] = (0, self.due[arm][1])
        column = 0 if self.counts.levels is None else -1
        self.counts.followed_up[arm, mediator, column] += 1
        if self.rng.random() < self.terms.success:
            found = self.world.draw_missing(self.rng, arm, int(mediator), self.missing_tables)
            if self.delay:
                self.coming.append((self.round + self.delay, arm, mediator, found))
            else:
                self.answer(arm, mediator, found)

    def answer(self, arm, mediator, found):
        if self.setting.levels is not None and self.counts.levels is not None:
            self.counts.followed_up[arm, mediator, -1] -= 1
            self.counts.followed_up[arm, mediator, int(found)] += 1
        else:
            value = found if self.setting.levels is None else self.setting.levels[int(found)]
            about = value - self.counts.centre
            self.counts.followed_up[arm, mediator, 1:] += [1, about, about**2, about**3]
        self.due[arm] = (0, self.due[arm][1])

    def score(self, changed, t):
        table = self.counts.table
        if self.curve.follows_up:
            self.counts.table = np.stack([self.both(arm) for arm in range(self.setting.arms)])
        super().score(changed, t)
        self.counts.table = table

    def score_arm(self, arm, everyone):
        super().score_arm(arm, everyone)
        if self.rule.describes:
            row = self.counts.table[arm]  # both halves, here
            if self.pending_counts:
                row = row * (self.pulls[arm] / self.settled[arm])
            describe(row, self.shared, self.curve.parameters[arm], self.described[arm])
            self.wanted[arm] = -1.0

    def play(self):
        regret, waiting = [0.0], []
        for t in range(self.horizon):
            self.round = t + 1
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
        self.round = self.horizon + 1
        for pull in waiting:
            Plain.settle(self, *pull)
        for _, *answer in self.coming:
            self.answer(*answer)
        return np.array(regret)


@pytest.mark.parametrize("success", [1.0, 0.6])
@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize(
    ("world", "policy"),
    [
        ("mar-low", "follow-up-ucb"),
        ("mnar-hidden", "follow-up-thompson"),
        ("mnar-hidden", "follow-up-ucb:follow_up=threshold,budget=40"),
        ("mediator-mar", "mar-ucb:follow_up=0.3"),
        ("mnar-clear", "mnar-ucb:follow_up=0.2,budget=30"),
        ("mediator-mnar", "follow-up-ucb"),
    ],
)
def test_the_compiled_loop_is_the_plain_one(world, policy, delay, success):
    instance, terms = make(world, seed=6, arms=4), FollowUps(0.05, success)
    stream = np.random.SeedSequence(9, spawn_key=(0,)).spawn(2)[1]
    rng = np.random.Generator(np.random.SFC64(stream))
    ended = play(named(policy), instance, rng, T, checkpoints(T), delay=delay, follow_ups=terms)
    plain = PlainWithFollowUps(instance, named(policy), T, 9, delay, terms)
    regret = plain.play()
    assert plain.asked > 5
    assert ended.follow_ups[-1] == plain.asked
    assert np.array_equal(ended.pulls, plain.pulls)
    assert ended.regret == pytest.approx(regret[checkpoints(T)], abs=1e-9)
    np.testing.assert_allclose(ended.counts.table, plain.counts.table, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ended.counts.followed_up, plain.counts.followed_up, rtol=1e-9, atol=1e-9)


def test_counts_of_a_run_are_possible_and_complete():
    world, terms = make("mediator-and-outcome", seed=1), FollowUps(0.1, 0.5)
    for delay in (0, 300):
        rng = np.random.Generator(np.random.SFC64(3))
        ended = play(
            named("follow-up-ucb"), world, rng, 5_000, np.array([5_000]), delay=delay, follow_ups=terms
        )
        counts = ended.counts.checked(world.setting)
        assert counts.pulls.sum() == 5_000
        assert counts.follow_ups.sum() == ended.follow_ups[-1]
        asked = counts.follow_ups.sum()
        assert abs(counts.answered.sum() - asked / 2) < 4 * (asked / 4) ** 0.5


def test_lower_is_better_is_the_mirror_image():
    """The same world with outcomes turned over: the same pulls, follow-ups and mirrored counts."""
    world = make("mnar-hidden", seed=2)
    mirrored = truant.worlds.DiscreteWorld(
        world.joint[:, :, ::-1], world.observation[:, :, ::-1], minimize=True
    )
    made = []
    for one in (world, mirrored):
        rng = np.random.Generator(np.random.SFC64(5))
        made.append(
            play(named("follow-up-ucb"), one, rng, 4_000, np.array([4_000]), follow_ups=FollowUps(0.1))
        )
    # draws are not mirrored one by one: the runs agree in what they learn, not pull by pull
    assert np.argmax(made[0].pulls) == np.argmax(made[1].pulls) == np.argmax(world.means)
    assert made[1].counts.centre == 0.5


def test_where_follow_ups_cannot_be_had_the_policy_is_refused():
    world = make("mar", seed=1)
    with pytest.raises(InvalidValue, match="say what a follow-up costs"):
        truant.simulate(world, "follow-up-ucb", horizon=100, runs=1)
    world.draw_missing = None
    with pytest.raises(InvalidValue, match="cannot tell what a follow-up would find"):
        truant.simulate(world, "follow-up-ucb", horizon=100, runs=1, follow_up_cost=0.1)


def test_more_success_costs_less_and_a_budget_is_kept():
    arguments = {"horizon": 20_000, "runs": 20, "seed": 3, "progress": False}
    policies = ["follow-up-ucb", "follow-up-ucb:budget=25"]
    sure = truant.simulate("mnar-hidden", policies, follow_up_cost=0.1, **arguments)
    rare = truant.simulate("mnar-hidden", policies, follow_up_cost=0.1, follow_up_success=0.3, **arguments)
    assert (sure.follow_ups[1] <= 25).all()
    assert (sure.follow_ups[1, :, -1] == 25).mean() > 0.8
    assert np.median(rare.follow_ups[0, :, -1]) > 1.5 * np.median(sure.follow_ups[0, :, -1])
    free = truant.simulate("mnar-hidden", "follow-up-ucb", follow_up_cost=0.0, **arguments)
    assert free.follow_ups[0, :, -1].mean() > 3 * sure.follow_ups[0, :, -1].mean()
    assert (free.total_cost == free.regret).all()

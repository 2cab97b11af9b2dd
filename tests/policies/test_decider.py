"""One decision at a time: pure in the counts, with probabilities that are true."""

import json

import numpy as np
import pytest
from scipy import stats

import truant
from truant import Counts, Decider, Setting
from truant.assumptions.mcar import Mcar
from truant.compile import hot
from truant.errors import InvalidValue, NotIdentified
from truant.indices import Index
from truant.policies import Policy
from truant.policies.policy import combine

REAL = ["mcar-ucb", "mar-ucb", "mar-cautious", "mediator-mar-ucb", "mar-known-ucb", "mar-ucb:horizon=unknown"]
REAL += ["mar-thompson", "mar-greedy", "mar-epsilon-greedy", "mar-uniform", "naive-ucb", "paper-mar"]
DISCRETE = ["mnar-ucb", "mnar-thompson", "mediator-mnar-ucb", "both-mnar-ucb", "mcar-thompson", "paper-mnar"]
CASES = [("mar:arms=4,K=3", policy) for policy in REAL] + [
    ("mnar:arms=3,K=3,L=3", policy) for policy in DISCRETE
]


def collected(spec, pulls=120, seed=4):
    world = truant.world(spec, seed=1)
    arms = np.resize(np.arange(world.setting.arms), pulls)
    mediators, outcomes = world.pulls(arms, seed=seed)
    return world.setting, arms, mediators, outcomes


@pytest.mark.parametrize(("world", "policy"), CASES)
def test_scores_depend_on_the_counts_and_on_nothing_else(world, policy):
    setting, arms, mediators, outcomes = collected(world)
    counts = Counts.fold(setting, arms, mediators, outcomes)
    decider = Decider(policy, setting, horizon=5000)
    first = decider.scores(counts)
    other = Counts.fold(setting, arms[:40], mediators[:40], outcomes[:40])
    decider.scores(other)  # what came before must not matter
    again = decider.scores(counts)
    assert np.array_equal(first.values, again.values)
    assert np.array_equal(first.z, again.z)
    merged = Counts.fold(setting, arms[40:], mediators[40:], outcomes[40:]).merge(other)
    np.testing.assert_allclose(decider.scores(merged).values, first.values, rtol=1e-9, atol=1e-12)
    restarted = Counts(np.array(json.loads(json.dumps(counts.table.tolist()))), counts.levels, counts.centre)
    assert np.array_equal(Decider(policy, setting, horizon=5000).scores(restarted).values, first.values)
    moved = counts.about(counts.centre - 3.0)
    np.testing.assert_allclose(decider.scores(moved).values, first.values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("world", "policy"), CASES)
def test_choices_are_as_frequent_as_their_probabilities_say(world, policy):
    setting, arms, mediators, outcomes = collected(world)
    counts = Counts.fold(setting, arms, mediators, outcomes)
    decider = Decider(policy, setting, horizon=5000)
    if decider.policy.index.probabilities is None:
        pytest.fail("every built-in index knows its probabilities")
    expected = decider.probabilities(counts)
    assert expected.sum() == pytest.approx(1.0)
    draws = 60 if "mnar" in policy else 400
    rng = np.random.Generator(np.random.SFC64(11))
    chosen = np.bincount([decider.choose(counts, rng) for _ in range(draws)], minlength=setting.arms)
    possible = expected > 0
    assert chosen[~possible].sum() == 0
    if possible.sum() > 1:
        likely = expected * draws >= 1
        observed = np.append(chosen[likely], chosen[~likely].sum())
        wanted = np.append(expected[likely], expected[~likely].sum()) * draws
        keep = wanted > 0
        assert stats.chisquare(observed[keep], wanted[keep]).pvalue > 1e-4
    assert decider.choose(counts, seed=3) == decider.choose(counts, seed=3)


def test_the_score_of_a_classical_ucb_is_its_formula():
    setting = Setting(arms=3, low=0.0, high=1.0)
    arms = [0] * 4 + [1] * 9 + [2] * 2
    outcomes = [0.1, 0.4, 0.4, np.nan] + [0.5] * 9 + [0.2, 0.0]
    counts = Counts.fold(setting, arms, [0] * 15, outcomes)
    scores = Decider("naive-ucb", setting, horizon=1000).scores(counts)
    n, means = np.array([3, 9, 2]), np.array([0.3, 0.5, 0.1])
    np.testing.assert_allclose(scores.values[:, 0], means + np.sqrt(2 * np.log(1000) / (2 * n)))
    np.testing.assert_allclose(scores.z[:, 0], np.sqrt(2 * np.log(1000)))


def test_an_allocation_looks_ahead_as_if_pending_pulls_came_out_like_the_settled():
    setting = Setting(arms=3, low=0.0, high=1.0)
    means, n = np.array([0.30, 0.50, 0.45]), np.array([40.0, 60.0, 30.0])
    table = np.zeros((3, 2, 5))
    about = means - 0.5
    table[:, 0] = np.stack([n, n, n * about, n * (about**2 + 0.04), np.zeros(3)], axis=1)
    counts = Counts(table, None, 0.5)
    pending = np.array([5.0, 10.0, 20.0])
    expected, waiting = np.zeros(3), pending.copy()
    for _ in range(25):
        width = np.sqrt(2 * np.log(500) / (2 * (n + waiting)))
        best = np.argmax(means + width)
        expected[best] += 1 / 25
        waiting[best] += 1
    found = Decider("naive-ucb", setting, horizon=500).allocation(counts, pending=pending, ahead=25)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert 0 < expected.max() < 1  # the case is one in which looking ahead matters
    without = Decider("naive-ucb", setting, horizon=500).allocation(counts, ahead=25)
    assert not np.allclose(without, found)


def test_thompson_is_allocated_by_its_probabilities():
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    counts = Counts.fold(setting, arms, mediators, outcomes)
    decider = Decider("mar-thompson", setting, horizon=5000)
    np.testing.assert_allclose(
        decider.allocation(counts, pending=[9, 0, 3, 1]), decider.probabilities(counts)
    )


@pytest.mark.parametrize("policy", ["mar-ucb", "mar-thompson", "mar-greedy"])
def test_every_active_arm_gets_its_minimum_and_no_other_arm_anything(policy):
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    counts = Counts.fold(setting, arms, mediators, outcomes)
    decider = Decider(policy, setting, horizon=5000)
    active = np.array([True, False, True, True])
    shares = decider.allocation(counts, minimum_share=0.05, active=active)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] == 0
    assert shares[active].min() >= 0.05 - 1e-12
    plain = decider.allocation(counts, active=active)
    np.testing.assert_allclose(shares[active], 0.05 + 0.85 * plain[active])


def test_arms_that_nothing_settled_of_keep_their_share_of_the_first_pulls():
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    known = arms < 3
    counts = Counts.fold(setting, arms[known], mediators[known], outcomes[known])
    decider = Decider("mar-ucb", setting, horizon=5000)
    shares = decider.allocation(counts, pending=[0, 0, 0, 50])
    assert shares[3] == pytest.approx(0.25)
    assert shares[:3].sum() == pytest.approx(0.75)
    nothing = decider.allocation(Counts.empty(setting), pending=[1, 2, 3, 4])
    np.testing.assert_allclose(nothing, 0.25)


def test_first_pulls_go_to_the_arms_with_the_fewest():
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3", pulls=6)
    counts = Counts.fold(setting, arms, mediators, outcomes)  # 2, 2, 1, 1 pulls
    decider = Decider("mar-ucb", setting, horizon=5000)
    np.testing.assert_allclose(decider.probabilities(counts), [0, 0, 0.5, 0.5])
    assert {decider.choose(counts, seed) for seed in range(30)} == {2, 3}


@pytest.mark.parametrize("policy", ["mcar-ucb", "mar-ucb", "mar-thompson", "naive-ucb"])
def test_where_less_is_better_the_mirror_image_decides(policy):
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    mirrored = Setting(
        arms=4, mediators=3, low=-setting.high, high=-setting.low, scale=setting.scale, minimize=True
    )
    up = Decider(policy, setting, horizon=5000)
    down = Decider(policy, mirrored, horizon=5000)
    counts = Counts.fold(setting, arms, mediators, outcomes)
    negated = Counts.fold(mirrored, arms, mediators, -outcomes)
    np.testing.assert_allclose(down.scores(negated).values, -up.scores(counts).values, rtol=1e-9)
    np.testing.assert_allclose(down.allocation(negated), up.allocation(counts), atol=1e-9)


@hot
def _first(values, z_grid, parameters, memory, t, rng):
    return 0


class Silent(Index):
    """An index of somebody's own that does not say its probabilities."""

    choose = staticmethod(_first)

    def z_grid(self, linear):
        return np.zeros(1)


def test_an_index_that_cannot_say_its_probabilities_is_refused_where_they_are_needed():
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    counts = Counts.fold(setting, arms, mediators, outcomes)
    decider = Decider(combine(Mcar(), Silent(), "silent"), setting, horizon=100)
    assert decider.choose(counts, seed=1) == 0
    for ask in (decider.probabilities, decider.allocation):
        with pytest.raises(NotIdentified, match="cannot say its probabilities"):
            ask(counts)


def test_what_cannot_decide_is_refused_in_a_sentence():
    setting = Setting(arms=2, mediators=2)
    counts = Counts.fold(setting, [0, 0, 1, 1], [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    decider = Decider("mar-ucb", setting, horizon=100)
    with pytest.raises(InvalidValue, match="sees outcomes that are missing"):
        Decider("oracle-ucb", setting, horizon=100)
    with pytest.raises(InvalidValue, match="horizon must be a whole number"):
        Decider("mar-ucb", setting, horizon=0)
    with pytest.raises(InvalidValue, match="Counts must have shape"):
        decider.scores(Counts.empty(Setting(arms=3, mediators=2)))
    with pytest.raises(InvalidValue, match="levels"):
        decider.scores(Counts.empty(Setting(arms=2, mediators=2, levels=(0, 1))))
    wrong = Counts(counts.table.copy(), None, counts.centre)
    wrong.table[0, 0, 1] = 99
    with pytest.raises(InvalidValue, match="no more observed outcomes than pulls"):
        decider.scores(wrong)
    discrete = Setting(arms=2, mediators=2, levels=(0, 1))
    with pytest.raises(InvalidValue, match="discrete outcome"):
        Decider("mnar-ucb", discrete, horizon=100).scores(counts)
    refusals = {
        "pending must be": {"pending": [1, -1]},
        "active must be": {"active": [1, 0]},
        "at least one arm": {"active": [False, False]},
        "minimum_share must be at most": {"minimum_share": 0.6},
        "minimum_share must be in": {"minimum_share": -0.1},
        "ahead must be": {"ahead": 0},
    }
    for words, options in refusals.items():
        with pytest.raises(InvalidValue, match=words):
            decider.allocation(counts, **options)


def test_a_policy_object_will_do():
    policy = truant.policy("mar-ucb")
    assert isinstance(policy, Policy)
    setting, arms, mediators, outcomes = collected("mar:arms=4,K=3")
    counts = Counts.fold(setting, arms, mediators, outcomes)
    by_name = Decider("mar-ucb", setting, horizon=50).scores(counts).values
    assert np.array_equal(Decider(policy, setting, horizon=50).scores(counts).values, by_name)


@pytest.mark.parametrize("high", [1e95, 1.0, 1e-90])
@pytest.mark.parametrize("policy", ["mcar-ucb", "mar-ucb", "mediator-mar-ucb", "mar-thompson"])
def test_outcomes_of_any_size_can_be_scored(policy, high):
    setting = Setting(arms=2, mediators=2, low=-high, high=high)
    outcomes = high * np.array([0.1, 0.3, -0.2, 0.5, 0.0, 0.4, np.nan, 0.2])
    counts = Counts.fold(setting, [0, 1] * 4, [0, 0, 1, 1] * 2, outcomes)
    decider = Decider(policy, setting, horizon=100)
    scores = decider.scores(counts).values
    assert np.all(np.isfinite(scores))
    assert decider.allocation(counts).sum() == pytest.approx(1.0)
    usual = Setting(arms=2, mediators=2, low=-1.0, high=1.0)
    same = Counts.fold(usual, [0, 1] * 4, [0, 0, 1, 1] * 2, outcomes / high)
    np.testing.assert_allclose(
        scores / high, Decider(policy, usual, horizon=100).scores(same).values, rtol=1e-6
    )

"""The study of follow-ups: runs as `simulate` makes them, tables with follow-ups, and how both are judged."""

import numpy as np
import pytest
from research.validation import (
    follow_up_coverage,
    follow_up_deletions,
    follow_up_intervals,
    follow_up_regret,
    follow_up_semi_synthetic,
)
from research.validation.clustered import clustered_median, clustered_share
from research.validation.complete_data import NAMES, complete
from research.validation.follow_up_runs import Runs, Terms, as_runs, follow_up_runs

import truant
from truant.assumptions.follow_up import FollowedUp
from truant.lab.simulate import plan_of
from truant.policies import named


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """Everything in this process: starting others takes longer than the work."""
    for module in (follow_up_intervals, follow_up_deletions):
        monkeypatch.setattr(module, "each", lambda function, items: [function(item) for item in items])
    monkeypatch.setattr(
        "research.validation.follow_up_runs.each", lambda function, items: [function(item) for item in items]
    )


@pytest.mark.parametrize("policy", ["follow-up-ucb", "naive-ucb"])
def test_runs_are_those_of_simulate(policy):
    theirs = truant.simulate(
        "mnar-hidden", policy, horizon=600, runs=3, seed=5, follow_up_cost=0.2, follow_up_success=0.5, delay=7
    )
    ours = as_runs(follow_up_runs("mnar-hidden", policy, 600, 3, 5, list(Terms(0.2, 0.5, 7))))
    assert ours.total.tolist() == pytest.approx(theirs.total_cost[0, :, -1].tolist())
    assert ours.regret.tolist() == pytest.approx(theirs.final[0].tolist())
    assert ours.follow_ups.tolist() == theirs.follow_ups[0, :, -1].tolist()
    assert ours.best_share.tolist() == pytest.approx(theirs.best_arm_share[0].tolist())
    middle = np.searchsorted(theirs.rounds, 300)
    assert ours.first_half.tolist() == pytest.approx(theirs.regret[0, :, middle].tolist())
    ordered = np.sort(theirs.means, axis=1)
    assert ours.gap.tolist() == pytest.approx((ordered[:, -1] - ordered[:, -2]).tolist())


def test_a_cost_may_be_a_share_of_the_spread():
    world, policy = "lognormal", "follow-up-ucb"
    plain, scaled = (
        as_runs(follow_up_runs(world, policy, 300, 1, 1, list(Terms(0.1, of_spread=of))))
        for of in (False, True)
    )
    scale = plan_of(world, policy, 300, 1, {}).instance(0).setting.outcome_scale
    assert plain.cost[0] / plain.follow_ups[0] == pytest.approx(0.1)
    assert scaled.cost[0] / scaled.follow_ups[0] == pytest.approx(0.1 * scale)


def runs(regret, *, first=None, cost=0.0, share=1.0, gap=0.1):
    regret = np.asarray(regret, float)
    filled = [np.broadcast_to(np.asarray(one, float), regret.shape) for one in (cost, share, gap)]
    return Runs(
        regret if first is None else np.asarray(first, float), regret, 10 * filled[0], filled[0], *filled[1:]
    )


def test_a_run_is_wild_unless_the_best_arms_are_hard_to_tell_apart():
    found = runs([1, 1, 1, 60, 60], cost=[0, 0, 0, 0, 0], gap=[0.1, 0.1, 0.1, 0.1, 0.005])
    assert follow_up_regret.wild(found).tolist() == [False, False, False, True, False]
    assert not follow_up_regret.wild(runs([1, 1, 1, 40, 40])).any()
    assert follow_up_regret.wild(runs([1, 1, 1, 40], cost=[0, 0, 0, 20])).sum() == 1


def test_total_cost_is_judged_beside_naive():
    lost, learned = runs([100.0] * 4, first=[50.0] * 4), runs([100.0] * 4, first=[90.0] * 4)
    assert follow_up_regret.grows(lost)
    assert not follow_up_regret.grows(learned)
    ours = runs([20.0] * 4, cost=4.0)
    assert follow_up_regret.beside_naive(ours, lost)
    assert not follow_up_regret.beside_naive(runs([20.0] * 4, cost=6.0), lost)
    assert follow_up_regret.beside_naive(runs([190.0] * 4), learned)
    assert not follow_up_regret.beside_naive(runs([190.0] * 4, cost=11.0), learned)


def test_straight_runs_go_on_losing_far_from_the_best_arm():
    found = runs([100, 100, 100], first=[50, 90, 50], share=[0.1, 0.1, 0.9])
    assert follow_up_regret.straight(found).tolist() == [True, False, False]


def test_the_rule_is_compared_with_the_simple_one_in_the_same_runs():
    def found(shift):
        simple = runs([10.0, 20.0, 30.0])
        ours = runs(simple.regret + np.asarray(shift))
        return [
            follow_up_regret.Found(policy, Terms(1.0), one)
            for policy, one in ((follow_up_regret.VALUE, ours), (follow_up_regret.THRESHOLD, simple))
        ]

    assert follow_up_regret.pair_row("w", 1.0, found([1.0, 1.1, 1.2]))[-1] == "**no**"
    assert follow_up_regret.pair_row("w", 1.0, found([-1.0, 2.0, 0.0]))[-1] == "yes"


def test_every_world_has_policies_that_assume_something():
    for world, policies in follow_up_regret.OWN.items():
        assert truant.world(world, seed=1).setting.high - truant.world(world, seed=1).setting.low == 1
        assert all(named(policy) for policy in policies)


@pytest.mark.parametrize("name", ["mar-low", "mediator-and-outcome"])
def test_tables_have_the_follow_ups_that_were_asked_for(name):
    world = truant.world(name, seed=1)
    counts = follow_up_intervals.with_follow_ups(world, 2000, 50, 1.0, np.random.default_rng(1))
    assert counts.pulls.tolist() == [2000] * 10
    assert counts.follow_ups.tolist() == counts.answered.tolist() == [50] * 10
    failing = follow_up_intervals.with_follow_ups(world, 2000, 70, 0.7, np.random.default_rng(1))
    assert failing.follow_ups.tolist() == [100] * 10
    assert abs(failing.answered.mean() - 70) < 4 * (100 * 0.7 * 0.3 / 10) ** 0.5


def test_intervals_of_fixed_follow_ups_are_those_of_the_assumption():
    [arms] = follow_up_intervals.fixed_follow_ups("mnar-hidden", 500, 20, 0.7, 1, first=0)
    world = truant.world("mnar-hidden", seed=0)
    counts = follow_up_intervals.with_follow_ups(world, 500, 20, 0.7, np.random.default_rng([0, 500, 20]))
    for arm, (_, *held) in enumerate(arms):
        for failures, found in zip(("worst-case", "ignorable"), held, strict=True):
            low, high = FollowedUp(failures).estimate(counts, arm, world.setting).interval(0.95)
            assert found == (low <= world.means[arm] <= high)


def test_intervals_of_chosen_follow_ups_are_those_of_simulate():
    [run] = follow_up_intervals.chosen_follow_ups("mar-low:arms=2", "follow-up-ucb", 400, 1, 0.1, 3)
    result = truant.simulate(
        "mar-low:arms=2", "follow-up-ucb", horizon=400, runs=1, seed=3, follow_up_cost=0.1, intervals=True
    )
    best = int(np.argmax(result.means[0]))
    for which, arm in (("best", best), ("others", 1 - best)):
        [[_, calibrated, _, _]] = run[which]
        assert calibrated == (result.low[0, 0, arm] <= result.means[0, arm] <= result.high[0, 0, arm])


def test_coverage_is_judged_by_the_band_and_its_error():
    def held(share, of=1000):
        return [[i < share * of] for i in range(of)]

    mean, error = clustered_share(held(0.9))
    assert mean == pytest.approx(0.9)
    assert error == pytest.approx((0.09 / 1000) ** 0.5, rel=1e-3)
    assert clustered_share([[True, None], [False], []])[0] == 0.5
    assert follow_up_coverage.in_band(held(0.95))
    assert follow_up_coverage.in_band(held(0.91))
    assert not follow_up_coverage.in_band(held(0.89))
    assert not follow_up_coverage.in_band(held(1.0))
    assert follow_up_coverage.in_band(held(0.5, of=10))  # too few to say


def test_errors_of_coverage_allow_for_what_instances_share():
    rng = np.random.default_rng(4)
    shares = [clustered_share([[held] * 10 for held in rng.random(40) < 0.9]) for _ in range(300)]
    means, errors = np.array(shares).T
    assert errors.mean() == pytest.approx(means.std(), rel=0.12)  # three standard errors


def test_errors_of_medians_allow_for_what_runs_share():
    rng = np.random.default_rng(5)
    medians = [clustered_median([[x] * 10 for x in rng.normal(size=40)], "{:.2f}") for _ in range(300)]
    errors = [one.error for one in medians]
    assert np.mean(errors) == pytest.approx(np.std([one.value for one in medians]), rel=0.15)
    assert clustered_median([[1.0, 2.0], [], [3.0]], "{:.1f}") == "2.0"


@pytest.mark.parametrize("name", NAMES)
def test_mediator_and_outcome_decide_together_what_is_hidden(name):
    data = complete(name)
    chance = follow_up_deletions.chance_observed(data)
    outcome = np.searchsorted(data.points, data.outcomes) if data.points else data.outcomes
    wrong = follow_up_deletions.decoy(data)
    assert wrong != data.best
    for arm in range(len(data.labels.arms)):
        own = data.arms == arm
        for cause in (data.mediators[own], outcome[own]):  # neither decides alone
            assert any(np.ptp(chance[own][cause == value]) > 0 for value in np.unique(cause))
    weighted = np.bincount(data.arms, chance * data.outcomes) / np.bincount(data.arms, chance)
    preferred = np.argmin(weighted) if data.minimize else np.argmax(weighted)  # by dropping rows
    assert preferred == wrong


@pytest.mark.parametrize("name", ["colon", "ACTG175"])
def test_the_analysis_with_follow_ups_is_that_of_the_rows(name):
    data = complete(name)
    rng = np.random.default_rng(1)
    missing = rng.random(len(data.arms)) >= follow_up_deletions.chance_observed(data)
    asked = missing & (rng.random(len(data.arms)) < 0.3)
    outcomes = np.where(missing & ~asked, np.nan, data.outcomes)
    own = follow_up_deletions.analysed(data, data.arms, data.mediators, outcomes, asked)
    table = {"arm": data.arms, "m": data.mediators, "y": outcomes, "asked": asked.astype(int)}
    whole = truant.analyze(
        table,
        arm="arm",
        mediator="m",
        outcome="y",
        followed_up="asked",
        assume=own.assumptions,
        minimize=data.minimize,
        **({"cut_outcome": data.points} if data.points else {}),
    )
    assert own.assumptions == whole.assumptions == [*follow_up_deletions.ASSUMPTIONS, "follow-up"]
    assert own.verdict.kind == whole.verdict.kind
    for mine, theirs in zip(own.arms, whole.arms, strict=True):
        assert mine.follow_ups == theirs.follow_ups
        for assumption in own.assumptions:
            limits = [
                (found.mean, found.low, found.high)
                for found in (mine.estimates[assumption], theirs.estimates[assumption])
            ]
            assert limits[0] == pytest.approx(limits[1], rel=1e-6)


def test_only_follow_ups_are_judged_and_wrong_winners_must_be_rare():
    def tables(clear_and_wrong, held):
        answer = {"clear": True, "right": True, "contradicted": False, "held": [held] * 3}
        wrong = answer | {"right": False}
        return [
            {
                "50": {
                    "answers": {"mar": wrong, "follow-up": wrong if i < clear_and_wrong else answer},
                    "kind": "clear",
                    "right": i >= clear_and_wrong,
                }
            }
            for i in range(100)
        ]

    section = follow_up_semi_synthetic
    assert section.row("colon", "mar", 50, tables(0, True))[-1] == "-"
    assert section.verdict_row("colon", 50, tables(0, True))[-3:] == ["0.00 ± 0.00", "0.00 ± 0.00", "yes"]
    assert section.verdict_row("colon", 50, tables(11, True))[-1] == "yes"
    assert section.verdict_row("colon", 50, tables(12, True))[-1] == "**no**"
    assert section.row("colon", "follow-up", 50, tables(0, False))[-1] == "**no**"
    assert section.row("colon", "mnar", 50, tables(0, True))[-1] == "-"
    assert section.numbers("colon", 50) == "50"
    assert section.numbers("colon", 200) == "200 (179 on average)"
    assert section.near_nominal(0.95, 0.01, 1000)
    assert not section.near_nominal(0.88, 0.01, 1000)
    assert section.near_nominal(1.0, 0.0, 100)
    assert not section.near_nominal(1.0, 0.0, 2000)

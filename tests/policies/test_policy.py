"""Policies by name: every pair of an assumption and an index, and the named ones; parameters find their owner."""

from __future__ import annotations

import numpy as np
import pytest

from truant import registry
from truant.assumptions import Assumption, Curve
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.indices.greedy import EpsilonGreedy
from truant.indices.index import Index
from truant.indices.thompson import Thompson
from truant.indices.ucb import Ucb
from truant.lab.simulate import simulate
from truant.policies import Policy, named, policy_names
from truant.policies.policy import combine
from truant.setting import Setting
from truant.worlds import make

SQUARE = Setting(
    arms=2,
    mediators=3,
    levels=(0.0, 0.5, 1.0),
    mediator_probabilities=np.full((2, 3), 1 / 3),
    condition_numbers=[4.0, 5.0],
)


# Names


def test_every_pair_has_a_name_and_names_are_unique():
    names = policy_names()
    pairs = [f"{a}-{i}" for a in registry.names("assumption") for i in registry.names("index")]
    assert names[: len(pairs)] == pairs
    assert set(registry.names("policy")) <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", policy_names())
def test_every_name_builds_a_policy_that_can_start(name):
    policy = named(name)
    assert isinstance(policy, Policy)
    assert policy.name == name
    assert policy.summary
    assert isinstance(policy.index, Index)
    assert isinstance(policy.assumption, Assumption)
    curve = policy.curve(SQUARE, 1000)
    assert isinstance(curve, Curve)
    assert curve.parameters.shape[0] == SQUARE.arms
    assert np.all(np.isfinite(curve.parameters))
    assert curve.first_pulls >= 1
    z_grid = policy.index.z_grid(curve.linear)
    assert np.all(np.diff(z_grid) > 0)
    assert curve.memory(len(z_grid)) >= 0


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("mar-ucb", Ucb()),
        ("mar-known-ucb", Ucb()),
        ("mediator-mar-thompson", Thompson()),
        ("mar-greedy", EpsilonGreedy(0.0)),
        ("mar-epsilon-greedy", EpsilonGreedy(0.1)),  # not the assumption "mar-epsilon"
        ("mar-uniform", EpsilonGreedy(1.0)),
        ("naive-ucb", Ucb(level=2.0)),
        ("paper-mar", Ucb(level=2.0)),
        ("oracle-ucb", Ucb()),
    ],
)
def test_a_name_is_split_where_assumption_and_index_meet(name, index):
    assert named(name).index == index


def test_first_pulls_of_each_kind_of_policy():
    for assumption in ("mnar", "mediator-mnar", "both-mnar"):
        assert named(f"{assumption}-ucb").curve(SQUARE, 1000).first_pulls == 10
    for name in ("mcar-ucb", "mar-ucb", "mar-known-ucb", "mediator-mar-thompson", "oracle-thompson"):
        assert named(name).curve(SQUARE, 1000).first_pulls == 2  # a variance needs two outcomes
    for name in ("naive-ucb", "zero-ucb"):
        assert named(name).curve(SQUARE, 1000).first_pulls == 1


@pytest.mark.parametrize(
    "name", ["mcar-ucb", "mar-ucb", "mar-known-ucb", "mar-thompson", "mnar-ucb", "paper-mar", "oracle-ucb"]
)
def test_first_pulls_can_be_set_for_every_policy(name):
    plain, more = named(name), named(f"{name}:first_pulls=7")
    usual, curve = plain.curve(SQUARE, 1000), more.curve(SQUARE, 1000)
    assert curve.first_pulls == 7 != usual.first_pulls
    assert (curve.score_arm, curve.growth, more.index, more.name) == (
        usual.score_arm,
        usual.growth,
        plain.index,
        f"{name}:first_pulls=7",
    )
    np.testing.assert_array_equal(curve.parameters, usual.parameters)
    world = make("mnar", seed=1, arms=3, K=3, L=3)
    result = simulate(world, more, horizon=21, runs=1, seed=2, progress=False)
    assert result.pulls.tolist() == [[[7, 7, 7]]]


# Parameters


def test_each_parameter_goes_to_its_owner():
    policy = named("mar-ucb:level=cautious,kappa=2,horizon=unknown")
    assert policy.index == Ucb(level="cautious", horizon="unknown")
    assert policy.assumption.kappa == 2
    assert policy.name == "mar-ucb:level=cautious,kappa=2,horizon=unknown"
    plain = named("mar-ucb").curve(SQUARE, 100).parameters
    assert np.sum(policy.curve(SQUARE, 100).parameters != plain) == SQUARE.arms  # kappa, once for each arm


def test_words_of_python_and_json_are_both_understood():
    narrow = Setting(arms=2, mediators=2, levels=(0.0, 0.5, 1.0))
    for word in ("True", "true"):
        named(f"mnar-ucb:allow_unidentified={word}").curve(narrow, 100)
    for word in ("False", "false"):
        with pytest.raises(NotIdentified, match="got K=2 < L=3"):
            named(f"mnar-ucb:allow_unidentified={word}").curve(narrow, 100)


def test_alpha_sets_the_width_of_the_papers_policies():
    for alpha in (1, 4):
        policy, z_grid = named(f"paper-mar:alpha={alpha}"), np.zeros(1)
        policy.index.aim.py_func(0.0, np.log(1000), policy.index.parameters(), z_grid)
        assert z_grid[0] == pytest.approx(np.sqrt(alpha * np.log(1000)))
        assert policy.curve(SQUARE, 1000).known.py_func(None, None, None) == 0  # whatever has been seen


# What is refused


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("mar-ubc", "mar-ucb"),
        ("mnr-ucb", "mnar-ucb"),
        ("mar_ucb", "mar-ucb"),
        ("paper-mnar-litteral", "paper-mnar-literal"),
        ("oracel-ucb", "oracle-ucb"),
    ],
)
def test_an_unknown_policy_is_refused_with_the_nearest_name(wrong, right):
    with pytest.raises(UnknownName) as refusal:
        named(wrong)
    assert (
        str(refusal.value)
        == f"Unknown policy {wrong!r}; did you mean {right!r}? `truant policies` lists all."
    )


@pytest.mark.parametrize("name", ["", "ucb", "mar", "-ucb", "mar-", "mar--ucb", "zzzz"])
def test_half_a_name_is_no_name(name):
    with pytest.raises(UnknownName, match=f"^Unknown policy {name!r}"):
        named(name)


def test_an_unknown_parameter_is_refused_with_those_of_both_owners():
    with pytest.raises(UnknownName) as refusal:
        named("mcar-ucb:levle=2")
    assert str(refusal.value) == (
        "Unknown parameter of 'mcar-ucb:levle=2': 'levle'; did you mean 'level'? Known: "
        "budget, first_pulls, follow_up, horizon, kappa, level."
    )
    with pytest.raises(UnknownName, match="'first_pull'; did you mean 'first_pulls'"):
        named("mar-ucb:first_pull=3")
    with pytest.raises(UnknownName, match="Unknown parameter of policy 'paper-mar': 'kappa'"):
        named("paper-mar:kappa=2")
    with pytest.raises(UnknownName, match="Unknown parameter of 'mcar-greedy:epsilon=1': 'epsilon'"):
        named("mcar-greedy:epsilon=1")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("mar-ucb:level=0", "level must be a positive number, 'plain' or 'cautious', got 0."),
        ("mar-ucb:level=-2", "level must be a positive number, 'plain' or 'cautious', got -2."),
        ("mar-ucb:level=nan", "level must be a positive number, 'plain' or 'cautious', got nan."),
        ("mar-ucb:level=NaN", "level must be a positive number, 'plain' or 'cautious', got nan."),
        ("mar-ucb:level=null", "level must be a positive number, 'plain' or 'cautious', got None."),
        ("mar-ucb:level=1,2", "level must be a positive number, 'plain' or 'cautious', got (1, 2)."),
        ("mar-ucb:horizon=forever", "horizon must be 'known' or 'unknown', got 'forever'."),
        ("mar-epsilon-greedy:epsilon=nan", "epsilon must be in [0, 1], got nan."),
        ("mar-epsilon-greedy:epsilon=2", "epsilon must be in [0, 1], got 2."),
        ("mar-epsilon-greedy:epsilon=some", "epsilon must be in [0, 1], got some."),
        ("paper-mcar:alpha=nan", "alpha must be a positive number, got nan."),
        ("mar-ucb:first_pulls=0", "first_pulls must be a whole number of at least 1, got 0."),
        ("mnar-ucb:first_pulls=2.5", "first_pulls must be a whole number of at least 1, got 2.5."),
        ("paper-mar:first_pulls=many", "first_pulls must be a whole number, got 'many'."),
        ("mar-ucb:level", "Parameters are written key=value, got 'level'."),
    ],
)
def test_a_value_that_cannot_be_is_refused(spec, sentence):
    with pytest.raises(InvalidValue) as refusal:
        named(spec)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("name", ["mcar-ucb", "mar-ucb", "mar-known-ucb", "mediator-mar-ucb"])
def test_kappa_that_cannot_be_is_refused_before_the_first_pull(name):
    for kappa in ("nan", "-1", "inf", "some"):
        with pytest.raises(InvalidValue, match="kappa"):
            named(f"{name}:kappa={kappa}").curve(SQUARE, 100)


@pytest.mark.parametrize("name", ["mnar-ucb", "mediator-mnar-ucb", "both-mnar-ucb"])
def test_growth_that_cannot_be_is_refused_before_the_first_pull(name):
    for growth in ("nan", "-1", "inf", "some"):
        with pytest.raises(InvalidValue, match="growth"):
            named(f"{name}:growth={growth}").curve(SQUARE, 100)


# Combining by hand


def test_a_combined_policy_checks_the_setting_and_estimates_by_its_assumption():
    assumption = registry.find("assumption", "mnar").build()
    policy = combine(assumption, Thompson(), "mine", "my own")
    assert (policy.name, policy.summary, policy.assumption, policy.reveals) == (
        "mine",
        "my own",
        assumption,
        False,
    )
    with pytest.raises(NotIdentified, match="discrete"):
        policy.curve(Setting(arms=2, mediators=3), 100)


def test_a_policy_without_an_assumption_has_no_estimate():
    policy = Policy("bare", Thompson(), lambda setting, horizon: named("mcar-ucb").curve(setting, horizon))
    with pytest.raises(NotIdentified, match=r"^Policy 'bare' has no estimate of its own to report\.$"):
        policy.estimate(Counts.empty(SQUARE), 0, SQUARE)

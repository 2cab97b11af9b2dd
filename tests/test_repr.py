"""What a REPL shows: a line or a few that say what a thing is, never pages of numbers."""

import re

import numpy as np
import pytest

import truant
from truant import registry
from truant.worlds import DiscreteWorld, RealWorld

SETTING = truant.Setting(arms=2)
ROWS = {"g": ["a", "b"] * 20, "y": [1.0, 2.0, 3.0, None] * 10, "day": ["x", "x", "y", "y"] * 10}


def experiment():
    clock = truant.ManualClock("2026-01-01")
    return truant.Experiment.create(
        "mails", ["a", "b"], levels=[0, 1], assume="mcar", window="1d", clock=clock, store="sqlite://"
    )


MADE = {
    "RealWorld": lambda: truant.world("mar"),
    "DiscreteWorld": lambda: truant.world("mnar"),
    "Setting": lambda: truant.world("mnar").setting,
    "Policy": lambda: truant.policy("mar-ucb"),
    "Decider": lambda: truant.Decider("mcar-ucb", SETTING),
    "Counts": lambda: truant.Counts.fold(SETTING, [0, 1], [0, 0], [1, np.nan]),
    "ManualClock": lambda: truant.ManualClock("2026-01-01"),
    "analysis": lambda: truant.analyze(ROWS, arm="g", outcome="y"),
    "plan": lambda: truant.plan(ROWS, arm="g", outcome="y"),
    "Simulation": lambda: truant.simulate("mcar", "mcar-ucb", horizon=20, runs=2, progress=False),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_few_lines_say_what_it_is(kind):
    shown = repr(MADE[kind]())
    assert kind in shown
    assert len(shown) < 700
    assert shown.count("\n") <= 3
    assert not re.search(r"0x[0-9a-f]{6}|array\(", shown)


@pytest.mark.parametrize("name", [name for name in registry.built_in_names("world") if name != "table"])
def test_worlds_say_arms_levels_missingness_and_the_best_arm(name):
    world = truant.world(name, seed=3)
    shown = repr(world)
    assert f"{world.setting.arms} arms, " in shown
    assert "observed" in shown
    best = np.flatnonzero(world.best)
    if len(best) == 1 and not world.arm_names:
        assert f"best arm {best[0]}, mean {world.means[best[0]]:.4g}>" in shown


@pytest.mark.parametrize("name", ["mar", "mnar", "mediator-mar", "both-mnar", "jackpots"])
def test_the_share_of_observed_outcomes_is_that_of_pulls(name):
    world = truant.world(name, seed=1)
    for arm in (0, 4):
        _, outcomes = world.pulls(np.full(20_000, arm), seed=2)
        assert np.mean(~np.isnan(outcomes)) == pytest.approx(world.observed_shares[arm], abs=0.015)


def test_a_world_of_own_arrays():
    world = RealWorld([[1.0], [1.0]], [[0.2], [0.8]], 0.5)
    assert repr(world) == (
        "<RealWorld 'own arrays': 2 arms, 1 mediator level, real outcomes, 50% of outcomes observed; "
        "best arm 1, mean 0.8>"
    )
    least = world.minimizing()
    assert repr(least).endswith("best arm 0, mean 0.2 (lower is better)>")
    equal = DiscreteWorld([[[0.5, 0.5]], [[0.5, 0.5]]])
    assert repr(equal).endswith("2 outcome levels, 100% of outcomes observed; all means 0.5>")


def test_a_setting_shows_what_was_set():
    assert repr(SETTING) == "Setting(arms=2)"
    assert repr(truant.Setting(arms=3, levels=(0, 1), minimize=True)) == (
        "Setting(arms=3, levels=(0.0, 1.0), minimize=True)"
    )
    known = truant.Setting(arms=2, mediators=2, high=5.0, mediator_probabilities=np.full((2, 2), 0.5))
    assert repr(known) == "Setting(arms=2, mediators=2, high=5.0, mediator_probabilities=<array 2 x 2>)"


def test_counts_are_counted():
    counts = truant.Counts.fold(SETTING, [0, 0, 1], [0, 0, 0], [1, np.nan, 0])
    assert repr(counts) == "<Counts: 2 arms, 1 mediator level, 3 pulls, 2 observed>"


def test_live_results():
    running = experiment()
    running.ask()
    assert repr(running.status()).startswith(
        "<Status of 'mails' (running): 1 decision, 1 pending, 0 observed; "
    )
    assert "\n" not in repr(running.status())
    assert repr(running) == "<Experiment 'mails': running, mcar-ucb, arms a, b>"


def test_a_rehearsal_has_real_lines():
    found = truant.rehearse("mar:arms=2", windows=["1d"], rate="20/d", days=3, runs=2, workers=1)
    assert "\\n" not in repr(found)
    assert repr(found).count("\n") >= 3


def test_an_analysis_by_groups():
    found = truant.analyze(
        ROWS | {"y": [1.0, 2.0, 3.0, None, 2.0, 1.0, 3.0, 0.0] * 5}, arm="g", outcome="y", by="day"
    )
    assert repr(found) == "<analysis of 40 rows by 'day': 2 groups>"


def test_a_simulation_is_printed_as_the_command_shows_it():
    text = str(truant.simulate("mar", ["naive-ucb", "mar-ucb"], horizon=50, runs=2))
    assert text.startswith("World mar  50 rounds, 2 runs\n")
    assert "best arm: share of rounds with the best arm" in text
    assert "regret_mean" not in text

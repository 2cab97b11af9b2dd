from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import truant
from truant import checks, registry
from truant.assumptions import Assumption, ChiSquare, Concern, Curve, Estimate, NoTest, Reading
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.checks import ContractBroken
from truant.checks.modelling import _check_curve_finds_the_truth
from truant.compile import hot
from truant.errors import NotSatisfied
from truant.indices import Index
from truant.policies import named, policy_names
from truant.spec import Spec
from truant.worlds import make

VISITS = str(Path(__file__).parents[1] / "examples" / "visits.csv")
NEEDED = {"table": {"data": VISITS, "arm": "mail", "mediator": "opened", "outcome": "spent"}}

# a world that meets each assumption, with an identifiable table where that matters
MEETS = {
    "mcar": "mcar",
    "mar": "mar",
    "mar-known": "mar",
    "mnar": "mnar-clear",
    "mediator-mar": "mediator-mar",
    "mediator-mnar": "mediator-mnar-clear",
    "both-mnar": "both-mnar",
    "follow-up": "mediator-and-outcome",
}


@pytest.mark.parametrize("name", registry.built_in_names("world"))
def test_worlds(name):
    checks.check_world(make(name, seed=1, **NEEDED.get(name, {})))


@pytest.mark.parametrize("name", registry.names("assumption"))
def test_assumptions(name):
    size = {"K": 3, "L": 3} if name.endswith("mnar") else {}
    world = make(MEETS[name], seed=2, arms=3, **size)
    checks.check_assumption(registry.find("assumption", name).build(), world)


@pytest.mark.parametrize("name", registry.names("index"))
def test_indices(name):
    checks.check_index(registry.find("index", name).build())


@pytest.mark.parametrize("name", ["ucb:horizon=unknown", "ucb:level=cautious", "epsilon-greedy:epsilon=1"])
def test_indices_with_parameters(name):
    spec = Spec.parse(name)
    checks.check_index(registry.find("index", spec.name).build(**spec.parameters))


@pytest.mark.parametrize("name", policy_names())
def test_policies(name):
    checks.check_policy(named(name), make("both-mnar", seed=1))


def test_a_world_whose_follow_ups_find_other_outcomes_is_caught():
    world = make("mnar-hidden", seed=1)
    world.draw_missing = lambda rng, arm, mediator, tables: 0
    with pytest.raises(ContractBroken, match="seen or found by draw_missing"):
        checks.check_world(world)


def test_a_world_with_wrong_means_is_caught():
    world = make("mar", seed=1)
    world.means = world.means + 0.1
    with pytest.raises(ContractBroken, match="standard errors off its mean"):
        checks.check_world(world)


class Biased(Assumption):
    """Adds a tenth to everything."""

    needs = "nothing"

    def check(self, setting):
        pass

    def curve(self, setting):
        return Curve(score_arm=fill_nan, parameters=per_arm(setting, 0.0))

    def estimate(self, counts, arm, setting):
        honest = Mar().estimate(counts, arm, setting)
        return Estimate(honest.mean + self.bias, lambda z: honest.at(z) + self.bias)

    bias = 0.1


class NotANumber(Biased):
    """Estimates well and fills badly."""

    bias = 0.0


@hot
def fill_nan(row, memory, shared, parameters, z_grid, values):
    values[:] = np.nan


def test_a_biased_assumption_is_caught():
    with pytest.raises(ContractBroken, match="standard errors off the truth"):
        checks.check_assumption(Biased(), make("mar", seed=1))
    with pytest.raises(ContractBroken, match="must not write NaN"):
        checks.check_assumption(NotANumber(), make("mar", seed=1))


def altered(name, value):
    """`mar` with one method that gives something else."""
    return type("Altered", (Mar,), {name: lambda self, *arguments: value})()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("tests", [ChiSquare("Is it?", float("nan"), 1)], "a statistic must be finite and not negative"),
        ("tests", [ChiSquare("Is it?", 1.0, -1)], "degrees of freedom must not be negative, got -1"),
        ("tests", [NoTest("")], "NoTest must say why"),
        ("concerns", [Concern("", "Beware.")], "a concern must have a code and a text"),
        ("read", Reading(Estimate.normal(0.0, 1.0)), "read must have the estimate that `estimate` gives"),
        ("efficient_variance", -1.0, "an efficient variance must be finite and not negative, got -1"),
    ],
)
def test_what_an_assumption_says_of_itself_is_checked(name, value, sentence):
    with pytest.raises(ContractBroken, match=sentence):
        checks.check_assumption(altered(name, value), make("mar", seed=1, arms=2))


def test_an_efficient_variance_must_be_had_where_the_assumption_is_met():
    class Stricter(Mar):
        def efficient_variance(self, tables):
            raise NotSatisfied("nothing will do.")

    with pytest.raises(ContractBroken, match=r"efficient_variance must accept a world .* nothing will do\."):
        checks.check_assumption(Stricter(), make("mar", seed=1, arms=2))


@hot
def choose_beyond(values, z_grid, parameters, memory, t, rng):
    return values.shape[0]


class Beyond(Index):
    """Chooses an arm that is not there."""

    choose = staticmethod(choose_beyond)

    def z_grid(self, linear):
        return np.zeros(1)


def test_an_index_that_leaves_the_arms_is_caught():
    with pytest.raises(ContractBroken, match="must be an arm from 0 to 39, got 40"):
        checks.check_index(Beyond())


@hot
def choose_first(values, z_grid, parameters, memory, t, rng):
    return 0


@hot
def half_of_it(values, z_grid, parameters, t, out):
    out[:] = 0.5 / len(out)


@hot
def too_much(values, z_grid, parameters, t, out):
    out[:] = 0.0
    out[0] = 2.0


@hot
def all_alike(values, z_grid, parameters, t, out):
    out[:] = 1.0 / len(out)


@hot
def the_first(values, z_grid, parameters, t, out):
    out[:] = 0.0
    out[0] = 1.0


class First(Beyond):
    """Always the first arm, and says nothing of its probabilities."""

    choose = staticmethod(choose_first)


def test_an_index_need_not_state_its_probabilities():
    checks.check_index(First())


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        (half_of_it, r"^probabilities must sum to 1, got 0\.5\.$"),
        (too_much, r"^probabilities must be in \[0, 1\], got \[2\. "),
        (all_alike, r"^choose must take arms as often as probabilities says, got \[1\. "),
        (the_first, None),
    ],
)
def test_probabilities_must_be_those_of_the_choices(stated, sentence):
    broken = type("Stated", (First,), {"probabilities": staticmethod(stated)})()
    if sentence is None:
        checks.check_index(broken)
    else:
        with pytest.raises(ContractBroken, match=sentence):
            checks.check_index(broken)


def test_frequencies_that_differ_a_little_are_noticed():
    """Of 100,000 choices, 1 in 100 too many is 4.5 standard errors for an arm with probability 1/6."""
    chosen = np.array([16_667, 16_667, 33_333, 33_333])
    said = chosen / chosen.sum()
    assert checks.agreement(chosen, said) > 0.99
    assert checks.agreement(chosen + np.array([1000, -1000, 0, 0]), said) < 1e-6
    assert checks.agreement(np.array([99_990, 10]), np.array([1.0, 0.0])) < 1e-6  # what cannot happen did
    assert checks.agreement(np.array([100_000, 0]), np.array([1.0, 0.0])) == 1.0


def test_a_curve_that_misses_the_truth_is_found_out():
    world = truant.world("mar", seed=2)
    sound = Mar().curve(world.setting)
    shifted = replace(sound, parameters=sound.parameters + np.eye(1, sound.parameters.shape[1]) * 10.0)
    counts = pulled(world)
    _check_curve_finds_the_truth(sound, counts, world)
    with pytest.raises(checks.ContractBroken, match="between at"):
        _check_curve_finds_the_truth(shifted, counts, world)


def pulled(world):
    arms = np.repeat(np.arange(world.setting.arms), 2000)
    return truant.Counts.fold(world.setting, arms, *world.pulls(arms, seed=3))


def test_a_curve_must_say_how_much_its_arms_contribute():
    sound = Mar().curve(truant.world("mar", seed=2).setting)
    with pytest.raises(truant.TruantError, match="pooled"):
        replace(sound, pooled=0)

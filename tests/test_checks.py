from pathlib import Path

import numpy as np
import pytest

from truant import checks, registry
from truant.assumptions import Assumption, Curve, Estimate
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.checks import ContractBroken
from truant.compile import hot
from truant.indices import Index
from truant.policies import named, policy_names
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
}


@pytest.mark.parametrize("name", registry.names("world"))
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
    name, parameters = registry.parse(name)
    checks.check_index(registry.find("index", name).build(**parameters))


@pytest.mark.parametrize("name", policy_names())
def test_policies(name):
    checks.check_policy(named(name), make("both-mnar", seed=1))


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
        return Curve(fill=fill_nan, parameters=per_arm(setting, 0.0))

    def estimate(self, counts, arm, setting):
        honest = Mar().estimate(counts, arm, setting)
        return Estimate(honest.mean + self.bias, lambda z: honest.at(z) + self.bias)

    bias = 0.1


class NotANumber(Biased):
    """Estimates well and fills badly."""

    bias = 0.0


@hot
def fill_nan(row, memory, shared, parameters, knots, values):
    values[:] = np.nan


def test_a_biased_assumption_is_caught():
    with pytest.raises(ContractBroken, match="standard errors off the truth"):
        checks.check_assumption(Biased(), make("mar", seed=1))
    with pytest.raises(ContractBroken, match="must not write NaN"):
        checks.check_assumption(NotANumber(), make("mar", seed=1))


@hot
def choose_beyond(values, knots, parameters, memory, last, t, rng):
    return values.shape[0]


class Beyond(Index):
    """Chooses an arm that is not there."""

    choose = staticmethod(choose_beyond)

    def knots(self, horizon, linear):
        return np.zeros(1)


def test_an_index_that_leaves_the_arms_is_caught():
    with pytest.raises(ContractBroken, match="must be an arm from 0 to 3, got 4"):
        checks.check_index(Beyond())

"""Parts are found by name: built-in ones, and those of another package through real entry points."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

from truant import registry
from truant.cli.listings import PLURALS
from truant.errors import TruantError, UnknownName
from truant.lab.simulate import simulate
from truant.policies import named, policy_names
from truant.worlds import make

# Finding


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        ("assumption", {"mcar", "mar", "mnar", "mediator-mar", "mediator-mnar", "both-mnar", "mar-known"}),
        ("index", {"ucb", "thompson", "greedy", "epsilon-greedy", "uniform"}),
        ("world", {"mcar", "mar", "mar-low", "confounded", "mnar", "mnar-hidden", "mediator-mnar"}),
        ("policy", {"naive-ucb", "zero-ucb", "oracle-ucb", "oracle-thompson", "paper-mnar-literal"}),
    ],
)
def test_every_room_has_its_parts_and_each_says_what_it_is(kind, some):
    names = registry.names(kind)
    assert some <= set(names)
    assert len(set(names)) == len(names)
    for name in names:
        part = registry.find(kind, name)
        assert (part.kind, part.name) == (kind, name)
        assert part.summary, name
        assert part.summary.endswith((".", ":")) or len(part.summary) > 20, name


def test_parameters_with_their_defaults():
    assert registry.find("world", "mcar").parameters == {"arms": 10, "gamma": (0.5, 1.0), "sd": 1.0}
    assert registry.find("index", "ucb").parameters == {"level": "plain", "horizon": "known"}
    assert registry.find("index", "greedy").parameters == {}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("assumption", "mnr", "mnar"),
        ("assumption", "mediator_mar", "mediator-mar"),
        ("index", "tompson", "thompson"),
        ("world", "confunded", "confounded"),
        ("policy", "papermar", "paper-mar"),
    ],
)
def test_did_you_mean(kind, wrong, right):
    with pytest.raises(UnknownName) as refusal:
        registry.find(kind, wrong)
    sentence = str(refusal.value)
    start = f"Unknown {kind} {wrong!r}; did you mean {right!r}?"
    if len(registry.names(kind)) > 12:
        assert sentence == f"{start} `truant {PLURALS[kind]}` lists all."
    else:
        assert sentence == f"{start} Known: {', '.join(sorted(registry.names(kind)))}."
    assert isinstance(refusal.value, TruantError)
    assert isinstance(refusal.value, LookupError)


def test_no_guess_where_nothing_is_near():
    with pytest.raises(
        UnknownName, match=r"^Unknown index 'zzzzzz'\. Known: cautious, epsilon-greedy, greedy, "
    ):
        registry.find("index", "zzzzzz")


def test_an_unknown_parameter_is_named_with_the_nearest():
    with pytest.raises(UnknownName) as refusal:
        registry.find("world", "mcar").build(np.random.default_rng(0), gama=0.5)
    assert str(refusal.value) == (
        "Unknown parameter of world 'mcar': 'gama'; did you mean 'gamma'? Known: arms, gamma, sd."
    )


# Another package


OUTSIDE = '''
"""What somebody else wrote: a world, an assumption and an index."""

from dataclasses import dataclass

import numpy as np

from truant.assumptions import Assumption, Curve, Estimate
from truant.compile import hot, jit
from truant.errors import NotIdentified
from truant.indices import Index
from truant.policies import Policy
from truant.setting import Setting
from truant.worlds import World


class Ladder(World):
    """Arm a always pays (a + 1)/arms, and hides it with a given probability."""

    def __init__(self, arms, hidden):
        self.hidden = hidden
        self.means = np.arange(1.0, arms + 1) / arms
        self.setting = Setting(arms=arms)
        self.draw = draw
        self.tables = (self.means, np.array([hidden]))

    def revealed(self):
        return Ladder(len(self.means), 0.0)


@hot
def is_hidden(rng, chance):
    return rng.random() < chance


@hot
def draw(rng, arm, tables):
    means, hidden = tables
    outcome = means[arm]
    if is_hidden(rng, hidden[0]):
        outcome = np.nan
    return 0, outcome


def ladder(rng, *, arms=4, hidden=0.0):
    """A ladder of payments."""
    return Ladder(arms, hidden)


@dataclass(frozen=True)
class Hopeful(Assumption):
    """Missing outcomes would have been the best."""

    bonus: float = 1.0

    def check(self, setting):
        pass

    def curve(self, setting):
        parameters = np.tile([setting.centre, setting.high, float(self.bonus)], (setting.arms, 1))
        return Curve(score_arm=score_arm, parameters=parameters, memory=lambda z_grid: 1, scratch=1)

    def estimate(self, counts, arm, setting):
        pulls, n, total, _, _ = counts.table[arm].sum(axis=0)
        if pulls == 0:
            raise NotIdentified("{arm} has no pulls.", arm=arm)
        mean = (n * counts.centre + total + (pulls - n) * setting.high) / pulls
        return Estimate.normal(mean, 1 / pulls)


@jit
def score_arm(row, memory, shared, parameters, z_grid, values):
    pulls = row[:, 0].sum()
    seen = row[:, 1].sum()
    mean = (seen * parameters[0] + row[:, 2].sum() + (pulls - seen) * parameters[1]) / pulls
    for k in range(len(z_grid)):
        values[k] = mean + parameters[2] * z_grid[k] / np.sqrt(pulls)
    memory[0] += 1
    shared[0] += 1


@dataclass(frozen=True)
class Lowest(Index):
    """The arm `above` places over the lowest."""

    above: int = 0

    def memory(self, arms):
        return 1

    def z_grid(self, linear):
        return np.zeros(1)

    def parameters(self):
        return np.array([float(self.above)])


@hot
def choose(values, z_grid, parameters, memory, t, rng):
    memory[0] += 1
    lowest = 0
    for a in range(values.shape[0]):
        if values[a, 0] < values[lowest, 0]:
            lowest = a
    return (lowest + int(parameters[0])) % values.shape[0]


Lowest.choose = staticmethod(choose)


def outside_policy(above: int = 0):
    """Hopeful with Lowest, under a name of its own."""
    hopeful = Hopeful()
    return Policy("", Lowest(above), lambda setting, horizon: hopeful.curve(setting), hopeful)
'''

ENTRY_POINTS = """
[truant.worlds]
ladder = truant_outside:ladder
mar = truant_outside:ladder

[truant.assumptions]
hopeful = truant_outside:Hopeful

[truant.indices]
lowest = truant_outside:Lowest

[truant.policies]
outside-policy = truant_outside:outside_policy
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A package as pip leaves it: a module, and its metadata beside it."""
    (tmp_path / "truant_outside.py").write_text(textwrap.dedent(OUTSIDE), encoding="utf-8")
    about = tmp_path / "truant_outside-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: truant-outside\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("truant_outside", None)


def test_without_the_package_its_names_are_unknown():
    with pytest.raises(UnknownName, match="Unknown world 'ladder'"):
        registry.find("world", "ladder")
    assert "hopeful-lowest" not in policy_names()


@pytest.mark.usefixtures("outside")
def test_names_of_another_package_are_listed_after_the_built_in_ones():
    for kind, name in [
        ("world", "ladder"),
        ("assumption", "hopeful"),
        ("index", "lowest"),
        ("policy", "outside-policy"),
    ]:
        assert name in registry.names(kind)[len(registry.built_in_names(kind)) :]
        assert len(set(registry.names(kind))) == len(registry.names(kind))
        assert "truant_outside" not in sys.modules  # a list needs no import
    assert {"hopeful-lowest", "hopeful-ucb", "mcar-lowest", "outside-policy"} <= set(policy_names())
    with pytest.raises(UnknownName, match="did you mean 'hopeful-lowest'"):
        named("hopeful-lowst")
    assert registry.find("index", "lowest").parameters == {"above": 0}
    assert registry.find("assumption", "hopeful").summary == "Missing outcomes would have been the best."


@pytest.mark.usefixtures("outside")
def test_a_built_in_name_cannot_be_taken():
    assert registry.find("world", "mar").factory.__module__ == "truant.worlds.mar"


@pytest.mark.usefixtures("outside")
def test_parts_of_another_package_run_through_simulate():
    """Nothing hidden: after one pull of each arm the lowest (plus 1) is pulled for ever, to the last pull."""
    T, arms = 200, 5
    policies = ["hopeful-lowest", "hopeful-lowest:above=1", "outside-policy:above=2"]
    result = simulate("ladder:arms=5", policies, horizon=T, runs=2, seed=3, threads=1)
    for number, arm in enumerate((0, 1, 2)):
        pulls = np.ones(arms)
        pulls[arm] += T - arms
        np.testing.assert_array_equal(result.pulls[number], [pulls, pulls])
        regret = pulls @ (1 - np.arange(1, arms + 1) / arms)
        np.testing.assert_allclose(result.regret[number, :, -1], regret, rtol=1e-12)
        np.testing.assert_allclose(result.estimates[number], [np.arange(1, arms + 1) / arms] * 2, rtol=1e-12)
    assert result.world == "ladder"


@pytest.mark.usefixtures("outside")
def test_their_draw_and_estimate_are_used():
    """Half hidden: counting what is missing as 1, arm a tends to (y + 1)/2; 5 standard errors of .5 (1 - y)/sqrt(N)."""
    T = 20_000
    result = simulate("ladder:arms=4,hidden=0.5", "hopeful-lowest", horizon=T, runs=1, seed=4, threads=1)
    y = np.arange(1, 5) / 4
    assert result.pulls[0, 0, 0] > T - 200  # the lowest, now and then another while estimates are young
    error = 0.5 * (1 - y) / np.sqrt(result.pulls[0, 0])
    assert np.all(np.abs(result.estimates[0, 0] - (y + 1) / 2)[[0, 3]] <= 5 * error[[0, 3]] + 1e-12)


@pytest.mark.usefixtures("outside")
def test_a_world_of_another_package_is_made_and_pulled_by_name():
    world = make("ladder", arms=3, hidden=0.25)
    arms = np.repeat(np.arange(3), 4000)
    mediators, outcomes = world.pulls(arms, seed=5)
    seen = ~np.isnan(outcomes)
    assert np.all(mediators == 0)
    np.testing.assert_array_equal(outcomes[seen], ((arms + 1) / 3)[seen])
    assert abs(seen.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / len(arms))


@pytest.mark.usefixtures("outside")
def test_parameters_of_another_package_are_checked_too():
    with pytest.raises(
        UnknownName, match="Unknown parameter of 'hopeful-lowest:abve=1': 'abve'; did you mean 'above'"
    ):
        named("hopeful-lowest:abve=1")
    with pytest.raises(UnknownName, match="Unknown parameter of world 'ladder': 'arm'; did you mean 'arms'"):
        make("ladder", arm=3)

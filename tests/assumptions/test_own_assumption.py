"""An assumption written in one file shows up in estimates, tests of the data, warnings and theory."""

import numpy as np
import pytest

import truant
from tests import pessimist
from tests.analyses import analyzed
from truant import checks, registry, theory
from truant.analysis import Labels
from truant.assumptions import ChiSquare
from truant.assumptions.mar import Mar
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified, NotSatisfied
from truant.estimates.beliefs import beliefs
from truant.setting import Setting
from truant.worlds import DiscreteWorld, make

# only the lowest outcome is ever missing
WORLD = DiscreteWorld(
    [[[0.4, 0.1], [0.2, 0.3]], [[0.1, 0.3], [0.3, 0.3]]], [[[0.2, 1.0], [0.6, 1.0]]], name="low only"
)
SETTING = Setting(arms=2, mediators=2, levels=(0.0, 1.0))
TABLE = np.array([[[30, 50, 10], [20, 60, 20], [0, 0, 0]], [[10, 30, 90], [20, 20, 90], [0, 0, 0]]], float)
COUNTS = Counts(TABLE, (0.0, 1.0), 0.5)
LABELS = Labels.of(["old", "new"], ["x", "y"])


@pytest.fixture
def known(monkeypatch):
    """Assumptions by name, beside the built-in ones."""
    found, own = registry._built_in, dict(pessimist.parts)
    monkeypatch.setattr(
        registry, "_built_in", lambda kind: {**found(kind), **(own if kind == "assumption" else {})}
    )
    return own


@pytest.mark.usefixtures("known")
def test_it_is_estimated_listed_as_untestable_and_warned_of():
    result = analyzed(COUNTS, SETTING, LABELS)
    assert result.assumptions[-1] == "pessimist"
    assert [arm.estimates["pessimist"].mean for arm in result.arms] == pytest.approx([110 / 190, 50 / 260])
    assert ("pessimist", "missing outcomes are never seen") in [
        (item.assumption, item.reason) for item in result.untestable
    ]
    (warning,) = [warning for warning in result.warnings if warning.code == "mostly-missing"]
    assert (warning.arm, warning.value) == ("new", pytest.approx(180 / 260))
    assert warning.message == (
        "Under pessimist, most outcomes of arm 'new' count as the lowest: its mean is only a lower limit."
    )


@pytest.mark.usefixtures("known")
def test_it_is_refused_in_the_users_words():
    nothing = Counts(TABLE * [[[1]], [[0]]], (0.0, 1.0), 0.5)
    _, (refused,) = beliefs(nothing, SETTING, LABELS, ["pessimist"])
    assert refused.reason == "pessimist: arm 'new' was never pulled."
    assert refused.reason_alone == "arm 'new' was never pulled."


@pytest.mark.usefixtures("known")
def test_it_has_an_efficient_variance_where_a_world_satisfies_it():
    p = np.array([0.4, 0.6])
    np.testing.assert_allclose(theory.efficient_variance(WORLD, "pessimist"), p * (1 - p), rtol=1e-12)
    gap, T = 0.2, 1000
    assert theory.instance_regret(WORLD, T, "pessimist") == pytest.approx(2 * 0.24 / gap * np.log(T))
    with pytest.raises(NotSatisfied) as refusal:
        theory.efficient_variance(make("mnar", seed=1, arms=2), "pessimist")
    assert str(refusal.value) == (
        "World 'mnar' does not satisfy 'pessimist': an outcome above the lowest can be missing."
    )
    assert (refusal.value.arm, refusal.value.assumption) == (0, "pessimist")


@pytest.mark.usefixtures("known")
def test_it_keeps_its_contract_and_plays():
    checks.check_assumption(pessimist.Pessimist(), WORLD)
    with pytest.raises(checks.ContractBroken, match="off the truth"):
        checks.check_assumption(pessimist.Pessimist(), make("mnar", seed=1, arms=2))
    assert truant.simulate(WORLD, "pessimist-ucb", horizon=300, runs=2).best_arm_share.mean() > 0.5


class Silent(Mar):
    """Says no more than it must."""

    listing_order = float("inf")


for name in ("tests", "efficient_variance"):
    setattr(Silent, name, getattr(Mar.__mro__[1], name))


class Doubtful(Silent):
    """Has a test of its own, for each arm, and a place between `mcar` and `mar`."""

    listing_order = 1.5

    def tests(self, counts, setting):
        found = [ChiSquare("Is it so?", 4.0 + arm, 1, arm) for arm in range(setting.arms)]
        return [*found, ChiSquare("Is all so?", 5.0, 2), ChiSquare("Is there nothing to test?", 0.0, 0)]


def test_what_it_does_not_say_has_a_default(known):
    known["silent"] = Silent
    result = analyzed(COUNTS, SETTING, LABELS)
    assert result.assumptions[-1] == "silent"
    assert "it states no test of the data" in [item.reason for item in result.untestable]
    with pytest.raises(NotIdentified) as refusal:
        theory.efficient_variance(WORLD, "silent")
    assert str(refusal.value).startswith("silent states no efficient variance; define ")
    # nobody asked for it
    alone = analyzed(COUNTS, SETTING, LABELS, assume=["mcar"])
    assert [item.assumption for item in alone.untestable] == ["mar"]


def test_its_tests_are_run_and_corrected_for_the_number_of_arms(known):
    known["doubtful"] = Doubtful
    result = analyzed(COUNTS, SETTING, LABELS)
    assert result.assumptions[:3] == ["mcar", "doubtful", "mar"]
    tests = [test for test in result.tests if test.assumption == "doubtful"]
    from scipy.stats import chi2

    low, high = 2 * chi2.sf(5.0, 1), chi2.sf(4.0, 1)
    assert [(test.question, test.arm, test.p_value) for test in tests] == [
        ("Is it so?", "old", pytest.approx(max(low, high))),
        ("Is it so?", "new", pytest.approx(low)),
        ("Is all so?", "", pytest.approx(chi2.sf(5.0, 2))),
    ]
    # one with a place in listings is tested whoever was asked for
    others = analyzed(COUNTS, SETTING, LABELS, assume=["mar"]).tests
    assert {test.assumption for test in others} == {"mcar", "doubtful"}


def test_one_that_cannot_be_built_is_in_the_way_only_of_those_who_asked_for_it(known):
    def broken():
        raise InvalidValue("It is broken.")

    known["broken"] = broken
    assert analyzed(COUNTS, SETTING, LABELS, assume=["mar"]).assumptions == ["mar"]
    with pytest.raises(InvalidValue, match=r"It is broken\."):
        analyzed(COUNTS, SETTING, LABELS)

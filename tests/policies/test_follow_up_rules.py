"""When a follow-up is worth its cost."""

import numpy as np
import pytest
from scipy import integrate, stats

from truant.assumptions.follow_up import (
    ANSWERED,
    ARM_PULLS,
    ASKED,
    DESCRIBED,
    FREEDOM,
    MEAN,
    MISSING_VARIANCE,
    SEEN_VARIANCE,
)
from truant.errors import InvalidValue, UnknownName
from truant.policies import named
from truant.policies.follow_up_rules import (
    FollowUps,
    expected_excess,
    has_value,
    is_close,
    lead_over_others,
    rule_of,
)


def arms(gap=0.1, answered=20, asked=20, missing=0.001, seen=0.0001, pulls=500):
    """Two arms, the first ahead by `gap`."""
    described = np.zeros((2, DESCRIBED))
    described[0, MEAN] = gap
    described[:, MISSING_VARIANCE], described[:, SEEN_VARIANCE] = missing, seen
    described[:, FREEDOM], described[:, ANSWERED], described[:, ASKED] = answered + 2, answered, asked
    described[:, ARM_PULLS] = pulls
    return described


def rule(cost=0.1, success=1.0, horizon=100_000):
    return rule_of(None, None, True).numbers(FollowUps(cost, success), horizon)


def test_expected_excess_is_the_integral():
    for x in (-2.0, 0.0, 0.5, 3.0):
        whole, _ = integrate.quad(lambda z, x=x: (z - x) * stats.norm.pdf(z), x, 12)
        assert expected_excess(x) == pytest.approx(whole, rel=1e-6)


def test_the_lead_is_over_the_best_of_the_others():
    described = np.zeros((3, DESCRIBED))
    described[:, MEAN] = 0.2, 0.9, 0.5
    assert [lead_over_others(arm, described) for arm in range(3)] == pytest.approx([-0.7, 0.4, -0.4])
    assert lead_over_others(0, described[:1]) == np.inf


def test_a_follow_up_is_worth_less_with_cost_gap_time_and_answers():
    assert has_value(0, 10_000, rule(0.1), arms())
    assert not has_value(0, 10_000, rule(10_000.0), arms())
    assert not has_value(0, 10_000, rule(0.1), arms(gap=0.5))
    assert not has_value(0, 99_999, rule(0.1), arms())
    assert not has_value(0, 10_000, rule(0.1), arms(answered=2_000, asked=2_000, missing=0.00001))
    # it need not be possible to lose anything
    assert not has_value(0, 10_000, rule(0.0), arms(gap=0.5, missing=0.0))


def test_pending_answers_and_failures_count_as_far_as_they_may_succeed():
    """With many answers on their way nothing more is asked for; where they hardly ever come, it is."""
    pending = arms(gap=0.12, answered=20, asked=400)
    assert has_value(0, 1_000, rule(0.1), arms(gap=0.12))
    assert not has_value(0, 1_000, rule(0.1, success=1.0), pending)
    assert has_value(0, 1_000, rule(0.001, success=0.01), pending)  # an answer costs as much as before


def test_one_arm_has_nothing_to_compare():
    assert not has_value(0, 10, rule(0.1), arms()[:1])


def test_the_threshold_is_as_described():
    few = arms(answered=5, asked=5, gap=5.0)
    assert is_close(0, rule(0.1), few)
    assert not is_close(0, rule(0.1), arms(gap=0.5))
    # W = sqrt(.001 log 1e5) = .107
    assert is_close(0, rule(0.1), arms(gap=0.15))
    assert not is_close(0, rule(0.1), arms(gap=0.16))
    assert not is_close(0, rule(0.1), arms(gap=0.15, seen=0.01))
    assert not is_close(0, rule(10_000.0), few)


def test_names_and_refusals():
    assert named("follow-up-ucb").follow_up.name == "value"
    assert named("follow-up-thompson:follow_up=threshold").follow_up.name == "threshold"
    assert named("mar-ucb").follow_up is None
    share = named("mar-ucb:follow_up=0.1,budget=7").follow_up
    assert (share.name, share.own, share.budget, share.describes) == ("share", 0.1, 7.0, False)
    with pytest.raises(UnknownName, match="value"):
        named("follow-up-ucb:follow_up=valu")
    for text, problem in (
        ("mar-ucb:follow_up=value", "must be the share of missing outcomes"),
        ("mar-ucb:follow_up=0", "must be a share"),
        ("mar-ucb:follow_up=1.5", "follow_up must be"),
        ("mar-ucb:budget=3", "has no follow_up"),
        ("follow-up-ucb:budget=-1", "budget must be"),
        ("oracle-ucb:follow_up=0.5", "nothing to follow up"),
    ):
        with pytest.raises(InvalidValue, match=problem):
            named(text)
    for wrong in ({"cost": -1.0}, {"cost": float("nan")}, {"cost": 1.0, "success": 0.0}):
        with pytest.raises(InvalidValue):
            FollowUps(**wrong)


def test_more_is_spent_on_an_arm_that_is_behind_and_is_pulled_all_the_same():
    """Its pulls cost the gap; a leader's limits only may cost something."""
    described = arms(gap=0.01, answered=999, asked=999, missing=1e-5, seen=1e-7)
    assert has_value(1, 10_000, rule(0.1), described)
    assert not has_value(0, 10_000, rule(0.1), described)

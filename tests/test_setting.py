"""A setting is checked at the door: what it derives, and the sentence for each thing that cannot be."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from truant.errors import InvalidValue, TruantError
from truant.setting import Setting, finite, positive_number, probabilities, whole_number


def refusal(**fields):
    with pytest.raises(InvalidValue) as error:
        Setting(**{"arms": 2, **fields})
    return str(error.value)


# What follows from what is given


def test_plain_setting():
    setting = Setting(arms=3)
    assert (setting.arms, setting.mediators, setting.levels, setting.outcomes) == (3, 1, None, 0)
    assert (setting.low, setting.high, setting.centre, setting.scale, setting.outcome_scale) == (
        0,
        1,
        0.5,
        0.5,
        0.5,
    )


def test_half_the_range_is_the_scale_unless_given():
    assert Setting(arms=1, low=-3, high=5).outcome_scale == 4
    assert Setting(arms=1, low=-3, high=5, scale=7).outcome_scale == 7
    assert Setting(arms=1, low=-3, high=5).centre == 1


def test_levels_say_the_range():
    setting = Setting(arms=1, levels=[-1, 0, 5], low=-100, high=100)
    assert setting.levels == (-1.0, 0.0, 5.0)
    assert all(type(level) is float for level in setting.levels)
    assert (setting.low, setting.high, setting.centre, setting.outcome_scale) == (-1, 5, 2, 3)
    assert setting.outcomes == 3


def test_whole_floats_become_whole_numbers():
    setting = Setting(arms=np.int64(3), mediators=2.0)
    assert type(setting.arms) is int
    assert type(setting.mediators) is int
    assert (setting.arms, setting.mediators) == (3, 2)


def test_given_tables_become_arrays():
    setting = Setting(arms=1, mediators=2, mediator_probabilities=[[0.25, 0.75]], condition_numbers=[3])
    np.testing.assert_array_equal(setting.mediator_probabilities, [[0.25, 0.75]])
    np.testing.assert_array_equal(setting.condition_numbers, [[3.0, 3.0]])  # of Theta and of its transpose
    two = Setting(arms=1, condition_numbers=[[3, 4]]).condition_numbers
    np.testing.assert_array_equal(two, [[3.0, 4.0]])


def test_a_changed_copy_is_checked_anew():
    setting = Setting(arms=2, low=0, high=4)
    wider = dataclasses.replace(setting, high=10, scale=None)
    assert (wider.arms, wider.high, wider.centre, wider.scale) == (2, 10.0, 5.0, 5.0)
    assert type(wider.high) is float
    with pytest.raises(InvalidValue, match="low < high"):
        dataclasses.replace(setting, high=-1)


def test_a_setting_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Setting(arms=1).arms = 2  # type: ignore[misc]


# What is refused, and how


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"arms": 0}, "arms must be a whole number of at least 1, got 0."),
        ({"arms": -2}, "arms must be a whole number of at least 1, got -2."),
        ({"arms": 2.5}, "arms must be a whole number of at least 1, got 2.5."),
        ({"arms": float("nan")}, "arms must be a whole number of at least 1, got nan."),
        ({"arms": float("inf")}, "arms must be a whole number of at least 1, got inf."),
        ({"arms": "3"}, "arms must be a whole number, got '3'."),
        ({"arms": True}, "arms must be a whole number, got True."),
        ({"arms": None}, "arms must be a whole number, got None."),
        ({"mediators": 0}, "K must be a whole number of at least 1, got 0."),
        ({"mediators": [2]}, "K must be a whole number, got [2]."),
    ],
)
def test_sizes(fields, sentence):
    assert refusal(**fields) == sentence


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ((0,), "levels must be at least two increasing values, got (0,)."),
        ((), "levels must be at least two increasing values, got ()."),
        ((1, 0), "levels must be at least two increasing values, got (1, 0)."),
        ((0, 0, 1), "levels must be at least two increasing values, got (0, 0, 1)."),
        ([[0, 1], [2, 3]], "levels must be at least two increasing values, got [[0, 1], [2, 3]]."),
        (3.0, "levels must be at least two increasing values, got 3.0."),
        ((0, float("nan")), "levels must be finite, got [0.0, nan]."),
        ((0, float("inf")), "levels must be finite, got [0.0, inf]."),
        (("low", "high"), "levels must be numbers, got ('low', 'high')."),
    ],
)
def test_levels(levels, sentence):
    assert refusal(levels=levels) == sentence


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"low": 1, "high": 1}, "The range must have low < high, got low=1, high=1."),
        ({"low": 2, "high": -0.5}, "The range must have low < high, got low=2, high=-0.5."),
        ({"low": float("-inf")}, "range must be finite, got [-inf, 1.0]."),
        ({"high": float("nan")}, "range must be finite, got [0.0, nan]."),
        ({"low": "little"}, "range must be numbers, got ('little', 1.0)."),
        ({"scale": 0}, "scale must be a positive number, got 0."),
        ({"scale": -1.0}, "scale must be a positive number, got -1.0."),
        ({"scale": float("nan")}, "scale must be a positive number, got nan."),
        ({"scale": float("inf")}, "scale must be a positive number, got inf."),
        ({"scale": "wide"}, "scale must be a positive number, got 'wide'."),
    ],
)
def test_range_and_scale(fields, sentence):
    assert refusal(**fields) == sentence


@pytest.mark.parametrize(
    ("p", "sentence"),
    [
        ([[0.5, 0.5]], "mediator_probabilities must have shape (2, 2) and rows that sum to 1."),
        ([0.5, 0.5], "mediator_probabilities must have shape (2, 2) and rows that sum to 1."),
        ([[0.5, 0.5], [0.5, 0.4]], "mediator_probabilities must have shape (2, 2) and rows that sum to 1."),
        ([[0.5, 0.5], [1.5, -0.5]], "mediator_probabilities must be in [0, 1], got 1.5."),
        (
            [[0.5, 0.5], [float("nan"), 1]],
            "mediator_probabilities must be finite, got [[0.5, 0.5], [nan, 1.0]].",
        ),
    ],
)
def test_mediator_probabilities(p, sentence):
    assert refusal(mediators=2, mediator_probabilities=p) == sentence


def test_condition_numbers():
    assert refusal(condition_numbers=[1.0] * 3) == "condition_numbers must have shape (2, 2), got (3,)."
    assert (
        refusal(condition_numbers=np.ones((2, 3))) == "condition_numbers must have shape (2, 2), got (2, 3)."
    )
    assert refusal(condition_numbers=[1, np.inf]) == "condition_numbers must be finite, got [1.0, inf]."


def test_refusals_are_of_the_family_and_value_errors():
    with pytest.raises(TruantError):
        Setting(arms=0)
    with pytest.raises(ValueError, match="arms must be"):
        Setting(arms=0)


# The checks themselves


def test_whole_number():
    assert whole_number("n", 5, at_least=1) == 5
    assert whole_number("n", np.int32(0), at_least=0) == 0
    assert type(whole_number("n", 1e5, at_least=1)) is int
    for huge in (10**16, 10**400, 10**5000):
        with pytest.raises(
            InvalidValue,
            match=r"^n must be at most 1,000,000,000,000,000, got (1e\+16|a number of more than 300 digits)\.$",
        ):
            whole_number("n", huge, at_least=1)
    with pytest.raises(
        InvalidValue,
        match=r"^n must be a whole number of at least 1, got a negative number of more than 300 digits\.$",
    ):
        whole_number("n", -(10**400), at_least=1)


def test_positive_number():
    assert positive_number("x", 3) == 3.0
    with pytest.raises(InvalidValue, match=r"^x must be a positive number, got inf\.$"):
        positive_number("x", 10**400)
    with pytest.raises(InvalidValue, match=r"^x must be a positive number, got '3'\.$"):
        positive_number("x", "3")


def test_finite_and_probabilities():
    np.testing.assert_array_equal(finite("x", [1, 2.5]), [1.0, 2.5])
    np.testing.assert_array_equal(probabilities("p", [0, 0.5, 1]), [0.0, 0.5, 1.0])
    with pytest.raises(InvalidValue, match=r"^p must be in \[0, 1\], got -0\.1\.$"):
        probabilities("p", [0.5, -0.1])
    with pytest.raises(InvalidValue, match=r"^gamma must be in \(0, 1\], got 0\.$"):
        probabilities("gamma", [0.5, 0.0], positive=True)
    with pytest.raises(InvalidValue, match=r"^gamma must be in \(0, 1\], got 1\.3\.$"):
        probabilities("gamma", [[0.5], [1.3]], positive=True)
    with pytest.raises(InvalidValue, match=r"^gamma must be finite, got nan\.$"):
        probabilities("gamma", float("nan"))


# Means, and where less is better


def test_the_centre_is_that_of_the_means():
    setting = Setting(arms=2, low=0, high=100, mean_range=(1, 5))
    assert (setting.centre, setting.half_range, setting.scale) == (3.0, 2.0, 50.0)
    assert setting.mean_range == (1.0, 5.0)
    plain = Setting(arms=2, low=0, high=100)
    assert (plain.centre, plain.half_range) == (50.0, 50.0)


@pytest.mark.parametrize(
    "wrong", [(1, 101), (-1, 5), (5, 1), (2, 2), (1,), (1, 2, 3), 4, "low", (1, math.nan)]
)
def test_a_range_of_means_beyond_that_of_outcomes_is_refused(wrong):
    with pytest.raises(InvalidValue, match="mean_range must be"):
        Setting(arms=2, low=0, high=100, mean_range=wrong)


@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_minimize_is_true_or_false(wrong):
    with pytest.raises(InvalidValue, match="minimize must be true or false"):
        Setting(arms=2, minimize=wrong)


def test_where_less_is_better_everything_is_turned():
    setting = Setting(arms=2, low=-1, high=9, mean_range=(0, 4), scale=2, minimize=True)
    turned = setting.maximizing()
    assert (turned.low, turned.high, turned.mean_range, turned.scale) == (-9.0, 1.0, (-4.0, 0.0), 2)
    assert (turned.centre, turned.half_range, turned.minimize) == (-setting.centre, setting.half_range, False)
    assert turned.maximizing() is turned
    levels = Setting(arms=2, levels=(0, 1, 5), minimize=True).maximizing()
    assert (levels.levels, levels.low, levels.high) == ((-5.0, -1.0, 0.0), -5.0, 0.0)
    shares = np.full((2, 1), 1.0)
    kept = Setting(
        arms=2, minimize=True, mediator_probabilities=shares, condition_numbers=[2.0, 3.0]
    ).maximizing()
    assert np.array_equal(kept.mediator_probabilities, shares)
    assert kept.condition_numbers.tolist() == [[2.0, 2.0], [3.0, 3.0]]

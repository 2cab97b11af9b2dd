"""Delays: what texts say, distributions with their means, and what they depend on."""

import numpy as np
import pytest
from scipy.stats import expon, kstest, lognorm

from truant.durations import DAY, LONGEST
from truant.errors import InvalidValue
from truant.setting import Setting
from truant.worlds.delays import SIGMA, Delay

SETTING = Setting(arms=3, mediators=2, levels=(0.0, 1.0, 50.0))
REAL = Setting(arms=1, low=-100.0, high=100.0)
PULLS = 40_000


def drawn(delay, pulls=PULLS, seed=3):
    none = np.zeros(pulls, int)
    return delay.draw(np.random.default_rng(seed), SETTING, none, none, np.zeros(pulls))


@pytest.mark.parametrize("text", ["none", "constant:12h", "exponential:2d", "lognormal:1d 12h"])
def test_a_delay_is_written_as_it_is_read(text):
    assert str(Delay.parse(text)) == text
    assert Delay.parse(str(Delay.parse(text))) == Delay.parse(text)


@pytest.mark.parametrize(
    "text", ["", "none:2d", "constant", "exponential:", "gamma:2d", "exponential:2", "lognormal:0s", 7]
)
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidValue):
        Delay.parse(text)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "gamma"}, "one of none, constant, exponential, lognormal, got 'gamma'"),
        ({"kind": "constant", "mean": 1.5}, "whole number of microseconds"),
        ({"kind": "constant", "mean": -1}, "above 0"),
        ({"kind": "constant", "mean": LONGEST + 1}, "at most 365000d"),
        ({"kind": "constant", "mean": 1, "depends_on": "weather"}, "one of arm, mediator, outcome"),
        ({"kind": "constant", "mean": 1, "depends_on": "arm", "factor": 0.0}, "positive number"),
        ({"kind": "constant", "mean": 1, "depends_on": "arm", "factor": 1e9}, "to 1,000,000"),
        ({"kind": "none", "depends_on": "outcome"}, "depends on nothing"),
    ],
)
def test_other_fields_are_refused(fields, words):
    with pytest.raises(InvalidValue, match=words):
        Delay(**fields)


def test_none_and_constant_take_no_random_number():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    for delay, time in ((Delay(), 0), (Delay.parse("constant:12h"), DAY // 2)):
        times = delay.draw(rng, SETTING, [0, 2], [1, -1], [1.0, np.nan])
        assert times.dtype == np.int64
        assert times.tolist() == [time, time]
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("exponential:2d", expon(scale=2 * DAY)),
        ("lognormal:2d", lognorm(SIGMA, scale=2 * DAY * np.exp(-(SIGMA**2) / 2))),
    ],
)
def test_random_delays_have_their_distribution_and_mean(text, distribution):
    times = drawn(Delay.parse(text))
    assert distribution.mean() == pytest.approx(2 * DAY)
    assert times.mean() == pytest.approx(2 * DAY, abs=4 * distribution.std() / PULLS**0.5)
    assert kstest(times, distribution.cdf).pvalue > 0.001


@pytest.mark.parametrize(
    ("depends_on", "times"),
    [
        ("arm", [0.5, 1.0, 2.0, 0.5, 2.0]),
        ("mediator", [0.5, 2.0, 1.0, 2.0, 1.0]),  # a missing one is in the middle
        ("outcome", [0.5, 1.0, 2.0, 1.0, 2.0]),  # levels count by their rank
    ],
)
def test_the_mean_grows_geometrically(depends_on, times):
    delay = Delay.parse("constant:1d", depends_on, factor=4)
    found = delay.draw(
        np.random.default_rng(0), SETTING, [0, 1, 2, 0, 2], [0, 1, -1, 1, -1], [0.0, 1.0, 50.0, np.nan, 50.0]
    )
    assert found / DAY == pytest.approx(times)


def test_real_outcomes_count_by_their_place_in_the_range_and_end_with_it():
    delay = Delay.parse("constant:1d", "outcome", factor=9)
    found = delay.draw(np.random.default_rng(0), REAL, [0] * 5, [0] * 5, [-100.0, 0.0, 100.0, 1e9, np.nan])
    assert found / DAY == pytest.approx([1 / 3, 1, 3, 3, 1])
    early = Delay.parse("constant:1d", "outcome", factor=1 / 9)
    found = early.draw(np.random.default_rng(0), REAL, [0, 0], [0, 0], [-100.0, 100.0])
    assert found / DAY == pytest.approx([3, 1 / 3])


def test_with_one_arm_there_is_nothing_to_depend_on():
    delay = Delay.parse("constant:1d", "arm", factor=100)
    assert delay.draw(np.random.default_rng(0), REAL, [0], [0], [5.0]).tolist() == [DAY]


def test_dependent_exponential_delays_keep_their_ratio():
    delay = Delay.parse("exponential:2d", "outcome", factor=4)
    none, rng = np.zeros(PULLS, int), np.random.default_rng(11)
    low, high = (delay.draw(rng, SETTING, none, none, np.full(PULLS, y)).mean() for y in (0.0, 50.0))
    # the relative standard error of the mean of n exponential delays is n^-1/2, that of a ratio sqrt(2) times it
    assert high / low == pytest.approx(4, rel=4 * (2 / PULLS) ** 0.5)


def test_the_longest_delay_is_a_number_that_a_date_can_take():
    times = drawn(Delay("lognormal", LONGEST), pulls=1000)
    assert times.max() == LONGEST
    assert times.min() > 0


def test_columns_must_fit():
    delay, rng = Delay.parse("constant:1d"), np.random.default_rng(0)
    for columns in (([0, 1], [0], [1.0]), ([3], [0], [1.0]), ([0], [2], [1.0]), ([0.5], [0], [1.0])):
        with pytest.raises(InvalidValue):
            delay.draw(rng, SETTING, *columns)

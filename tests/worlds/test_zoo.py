"""Unkind worlds: skewed outcomes, rare levels and unequal noise have the closed forms that they claim."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from truant import checks, registry
from truant.errors import InvalidValue
from truant.worlds import DiscreteWorld, RealWorld, SkewedWorld, World, make
from truant.worlds.real import BEYOND

FloatArray = npt.NDArray[np.float64]

SKEWED = ["conversion", "zero-inflated", "lognormal", "jackpots"]
NORMAL = ["rare-level", "noisy-arm", "noisy-level"]
DISCRETE = ["rates", "mnar-skewed"]
ZOO = [*SKEWED, *NORMAL, *DISCRETE]
SEEDS = range(200)
PULLS = 200_000


def real(name: str, seed: int, **parameters: Any) -> RealWorld:
    world = make(name, seed=seed, **parameters)
    assert isinstance(world, RealWorld)
    return world


def skewed(name: str, seed: int, **parameters: Any) -> SkewedWorld:
    world = make(name, seed=seed, **parameters)
    assert isinstance(world, SkewedWorld)
    return world


def discrete(name: str, seed: int, **parameters: Any) -> DiscreteWorld:
    world = make(name, seed=seed, **parameters)
    assert isinstance(world, DiscreteWorld)
    return world


def spreads(world: World) -> FloatArray:
    """The standard deviation of each arm's outcome."""
    if isinstance(world, DiscreteWorld):
        squares = world.joint.sum(axis=1) @ world.levels**2
    else:
        assert isinstance(world, RealWorld)
        cells = world.outcome_sd**2 + world.outcome_means**2
        squares = (world.mediator_probabilities * cells).sum(axis=1)
    found: FloatArray = np.sqrt(squares - world.means**2)
    return found


def share_observed(world: World) -> FloatArray:
    """P(O=1|a)."""
    if isinstance(world, DiscreteWorld):
        return np.asarray(world.seen.sum(axis=(1, 2)))
    assert isinstance(world, RealWorld)
    return np.asarray((world.mediator_probabilities * world.observation).sum(axis=1))


def complete_case_limits(world: RealWorld) -> FloatArray:
    """What the mean of the seen outcomes tends to, E[Y|O=1,a]."""
    seen = world.mediator_probabilities * world.observation
    limits: FloatArray = (seen * world.outcome_means).sum(axis=1) / seen.sum(axis=1)
    return limits


@pytest.mark.parametrize("name", ZOO)
def test_contract_for_several_seeds(name: str) -> None:
    for seed in range(4):
        checks.check_world(make(name, seed=seed))


@pytest.mark.parametrize("name", ZOO)
def test_every_parameter_is_explained(name: str) -> None:
    part = registry.find("world", name)
    documentation = inspect.getdoc(part.factory) or ""
    assert all(f"\n{parameter} : " in documentation for parameter in part.parameters)


@pytest.mark.parametrize("name", ZOO)
def test_true_means_and_shares_observed(name: str) -> None:
    world = make(name, seed=21, arms=3)
    for arm in range(3):
        arms = np.full(PULLS, arm)
        _, outcomes = world.revealed().pulls(arms, seed=22)
        assert abs(outcomes.mean() - world.means[arm]) < 5 * spreads(world)[arm] / np.sqrt(PULLS)
        _, outcomes = world.pulls(arms, seed=23)
        share = share_observed(world)[arm]
        assert abs(np.mean(~np.isnan(outcomes)) - share) < 5 * np.sqrt(share * (1 - share) / PULLS)


def test_cells_of_a_skewed_world() -> None:
    world = SkewedWorld(
        [[0.5, 0.5], [0.3, 0.7]],
        [[0.0, 0.2], [1.0, 0.05]],
        [[3.0, 4.0], [2.0, 30.0]],
        jump_sigma=[[0.1, 0.5], [0.4, 0.0]],
        base_mean=[[1.0, -1.0], [0.0, 2.0]],
        base_sd=[[0.5, 1.0], [1.0, 0.0]],
        observation=0.5,
    )
    arms = np.repeat([0, 1], PULLS)
    mediators, outcomes = world.pulls(arms, seed=1)
    for a in (0, 1):
        for m in (0, 1):
            y = outcomes[(arms == a) & (mediators == m) & ~np.isnan(outcomes)]
            assert abs(y.mean() - world.outcome_means[a, m]) < 5 * world.outcome_sd[a, m] / np.sqrt(len(y))
            squares = (y - world.outcome_means[a, m]) ** 2
            error = squares.std() / np.sqrt(len(y))
            assert abs(squares.mean() - world.outcome_sd[a, m] ** 2) < 5 * error
    y = outcomes[(arms == 1) & (mediators == 0) & ~np.isnan(outcomes)]
    assert stats.kstest(np.log(y / 2.0) / 0.4, "norm").pvalue > 1e-4  # this cell always jumps


def test_closed_forms_of_a_lognormal_and_of_a_jackpot() -> None:
    world = SkewedWorld([[1.0]], 1.0, 2.0, jump_sigma=1.4)
    law = stats.lognorm(1.4, scale=2.0)
    assert world.means[0] == pytest.approx(law.mean(), rel=1e-12)
    assert world.outcome_sd[0, 0] == pytest.approx(law.std(), rel=1e-12)
    assert world.setting.scale == pytest.approx(law.std(), rel=1e-12)
    world = SkewedWorld([[1.0]], 0.01, 100.0, base_sd=1.0)
    assert world.means[0] == pytest.approx(1.0, rel=1e-12)
    assert world.outcome_sd[0, 0] ** 2 == pytest.approx(0.01 * 100**2 + 0.99 - 1.0, rel=1e-12)


def beyond(world: SkewedWorld) -> tuple[FloatArray, FloatArray]:
    """Probability of an outcome below and above the range told, per arm."""
    low, high = world.setting.low, world.setting.high
    jump = stats.lognorm(np.maximum(world.jump_sigma, 1e-12), scale=world.jump_median)
    base = stats.norm(world.base_mean, np.maximum(world.base_sd, 1e-12))
    chance, p = world.jump_chance, world.mediator_probabilities
    nudge = 1e-9 * (high - low)
    below = chance * jump.cdf(low - nudge) + (1 - chance) * base.cdf(low - nudge)
    above = chance * jump.sf(high + nudge) + (1 - chance) * base.sf(high + nudge)
    return (p * below).sum(axis=1), (p * above).sum(axis=1)


@pytest.mark.parametrize("name", SKEWED)
def test_outcomes_leave_the_range_told_once_in_ten_thousand_at_most(name: str) -> None:
    for seed in range(50):
        world = skewed(name, seed)
        below, above = beyond(world)
        assert max(below.max(), above.max()) <= BEYOND * (1 + 1e-6)
        if name != "jackpots":  # and it is not told wider than that: some arm reaches the end
            assert above.max() > BEYOND / 10


@pytest.mark.parametrize("name", SKEWED)
def test_drawn_outcomes_keep_to_the_range_told(name: str) -> None:
    world = make(name, seed=31).revealed()
    best = int(world.means.argmax())
    _, outcomes = world.pulls(np.full(PULLS, best), seed=32)
    for outside in (outcomes < world.setting.low, outcomes > world.setting.high):
        assert outside.sum() <= PULLS * BEYOND + 5 * np.sqrt(PULLS * BEYOND)
    assert world.setting.low == pytest.approx(make(name, seed=31).setting.low)


def test_revenue_is_never_negative_and_jackpots_are_inside() -> None:
    for name in ("conversion", "zero-inflated"):
        assert skewed(name, 1).setting.low == 0.0
    assert skewed("jackpots", 1).setting.high == 100.0
    assert skewed("jackpots", 1, size=40.0).setting.high == 40.0
    _, outcomes = make("jackpots", seed=1, chance=0.1, lift=2).revealed().pulls(np.arange(10).repeat(1000))
    assert outcomes.max() == 100.0


def test_a_range_given_is_told() -> None:
    world = SkewedWorld([[1.0]], 0.1, 5.0, low=-1.0, high=50.0, scale=2.0)
    for one in (world, world.revealed()):
        assert (one.setting.low, one.setting.high, one.setting.scale) == (-1.0, 50.0, 2.0)


def test_the_range_told_holds_the_means_of_very_skewed_outcomes() -> None:
    setting = make("lognormal", seed=1, sigma=4).setting
    assert setting.low < make("lognormal", seed=1, sigma=4).means.max() <= setting.high


@pytest.mark.parametrize("name", SKEWED)
def test_revealed_twin_keeps_the_law(name: str) -> None:
    world = skewed(name, 41)
    twin = world.revealed()
    assert isinstance(twin, SkewedWorld)
    assert np.all(twin.observation == 1)
    for table in ("jump_chance", "jump_median", "jump_sigma", "base_mean", "base_sd", "outcome_means"):
        np.testing.assert_array_equal(getattr(twin, table), getattr(world, table))
    for told in ("low", "high", "scale"):
        assert getattr(twin.setting, told) == getattr(world.setting, told)


@pytest.mark.parametrize("name", ZOO)
def test_the_best_arm_can_be_anywhere_and_told_from_the_second(name: str) -> None:
    worlds = [make(name, seed=seed, arms=4) for seed in SEEDS]
    places = [int(world.means.argmax()) for world in worlds]
    assert stats.chisquare(np.bincount(places, minlength=4)).pvalue > 1e-4
    worlds = [make(name, seed=seed) for seed in SEEDS]
    ratios = [np.sort(world.gaps)[1] / spreads(world)[world.means.argmax()] for world in worlds]
    assert 0.03 < np.median(ratios) < 0.35
    assert np.mean(np.array(ratios) > 0.02) > 0.95


@pytest.mark.parametrize("name", ZOO)
def test_one_arm_will_do(name: str) -> None:
    assert make(name, seed=1, arms=1).setting.arms == 1


def test_dropping_missing_rows_misleads_where_conversions_differ_in_what_is_seen() -> None:
    worlds = [real("conversion", seed) for seed in SEEDS]
    wrong = np.mean([complete_case_limits(world).argmax() != world.means.argmax() for world in worlds])
    assert 0.3 < wrong < 0.8
    for name in ("zero-inflated", "lognormal"):  # no mediator: what is seen of an arm is representative
        world = real(name, 1)
        np.testing.assert_allclose(complete_case_limits(world), world.means, rtol=1e-12)


def test_conversions_are_rare_and_bring_all_revenue() -> None:
    for seed in SEEDS:
        world = skewed("conversion", seed)
        assert world.mediator_probabilities[:, 2].min() >= 0.01
        assert world.mediator_probabilities[:, 2].max() <= 0.052
        assert np.all(world.outcome_means[:, :2] == 0)
        assert np.all(world.outcome_sd[:, :2] == 0)


def test_zero_inflated_outcomes_are_mostly_zero() -> None:
    for seed in SEEDS:
        chance = skewed("zero-inflated", seed).jump_chance
        assert 0.02 <= chance.min() <= chance.max() <= 0.1
    _, outcomes = make("zero-inflated", seed=1).pulls(np.arange(10).repeat(1000))
    assert np.mean(outcomes[~np.isnan(outcomes)] == 0) > 0.9


def test_rates_are_rates() -> None:
    for seed in SEEDS:
        world = discrete("rates", seed)
        assert world.setting.levels == (0.0, 1.0)
        assert 0.005 <= world.means.min() <= world.means.max() <= 0.03
        assert world.setting.mediators == 1


def test_the_best_arm_is_the_best_because_of_its_jackpots() -> None:
    for seed in SEEDS:
        world = skewed("jackpots", seed)
        best = int(world.means.argmax())
        quiet = (world.mediator_probabilities * world.base_mean).sum(axis=1)
        assert quiet.argmax() != best
        assert np.sum(world.jump_chance.max(axis=1) == 0) == 5
        chance = (world.mediator_probabilities * world.jump_chance).sum(axis=1)
        assert 0.0045 <= chance[best] <= 0.006
        assert np.delete(chance, best).max() <= 0.0015


def test_the_best_arm_is_the_noisy_one() -> None:
    for seed in SEEDS:
        world = real("noisy-arm", seed)
        best = int(world.means.argmax())
        assert np.all(world.outcome_sd[best] == 3.0)
        assert np.all(np.delete(world.outcome_sd, best, axis=0) == 0.3)


@pytest.mark.parametrize(("name", "low", "high"), [("noisy-level", 0.02, 0.1), ("rare-level", 0.05, 0.15)])
def test_one_level_decides_and_is_rarely_seen(name: str, low: float, high: float) -> None:
    for seed in SEEDS:
        world = real(name, seed)
        assert world.outcome_means[:, -1].argmax() == world.means.argmax()
        last = world.observation[:, -1]
        assert low <= last.min() <= last.max() <= high
        assert np.all(world.observation[:, :-1] == 0.9)
    if name == "rare-level":
        assert world.mediator_probabilities[:, -1].max() <= 0.03


def test_the_top_outcome_of_mnar_skewed_is_rare_and_hides_by_itself() -> None:
    for seed in SEEDS:
        world = discrete("mnar-skewed", seed)
        assert world.setting.levels == (0.0, 1.0, 2.0, 5.0, 100.0)
        top = world.joint.sum(axis=1)[:, -1]
        best = int(world.means.argmax())
        assert top.argmax() == best
        assert 0.02 <= top[best] <= 0.035
        assert np.delete(top, best).max() <= 0.005
        assert np.ptp(world.observation, axis=1).max() == 0  # by outcome, whatever the mediator
        assert np.ptp(world.observation, axis=2).min() > 0


def test_lift_and_size_alone_change_nothing_else() -> None:
    plain, other = skewed("conversion", 5), skewed("conversion", 5, lift=1.0, size=100.0)
    best = int(plain.means.argmax())
    rest = np.delete(np.arange(10), best)
    np.testing.assert_array_equal(other.mediator_probabilities[rest], plain.mediator_probabilities[rest])
    assert other.mediator_probabilities[best, 2] == 0.02
    np.testing.assert_allclose(other.jump_median, 2 * plain.jump_median, rtol=1e-12)
    np.testing.assert_array_equal(other.observation, plain.observation)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"jump_chance": 1.2}, "jump_chance must be in [0, 1], got 1.2."),
        ({"jump_median": 0.0}, "jump_median must be positive, got 0."),
        ({"jump_sigma": -1.0}, "jump_sigma must not be negative, got -1."),
        ({"base_sd": -0.5}, "base_sd must not be negative, got -0.5."),
        ({"base_mean": float("nan")}, "base_mean must be finite, got nan."),
        ({"base_mean": [[1.0, 2.0, 3.0]]}, "base_mean must have shape (1, 2), got (1, 3)."),
        (
            {"mediator_probabilities": [0.5, 0.5]},
            "mediator_probabilities must have shape (arms, K) and rows that sum to 1.",
        ),
        ({"observation": 0.0}, "observation must be in (0, 1], got 0."),
    ],
)
def test_wrong_arrays_are_refused(given: dict[str, Any], sentence: str) -> None:
    sound = {"mediator_probabilities": [[0.5, 0.5]], "jump_chance": 0.1, "jump_median": 5.0}
    with pytest.raises(InvalidValue) as caught:
        SkewedWorld(**{**sound, **given})
    assert str(caught.value) == sentence


def test_worlds_from_samples_tell_the_range_of_their_samples() -> None:
    world = RealWorld([[0.5, 0.5]], None, samples=[[[0.2, 0.4], [0.0, 0.0, 90.0]]])
    assert (world.setting.low, world.setting.high) == (0.0, 90.0)
    assert world.setting.scale == pytest.approx(spreads(world)[0])
    for low, high in ((-1.0, 100.0), (0.0, 30.0)):  # as given, as long as it holds the means
        world = RealWorld([[0.5, 0.5]], None, samples=[[[0.2, 0.4], [0.0, 0.0, 90.0]]], low=low, high=high)
        assert (world.setting.low, world.setting.high) == (low, high)
    equal = RealWorld([[1.0]], None, samples=[[[0.1, 0.1, 0.1]]])  # whose mean is above them by rounding
    assert equal.setting.low <= equal.means[0] <= equal.setting.high


def test_pbc_still_tells_the_range_of_its_shares() -> None:
    world = make("pbc")
    assert (world.setting.low, world.setting.high) == (0.0, 1.0)

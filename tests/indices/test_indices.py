"""Each index chooses what brute force over at(z) would, and breaks ties evenly."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from truant import registry
from truant.compile import link
from truant.errors import InvalidValue, UnknownName
from truant.indices.greedy import EpsilonGreedy, greedy, uniform
from truant.indices.index import Index, highest_memory, read, tournament
from truant.indices.thompson import Thompson
from truant.indices.ucb import Ucb

FloatArray = npt.NDArray[np.float64]
STRAIGHT = np.array([0.0, 1.0])
CURVED = np.array([-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5])
steady = settings(max_examples=200)


def choose_often(values, z_grid, parameters, memory, t, rng, out):
    for i in range(len(out)):
        update(values, z_grid, parameters, memory, -1, rng)  # noqa: F821 - bound by link
        out[i] = choose(values, z_grid, parameters, memory, t, rng)  # noqa: F821


def read_all(values, z_grid, zs, out):
    for i in range(len(out)):
        out[i] = look(values, z_grid, zs[i])  # noqa: F821 - bound by link


def choices(
    index: Index, values: npt.ArrayLike, z_grid: FloatArray, times: int = 1, t: int = 1, seed: int = 0
) -> npt.NDArray[np.int64]:
    """What the compiled index chooses, again and again, in round t."""
    out = np.empty(times, np.int64)
    rng = np.random.Generator(np.random.SFC64(seed))
    table = np.ascontiguousarray(values, np.float64)
    link(choose_often, update=index.update, choose=index.choose)(
        table, z_grid, index.parameters(), np.zeros(index.memory(len(table))), t, rng, out
    )
    return out


def shares(chosen: npt.NDArray[np.int64], arms: int) -> FloatArray:
    return np.bincount(chosen, minlength=arms) / len(chosen)


def straight_line(values: FloatArray, z_grid: FloatArray, z: float) -> float:
    """at(z) of one arm: interpolation inside the z_grid, the outermost pieces prolonged beyond them."""
    if z < z_grid[0]:
        return values[0] + (z - z_grid[0]) * (values[1] - values[0]) / (z_grid[1] - z_grid[0])
    if z > z_grid[-1]:
        return values[-1] + (z - z_grid[-1]) * (values[-1] - values[-2]) / (z_grid[-1] - z_grid[-2])
    return float(np.interp(z, z_grid, values))


numbers = st.floats(-100, 100, allow_subnormal=False)
few = st.sampled_from([0.0, 0.25, 0.5, np.inf])  # with many ties


# read


@st.composite
def curves(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    steps = draw(st.lists(st.floats(0.01, 3), min_size=1, max_size=9))
    z_grid = draw(st.floats(-6, 6)) + np.cumsum([0.0, *steps])
    return z_grid, np.array(draw(st.lists(numbers, min_size=len(z_grid), max_size=len(z_grid))))


@steady
@given(curves(), st.lists(st.floats(-20, 20), min_size=1, max_size=10))
def test_read_is_straight_between_the_knots_and_beyond(curve, zs):
    z_grid, values = curve
    inside = np.clip(zs, z_grid[0], z_grid[-1])
    points = np.concatenate([inside, z_grid, zs])
    out = np.empty(len(points))
    link(read_all, look=read)(values, z_grid, points, out)
    np.testing.assert_allclose(out[: len(zs)], np.interp(inside, z_grid, values), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(out[len(zs) : -len(zs)], values, rtol=1e-12, atol=1e-11)
    expected = [straight_line(values, z_grid, z) for z in zs]
    np.testing.assert_allclose(out[-len(zs) :], expected, rtol=1e-9, atol=1e-7)


# ucb


@steady
@given(st.lists(numbers | few, min_size=1, max_size=12), st.integers(0, 99))
def test_ucb_takes_the_highest_of_its_one_knot(values, seed):
    chosen = choices(Ucb(), np.array(values)[:, None], np.array([2.0]), seed=seed)
    assert values[chosen[0]] == max(values)


def aim_once(known, log_horizon, parameters, z_grid):
    aim(known, log_horizon, parameters, z_grid)  # noqa: F821 - bound by link


def aimed(index: Index, known: float, horizon: float) -> float:
    """The z at which the index wants an arm's curve."""
    z_grid = index.z_grid(linear=False)
    link(aim_once, aim=index.aim)(known, float(np.log(horizon)), index.parameters(), z_grid)
    assert len(z_grid) == 1
    return float(z_grid[0])


@pytest.mark.parametrize(("level", "multiple"), [("plain", 1), ("cautious", 2), (2, 2), (0.5, 0.5), (3.0, 3)])
@pytest.mark.parametrize("horizon", [2, 1000, 10**5])
def test_an_arm_of_unknown_worth_is_looked_at_at_the_root_of_level_log_T(level, multiple, horizon):
    assert aimed(Ucb(level), 0.0, horizon) == pytest.approx((multiple * np.log(horizon)) ** 0.5, rel=1e-14)


def test_a_horizon_of_one_round_looks_at_the_best_guess():
    assert aimed(Ucb(), 0.0, 1) == 0.0


@steady
@given(st.floats(0.01, 1e9), st.floats(1, 1e9), st.sampled_from([0.3, 1.0, 2.0]))
def test_ucb_looks_less_far_the_more_is_known_of_an_arm(known, horizon, level):
    """z^2 = 2 level max(x - log(max(x, 1))/2 - 1.96, 2), x = log(T/N), not below 0."""
    x = max(np.log(horizon / known), 0.0)
    half = x - 0.5 * np.log(x) - 1.96 if x > 1 else x - 1.96
    assert aimed(Ucb(level), known, horizon) == pytest.approx(np.sqrt(2 * level * max(half, 2.0)), rel=1e-9)
    assert aimed(Ucb(level), 2 * known, horizon) <= aimed(Ucb(level), known, horizon)


@pytest.mark.parametrize("index", [greedy(), EpsilonGreedy(0.2), uniform(), Thompson()])
def test_others_look_at_the_same_z_for_every_arm(index):
    z_grid = index.z_grid(linear=False)
    link(aim_once, aim=index.aim)(7.0, 9.0, index.parameters(), z_grid)
    np.testing.assert_array_equal(z_grid, index.z_grid(linear=False))


def test_an_unknown_horizon_is_left_to_the_loop():
    assert Ucb().horizon_known
    assert not Ucb(horizon="unknown").horizon_known
    assert Ucb(horizon="unknown").z_grid(linear=True).shape == (1,)


# Ties


@pytest.mark.parametrize(
    ("index", "z_grid", "columns", "t"),
    [
        (Ucb(), np.array([2.0]), 1, 1),
        (greedy(), np.zeros(1), 1, 1),
        (Thompson(), STRAIGHT, 2, 1),
    ],
    ids=["ucb", "greedy", "thompson"],
)
@pytest.mark.parametrize("tied", [(0, 1, 2, 3, 4), (1, 3, 4), (0, 4)])
def test_ties_are_broken_evenly(index, z_grid, columns, t, tied):
    """Chi-square over the tied arms; nothing else is ever chosen. One z may be infinite: nothing is known."""
    values = np.full((5, columns), -1.0)
    values[list(tied)] = np.inf if columns == 1 else 0.5
    chosen = choices(index, values, z_grid, times=20_000, t=t, seed=7)
    counts = np.bincount(chosen, minlength=5)
    assert counts[list(tied)].sum() == 20_000
    assert stats.chisquare(counts[list(tied)]).pvalue > 1e-3


def test_a_single_arm_is_always_chosen():
    one = np.zeros(1)
    for index, z_grid in [(Ucb(), one), (Thompson(), STRAIGHT), (greedy(), one), (uniform(), one)]:
        assert not choices(index, np.full((1, len(z_grid)), -3.0), z_grid, times=50).any()


# thompson

DRAWS = 400_000


@pytest.mark.parametrize(
    ("means", "sds"),
    [((0.5, 0.4), (0.1, 0.2)), ((0.0, 0.0), (1.0, 5.0)), ((-1.0, 1.0), (1.0, 1.0)), ((3.0, 2.5), (0.0, 0.4))],
)
@pytest.mark.parametrize("z_grid", [STRAIGHT, CURVED], ids=["two z_grid", "nine z_grid"])
def test_thompson_pulls_as_often_as_an_arm_may_be_best(means, sds, z_grid):
    """Two normal arms: P(arm 0) = Phi((mu_0 - mu_1)/sqrt(s_0^2 + s_1^2)); 4 standard errors."""
    values = np.array(means)[:, None] + np.array(sds)[:, None] * z_grid
    exact = stats.norm.cdf((means[0] - means[1]) / np.hypot(*sds))
    share = shares(choices(Thompson(), values, z_grid, times=DRAWS, seed=11), 2)[0]
    assert abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / DRAWS)


def test_thompson_reads_a_curve_that_is_not_straight():
    """Against a certain arm at c, the other wins when z > z_c, and at(z_c) = c lies on one of its pieces."""
    curve = np.array([0.0, 0.02, 0.1, 0.3, 0.5, 0.55, 0.58, 0.6, 0.9])
    for c in (0.05, 0.2, 0.4, 0.52, 0.57):
        z = np.interp(c, curve, CURVED)
        exact = stats.norm.sf(z)
        share = shares(choices(Thompson(), [curve, np.full(9, c)], CURVED, times=DRAWS, seed=12), 2)[0]
        assert abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / DRAWS), c


def test_thompson_draws_for_every_arm_anew():
    """Five arms alike: each a fifth, and the next choice does not know the last."""
    values = np.tile([0.0, 1.0], (5, 1))
    chosen = choices(Thompson(), values, STRAIGHT, times=100_000, seed=13)
    assert stats.chisquare(np.bincount(chosen, minlength=5)).pvalue > 1e-3
    pairs = np.zeros((5, 5))
    np.add.at(pairs, tuple(np.array(list(itertools.pairwise(chosen))).T), 1)
    assert stats.chi2_contingency(pairs).pvalue > 1e-3


def test_thompson_wants_the_whole_curve():
    np.testing.assert_array_equal(Thompson().z_grid(linear=True), STRAIGHT)
    np.testing.assert_array_equal(Thompson().z_grid(linear=False), CURVED)


# greedy, epsilon-greedy, uniform


@steady
@given(st.lists(numbers | few, min_size=1, max_size=12), st.integers(0, 99))
def test_greedy_takes_the_highest_best_guess(values, seed):
    chosen = choices(greedy(), np.array(values)[:, None], np.zeros(1), times=5, seed=seed)
    assert all(values[arm] == max(values) for arm in chosen)


@pytest.mark.parametrize("index", [greedy(), uniform(), EpsilonGreedy(0.3)])
def test_greedy_looks_at_the_best_guess_only(index):
    np.testing.assert_array_equal(index.z_grid(linear=False), [0.0])


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1, 0.5, 1.0])
def test_epsilon_is_the_share_spread_over_all_arms(epsilon):
    """The best: 1 - epsilon + epsilon/n, each other: epsilon/n; 4.5 standard errors each."""
    n, best, times = 4, 2, 200_000
    values = np.array([[0.1], [0.2], [0.9], [0.3]])
    share = shares(choices(EpsilonGreedy(epsilon), values, np.zeros(1), times=times, seed=14), n)
    exact = np.full(n, epsilon / n)
    exact[best] += 1 - epsilon
    assert np.all(np.abs(share - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / times))


def test_the_default_epsilon_is_a_tenth():
    assert EpsilonGreedy().epsilon == 0.1
    assert registry.find("index", "epsilon-greedy").parameters == {"epsilon": 0.1}


def test_uniform_takes_every_arm_alike_whatever_it_is_worth():
    values = np.array([[0.0], [np.inf], [5.0]])
    chosen = choices(uniform(), values, np.zeros(1), times=60_000, seed=15)
    assert stats.chisquare(np.bincount(chosen, minlength=3)).pvalue > 1e-3


# What is refused


@pytest.mark.parametrize("level", [0, -1, float("nan"), float("inf"), True, None, (1, 2), [1.0], {"a": 1}])
def test_a_level_is_a_positive_number(level):
    with pytest.raises(InvalidValue) as refusal:
        Ucb(level=level)
    assert str(refusal.value) == f"level must be a positive number, 'plain' or 'cautious', got {level}."


def test_an_unknown_level_or_horizon_is_named():
    with pytest.raises(UnknownName) as refusal:
        Ucb(level="cautios")
    assert str(refusal.value) == "Unknown level 'cautios'; did you mean 'cautious'? Known: cautious, plain."
    with pytest.raises(InvalidValue, match=r"^horizon must be 'known' or 'unknown', got 1000\.$"):
        Ucb(horizon=1000)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [-0.1, 1.5, float("nan"), float("inf"), "much", None, (0.1, 0.2)])
def test_epsilon_is_a_probability(epsilon):
    with pytest.raises(InvalidValue) as refusal:
        EpsilonGreedy(epsilon)
    assert str(refusal.value) == f"epsilon must be in [0, 1], got {epsilon}."


# the memory of the highest


def play_along(values, z_grid, steps, memory, parameters, rng, out):  # type: ignore[no-untyped-def]
    update(values, z_grid, parameters, memory, -1, rng)  # noqa: F821 - bound by link
    for i in range(len(steps)):
        arm = choose(values, z_grid, parameters, memory, i + 1, rng)  # noqa: F821
        out[i, 0] = values[arm, 0]
        for a in range(len(values)):
            out[i, 1] = values[a, 0] if a == 0 else max(out[i, 1], values[a, 0])
        values[arm, 0] += steps[i]
        update(values, z_grid, parameters, memory, arm, rng)  # noqa: F821


def chosen_and_highest(index: Index, steps: FloatArray, arms: int = 7) -> FloatArray:
    """Arms whose values move by a step when they are pulled: the chosen value and the highest, each round."""
    out = np.empty((len(steps), 2))
    rng = np.random.Generator(np.random.SFC64(2))
    memory = np.zeros(index.memory(arms))
    state = (np.zeros((arms, 1)), np.zeros(1), steps, memory, index.parameters(), rng, out)
    link(play_along, update=index.update, choose=index.choose)(*state)
    return out


@pytest.mark.parametrize("index", [Ucb(), EpsilonGreedy(epsilon=0.0)])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("arms", [1, 2, 3, 7, 8, 100])
def test_the_tournament_never_misses_the_highest(index, ties, arms):
    rng = np.random.default_rng(1)
    steps = rng.choice([-1.0, -0.5, 0.0, 0.5], size=20_000) if ties else rng.normal(-0.2, 1, size=20_000)
    out = chosen_and_highest(index, steps, arms)
    assert np.array_equal(out[:, 0], out[:, 1])


def test_random_pulls_do_not_spoil_the_memory():
    """With epsilon .5, half the choices are of the highest for certain, and 1/7 of the rest by chance."""
    out = chosen_and_highest(EpsilonGreedy(epsilon=0.5), np.random.default_rng(1).normal(size=20_000))
    share = np.mean(out[:, 0] == out[:, 1])
    assert share == pytest.approx(0.5 + 0.5 / 7, abs=4 * np.sqrt(0.57 * 0.43 / 20_000))


@pytest.mark.parametrize("arms", [3, 7, 12])
def test_arms_that_are_tied_are_pulled_equally_often(arms):
    """All equal, and a pull changes nothing: every match that is played again is a fair one."""
    chosen = choices(Ucb(), np.zeros((arms, 1)), np.zeros(1), times=40_000, seed=4)
    assert stats.chisquare(np.bincount(chosen, minlength=arms)).pvalue > 1e-3


def test_the_tournament_looks_at_the_first_value_only():
    """Values of three z_grid, the first in one order, the others in another: the leader and the second's value."""
    rng = np.random.default_rng(3)
    for arms in 20 * (1, 2, 3, 5, 8):
        values = rng.normal(size=(arms, 3))
        memory = np.zeros(highest_memory(arms))
        leader = tournament.py_func(values, memory, -1, np.random.default_rng(0))
        order = np.argsort(-values[:, 0])
        assert leader == memory[1] == order[0]
        assert memory[0] == (values[order[1], 0] if arms > 1 else -np.inf)


def test_read_at_a_knot_before_an_infinite_value():
    values, z_grid = np.array([0.0, 1.0, np.inf]), np.array([0.0, 1.0, 2.0])
    assert [read.py_func(values, z_grid, z) for z in (0.0, 0.5, 1.0, 1.5)] == [0.0, 0.5, 1.0, np.inf]

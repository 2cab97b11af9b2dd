"""P(arm is highest) and the expected loss by quadrature, and Thompson's choices among many arms, by other means."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from truant.checks import agreement
from truant.compile import link
from truant.indices.index import CURVED, STRAIGHT, best, normal_below, read, where
from truant.indices.thompson import ACTIVE, Thompson, above

FloatArray = npt.NDArray[np.float64]
NINE, TWO = np.array(CURVED), np.array(STRAIGHT)
steady = settings(max_examples=200)


def best_of(values, z_grid, leader, out):
    return best(values, z_grid, leader, out)


def by_quadrature(values: npt.ArrayLike, z_grid: FloatArray, leader: int = -1) -> tuple[FloatArray, float]:
    table = np.ascontiguousarray(values, np.float64)
    out = np.full(len(table), np.nan)
    loss = link(best_of, best=best)(table, z_grid, leader, out)
    return out, loss


def choose_on(values, z_grid, parameters, memory, rng, out):
    update(values, z_grid, parameters, memory, -1, rng)  # noqa: F821 - bound by link
    for i in range(len(out)):
        out[i] = choose(values, z_grid, parameters, memory, 1, rng)  # noqa: F821


def thompson(values: FloatArray, z_grid: FloatArray, times: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """How often each arm is chosen, and the memory afterwards."""
    index, rng, out = Thompson(), np.random.Generator(np.random.SFC64(seed)), np.empty(times, np.int64)
    memory, table = np.zeros(index.memory(len(values))), np.ascontiguousarray(values)
    link(choose_on, update=index.update, choose=index.choose)(
        table, z_grid, index.parameters(), memory, rng, out
    )
    return np.bincount(out, minlength=len(values)), memory


def lines(means: npt.ArrayLike, errors: npt.ArrayLike, z_grid: FloatArray) -> FloatArray:
    return np.asarray(means, float)[:, None] + np.asarray(errors, float)[:, None] * z_grid


# where


@st.composite
def rising(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    steps = draw(st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0, 30.0]), min_size=8, max_size=8))
    return NINE, np.cumsum([draw(st.floats(-2, 2)), *steps])


@steady
@given(rising(), st.floats(-9, 9), st.booleans())
def test_where_turns_read_round(curve, z, endless):
    """where(read(z)) is z or, if at is flat there, the end of the flat piece; P(at(Z) <= x) is its Phi."""
    z_grid, values = curve
    if endless:
        values[-2:] = np.inf
    x = read.py_func(values, z_grid, z)
    back = where.py_func(values, z_grid, x)
    assert back >= z - 1e-6
    if np.isfinite(back):
        assert read.py_func(values, z_grid, back) == pytest.approx(x, abs=1e-9)
        assert read.py_func(values, z_grid, back + 1e-3) > x
        assert normal_below(values, z_grid, x) == pytest.approx(stats.norm.cdf(back), abs=1e-12)


# Quadrature


@pytest.mark.parametrize("z_grid", [TWO, NINE], ids=["two z_grid", "nine z_grid"])
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
def test_normal_arms_by_adaptive_quadrature(z_grid, scale):
    """Total variation below 1e-4, and the loss to a ten-thousandth, in any unit and about any value."""
    means, errors = np.array([0.0, 0.3, 0.5, -1.0, 0.45]), np.array([0.5, 0.2, 0.05, 1.0, 0.3])
    exact, leader = [], 2
    for a in range(5):

        def density(x, a=a):
            others = np.delete(np.arange(5), a)
            return stats.norm.pdf(x, means[a], errors[a]) * np.prod(
                stats.norm.cdf(x, means[others], errors[others])
            )

        exact.append(integrate.quad(density, -2, 6, points=[0.4, 0.5, 0.6], limit=200)[0])
    highest = (
        integrate.quad(
            lambda x: 1 - np.prod(stats.norm.cdf(x, means, errors)), 0, 6, points=[0.4, 0.5, 0.6], limit=200
        )[0]
        - integrate.quad(lambda x: np.prod(stats.norm.cdf(x, means, errors)), -4, 0)[0]
    )
    found, loss = by_quadrature(scale * (1 + lines(means, errors, z_grid)), z_grid, leader)
    assert np.abs(found - exact).sum() / 2 < 3e-5
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert loss == pytest.approx(scale * (highest - means[leader]), rel=1e-4)


def test_very_different_scales():
    """A step beside a slope: P(wide > narrow) = Phi((m_w - m_n)/s), whatever the narrow arm's error."""
    for narrow in (1e-2, 1e-5, 1e-10, 0.0):
        found, loss = by_quadrature(lines([0.3, 0.0], [narrow, 1.0], NINE), NINE, 0)
        error = np.hypot(narrow, 1.0)
        assert found[1] == pytest.approx(stats.norm.cdf(-0.3 / error), abs=1e-5)
        by_hand = error * stats.norm.pdf(0.3 / error) - 0.3 * stats.norm.sf(0.3 / error)
        assert loss == pytest.approx(by_hand, rel=1e-4)


def test_the_loss_of_an_uncertain_leader():
    """The leader is wide: below the narrow arm lies half of what is lost."""
    _, loss = by_quadrature(lines([0.3, 0.2], [1.0, 0.01], NINE), NINE, 0)
    error = np.hypot(1.0, 0.01)
    by_hand = error * stats.norm.pdf(0.1 / error) - 0.1 * stats.norm.sf(0.1 / error)
    assert loss == pytest.approx(by_hand, rel=1e-4)
    assert by_quadrature(lines([0.3], [1.0], NINE), NINE, 0)[1] == pytest.approx(0.0, abs=1e-12)


def test_atoms_are_shared_by_those_that_are_tied():
    """Clipped at 0, three arms are tied there with probability 1/8; a certain arm at 0 ties with them, too."""
    clipped = np.minimum(NINE, 0.0)
    np.testing.assert_allclose(by_quadrature(np.tile(clipped, (3, 1)), NINE)[0], 1 / 3, atol=1e-6)
    found, _ = by_quadrature([clipped, clipped, np.zeros(9)], NINE)
    tied = np.array([[1 / 3, 1 / 2], [1 / 2, 1]])  # share, given who of the clipped is at 0
    np.testing.assert_allclose(found, [(1 / 3 + 1 / 2) / 4] * 2 + [tied.mean()], atol=1e-5)
    np.testing.assert_allclose(by_quadrature(np.full((200, 9), -0.3), NINE)[0], 1 / 200, atol=1e-9)


def test_infinite_values_win_and_share():
    usual = lines([0.0, 5.0, 1.0], [1.0, 1.0, 1.0], TWO)
    usual[0] = np.inf
    np.testing.assert_allclose(by_quadrature(usual, TWO)[0], [1, 0, 0], atol=1e-9)
    usual[2] = np.inf
    np.testing.assert_allclose(by_quadrature(usual, TWO)[0], [0.5, 0, 0.5], atol=1e-9)
    np.testing.assert_allclose(by_quadrature(np.full((4, 2), np.inf), TWO)[0], 0.25, atol=1e-9)
    half = np.where(NINE > 0, np.inf, NINE - 50)  # infinite with probability 1/2, else far below
    np.testing.assert_allclose(by_quadrature([half, half, NINE], NINE)[0], [3 / 8, 3 / 8, 1 / 4], atol=1e-5)


def test_a_single_arm_is_best():
    for row in (TWO, np.zeros(2), np.full(2, np.inf)):
        assert by_quadrature([row], TWO)[0] == pytest.approx([1.0])


def test_a_hundred_arms_take_little_time():
    """3 ms on an idle machine; a loop over pairs of arms took 40."""
    rng = np.random.default_rng(1)
    values = lines(rng.normal(size=100), rng.uniform(0.05, 1, 100), NINE)
    times = []
    for _ in range(5):
        start = time.thread_time()
        by_quadrature(values, NINE)
        times.append(time.thread_time() - start)
    assert min(times) < 0.06


# Thompson among many arms


def contest(arms: int = 200) -> FloatArray:
    """A few contenders of different certainty, many equal arms that are behind, and some that are not."""
    rng = np.random.default_rng(4)
    values = np.tile(0.2 + 0.05 * NINE, (arms, 1))
    for a in range(0, arms, 40):
        values[a] = 0.4 + 0.04 * rng.normal() + 0.05 * rng.uniform(0.3, 1) * NINE
    return values


def with_row(values: FloatArray, a: int, row: npt.ArrayLike) -> FloatArray:
    values = values.copy()
    values[a] = row
    return values


CASES = {
    "contenders": (contest(), NINE, True),
    "equal": (np.tile(0.2 + 0.05 * NINE, (200, 1)), NINE, True),
    "an infinite arm": (with_row(contest(), 7, np.inf), NINE, True),
    "infinite beyond z = 1": (with_row(contest(), 7, np.where(NINE > 1, np.inf, -1.0)), NINE, True),
    "clipped": (np.minimum(contest(), 0.42), NINE, True),
    "clipped, many tied": (np.minimum(contest(), 0.2), NINE, False),
    "certain": (np.zeros((50, 9)), NINE, False),
    "a certain leader": (with_row(contest(), 3, np.full(9, 0.45)), NINE, True),
    "straight": (lines(np.linspace(0, 1, 60), np.linspace(0.5, 0.01, 60), TWO), TWO, True),
    "ten": (lines(np.linspace(0, 1, 10), np.linspace(0.5, 0.1, 10), NINE), NINE, True),
    "three": (lines([0.0, 0.1, 0.2], [0.5, 0.1, 0.2], NINE), NINE, False),
}


@pytest.mark.parametrize("name", CASES)
def test_thompson_chooses_as_its_probabilities_say(name):
    values, z_grid, jumps = CASES[name]
    chosen, memory = thompson(values, z_grid, 400_000, seed=3)
    assert (len(memory) > 0 and memory[ACTIVE] == 1) == jumps
    assert agreement(chosen, by_quadrature(values, z_grid)[0]) > 1e-4


def change_along(values, others, z_grid, parameters, memory, rounds, rng, out, sums):
    update(values, z_grid, parameters, memory, -1, rng)  # noqa: F821 - bound by link
    for i in range(len(rounds)):
        arm = rounds[i]
        for k in range(len(z_grid)):
            values[arm, k] = others[i, k]
        update(values, z_grid, parameters, memory, arm, rng)  # noqa: F821
        out[i] = choose(values, z_grid, parameters, memory, 1, rng)  # noqa: F821
        best(values, z_grid, -1, sums[i])


def test_thompson_keeps_up_with_arms_that_change():
    """Each round one arm gets new values, some better than all before, some worse; choices follow at once."""
    arms, rounds, index = 12, 40_000, Thompson()
    rng = np.random.default_rng(8)
    changed = rng.integers(arms, size=rounds)
    level = np.sin(np.arange(rounds) / 3000) * 2 + rng.normal(size=rounds)
    new = lines(level, rng.uniform(0.05, 1, rounds), NINE)
    out, stated = np.empty(rounds, np.int64), np.empty((rounds, arms))
    state = (np.zeros(index.memory(arms)), changed, np.random.Generator(np.random.SFC64(1)), out, stated)
    along = link(change_along, update=index.update, choose=index.choose, best=best)
    along(lines(np.zeros(arms), np.ones(arms), NINE), new, NINE, index.parameters(), *state)
    rank = np.argsort(
        np.argsort(-stated, axis=1), axis=1
    )  # most probable first: their shares, summed over rounds
    expected = np.array([stated[rank == r].sum() for r in range(arms)])
    noise = np.array([(stated * (1 - stated))[rank == r].sum() for r in range(arms)])
    seen = np.bincount(rank[np.arange(rounds), out], minlength=arms)
    assert np.all(np.abs(seen - expected) < 4.5 * np.sqrt(noise) + 3)


def tail_draws(limit, rng, out):
    for i in range(len(out)):
        out[i] = draw(limit, rng)  # noqa: F821 - bound by link


@pytest.mark.parametrize("limit", [-9.0, -1.0, 0.2, 0.4, 1.5, 4.0, 8.0])
def test_draws_above_a_limit(limit):
    out = np.empty(50_000)
    link(tail_draws, draw=above)(limit, np.random.Generator(np.random.SFC64(5)), out)
    assert out.min() > limit
    uniform = stats.norm.sf(out) / stats.norm.sf(limit)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3

"""Folding a table, adding pull by pull and merging parts are the same counts.

What "the same" means: integer counts are identical; replaying in order is identical to the last bit; sums kept
about a centre c, and the cell totals that follow from them, agree with exact rational arithmetic to 1e-12 of
sum |y - c|, sums of squares and cubes to 1e-12 of sum (y - c)^2 and sum |y - c|^3. No scale knows how far from
zero the outcomes sit: an offset of 1e9 may cost nothing.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truant.counts import Counts
from truant.errors import InvalidValue
from truant.setting import Setting

Pull = tuple[int, int | None, float | None]
TIGHT = Fraction(1, 10**12)
OFFSETS = (0.0, 1.0, -1e6, 1e6, 123456789.25, -1e9, 1e9)
LEVELS = (-0.75, 0.0, 0.1, 2.5)
steady = settings(max_examples=100)


@st.composite
def problems(draw: st.DrawFn, discrete: bool = False) -> tuple[Setting, list[Pull]]:
    arms, mediators = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    if discrete:
        setting = Setting(arms=arms, mediators=mediators, levels=LEVELS)
        outcome: st.SearchStrategy[float] = st.sampled_from(LEVELS)
    else:
        offset = draw(st.sampled_from(OFFSETS))
        setting = Setting(arms=arms, mediators=mediators, low=offset, high=offset + 1)
        outcome = st.floats(0, 1).map(lambda share: offset + share)
    pull = st.tuples(
        st.integers(0, arms - 1),
        st.none() | st.integers(0, mediators - 1),
        st.none() | outcome,
    )
    return setting, draw(st.lists(pull, max_size=60))


def columns(pulls: list[Pull]) -> tuple[list[int], list[int], list[float]]:
    """As a table holds them: -1 and NaN for missing."""
    return (
        [a for a, _, _ in pulls],
        [-1 if m is None else m for _, m, _ in pulls],
        [np.nan if y is None else y for _, _, y in pulls],
    )


def one_by_one(setting: Setting, pulls: list[Pull]) -> Counts:
    counts = Counts.empty(setting)
    for arm, mediator, outcome in pulls:
        counts.update(arm, mediator, outcome)
    return counts


def in_cell(setting: Setting, pulls: list[Pull], arm: int, row: int) -> list[float | None]:
    """Outcomes of the pulls of an arm and mediator level; the last row is "mediator missing"."""
    wanted = None if row == setting.mediators else row
    return [y for a, m, y in pulls if a == arm and m == wanted]


def assert_exact(counts: Counts, setting: Setting, pulls: list[Pull], came_from: float | None = None) -> None:
    """Real counts against rational arithmetic, cell by cell; `came_from` is a centre they were kept about before."""
    centre = Fraction(counts.centre)
    way = 0 if came_from is None else abs(Fraction(came_from) - centre)
    for arm in range(setting.arms):
        for row in range(setting.mediators + 1):
            outcomes = in_cell(setting, pulls, arm, row)
            exact = [Fraction(y) for y in outcomes if y is not None]
            N, n, S, Q, C = (Fraction(v) for v in counts.table[arm, row].tolist())
            assert (N, n) == (len(outcomes), len(exact))
            if not exact:
                assert (S, Q, C) == (0, 0, 0)
                continue
            size = sum(abs(y - centre) + way for y in exact)
            squares = sum((abs(y - centre) + way) ** 2 for y in exact)
            total, mean = sum(exact), sum(exact) / n
            assert abs(S - sum(y - centre for y in exact)) <= TIGHT * size
            assert abs(n * centre + S - total) <= TIGHT * size
            assert abs(Q - sum((y - centre) ** 2 for y in exact)) <= TIGHT * squares
            cubes = sum((abs(y - centre) + way) ** 3 for y in exact)
            assert abs(C - sum((y - centre) ** 3 for y in exact)) <= 2 * TIGHT * cubes
            within = Q - S * S / n  # the spread about the cell's own mean
            assert abs(within - sum((y - mean) ** 2 for y in exact)) <= 3 * TIGHT * squares


# Three ways to the same counts


@steady
@given(problems())
def test_folding_real_outcomes_is_exact_however_far_from_zero(problem):
    setting, pulls = problem
    assert_exact(Counts.fold(setting, *columns(pulls)), setting, pulls)


@steady
@given(problems())
def test_replaying_in_order_is_folding_to_the_last_bit(problem):
    setting, pulls = problem
    assert np.array_equal(one_by_one(setting, pulls).table, Counts.fold(setting, *columns(pulls)).table)


@steady
@given(problems(), st.lists(st.integers(0, 60), max_size=3))
def test_merging_parts_is_folding_the_whole(problem, cuts):
    setting, pulls = problem
    edges = [0, *sorted(min(cut, len(pulls)) for cut in cuts), len(pulls)]
    merged = Counts.empty(setting)
    for start, end in itertools.pairwise(edges):
        merged = merged.merge(Counts.fold(setting, *columns(pulls[start:end])))
    assert_exact(merged, setting, pulls)
    assert merged.centre == setting.centre


@steady
@given(problems(), st.integers(0, 60), st.sampled_from([-0.5, 0.25, 1.0]))
def test_parts_kept_about_other_centres_are_recentred_when_merged(problem, cut, shift):
    setting, pulls = problem
    cut = min(cut, len(pulls))
    moved = Setting(
        arms=setting.arms, mediators=setting.mediators, low=setting.low + shift, high=setting.high + shift
    )
    first, second = Counts.fold(setting, *columns(pulls[:cut])), Counts.fold(moved, *columns(pulls[cut:]))
    assert first.centre != second.centre
    before = first.table.copy(), second.table.copy()
    both = first.merge(second)
    assert both.centre == setting.centre
    assert np.array_equal(first.table, before[0])
    assert np.array_equal(second.table, before[1])
    assert_exact(both, setting, pulls, came_from=moved.centre)


@steady
@given(problems(discrete=True), st.integers(0, 60))
def test_discrete_counts_are_identical_by_every_way(problem, cut):
    setting, pulls = problem
    table = np.zeros((setting.arms, setting.mediators + 1, len(LEVELS) + 1))
    for arm, mediator, outcome in pulls:
        row = setting.mediators if mediator is None else mediator
        table[arm, row, len(LEVELS) if outcome is None else LEVELS.index(outcome)] += 1
    folded = Counts.fold(setting, *columns(pulls))
    merged = Counts.fold(setting, *columns(pulls[:cut])).merge(Counts.fold(setting, *columns(pulls[cut:])))
    for counts in (folded, one_by_one(setting, pulls), merged):
        assert np.array_equal(counts.table, table)
        assert counts.levels == LEVELS


def test_many_pulls_keep_their_digits():
    """100,000 outcomes near 1e9 of spread .1: the mean to 1e-12 of itself, the variance to 1e-12 of itself."""
    rng = np.random.default_rng(1)
    y = 1e9 + 0.5 + 0.1 * rng.standard_normal(100_000)
    setting = Setting(arms=1, low=1e9, high=1e9 + 1)
    halves = [
        Counts.fold(setting, np.zeros(50_000, int), np.zeros(50_000, int), part) for part in np.split(y, 2)
    ]
    whole = Counts.fold(setting, np.zeros(len(y), int), np.zeros(len(y), int), y)
    exact = [Fraction(v) for v in y.tolist()]
    mean = sum(exact) / len(exact)
    spread = sum((v - mean) ** 2 for v in exact)
    for counts in (whole, halves[0].merge(halves[1])):
        _, n, S, Q, C = (Fraction(v) for v in counts.table[0, 0].tolist())
        assert n == 100_000
        assert abs(Fraction(counts.centre) + S / n - mean) <= TIGHT * mean
        assert abs(Q - S * S / n - spread) <= TIGHT * spread
        cubes = [(v - Fraction(counts.centre)) ** 3 for v in exact]
        assert abs(C - sum(cubes)) <= TIGHT * sum(map(abs, cubes))


# Recentring


@steady
@given(problems(), st.sampled_from([-2.0, -0.5, 0.125, 3.0]))
def test_recentring_moves_sums_and_leaves_the_spread(problem, shift):
    setting, pulls = problem
    counts = Counts.fold(setting, *columns(pulls))
    before = counts.table.copy()
    moved = counts.about(counts.centre + shift)
    assert moved.centre == counts.centre + shift
    assert np.array_equal(counts.table, before)
    assert_exact(moved, setting, pulls, came_from=counts.centre)


def test_recentring_by_hand():
    setting = Setting(arms=1, low=0, high=2)  # outcomes 1, 2 and 4 about 1: 0, 1, 3
    counts = Counts.fold(setting, [0, 0, 0, 0], [0, 0, 0, 0], [1.0, 2.0, 4.0, np.nan])
    assert counts.table[0, 0].tolist() == [4, 3, 4, 10, 28]
    assert counts.about(0.0).table[0, 0].tolist() == [4, 3, 7, 21, 73]
    assert counts.about(4.0).table[0, 0].tolist() == [4, 3, -5, 13, -35]
    assert counts.about(4.0).about(1.0).table[0, 0].tolist() == [4, 3, 4, 10, 28]
    assert counts.about(1.0).table[0, 0].tolist() == [4, 3, 4, 10, 28]


def test_discrete_counts_have_no_centre_to_move():
    setting = Setting(arms=1, levels=(0.0, 1.0))
    counts = Counts.fold(setting, [0, 0], [0, 0], [1.0, np.nan])
    moved = counts.about(-3.0)
    assert np.array_equal(moved.table, counts.table)
    # wherever the sums are kept, the mean of what was seen is 1
    real = moved.real()
    assert real.centre + real.table[0, 0, 2] / real.table[0, 0, 1] == pytest.approx(1.0, rel=1e-15)


# Where less is better


def negated(setting: Setting, pulls: list[Pull]) -> tuple[Setting, list[Pull]]:
    """The same pulls with every outcome y as -y."""
    levels = None if setting.levels is None else tuple(-level for level in reversed(setting.levels))
    turned = Setting(
        arms=setting.arms, mediators=setting.mediators, levels=levels, low=-setting.high, high=-setting.low
    )
    return turned, [(a, m, None if y is None else -y) for a, m, y in pulls]


@steady
@given(st.booleans().flatmap(lambda discrete: problems(discrete=discrete)))
def test_reflected_counts_are_those_of_the_negated_outcomes(problem):
    setting, pulls = problem
    counts = Counts.fold(setting, *columns(pulls))
    before = counts.table.copy()
    turned, negative = negated(setting, pulls)
    reflected, expected = counts.reflected(), Counts.fold(turned, *columns(negative))
    np.testing.assert_array_equal(reflected.table, expected.table)
    assert (reflected.levels, reflected.centre) == (expected.levels, expected.centre)
    if not counts.levels:
        assert_exact(reflected, turned, negative)
    np.testing.assert_array_equal(counts.table, before)
    twice = reflected.reflected()
    np.testing.assert_array_equal(twice.table, counts.table)
    assert (twice.levels, twice.centre) == (counts.levels, counts.centre)
    assert not np.any(np.signbit(reflected.table) & (reflected.table == 0))


def test_reflecting_by_hand():
    setting = Setting(arms=1, low=0, high=2)
    counts = Counts.fold(setting, [0, 0, 0], [0, 0, 0], [1.5, 3.0, np.nan]).reflected()
    assert (counts.centre, counts.table[0, 0].tolist()) == (-1.0, [3, 2, -2.5, 4.25, -8.125])
    levels = Setting(arms=1, levels=(0.0, 1.0, 5.0))
    discrete = Counts.fold(levels, [0] * 4, [0] * 4, [0.0, 5.0, 5.0, np.nan]).reflected()
    assert (discrete.levels, discrete.table[0, 0].tolist()) == ((-5.0, -1.0, 0.0), [2, 0, 1, 1])
    assert discrete.real().table[0, 0].tolist() == [4, 3, -2.5, 18.75, -15.625]  # about -2.5


# Layouts


@steady
@given(problems(discrete=True))
def test_discrete_counts_become_real_ones(problem):
    setting, pulls = problem
    real = Counts.fold(setting, *columns(pulls)).real()
    assert real.levels is None
    assert real.table.shape == (setting.arms, setting.mediators + 1, 5)
    assert_exact(real, setting, pulls)
    same = Setting(arms=setting.arms, mediators=setting.mediators, low=LEVELS[0], high=LEVELS[-1])
    np.testing.assert_allclose(real.table, Counts.fold(same, *columns(pulls)).table, rtol=1e-12, atol=1e-12)
    assert real.real() is real


@steady
@given(st.booleans().flatmap(lambda discrete: problems(discrete=discrete)))
def test_pulls_and_observed_count_every_row_of_an_arm(problem):
    setting, pulls = problem
    counts = Counts.fold(setting, *columns(pulls))
    for form in (counts, counts.real()):
        assert form.pulls.tolist() == [sum(a == arm for a, _, _ in pulls) for arm in range(setting.arms)]
        assert form.observed.tolist() == [
            sum(a == arm and y is not None for a, _, y in pulls) for arm in range(setting.arms)
        ]
        assert form.pulls.dtype == form.observed.dtype == np.int64


def test_missing_goes_to_the_last_row_and_is_never_zero():
    real = Setting(arms=2, mediators=2, low=-1, high=1)
    pulls: list[Pull] = [(0, 1, 0.5), (0, 1, None), (0, None, 0.25), (0, None, None), (1, 0, 0.0)]
    for counts in (Counts.fold(real, *columns(pulls)), one_by_one(real, pulls)):
        seen, hidden = [2, 1, 0.5, 0.25, 0.125], [2, 1, 0.25, 0.0625, 0.015625]
        assert counts.table[0].tolist() == [[0] * 5, seen, hidden]
        assert counts.table[1].tolist() == [[1, 1, 0, 0, 0], [0] * 5, [0] * 5]
    levels = Setting(arms=2, mediators=2, levels=(0.0, 0.25, 0.5))
    for counts in (Counts.fold(levels, *columns(pulls)), one_by_one(levels, pulls)):
        assert counts.table[0].tolist() == [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]]
        assert counts.table[1].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_nan_and_none_are_both_missing():
    setting = Setting(arms=1)
    counts = one_by_one(setting, [(0, 0, float("nan")), (0, 0, None)])
    assert counts.table[0, 0].tolist() == [2, 0, 0, 0, 0]
    outcomes: Any = [None, 0.5]
    assert Counts.fold(setting, [0, 0], [0, 0], outcomes).observed.tolist() == [1]


def test_no_pulls_at_all():
    for setting in (Setting(arms=2, mediators=3), Setting(arms=2, mediators=3, levels=(0.0, 1.0))):
        counts = Counts.fold(setting, [], [], [])
        assert counts.table.shape == Counts.empty(setting).table.shape
        assert not counts.table.any()
        assert counts.pulls.tolist() == counts.observed.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_codes_of_any_integer_type_will_do(dtype):
    setting = Setting(arms=3, mediators=3)
    counts = Counts.fold(
        setting, np.array([2, 1], dtype), np.array([0, 2], dtype), np.array([0.5, 1], np.float32)
    )
    assert counts.pulls.tolist() == [0, 1, 1]
    assert counts.table[1, 2].tolist() == [1, 1, 0.5, 0.25, 0.125]


@st.composite
def followed(draw: st.DrawFn, discrete: bool) -> tuple[Setting, list[Pull], list[bool]]:
    setting, pulls = draw(problems(discrete))
    return setting, pulls, draw(st.lists(st.booleans(), min_size=len(pulls), max_size=len(pulls)))


@pytest.mark.parametrize("discrete", [False, True])
@given(data=st.data())
@steady
def test_follow_ups_fold_as_they_come_in_and_stay_missing_in_the_first_table(discrete, data):
    setting, pulls, marked = data.draw(followed(discrete))
    folded = Counts.fold(setting, *columns(pulls), followed_up=np.array(marked, bool))
    told = Counts.empty(setting)
    for (arm, mediator, outcome), followed_up in zip(pulls, marked, strict=True):
        told.update(arm, mediator, None if followed_up else outcome)
    for (arm, mediator, outcome), followed_up in zip(pulls, marked, strict=True):
        if followed_up:
            told.follow_up(arm, mediator, outcome)
    assert np.array_equal(folded.table, told.table)
    assert (folded.followed_up is None) == (not any(marked))
    if folded.followed_up is not None:
        assert np.array_equal(folded.followed_up, told.followed_up)
        assert folded.follow_ups.sum() == sum(marked)
        answered = [y is not None for (_, _, y), f in zip(pulls, marked, strict=True) if f]
        assert folded.answered.sum() == sum(answered)
    assert folded.checked(setting) is folded


@pytest.mark.parametrize("discrete", [False, True])
@given(data=st.data())
@steady
def test_follow_ups_merge_move_and_turn_like_the_pulls(discrete, data):
    setting, pulls, marked = data.draw(followed(discrete))
    flags = np.array(marked, bool)
    whole = Counts.fold(setting, *columns(pulls), followed_up=flags)
    cut = len(pulls) // 2
    parts = [
        Counts.fold(setting, *columns(pulls[some]), followed_up=flags[some])
        for some in (slice(cut), slice(cut, None))
    ]
    merged = parts[0].merge(parts[1])
    for counts in (merged, merged.about(setting.centre + 1).about(setting.centre)):
        if whole.followed_up is None:
            assert counts.followed_up is None
        else:
            np.testing.assert_allclose(counts.followed_up, whole.followed_up, rtol=1e-9, atol=1e-9)
    if whole.followed_up is None:
        return
    assert np.array_equal(whole.reflected().reflected().followed_up, whole.followed_up)
    # the second table is what the first would be if the follow-ups were all pulls there are
    alone = Counts.fold(setting, *columns([pull for pull, f in zip(pulls, marked, strict=True) if f]))
    assert np.array_equal(whole.followed_up, alone.table)
    assert np.array_equal(whole.real().followed_up, alone.real().table)
    assert np.array_equal(whole.reflected().followed_up, alone.reflected().table)
    assert np.array_equal(whole.followed_up_row(0), alone.real_row(0))


def test_follow_ups_beyond_the_missing_are_refused():
    setting = Setting(arms=1, mediators=1, low=0, high=1)
    counts = Counts.fold(setting, [0, 0], [0, 0], [np.nan, 1.0])
    counts.follow_up(0, 0, 0.25)
    with pytest.raises(InvalidValue, match="no missing outcome at mediator level 0 that was not followed up"):
        counts.follow_up(0, 0, 0.5)
    assert counts.follow_ups.tolist() == [1]
    with pytest.raises(InvalidValue, match="no missing outcome with the mediator missing"):
        counts.follow_up(0, None, 0.5)
    both = Counts(counts.table, None, counts.centre, 2 * counts.followed_up)
    with pytest.raises(InvalidValue, match="no more follow-ups than missing outcomes, got 2 of 1 for arm 0"):
        both.checked(setting)
    with pytest.raises(InvalidValue, match="followed_up must have the shape of the table"):
        Counts(counts.table, None, counts.centre, counts.followed_up[:, :1])
    with pytest.raises(InvalidValue, match="true or false for each pull"):
        Counts.fold(setting, [0], [0], [1.0], followed_up=[2])

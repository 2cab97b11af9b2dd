"""`follow-up` against closed forms, brute force and simulation."""

from __future__ import annotations

import numpy as np
import pytest

import truant
from truant.assumptions.follow_up import THIN, FollowedUp
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.counts import Counts
from truant.errors import NotIdentified, UnknownName
from truant.setting import Setting
from truant.worlds import DiscreteWorld, RealWorld

SETTING = Setting(arms=1, mediators=2, low=0, high=10)


def drawn(rng, n=400, seen=(0.7, 0.4), followed=0.5, success=1.0):
    """One arm with two levels whose missing outcomes are higher, and some of them followed up."""
    m = rng.integers(2, size=n)
    missing = rng.random(n) > np.asarray(seen)[m]
    y = 4 + m + rng.normal(size=n) + np.where(missing, 1 + m, 0)
    marked = missing & (rng.random(n) < followed)
    answered = marked & (rng.random(n) < success)
    return m, np.where(missing & ~answered, np.nan, y), marked


def counted(m, y, marked, setting=SETTING):
    return Counts.fold(setting, np.zeros(len(m), int), m, y, followed_up=marked)


def by_hand(m, y, marked):
    """sum_m [n1 r1 + N0 r0] / N, and its variance as in Hansen and Hurwitz, level by level."""
    n, mean, variance, groups = len(m), 0.0, 0.0, []
    missing = np.isnan(y) | marked
    for level in range(2):
        for hidden in (False, True):
            stands_for = np.sum((m == level) & (missing == hidden))
            values = y[(m == level) & (missing == hidden) & ~np.isnan(y)]
            share = stands_for / n
            groups.append((share, values.mean()))
            mean += share * values.mean()
            variance += share**2 * values.var(ddof=1) / len(values)
    between = sum(share * (value - mean) ** 2 for share, value in groups)
    return mean, variance + between / n


def test_the_estimate_is_that_of_hansen_and_hurwitz_level_by_level():
    m, y, marked = drawn(np.random.default_rng(0), n=40_000)
    estimate = FollowedUp().estimate(counted(m, y, marked), 0, SETTING)
    mean, variance = by_hand(m, y, marked)
    assert estimate.mean == pytest.approx(mean, rel=1e-12)
    assert estimate.standard_error == pytest.approx(variance**0.5, rel=2e-3)  # a cell borrows one outcome


def test_with_every_missing_outcome_followed_up_it_is_the_plain_mean():
    m, y, marked = drawn(np.random.default_rng(1), n=5_000, followed=1.0)
    everything = Counts.fold(SETTING, np.zeros(len(m), int), m, y)
    estimate = FollowedUp().estimate(counted(m, y, marked), 0, SETTING)
    plain = Mcar().estimate(everything, 0, SETTING)
    assert estimate.mean == pytest.approx(plain.mean, rel=1e-12)
    assert estimate.standard_error == pytest.approx(plain.standard_error, rel=0.01)


def test_levels_with_few_answers_borrow_by_the_difference_estimator():
    m, y, marked = drawn(np.random.default_rng(2), n=300)
    for level in range(2):  # leave THIN - 1 answers in each level
        answers = np.flatnonzero(marked & (m == level))[THIN - 1 :]
        marked[answers], y[answers] = False, np.nan
    missing = np.isnan(y) | marked
    r1 = np.array([y[(m == level) & ~missing].mean() for level in range(2)])
    difference = (y - r1[m])[marked].mean()
    wanted = (y[~missing].sum() + (r1[m] + difference)[missing].sum()) / len(y)
    assert FollowedUp().estimate(counted(m, y, marked), 0, SETTING).mean == pytest.approx(wanted, rel=1e-12)


def test_an_arm_without_missing_outcomes_needs_no_follow_up():
    counts = Counts.fold(SETTING, [0] * 4, [0, 0, 1, 1], [1.0, 2.0, 3.0, 5.0])
    counts.followed_up = np.zeros_like(counts.table)
    assert FollowedUp().estimate(counts, 0, SETTING).mean == pytest.approx(2.75)


def test_failures_are_worst_case_unless_they_are_stated_to_be_ignorable():
    m, y, marked = drawn(np.random.default_rng(3), n=400_000, success=0.8)
    counts = counted(m, y, marked)
    ignored = FollowedUp("ignorable").estimate(counts, 0, SETTING)
    worst = FollowedUp().estimate(counts, 0, SETTING)
    failed = 0.0  # share of all pulls that failures stand for
    missing = np.isnan(y) | marked
    for level in range(2):
        asked = marked & (m == level)
        failed += np.mean(missing & (m == level)) * np.isnan(y[asked]).mean()
    assert worst.mean == ignored.mean == worst.at(0.0)
    assert worst.at(-1e-9) < worst.mean < worst.at(1e-9)
    low, high = worst.interval()
    width = high - low
    sampling = np.diff(ignored.interval())[0]
    assert width == pytest.approx(failed * 10, abs=2 * sampling)  # of the range 0..10
    assert sampling < 0.05 * width
    unknown_range = Setting(arms=1, mediators=2, low=0, high=10, range_known=False)
    with pytest.raises(NotIdentified, match="brought no outcome; give the range"):
        FollowedUp().estimate(counts, 0, unknown_range)
    codes = [concern.code for concern in FollowedUp().concerns(counts, 0, SETTING)]
    assert codes == ["failed-follow-ups"]
    with pytest.raises(UnknownName, match="worst-case"):
        FollowedUp("worst")  # type: ignore[arg-type]


def test_an_arm_of_which_nothing_was_followed_up_is_refused():
    m, y, marked = drawn(np.random.default_rng(4), n=50)
    counts = counted(m, np.where(marked, np.nan, y), np.zeros(len(m), bool))
    counts.followed_up = np.zeros_like(counts.table)
    with pytest.raises(NotIdentified, match="missing outcomes of arm 0 was followed up"):
        FollowedUp().estimate(counts, 0, SETTING)
    failed = counted(m, np.where(marked, np.nan, y), marked)
    with pytest.raises(NotIdentified, match="was obtained by follow-up"):
        FollowedUp().estimate(failed, 0, SETTING)


@pytest.mark.parametrize("name", ["mar-low", "mnar-hidden", "mediator-and-outcome"])
@pytest.mark.parametrize("answers", [20, 200])
def test_intervals_hold_whatever_the_reason(name, answers):
    """Coverage of 95% intervals within three standard errors of .93 to .97, over 100 instances of ten arms."""
    rng = np.random.default_rng(answers)
    held = []
    for seed in range(100):
        world = truant.world(name, seed=seed)
        counts = with_follow_ups(world, 1_000, answers, rng)
        for arm in range(10):
            low, high = FollowedUp().estimate(counts, arm, world.setting).interval()
            held.append(low <= world.means[arm] <= high)
    error = 3 * (0.95 * 0.05 / len(held)) ** 0.5
    assert 0.93 - error <= np.mean(held) <= 0.97 + error


def with_follow_ups(world, pulls, answers, rng):
    """A table of `pulls` of each arm, and at most so many random follow-ups of its missing outcomes."""
    arms = np.repeat(np.arange(world.setting.arms), pulls)
    m, y = world.pulls(arms, rng)
    marked = np.zeros(len(y), bool)
    for arm in range(world.setting.arms):
        hidden = np.flatnonzero((arms == arm) & np.isnan(y))
        marked[rng.permutation(hidden)[:answers]] = True
    found = y.copy()
    levels, tables = world.setting.levels, world.missing_tables
    for i in np.flatnonzero(marked):
        mediator = world.setting.mediators if m[i] < 0 else m[i]
        value = world.draw_missing(rng, int(arms[i]), int(mediator), tables)
        found[i] = value if levels is None else levels[value]
    return Counts.fold(world.setting, arms, m, found, followed_up=marked)


def test_efficient_variance_is_reached_and_falls_to_that_of_everything_seen():
    joint = np.array([[[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]]])
    world = DiscreteWorld(joint, [[0.9, 0.6, 0.2], [0.8, 0.5, 0.1]])
    y = np.linspace(0, 1, 3)
    variance = joint.sum(axis=1) @ y**2 - (joint.sum(axis=1) @ y) ** 2
    assert truant.theory.efficient_variance(world, "follow-up")[0] == pytest.approx(variance[0])
    stated = truant.theory.efficient_variance(world, "follow-up:rate=0.2")[0]
    rng, pulls, runs = np.random.default_rng(5), 4_000, 600
    means, tables = [], world.missing_tables
    for _ in range(runs):
        m, outcome = world.pulls(np.zeros(pulls, int), rng)
        marked = np.isnan(outcome) & (rng.random(pulls) < 0.2)
        for i in np.flatnonzero(marked):
            outcome[i] = y[world.draw_missing(rng, 0, int(m[i]), tables)]
        counts = Counts.fold(world.setting, np.zeros(pulls, int), m, outcome, followed_up=marked)
        means.append(FollowedUp().estimate(counts, 0, world.setting).mean)
    spread = np.var(means) * pulls
    assert spread == pytest.approx(stated, rel=3 * (2 / runs) ** 0.5)
    assert np.mean(means) == pytest.approx(world.means[0], abs=4 * (stated / pulls / runs) ** 0.5)


def test_efficient_variance_of_real_outcomes_is_that_of_mar_where_nothing_is_followed_less():
    world = RealWorld([[0.4, 0.6]], [[0.2, 0.7]], [[0.5, 0.8]], outcome_sd=0.3)
    # all of the missing followed up: every outcome is seen
    revealed = truant.theory.efficient_variance(world.revealed(), "mar")
    assert truant.theory.efficient_variance(world, "follow-up") == pytest.approx(revealed)


def test_follow_up_differs_from_mar_where_mar_is_wrong_and_not_where_it_holds():
    rng = np.random.default_rng(6)
    right = truant.world("mar-low", seed=3)
    counts = with_follow_ups(right, 20_000, 2_000, rng)
    for arm in range(3):
        both = [one.estimate(counts, arm, right.setting) for one in (Mar(), FollowedUp())]
        error = sum(one.standard_error**2 for one in both) ** 0.5
        assert abs(both[0].mean - both[1].mean) < 4 * error
    wrong = truant.world("mediator-and-outcome", seed=3)
    counts = with_follow_ups(wrong, 20_000, 2_000, rng)
    away = [abs(Mar().estimate(counts, arm, wrong.setting).mean - wrong.means[arm]) for arm in range(10)]
    near = [
        abs(FollowedUp().estimate(counts, arm, wrong.setting).mean - wrong.means[arm]) for arm in range(10)
    ]
    assert np.mean(near) < 0.2 * np.mean(away)


def test_equal_answers_are_no_certainty():
    """Fifteen answers that are all 0 do not tell that missing outcomes are all 0."""
    rng = np.random.default_rng(7)
    y = np.where(rng.random(200) < 0.2, rng.exponential(5.0, 200), 0.0).clip(0, 10)
    marked = np.zeros(600, bool)
    marked[200:215] = True
    outcomes = np.concatenate([y, np.zeros(15), np.full(385, np.nan)])
    one = Setting(arms=1, mediators=1, low=0, high=10)
    counts = Counts.fold(one, np.zeros(600, int), np.zeros(600, int), outcomes, followed_up=marked)
    estimate = FollowedUp().estimate(counts, 0, one)
    low, high = estimate.interval()
    error = (400 / 600) * y.std(ddof=1) / 15**0.5
    assert high - low > 2 * 1.96 * error
    codes = [concern.code for concern in FollowedUp().concerns(counts, 0, one)]
    assert "thin-cell" in codes

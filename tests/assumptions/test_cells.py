"""Intervals of estimates made of cell means: closed forms, symmetries, enumeration, and simulation in unkind worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from truant import registry
from truant.assumptions.assumption import Moments, student, tilted, two_level
from truant.assumptions.cells import Cells
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import Setting

REAL = Setting(arms=1, mediators=3, low=-50, high=50, range_known=False)
BINARY = Setting(arms=1, mediators=3, levels=(0.0, 1.0))
Z = 1.959963984540054


def counts_of(setting, mediators, outcomes):
    return Counts.fold(setting, np.zeros(len(mediators), int), mediators, outcomes)


def sample(seed, n=200, setting=REAL):
    """Three levels, some outcomes missing, skewed."""
    rng = np.random.default_rng(seed)
    m = rng.integers(0, 3, n)
    y = m + rng.exponential(size=n) * (1 + m)
    return m, np.where(rng.random(n) < 0.3 + 0.2 * m, y, np.nan)


# Closed forms


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_one_cell_without_skewness_has_students_interval(n):
    half = np.random.default_rng(n).normal(size=n // 2)
    y = np.concatenate([half, -half, np.zeros(n % 2)]) + 3  # symmetric, so that the third moment is 0
    setting = Setting(arms=1, low=-50, high=50, range_known=False)
    estimate = Mcar().estimate(counts_of(setting, np.zeros(n, int), y), 0, setting)
    reference = stats.t.interval(0.95, n - 1, y.mean(), stats.sem(y))
    assert estimate.interval(0.95) == pytest.approx(reference, rel=1e-9)


def test_degrees_of_freedom_are_welchs_and_each_level_borrows_one_outcome():
    """Known shares of two levels: (y1 - y2) / 2 + const, whose variance has Welch's degrees of freedom."""
    setting = Setting(arms=1, mediators=2, low=-50, high=50, mediator_probabilities=[[0.5, 0.5]])
    first, second = np.array([-1.0, 1.0] * 10), np.array([-6.0, 0.0, 6.0] * 4)
    m = np.repeat([0, 1], [20, 12])
    cells = Cells.of(counts_of(setting, m, np.concatenate([first, second])), 0, setting)
    pooled = (20 + 288) / (19 + 11)
    variances = np.array([(20 + pooled) / 20, (288 + pooled) / 12])
    parts = variances / [20, 12] / 4
    found = cells.moments(np.array([0.5, 0.5, 0.0]), estimated=False)
    welch = parts.sum() ** 2 / (parts[0] ** 2 / 19 + parts[1] ** 2 / 11)
    alike = np.array([1 / 20, 1 / 12])
    assert found.variance == pytest.approx(parts.sum(), rel=1e-12)
    assert found.freedom == pytest.approx(
        min(welch, alike.sum() ** 2 / (alike[0] ** 2 / 19 + alike[1] ** 2 / 11))
    )
    assert found.third == 0


def test_moments_are_those_of_the_influence_function():
    """Second and third sample moments of d_M + O (Y - y_M)/gamma_M over the rows, with large cells."""
    m, y = sample(5, 60_000)
    cells = Cells.of(counts_of(REAL, m, y), 0, REAL)
    p = np.bincount(m, minlength=4) / len(m)
    found = cells.moments(p)
    seen = ~np.isnan(y)
    means = np.array([y[seen & (m == k)].mean() for k in range(3)])
    gamma = np.array([seen[m == k].mean() for k in range(3)])
    influence = means[m] - p[:3] @ means + np.where(seen, np.nan_to_num(y) - means[m], 0.0) / gamma[m]
    n = len(m)
    assert found.variance == pytest.approx(np.mean(influence**2) / n, rel=1e-3)
    assert found.third == pytest.approx(np.mean(influence**3) / n**2, rel=1e-3)


@pytest.mark.parametrize(("n", "k"), [(12, 12), (12, 0), (30, 1), (30, 17), (2000, 3)])
@pytest.mark.parametrize("z", [0.5, Z, 4.0])
def test_two_levels_have_wilsons_interval(n, k, z):
    setting = Setting(arms=1, levels=(0.0, 1.0))
    estimate = Mcar().estimate(
        counts_of(setting, np.zeros(n, int), np.repeat([1.0, 0.0], [k, n - k])), 0, setting
    )
    level = 2 * stats.norm.cdf(z) - 1
    wilson = stats.binomtest(k, n).proportion_ci(level, "wilson")
    assert (estimate.at(-z), estimate.at(z)) == pytest.approx((wilson.low, wilson.high), abs=1e-9)


def test_coverage_of_a_rate_by_enumeration():
    """Every table of 25 rows with two levels: mean coverage over the rates is near .95, as Wilson's is."""
    setting = Setting(arms=1, levels=(0.0, 1.0))
    limits = [
        Mcar()
        .estimate(Counts(np.array([[[25.0 - k, k, 0], [0, 0, 0]]]), (0.0, 1.0), 0.5), 0, setting)
        .interval()
        for k in range(26)
    ]
    rates = np.linspace(0.05, 0.95, 181)
    covered = [
        sum(stats.binom.pmf(k, 25, rate) for k, (low, high) in enumerate(limits) if low <= rate <= high)
        for rate in rates
    ]
    assert np.mean(covered) == pytest.approx(0.953, abs=0.004)
    assert min(covered) > 0.89


def test_coverage_of_two_levels_with_a_thin_one_by_enumeration():
    """20 rows of level 0, all seen, and 60 of level 1, of which 3 are seen: every pair of binomial counts."""
    setting = Setting(arms=1, mediators=2, levels=(0.0, 1.0))
    for first, second in ((0.3, 0.5), (0.1, 0.2), (0.8, 0.4)):
        covered, truth = 0.0, (20 * first + 60 * second) / 80
        for a in range(21):
            for b in range(4):
                table = np.array([[[20 - a, a, 0], [3 - b, b, 57], [0, 0, 0]]], float)
                known = Setting(arms=1, mediators=2, levels=(0.0, 1.0), mediator_probabilities=[[0.25, 0.75]])
                estimate = registry.find("assumption", "mar-known").build()
                low, high = estimate.estimate(Counts(table, (0.0, 1.0), 0.5), 0, known).interval()
                chance = stats.binom.pmf(a, 20, first) * stats.binom.pmf(b, 3, second)
                covered += chance * (low <= truth <= high)
        assert 0.9 < covered <= 1, (first, second, setting)


# Symmetries


ASSUMPTIONS = [Mcar(), Mar(), MediatorMar()]


@pytest.mark.parametrize("assumption", ASSUMPTIONS, ids=["mcar", "mar", "mediator-mar"])
@pytest.mark.parametrize("z", [-3.0, -0.7, 1.0, 2.5])
def test_scale_shift_and_reflection(assumption, z):
    m, y = sample(1)
    plain = assumption.estimate(counts_of(REAL, m, y), 0, REAL)
    moved = Setting(arms=1, mediators=3, low=400, high=1400, range_known=False)
    assert assumption.estimate(counts_of(moved, m, 900 + 10 * y), 0, moved).at(z) == pytest.approx(
        900 + 10 * plain.at(z), rel=1e-10
    )
    assert assumption.estimate(counts_of(REAL, m, -y), 0, REAL).at(-z) == pytest.approx(
        -plain.at(z), rel=1e-10
    )
    reflected = counts_of(REAL, m, y).reflected()
    assert assumption.estimate(reflected, 0, REAL).at(-z) == pytest.approx(-plain.at(z), rel=1e-10)


@pytest.mark.parametrize("z", [-3.0, -0.7, 1.0, 2.5])
def test_two_levels_are_reflected_too(z):
    rng = np.random.default_rng(2)
    m, y = rng.integers(0, 3, 90), (rng.random(90) < 0.2) * 1.0
    plain = Mar().estimate(counts_of(BINARY, m, y), 0, BINARY)
    assert Mar().estimate(counts_of(BINARY, m, 1 - y), 0, BINARY).at(-z) == pytest.approx(
        1 - plain.at(z), abs=1e-12
    )


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.sampled_from([np.nan, 0.0, 1.0, 2.0, 5.0, 100.0])),
        min_size=2,
        max_size=40,
    ),
    st.sampled_from(["known", "unknown", "two"]),
)
def test_at_never_falls_and_starts_at_the_mean(rows, kind):
    """Any table: at(z) rises with z, is finite or (with an unknown range) NaN throughout, and at(0) is the mean."""
    m, y = (np.array(column) for column in zip(*rows, strict=True))
    setting = {
        "known": Setting(arms=1, mediators=3, low=0, high=100),
        "unknown": Setting(arms=1, mediators=3, low=0, high=100, range_known=False),
        "two": BINARY,
    }[kind]
    if kind == "two":
        y = np.where(np.isnan(y), y, y > 1)
    for assumption in ASSUMPTIONS:
        try:
            estimate = assumption.estimate(counts_of(setting, m, y), 0, setting)
        except NotIdentified:
            continue
        z_grid = np.concatenate([np.linspace(-40, -0.01, 60), [0.0], np.linspace(0.01, 40, 60)])
        values = np.array([estimate.at(z) for z in z_grid])
        assert values[60] == estimate.mean
        assert kind == "unknown" or estimate.has_interval
        if estimate.has_interval:
            assert np.all(np.diff(values) >= -1e-9 * np.maximum(1, np.abs(values[1:])))
            assert values[0] < values[-1]
        else:
            assert np.isnan(np.delete(values, 60)).all()


def test_the_curve_of_moments_by_hand():
    moments = Moments(1.0, 0.04, 0.002, 20.0)
    t, J = stats.t.isf(stats.norm.sf(2.0), 20), 0.05
    up, down = (1 + 15 / 20) * J * 4, J * 4 / 3
    curve = tilted(moments)
    assert curve.at(2.0) == pytest.approx(1 + up + np.sqrt(up**2 + t**2 * 0.04), rel=1e-10)
    assert curve.at(-2.0) == pytest.approx(1 + down - np.sqrt(down**2 + t**2 * 0.04), rel=1e-10)
    assert student(0.0, 5) == 0
    assert two_level(Moments(0.5, 0.0025, 0.0, 99.0), 0.0, 1.0).at(0) == 0.5


# No interval has width zero


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_outcomes_that_are_all_alike_at_an_end_leave_room_on_one_side(value):
    """Twelve 1s of {0, 1}: the unseen 0 may still come, and nothing above 1 can."""
    m, y = np.repeat([0, 1], 6), np.full(12, value)
    low, high = Mcar().estimate(counts_of(BINARY, m, y), 0, BINARY).interval()
    room = Z**2 / (12 + Z**2)
    assert (low, high) == pytest.approx((1 - room, 1) if value else (0, room))


def test_outcomes_that_are_all_alike_inside_a_known_range_leave_room_on_both_sides():
    setting = Setting(arms=1, mediators=2, low=0, high=10)
    m = np.repeat([0, 0, 1], 4)
    y = np.array([4.0, 4, 4, 4, 4, 4, 4, 4, 4, 4, np.nan, np.nan])
    estimate = Mar().estimate(counts_of(setting, m, y), 0, setting)
    effective = 2 / (1 / 3)  # an outcome that has not come yet hides where few were seen
    share = Z**2 / (effective + Z**2)
    assert estimate.interval() == pytest.approx((4 - 4 * share, 4 + 6 * share))


def test_a_level_without_outcomes_adds_its_share_of_the_range():
    setting = Setting(arms=1, mediators=3, low=0, high=10)
    m, y = sample(3)
    y = np.clip(y, 0, 10)
    hidden = np.where(m == 2, np.nan, y)
    estimate = Mar().estimate(counts_of(setting, m, hidden), 0, setting)
    others = m != 2
    rest = Mar().estimate(counts_of(setting, m[others], y[others]), 0, setting)
    share = np.mean(m == 2)
    assert estimate.mean == pytest.approx(rest.mean)
    for z in (-Z, Z):
        end = 10.0 if z > 0 else 0.0
        assert estimate.at(z) == pytest.approx((1 - share) * rest.at(z) + share * end)
    (concern,) = Mar().concerns(counts_of(setting, m, hidden), 0, setting)
    assert (concern.code, concern.mediator) == ("empty-cell", 2)
    unknown = Setting(arms=1, mediators=3, low=0, high=10, range_known=False)
    with pytest.raises(NotIdentified, match="or give the range of the outcome"):
        Mar().estimate(counts_of(unknown, m, hidden), 0, unknown)


def test_few_outcomes_and_one_that_decides_are_concerns():
    setting = Setting(arms=1, low=0, high=100)

    def codes(y):
        return [
            concern.code
            for concern in Mcar().concerns(counts_of(setting, np.zeros(len(y), int), y), 0, setting)
        ]

    assert codes(np.arange(4.0)) == ["thin-cell"]
    assert codes(np.arange(5.0)) == []
    assert codes(np.append(np.zeros(80), 50.0)) == ["skewed"]
    assert codes(np.append(np.zeros(80), [50.0, 40.0])) == []


# Coverage, in worlds where mean + z standard errors fails


def coverage(draw, K, gamma, n, replications=1500):
    """Share of 95% intervals of `mar` that hold the truth; levels equally likely."""
    held = []
    for seed in range(replications):
        rng = np.random.default_rng(seed)
        m = rng.integers(0, K, n)
        y = draw(rng, n)
        setting = Setting(arms=1, mediators=K, low=-1e3, high=1e3, range_known=False)
        counts = counts_of(setting, m, np.where(rng.random(n) < gamma, y, np.nan))
        try:
            low, high = Mar().estimate(counts, 0, setting).interval()
        except NotIdentified:
            continue
        if np.isfinite(low):
            held.append(low <= 1 <= high)
    assert len(held) > 0.7 * replications
    return np.mean(held)


@pytest.mark.parametrize(
    ("draw", "K", "gamma", "n", "plain"),
    [
        (lambda rng, n: np.exp(1.6 * rng.normal(size=n) - 1.28), 1, 0.7, 100, 0.8),
        (lambda rng, n: (rng.random(n) < 0.03) * rng.exponential(size=n) / 0.03, 2, 0.7, 300, 0.87),
        (lambda rng, n: 1 + rng.normal(size=n), 2, 0.05, 100, 0.85),
        (lambda rng, n: rng.exponential(size=n), 3, 0.1, 300, 0.9),
    ],
    ids=["lognormal", "mostly zero", "five outcomes", "skewed and thin"],
)
def test_coverage_in_unkind_worlds(draw, K, gamma, n, plain):
    """Within .92 and .975, up to three standard errors of .006; `plain` says how far off mean ± 1.96 errors is."""
    assert 0.92 - 0.018 <= coverage(draw, K, gamma, n) <= 0.975 + 0.018, plain

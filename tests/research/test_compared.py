"""Figures that are compared with their recorded selves: what moved is found, and chance alone moves nothing."""

import math

import numpy as np
import pytest
from research.compared import (
    BAND,
    LEVEL,
    Column,
    Comparison,
    _rejected,
    compare,
    deviate,
    error_of,
    found_if_moved,
)
from research.figures import (
    Change,
    Figure,
    exact,
    figures_of,
    mean,
    median,
    plus_minus,
    share,
    speed_ratio,
    table,
)
from scipy import stats

REPEATS = 400


def changes_of(recorded, now, section="one"):
    return [Change(section, name, recorded[name], now[name]) for name in recorded]


def shares(rng, chance, size, rows=12, columns=("n = 200", "n = 1,000")):
    """A table of coverages, as a section makes it."""
    lines = [
        [f"world {row}", f"policy {row % 3}", *(share(rng.random(size) < chance) for _ in columns)]
        for row in range(rows)
    ]
    return figures_of([table(["world", "policy", *columns], lines)])


def means(rng, size, factor=1.0, rows=12):
    """A table of regrets, which are skewed."""
    lines = [
        [f"world {row}", "mar-ucb", mean(factor * rng.lognormal(row / 4, 0.8, size))] for row in range(rows)
    ]
    return figures_of([table(["world", "policy", "regret"], lines)])


def moved(recorded, now):
    comparison = compare(changes_of(recorded, now))
    return comparison.moved | comparison.moved_columns


def test_chance_moves_figures_in_no_more_runs_than_the_level_says():
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(REPEATS):
        recorded = shares(rng, 0.95, 2000) | means(rng, 300)
        now = shares(rng, 0.95, 200) | means(rng, 30)
        wrong += bool(moved(recorded, now))
    assert wrong <= stats.binom.isf(1e-4, REPEATS, LEVEL)


def test_runs_that_go_astray_are_no_change_if_they_are_rare():
    """A mean that one run in fifty makes up, and new runs with many of these or with none."""
    none_new = Change("s", "a: m", plus_minus(2.0, 0.4, size=300), plus_minus(1.0, 0.1, size=30))
    assert error_of(none_new) == pytest.approx(math.hypot(0.4, 0.4 * math.sqrt(10)))
    rng = np.random.default_rng(2)

    def astray(size):
        return np.where(rng.random(size) < 0.02, 50.0, 1.0) * rng.exponential(size=size)

    wrong = sum(bool(moved({"a: m": mean(astray(300))}, {"a: m": mean(astray(30))})) for _ in range(REPEATS))
    assert wrong <= stats.binom.isf(1e-4, REPEATS, LEVEL)


@pytest.mark.parametrize("factor", [1.3, 1 / 1.3])
def test_a_standard_error_that_is_wrong_by_three_tenths_is_found(factor):
    """Coverage of intervals that are wider or narrower by this factor."""
    rng = np.random.default_rng(3)
    chance = 1 - 2 * stats.norm.sf(factor * stats.norm.isf(0.025))
    changed = [moved(shares(rng, 0.95, 2000), shares(rng, chance, 200)) for _ in range(40)]
    assert sum(map(bool, changed)) >= 38
    assert any("one: n = 200" in names for names in changed)  # as a column, not only figure by figure


def test_a_standard_error_of_one_assumption_is_found_among_two_thousand_figures():
    rng = np.random.default_rng(8)
    others = [
        Change("others", f"row {n}: x", *(mean(rng.normal(5, 1, size)) for size in (500, 60)))
        for n in range(2000)
    ]
    chance = 1 - 2 * stats.norm.sf(1.3 * stats.norm.isf(0.025))

    def own(chances, size):
        lines = [[name, *(share(rng.random(size) < p) for _ in range(4))] for name, p in chances.items()]
        return figures_of([table(["assumption", *(f"n = {n}" for n in range(4))], lines)])

    right = dict.fromkeys(("mcar", "mar", "mnar"), 0.95)
    found = 0
    for _ in range(20):
        changes = changes_of(own(right, 2000), own(right | {"mnar": chance}, 800), "coverage")
        names = compare([*others, *changes]).moved
        assert all("mnar" in name for name in names)
        found += bool(names)
    assert found >= 16


def test_an_index_that_is_wider_by_a_fifth_is_found():
    """It changes regret by about three tenths in all worlds."""
    rng = np.random.default_rng(4)
    changed = [moved(means(rng, 300, rows=20), means(rng, 40, factor=1.3, rows=20)) for _ in range(40)]
    assert sum(map(bool, changed)) >= 32


@pytest.mark.parametrize("size", [16, 400])
def test_the_smallest_change_of_a_mean_is_found_four_times_of_five(size):
    rng = np.random.default_rng(5)

    def changes(shift):
        return changes_of(
            {"a: m": mean(rng.normal(10, 1, 4000))}, {"a: m": mean(rng.normal(10 + shift, 1, size))}
        )

    # the smallest change is known as exactly as the new standard error
    smallest = np.mean([found_if_moved(changes(0))[0]["mean"] for _ in range(100)])
    hits = sum(bool(compare(changes(10 * smallest)).moved) for _ in range(REPEATS))
    assert abs(hits / REPEATS - 0.8) < 4 * math.sqrt(0.16 / REPEATS) + 0.02


@pytest.mark.parametrize(("recorded", "of", "size"), [(1900, 2000, 300), (1, 300, 30), (150, 300, 100)])
def test_the_smallest_change_of_a_share_is_possible_and_found_four_times_of_five(recorded, of, size):
    before = share_of_hits(recorded, of)
    now = share_of_hits(recorded * size // of, size)
    smallest = found_if_moved([Change("s", "a: b", before, now)])[0]["share"]
    rejected = [
        bool(moved({"a: b": before}, {"a: b": share_of_hits(hits, size)})) for hits in range(size + 1)
    ]
    changed = [value for value in (before.value - smallest, before.value + smallest) if 0 <= value <= 1]
    powers = [stats.binom(size, value).pmf(np.arange(size + 1)) @ rejected for value in changed]
    assert max(powers) == pytest.approx(0.8, abs=1e-6)


def test_figures_of_a_world_count_as_one_and_recorded_errors_as_shared():
    """By simulation: rows that share their recorded runs, and of which two are of one world."""
    rng = np.random.default_rng(9)
    deviates = []
    for _ in range(REPEATS):
        recorded = plus_minus(rng.normal(0, 0.5), 0.5, size=4000)
        new = rng.normal(0, 1, size=9)
        group = []
        for row, value in enumerate([*new, new[-1]]):
            now = plus_minus(value, 1.0, size=1000)
            change = Change("s", f"world {min(row, 8)}, {row}: x", recorded, now)
            group.append((change, deviate(change)))
        deviates.append(Column("x", group).deviate)
    assert np.std(deviates) == pytest.approx(1, abs=4 / math.sqrt(2 * REPEATS))


def test_the_second_largest_deviate_has_one_comparison_less():
    first, second = (stats.norm.isf(0.01 / number / 2) for number in (3, 2))
    assert _rejected([second + 1e-9, 0.0, -first - 1e-9], 0.01) == [2, 0]
    assert _rejected([second - 1e-9, 0.0, -first - 1e-9], 0.01) == [2]
    assert _rejected([second + 1e-9, 0.0, -first + 1e-9], 0.01) == []


def test_the_deviate_of_shares_is_that_of_fishers_test():
    one, other = share_of_hits(40, 50), share_of_hits(9, 20)
    z = deviate(Change("s", "a: b", one, other))
    exact_p = stats.fisher_exact([[40, 10], [9, 11]], alternative="greater").pvalue
    tie = stats.hypergeom(70, 49, 20).pmf(9) / 2
    assert z < 0
    assert stats.norm.sf(-z) == pytest.approx(exact_p - tie, rel=1e-9)


def share_of_hits(hits, size):
    return share([True] * hits + [False] * (size - hits))


def test_the_deviate_of_means_is_that_of_welch():
    rng = np.random.default_rng(6)
    one, other = mean(rng.normal(size=400)), mean(rng.normal(0.3, 1.2, size=50))
    t = (other.value - one.value) / math.hypot(one.error, other.error)
    assert deviate(Change("s", "a: b", one, other)) == pytest.approx(stats.norm.isf(stats.t.sf(t, 49)))


def test_a_ratio_of_speed_has_a_band_and_an_exact_figure_none():
    def names(recorded, now):
        return list(moved({"a: x": recorded}, {"a: x": now}))

    assert names(speed_ratio(2.0), speed_ratio(2.0 * BAND)) == []
    assert names(speed_ratio(2.0), speed_ratio(2.01 * BAND)) == ["one: a: x"]
    assert names(speed_ratio(2.0), speed_ratio(1.99 / BAND)) == ["one: a: x"]
    assert names(exact(0), exact(0)) == []
    assert names(exact(0), exact(1)) == ["one: a: x"]


def test_figures_that_are_not_numbers_move_only_if_they_were():
    nothing, something = Figure("-", "mean", math.nan), mean([1.0, 2.0, 3.0])
    assert moved({"a: x": nothing}, {"a: x": nothing}) == {}
    assert list(moved({"a: x": nothing}, {"a: x": something})) == ["one: a: x"]
    assert moved({"a: x": mean([1.0])}, {"a: x": mean([2.0])}) == {}  # nobody knows their error
    assert list(moved({"a: x": mean([1.0, 1.0])}, {"a: x": mean([2.0, 2.0])})) == ["one: a: x"]


def test_a_figure_of_another_kind_has_moved():
    assert list(moved({"a: x": share_of_hits(1, 2)}, {"a: x": plus_minus(0.5, 0.1)})) == ["one: a: x"]
    assert list(moved({"a: x": plus_minus(0.5, 0.1)}, {"a: x": exact(0.5)})) == ["one: a: x"]


def test_a_kind_without_a_number_has_no_smallest_change():
    nothing = {"a: x": mean([0.0, 0.0])}
    assert found_if_moved(changes_of(nothing, nothing)) == ({}, {})


def test_nothing_to_compare_is_no_change():
    assert compare([]) == Comparison([], {}, {})


def test_a_median_has_the_error_of_its_order_statistics():
    rng = np.random.default_rng(7)
    medians = [median(rng.exponential(size=101)) for _ in range(REPEATS)]
    spread = np.std([one.value for one in medians])
    assert np.mean([one.error for one in medians]) == pytest.approx(spread, rel=0.15)

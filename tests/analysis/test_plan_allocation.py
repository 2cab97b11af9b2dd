"""How follow-ups are shared out: whole numbers, compared with every other way of sharing them out."""

import itertools

import numpy as np
import pytest

from truant.counts import Counts
from truant.follow_up.assurance import allocate, shared_out
from truant.follow_up.cells import plan_cells
from truant.setting import Setting


def objective(n, weight, before, success):
    worth = before + success * np.asarray(n)
    with np.errstate(divide="ignore"):
        return float(np.sum(np.where(weight > 0, weight**2 / worth, 0.0)))


def every_way(total, least, most):
    for n in itertools.product(*(range(low, high + 1) for low, high in zip(least, most, strict=True))):
        if sum(n) == total:
            yield n


@pytest.mark.parametrize("seed", range(20))
def test_no_other_way_has_a_smaller_variance(seed):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.05, 3, 3)
    least, most = rng.integers(1, 3, 3), rng.integers(3, 13, 3)
    before, success = rng.integers(0, 4, 3).astype(float), float(rng.choice([1.0, 0.6]))
    for total in range(int(least.sum()), int(most.sum()) + 1):
        n = shared_out(total, weight, least, most, before, success)
        assert n.sum() == total
        assert np.all((least <= n) & (n <= most))
        smallest = min(objective(other, weight, before, success) for other in every_way(total, least, most))
        assert objective(n, weight, before, success) == pytest.approx(smallest, rel=1e-12)


def test_large_numbers_are_in_proportion():
    n = shared_out(600_000, np.array([1.0, 2.0, 3.0]), np.zeros(3, int), np.full(3, 10**6), np.zeros(3))
    np.testing.assert_allclose(n, [100_000, 200_000, 300_000], atol=1)


def test_too_few_are_shared_out_in_equal_parts():
    assert shared_out(7, np.ones(3), np.array([5, 5, 1]), np.full(3, 9), np.zeros(3)).tolist() == [3, 3, 1]


def counts(missing, arms=2):
    """Arms with 40 observed outcomes in each of two levels, and so many missing ones."""
    rng = np.random.default_rng(1)
    a, m, y = [], [], []
    for arm in range(arms):
        for level in range(2):
            a += [arm] * (40 + missing[arm][level])
            m += [level] * (40 + missing[arm][level])
            y += [*rng.normal(0, 1 + level, 40), *[np.nan] * missing[arm][level]]
    setting = Setting(arms=arms, mediators=2, low=-10, high=10, range_known=False)
    return Counts.fold(setting, a, m, y), setting


def test_levels_get_five_or_all_and_never_more_than_are_missing():
    cells = plan_cells(*counts([[100, 3], [60, 0]]))
    for total in (20, 60, 163):
        found = allocate(cells, total, np.ones(2))
        assert found.sum() == total
        assert np.all(found <= cells.available)
        assert found[0, 1] == 3
        assert found[1, 1] == 0


def test_where_levels_cannot_have_five_each_they_are_sampled_in_proportion():
    cells = plan_cells(*counts([[90, 30], [90, 30]]))
    assert allocate(cells, 16, np.ones(2))[:, :2].tolist() == [[6, 2], [6, 2]]


def test_within_an_arm_by_neyman():
    cells = plan_cells(*counts([[200, 200], [200, 200]]))
    spread = (cells.missing * np.sqrt(cells.variances))[0, :2]
    found = allocate(cells, 240, np.ones(2))[0, :2]
    np.testing.assert_allclose(found / found.sum(), spread / spread.sum(), atol=0.01)


def test_arms_that_cannot_be_the_best_get_the_least():
    cells = plan_cells(*counts([[90, 30]] * 3, arms=3))
    assert allocate(cells, 100, np.array([1.0, 1.0, 0.0])).sum(axis=1)[2] == 10

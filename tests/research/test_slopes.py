"""Growth of regret: fitted slopes, the worlds of the sweeps, and what is promised of them."""

import numpy as np
import pytest
from research.validation import growth, published, slopes, sweeps

from truant.indices.ucb import squared_z


def test_the_fitted_slope_is_that_of_least_squares():
    x, y, error = (
        np.array([0.0, 1.0, 2.0, 4.0]),
        np.array([1.0, 2.9, 5.2, 8.8]),
        np.array([0.1, 0.2, 0.1, 0.3]),
    )
    design = np.stack([np.ones(4), x], axis=1) / error[:, None]
    solution, rest, *_ = np.linalg.lstsq(design, y / error, rcond=None)
    covariance = np.linalg.inv(design.T @ design)
    slope, deviation = slopes.fitted_slope(x, y, error)
    assert slope == pytest.approx(solution[1])
    assert rest[0] / 2 > 1  # the scatter counts here
    assert deviation == pytest.approx(np.sqrt(covariance[1, 1] * rest[0] / 2))


def test_points_on_a_line_keep_their_own_errors():
    slope, deviation = slopes.fitted_slope([0, 1, 2], [1, 3, 5], [0.5, 0.5, 0.5])
    assert slope == pytest.approx(2)
    assert deviation == pytest.approx(0.5 / np.sqrt(2))


@pytest.mark.parametrize("sweep", sweeps.SWEEPS, ids=lambda sweep: f"{sweep.name} {sweep.label}")
def test_a_sweep_sets_its_gap_and_changes_its_bounds(sweep):
    first, last = (sweep.point(value, 3.0) for value in (sweep.values[0], sweep.values[-1]))
    assert np.sum(first.world.gaps > 1e-12) == first.world.setting.arms - 1
    assert first.lower < first.upper
    # the worst arms lose about three times the lower bound, whatever the sweep
    for point in (first, last):
        assert point.world.gaps.max() * point.horizon == pytest.approx(3 * point.lower, rel=1e-6)


def test_the_mar_sweep_keeps_the_share_of_seen_outcomes():
    for cost in (2.0, 8.0, 32.0):
        world = sweeps.mar_point(cost, 0.0, cost=cost).world
        seen = (world.mediator_probabilities * world.observation).sum(axis=1)
        assert seen == pytest.approx(0.5)
        assert (world.mediator_probabilities / world.observation).sum(axis=1) == pytest.approx(cost)


def test_a_worse_arm_is_pulled_until_its_width_is_the_gap():
    pulls = growth.pulls_of_worse(2.0, 0.1, 1.0, 100_000, None)
    assert pulls == pytest.approx(np.log(100_000) * 2.0 / 0.1**2)
    pulls = growth.pulls_of_worse(2.0, 0.1, 2.0, 100_000, 1.0)
    assert pulls == pytest.approx(2 * squared_z(pulls / 2.0, np.log(100_000)) * 2.0 / 0.1**2)


def test_known_bounds_by_hand():
    least, bound = published.bounds(np.array([0.9, 0.8]), 10_000, binary=True)
    information = 0.8 * np.log(0.8 / 0.9) + 0.2 * np.log(0.2 / 0.1)
    assert least == pytest.approx(0.1 / information * np.log(10_000))
    assert bound == pytest.approx(80 * np.log(10_000) + (1 + np.pi**2 / 3) * 0.1)
    assert published.bounds(np.array([0.5, 0.0]), 100, binary=False)[0] == pytest.approx(4 * np.log(100))


def test_the_index_by_hand_is_the_compiled_one():
    assert all(published.hand_row(*pulls)[-1] == "yes" for pulls in published.HAND)

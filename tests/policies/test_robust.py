"""Skewed, rare and unequally noisy outcomes lock no run in.

A run is straight if it goes on losing (its second half costs more than .75 of its first), the best arm has less than
half of its pulls, and it costs more than three times the median run. With a normal width from each arm's own
variance, 17% to 55% of the runs in such worlds are.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from truant.lab.simulate import simulate

RUNS, HORIZON = 40, 20_000
STRAIGHT = 0.03  # share of straight runs that is accepted
MOST = stats.binom.ppf(0.99, RUNS, STRAIGHT)  # of 40; by chance one time in a hundred has more


@pytest.mark.parametrize(
    ("world", "policy"),
    [
        ("noisy-arm", "mar-ucb"),
        ("jackpots", "mar-ucb"),
        ("conversion", "mar-ucb"),
        ("zero-inflated", "mcar-ucb"),
        ("rates", "mcar-ucb"),
        ("lognormal", "mcar-ucb"),
    ],
)
def test_no_run_is_locked_in(world, policy):
    result = simulate(world, [policy, "naive-ucb"], horizon=HORIZON, runs=RUNS, seed=5, progress=False)
    first = result.regret[0][:, np.searchsorted(result.rounds, HORIZON // 2)]
    final = result.final[0]
    straight = (final - first > 0.75 * first) & (result.best_arm_share[0] < 0.5)
    assert np.sum(straight & (final > 3 * np.median(final))) <= MOST
    assert final.mean() < 0.5 * result.final[1].mean()

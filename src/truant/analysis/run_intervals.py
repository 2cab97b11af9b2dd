"""Intervals at the end of a run whose policy is at hand: calibrated by replaying it, for results of simulations."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from truant.analysis.replay import Neighbourhood, Replays, Target, calibrate
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUps
from truant.setting import FloatArray, IntArray, Setting

REPLAYS = 200  # of each run
LEVEL = 0.95


def run_intervals(
    policy: Policy,
    counts: Counts,
    setting: Setting,
    horizon: int,
    delay: int,
    seed: int,
    stop: IntArray,
    follow_ups: FollowUps | None = None,
) -> FloatArray:
    """Low and high end for each arm, shape (2, arms); NaN for oracles, and where there is no interval.

    An arm that is refused in most replays has no calibrated interval.
    """
    ends = np.full((2, setting.arms), np.nan)
    if policy.assumption is None or policy.reveals:
        return ends
    rows = int(counts.pulls.sum())
    replays = Replays(policy, setting, horizon, rows, stop, lambda: None, delay, follow_ups)
    near = Neighbourhood(replays, counts, [Target(policy.name, policy.assumption)])
    [roots] = calibrate(near, REPLAYS, np.random.SeedSequence(seed))
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    for arm, own in enumerate(roots):
        try:
            estimate = policy.assumption.estimate(counts, arm, setting)
        except NotIdentified:
            continue
        if own is not None:
            ends[:, arm] = estimate.at(own.root(-z)), estimate.at(own.root(z))
            if setting.range_known:  # a few outcomes may leave next to nothing out
                ends[0, arm] = max(ends[0, arm], min(setting.low, estimate.mean))
                ends[1, arm] = min(ends[1, arm], max(setting.high, estimate.mean))
    return ends

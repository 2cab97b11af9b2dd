"""Plain, replayed and time-uniform intervals at the end of adaptive runs, and whether they hold the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.cores import each
from research.validation.plans import plan_named
from truant.assumptions import Assumption, Estimate
from truant.collection.by_policy import ByPolicy
from truant.collection.calibration import Roots, root_at
from truant.collection.intervals import sequence_root
from truant.collection.replay import Neighbourhood, Replays, Target, calibrate
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.estimates.beliefs import Belief
from truant.play.run import play
from truant.setting import Setting

Z_95 = 1.959964
METHODS = ("plain", "replayed", "sequence")


def calibrated_runs(
    policy: str, world: str, horizon: int, runs: int, replays: int, seed: int
) -> list[dict[str, Any]]:
    """Of each run, the best arm's and the other arms' intervals: whether each holds the truth, and relative widths."""
    return each(_run, [(policy, world, horizon, replays, seed, run) for run in range(runs)])


def checked_runs(
    policy: str, world: str, horizon: int, runs: int, replays: int, seed: int
) -> list[list[Any]]:
    """Of each run, the coverage that the check found, and whether it let the calibration stand."""
    return each(_checked, [(policy, world, horizon, replays, seed, run) for run in range(runs)])


def _played(policy: str, world: str, horizon: int, seed: int, run: int) -> tuple[Any, Any, Counts]:
    plan = plan_named(world, [policy], horizon, seed)
    instance = plan.instance(run)
    counts = play(plan.policies[0], instance, plan.generator(run), horizon, plan.rounds).counts
    assert counts is not None
    return plan.policies[0], instance, counts


def _run(item: tuple[str, str, int, int, int, int]) -> dict[str, Any]:
    name, world, horizon, replays, seed, run = item
    policy, instance, counts = _played(name, world, horizon, seed, run)
    setting, assumption = instance.setting, policy.assumption
    how = Replays(policy, setting, horizon, horizon, np.zeros(1, np.int64), lambda: None)
    near = Neighbourhood(how, counts, [Target("own", assumption)])
    [roots] = calibrate(near, replays, np.random.SeedSequence(seed, spawn_key=(run, 2)))
    best = int(np.argmax(instance.means))
    arms = [
        _arm(assumption, counts, arm, setting, float(truth), roots[arm])
        for arm, truth in enumerate(instance.means)
    ]
    return {"best": [arms[best]], "others": arms[:best] + arms[best + 1 :]}


def _arm(
    assumption: Assumption, counts: Counts, arm: int, setting: Setting, truth: float, roots: Roots | None
) -> dict[str, Any] | None:
    """Whether each interval holds the truth, and its width beside the plain one; None if there is none."""
    try:
        estimate = assumption.estimate(counts, arm, setting)
    except NotIdentified:
        return None
    if not math.isfinite(estimate.standard_error):
        return None
    root = root_at(assumption, counts, arm, setting, truth)
    far = sequence_root(Z_95, float(counts.pulls[arm]))
    ends = {"plain": (-Z_95, Z_95), "sequence": (-far, far)}
    ends["replayed"] = ends["sequence"] if roots is None else (roots.root(-Z_95), roots.root(Z_95))
    plain = _width(estimate, *ends["plain"])
    return {
        method: [bool(low <= root <= high), _width(estimate, low, high) / plain if plain > 0 else 1.0]
        for method, (low, high) in ends.items()
    }


def _width(estimate: Estimate, low: float, high: float) -> float:
    return estimate.at(high) - estimate.at(low)


def _checked(item: tuple[str, str, int, int, int, int]) -> list[Any]:
    name, world, horizon, replays, seed, run = item
    policy, instance, counts = _played(name, world, horizon, seed, run)
    assumption, setting = policy.assumption, instance.setting
    try:
        estimates = tuple(assumption.estimate(counts, arm, setting) for arm in range(setting.arms))
    except NotIdentified:
        return [None, None]
    by = ByPolicy(policy, horizon, replays)
    by.beliefs([Belief("own", assumption, estimates, ())], counts, setting)
    method = by.collection().intervals["own"]
    return [method.check, method.method == "replayed"]

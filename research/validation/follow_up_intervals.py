"""Whether intervals of `follow-up` hold the truth, where follow-ups are a fixed number and where a rule chose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.cores import each
from research.validation.instances import world_named
from research.validation.plans import plan_named
from truant.assumptions.follow_up import FAILURES, FollowedUp
from truant.collection.by_policy import run_intervals
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.play.run import play
from truant.policies.follow_up_rules import FollowUps
from truant.setting import Setting
from truant.worlds import World

WARNINGS = {"skewed", "thin-cell", "no-interval"}  # that say of an interval that it may not hold


def fixed_follow_ups(
    world: str, rows: int, answers: int, success: float, replications: int, first: int
) -> list[list[list[Any]]]:
    """Of each replication and arm: whether it is warned, and whether the interval holds, by what is said of failures.

    Each replication is a new instance with `rows` rows of each arm. So many random missing outcomes of each arm are
    followed up that `answers` answers are expected, if that many are missing. `first` is the seed of the first one.
    """
    items = [(world, rows, answers, success, seed) for seed in range(first, first + replications)]
    return each(_fixed, items)


def chosen_follow_ups(
    world: str, policy: str, horizon: int, runs: int, cost: float, seed: int
) -> list[dict[str, list[Any]]]:
    """Of each run, of the best arm and of the others: plain and calibrated coverage, ratio of widths, answers."""
    return each(_chosen, [(world, policy, horizon, cost, seed, run) for run in range(runs)])


def _fixed(item: tuple[str, int, int, float, int]) -> list[list[Any]]:
    name, rows, answers, success, seed = item
    world = world_named(name, seed)
    counts = with_follow_ups(world, rows, answers, success, np.random.default_rng([seed, rows, answers]))
    # without failures both say the same
    said = FAILURES if success < 1 else FAILURES[:1]
    return [_arm(world, counts, arm, said) for arm in range(world.setting.arms)]


def _arm(world: World, counts: Counts, arm: int, said: tuple[str, ...]) -> list[Any]:
    codes = {concern.code for concern in FollowedUp().concerns(counts, arm, world.setting)}
    held = [_holds(FollowedUp(one), counts, arm, world.setting, float(world.means[arm])) for one in said]  # type: ignore[arg-type]
    return [bool(codes & WARNINGS), *held]


def _holds(assumption: FollowedUp, counts: Counts, arm: int, setting: Setting, truth: float) -> bool | None:
    """None if there is no interval."""
    try:
        estimate = assumption.estimate(counts, arm, setting)
    except NotIdentified:
        return None
    if not estimate.has_interval:
        return None
    low, high = estimate.interval(0.95)
    return bool(low <= truth <= high)


def with_follow_ups(
    world: World, rows: int, answers: int, success: float, rng: np.random.Generator
) -> Counts:
    """The counts of a table with random follow-ups of its missing outcomes; each fails with probability 1 - success."""
    setting = world.setting
    arms = np.repeat(np.arange(setting.arms), rows)
    m, y = world.pulls(arms, rng)
    marked = np.zeros(len(y), bool)
    for arm in range(setting.arms):
        missing = np.flatnonzero((arms == arm) & np.isnan(y))
        marked[rng.permutation(missing)[: round(answers / success)]] = True
    found = y.copy()
    for i in np.flatnonzero(marked & (rng.random(len(y)) < success)):
        mediator = setting.mediators if m[i] < 0 else m[i]
        value = world.draw_missing(rng, int(arms[i]), int(mediator), world.missing_tables)
        found[i] = value if setting.levels is None else setting.levels[value]
    return Counts.fold(setting, arms, m, found, followed_up=marked)


def _chosen(item: tuple[str, str, int, float, int, int]) -> dict[str, list[Any]]:
    world, name, horizon, cost, seed, run = item
    plan = plan_named(world, [name], horizon, seed)
    instance, policy, terms = plan.instance(run), plan.policies[0], FollowUps(cost)
    setting = instance.setting
    counts = play(policy, instance, plan.generator(run), horizon, plan.rounds, follow_ups=terms).counts
    assert counts is not None
    stop = np.zeros(1, np.int64)
    ends = run_intervals(policy, counts, setting, horizon, 0, seed + 1 + run, stop, terms)
    arms = [
        _chosen_arm(counts, arm, setting, float(truth), ends[:, arm])
        for arm, truth in enumerate(instance.means)
    ]
    best = int(np.argmax(instance.means))
    return {"best": [arms[best]], "others": arms[:best] + arms[best + 1 :]}


def _chosen_arm(counts: Counts, arm: int, setting: Setting, truth: float, ends: Any) -> list[Any] | None:
    """Plain and calibrated: whether each holds (None: no interval); ratio of widths; answers. None if refused."""
    try:
        estimate = FollowedUp().estimate(counts, arm, setting)
    except NotIdentified:
        return None
    if not estimate.has_interval:
        return None
    low, high = estimate.interval(0.95)
    calibrated = bool(ends[0] <= truth <= ends[1]) if np.isfinite(ends).all() else None
    ratio = float((ends[1] - ends[0]) / (high - low)) if calibrated is not None and high > low else None
    return [bool(low <= truth <= high), calibrated, ratio, int(counts.answered[arm])]

"""One run of one policy in one instance of a world: from parts to the compiled loop and back."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from truant.assumptions import Curve
from truant.assumptions.assumption import note_nothing
from truant.assumptions.follow_up import DESCRIBED, describe
from truant.compile import link
from truant.compile.complaint import CannotCompile
from truant.counts import Counts, ask_level, ask_real
from truant.errors import InvalidValue, NotIdentified
from truant.play import loop
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUpRule, FollowUps
from truant.setting import FloatArray, IntArray, Setting, whole_number
from truant.spec import Spec
from truant.worlds import World
from truant.worlds.world import instance

CHECKPOINTS = 160  # evenly spaced; some forty more are packed into the first of them
LONGEST_DELAY = 10_000_000  # rounds: a run keeps 24 bytes for each outcome that is still to come


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs to know, but for its number."""

    world: World | Spec
    policies: list[Policy]
    horizon: int
    seed: int
    rounds: IntArray
    delay: int = 0
    minimize: bool = False
    follow_ups: FollowUps | None = None

    def instance(self, run: int) -> World:
        """The instance that all policies of a run face."""
        if isinstance(self.world, World):
            world = self.world
        else:
            world = instance(self.world, np.random.default_rng(self._seeds(run)[0]))
        return world.minimizing() if self.minimize and not world.setting.minimize else world

    def generator(self, run: int) -> np.random.Generator:
        """The run's stream of pulls: the same for every policy, whoever else takes part."""
        return np.random.Generator(np.random.SFC64(self._seeds(run)[1]))

    def _seeds(self, run: int) -> list[np.random.SeedSequence]:
        return np.random.SeedSequence(self.seed, spawn_key=(run,)).spawn(2)


def rounds_late(delay: object, horizon: int) -> int:
    """The delay as a whole number of rounds, at most the horizon; or raises InvalidValue."""
    rounds = whole_number("delay", delay, at_least=0)
    if rounds > horizon:
        raise InvalidValue(f"delay must be at most the horizon, {horizon:,} rounds, got {rounds:,}.")
    if rounds > LONGEST_DELAY:
        raise InvalidValue(
            f"delay must be at most {LONGEST_DELAY:,} rounds, got {rounds:,}: outcomes that are still to come "
            "are kept in memory."
        )
    return rounds


class RunResult(NamedTuple):
    """Results of one run of one policy."""

    finished: bool
    regret: FloatArray  # at each of the rounds asked for
    pulls: IntArray  # of each arm
    means: FloatArray  # true mean of each arm
    nanoseconds: float  # CPU time of the loop
    counts: Counts | None  # at the end; None where only estimates were kept
    estimates: FloatArray | None = None  # of each arm's mean, where they were asked for
    intervals: FloatArray | None = None  # of each arm's mean, (2, arms), where they were asked for
    follow_ups: FloatArray | None = None  # until each of the rounds asked for; None if there could be none

    def estimated(self, policy: Policy, setting: Setting) -> RunResult:
        """The same with the policy's final estimates (NaN where it has none) instead of the counts."""
        assert self.counts is not None
        means = np.full(setting.arms, np.nan)
        if policy.assumption is None:
            return self._replace(counts=None, estimates=means)
        for arm in range(setting.arms):
            with contextlib.suppress(NotIdentified):
                # not policy.estimate, which checks: these counts are our own
                means[arm] = policy.assumption.estimate(self.counts, arm, setting).mean
        return self._replace(counts=None, estimates=means)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checkpoints(horizon: int) -> IntArray:
    """About 200 rounds at which regret is noted: even, denser at the start, half the horizon among them."""
    even = np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:])
    early = np.geomspace(1, max(horizon / CHECKPOINTS, 1), 40)
    rounds = np.unique(np.concatenate([even, early, [max(1, horizon // 2), horizon]]).astype(np.int64))
    return rounds[rounds <= horizon]


def play(
    policy: Policy,
    world: World,
    rng: np.random.Generator,
    horizon: int,
    rounds: IntArray,
    progress: IntArray | None = None,
    stop: IntArray | None = None,
    delay: int = 0,
    follow_ups: FollowUps | None = None,
) -> RunResult:
    """One run of one policy up to the last of `rounds`.

    Parameters
    ----------
    policy, world, rng : who plays, where, and the stream of its pulls (read from where it is, and left there).
    horizon : what the policy is told; `rounds` may end earlier.
    rounds : when regret is noted.
    progress : its first number counts the rounds that were noted.
    stop : the run ends early when its first number is no longer 0.
    delay : rounds after which an outcome enters the counts; those still to come at the end enter then.
    follow_ups : what following up a missing outcome costs; None: it cannot be done.
    """
    seen = world.revealed() if policy.reveals else world
    told = replace(seen.setting, minimize=world.setting.minimize)
    setting = told.maximizing()
    curve, index = policy.curve(setting, horizon), policy.index
    z_grid = index.z_grid(curve.linear)
    arms = setting.arms
    counts = Counts.empty(setting)
    table = counts.table if curve.discrete else counts.real().table
    record, about = _recorder(told, curve.discrete)
    pending = delay > 0 and index.counts_pending
    regret, pulls = np.zeros(len(rounds)), np.zeros(arms, np.int64)
    followed = _followed(policy, seen, follow_ups)
    scored_rows = table.shape[1]
    if followed is not None:
        table = np.concatenate([table, np.zeros_like(table)], axis=1)
        scored_rows = table.shape[1] if curve.follows_up else scored_rows
    ruled = followed is not None and followed.describes
    number = np.zeros(len(rounds) if followed else 0)
    compiled = _linked(
        policy,
        world,
        draw=seen.draw,
        record=record,
        note_pull=curve.note_pull,
        score_arm=curve.score_arm,
        contribute=curve.contribute,
        known=curve.known,
        aim=index.aim,
        update=index.update,
        choose=index.choose,
        POOLED=curve.pooled > 0,
        DELAYED=delay > 0,
        COUNTS_PENDING=pending,
        STARTS_ANEW=pending and curve.note_pull is not note_nothing,
        GUESSES_HORIZON=not index.horizon_known,
        **_follow_up_parts(followed, seen, told, curve),
    )
    arguments = (
        _own_generator(rng),
        seen.tables,
        world.gaps,
        about,
        curve.first_pulls,
        float(curve.growth),
        float(np.log(horizon)),
        np.ascontiguousarray(curve.parameters),
        np.zeros((arms, curve.memory(len(z_grid)))),
        np.zeros(curve.pooled + curve.scratch),
        np.zeros((arms + 1, curve.pooled)),
        z_grid,
        np.zeros((arms, len(z_grid))),
        np.full((2, arms), curve.first_pulls),
        index.parameters(),
        np.zeros(index.memory(arms)),
        table,
        np.zeros((scored_rows, table.shape[2])),
        pulls,
        np.zeros(arms, np.int64),
        np.zeros((delay, 3)),
        seen.missing_tables if followed else (),
        followed.numbers(follow_ups, horizon) if followed and follow_ups else np.zeros(1),
        np.zeros((arms, DESCRIBED if ruled else 0)),
        np.full(arms if ruled else 0, -1.0),
        np.full((delay if followed else 0, 3), -1.0),
        number,
        rounds,
        regret,
        np.zeros(1, np.int64) if progress is None else progress,
        np.zeros(1, np.int64) if stop is None else stop,
    )
    start = time.thread_time_ns()
    ending = compiled(*arguments)
    nanoseconds = time.thread_time_ns() - start
    if ending == loop.NO_SUCH_ARM:
        raise InvalidValue(
            f"The index of {policy.name!r} chose an arm that is not there; try check_index on it."
        )
    levels = setting.levels if curve.discrete else None
    if followed is None:
        final = Counts(table, levels, setting.centre)
    else:
        half = table.shape[1] // 2
        final = Counts(table[:, :half].copy(), levels, setting.centre, table[:, half:].copy())
    if told.minimize:
        final = final.reflected()
    finished, bought = ending == loop.FINISHED, None if followed is None else number
    return RunResult(finished, regret, pulls, world.means, nanoseconds, final, follow_ups=bought)


def _followed(policy: Policy, world: World, follow_ups: FollowUps | None) -> FollowUpRule | None:
    """The policy's rule for follow-ups, if it has one; or raises InvalidValue where they cannot be had."""
    if policy.follow_up is None:
        return None
    if follow_ups is None:
        raise InvalidValue(
            f"Policy {policy.name!r} follows up missing outcomes; say what a follow-up costs, in units of the outcome: "
            "follow_up_cost=0.1 (--follow-up-cost 0.1)."
        )
    if world.draw_missing is None:
        raise InvalidValue(
            f"World {world.name!r} cannot tell what a follow-up would find; give it `draw_missing`, or use another "
            "policy."
        )
    return policy.follow_up


def _follow_up_parts(
    rule: FollowUpRule | None, world: World, setting: Setting, curve: Curve
) -> dict[str, Any]:
    """What the loop needs where missing outcomes may be followed up."""
    if rule is None:
        return {"FOLLOWS_UP": False, "READS_FOLLOW_UPS": False, "RULED": False}
    return {
        "FOLLOWS_UP": True,
        "READS_FOLLOW_UPS": curve.follows_up,
        "RULED": rule.describes,
        "draw_missing": world.draw_missing,
        "is_missing": loop.is_missing_level if curve.discrete else loop.is_missing_outcome,
        "ask": ask_level if curve.discrete else ask_real,
        "answer": _answer(setting, curve.discrete),
        "describe": describe,
        "worth": rule.worth,
    }


def _linked(policy: Policy, world: World, **parts: Any) -> Callable[..., Any]:
    """The compiled loop; a part that numba refuses is named with the policy and the world it belongs to."""

    def call(*arguments: Any) -> Any:
        try:
            return link(loop.run, **parts)(*arguments)
        except CannotCompile as error:
            place = f"policy {policy.name!r} in world {world.name!r}"
            raise error.at(place) from error.__cause__

    return call


_of_thread = threading.local()


def _own_generator(rng: np.random.Generator) -> np.random.Generator:
    """The thread's own generator, put where `rng` is.

    Lean code never lets go of a generator that it was given: a new one for each run would cost some kilobytes a run.
    """
    if not hasattr(_of_thread, "generator"):
        _of_thread.generator = np.random.Generator(np.random.SFC64())
    own: np.random.Generator = _of_thread.generator
    own.bit_generator.state = rng.bit_generator.state
    return own


def _answer(setting: Setting, discrete: bool) -> Callable[..., None]:
    """How the answer to a follow-up enters the counts."""
    if setting.levels is None:
        return loop.answer_reflected_outcome if setting.minimize else loop.answer_outcome
    if not discrete:
        return loop.answer_level_as_real
    return loop.answer_reflected_level if setting.minimize else loop.answer_level_outcome


def _recorder(setting: Setting, discrete: bool) -> tuple[Callable[..., float], FloatArray]:
    """How an outcome of the world enters the counts; where less is better, it enters reflected."""
    turned = setting.minimize
    if setting.levels is None:
        centre = np.array([setting.centre])
        return (loop.record_reflected_outcome if turned else loop.record_real_outcome), centre
    values = np.asarray(setting.levels) - setting.centre
    about = np.append(-values if turned else values, np.nan)
    if not discrete:
        return loop.record_level_as_real, about
    return (loop.record_reflected_level if turned else loop.record_level_outcome), about

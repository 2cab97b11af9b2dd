"""One run of one policy in one instance of a world: from parts to the compiled loop and back; and the regret of many
runs in a few figures.
"""

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
from truant.compile.linking import CannotCompile
from truant.counts import Counts, answer_level, answer_real, ask_level, ask_real, record_level, record_real
from truant.errors import InvalidValue, NotIdentified
from truant.indices import Index
from truant.play import loop
from truant.policies import Policy
from truant.policies.follow_up_rules import FollowUpRule, FollowUps
from truant.setting import FloatArray, IntArray, Setting, whole_number
from truant.spec import Spec
from truant.worlds import World
from truant.worlds.world import instance


@dataclass(frozen=True)
class RegretSummary:
    """Regret at the horizon over runs, which are the last axis of what it is made from.

    Each figure has the shape of the other axes: a number for one policy, shape (P,) for P policies.
    """

    runs: int
    mean: Any
    sd: Any  # 0 for one run
    se: Any  # of the mean; NaN for one run, which says nothing about how far runs differ
    median: Any
    p90: Any  # 90th percentile
    share_above_10x_median: Any  # of the runs
    first_half_mean: Any  # at half of the horizon


def summarize_regret(final: FloatArray, first_half: FloatArray) -> RegretSummary:
    """The figures of regret at the horizon and at half of it, both of shape (..., runs)."""
    runs = final.shape[-1]
    sd = standard_deviation(final)
    median = np.median(final, axis=-1, keepdims=True)
    return RegretSummary(
        runs=runs,
        mean=final.mean(axis=-1),
        sd=sd,
        se=_standard_error(sd, runs),
        median=median[..., 0],
        p90=np.quantile(final, 0.9, axis=-1),
        share_above_10x_median=(final > 10 * median).mean(axis=-1),
        first_half_mean=first_half.mean(axis=-1),
    )


def paired_difference(final: FloatArray, other: FloatArray) -> tuple[Any, Any]:
    """How much more regret than another policy, run by run: mean and its standard error (NaN for one run)."""
    difference = final - other
    return difference.mean(axis=-1), _standard_error(standard_deviation(difference), final.shape[-1])


def second_half_ratio(first_half_mean: float, final_mean: float) -> float:
    """Regret of the second half of the rounds over that of the first: 1 if linear; NaN if the first has none."""
    if not first_half_mean > 0:
        return float("nan")
    return float((final_mean - first_half_mean) / first_half_mean)


def standard_deviation(values: FloatArray, axis: int = -1) -> Any:
    """Over runs; 0 for one run."""
    if values.shape[axis] == 1:
        return np.zeros_like(values.take(0, axis))
    return values.std(axis=axis, ddof=1)


def _standard_error(sd: Any, runs: int) -> Any:
    return sd / np.sqrt(runs) if runs > 1 else np.full_like(sd, np.nan)


CHECKPOINTS = 160  # evenly spaced; some forty more are packed into the first of them
LONGEST_DELAY = 10_000_000  # rounds: a run keeps 24 bytes for each outcome that is still to come


@dataclass(frozen=True)
class RunPlan:
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


class Watch(NamedTuple):
    """How far a run is, and whether it shall end."""

    done: IntArray  # (1,), the rounds that were noted
    stop: IntArray  # (1,), the run ends early when it is no longer 0

    @classmethod
    def new(cls, stop: IntArray | None = None) -> Watch:
        """Of a run that has not begun."""
        return cls(np.zeros(1, np.int64), np.zeros(1, np.int64) if stop is None else stop)


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
    watch: Watch | None = None,
    delay: int = 0,
    follow_ups: FollowUps | None = None,
) -> RunResult:
    """One run of one policy up to the last of `rounds`.

    Parameters
    ----------
    policy, world, rng : who plays, where, and the stream of its pulls (read from where it is, and left there).
    horizon : what the policy is told; `rounds` may end earlier.
    rounds : when regret is noted.
    watch : for whoever looks on from another thread.
    delay : rounds after which an outcome enters the counts; those still to come at the end enter then.
    follow_ups : what following up a missing outcome costs; None: it cannot be done.
    """
    seen = world.revealed() if policy.reveals else world
    told = replace(seen.setting, minimize=world.setting.minimize)
    curve, index = policy.curve(told.maximizing(), horizon), policy.index
    rule = _followed(policy, seen, follow_ups)
    as_counted, about = _counting(told, curve.discrete)
    compiled = _linked(
        policy,
        world,
        draw=seen.draw,
        as_counted=as_counted,
        record=record_level if curve.discrete else record_real,
        DELAYED=delay > 0,
        **_scoring_parts(curve, index, delay > 0),
        **_follow_up_parts(rule, seen, curve),
    )
    source = loop.Source(seen.tables, seen.missing_tables if rule else (), world.gaps, about)
    scoring, choosing = _scoring(curve, index, told.arms, horizon)
    ledger = _ledger(told.maximizing(), curve, rule, delay)
    following = _following(rule, follow_ups, told.arms, horizon, delay)
    watch = watch or Watch.new()
    number = np.zeros(len(rounds) if rule else 0)
    course = loop.Course(rounds, np.zeros(len(rounds)), number, watch.done, watch.stop)
    generator = _own_generator(rng)
    start = time.thread_time_ns()
    ending = compiled(generator, source, scoring, choosing, ledger, following, course)
    nanoseconds = time.thread_time_ns() - start
    if ending == loop.NO_SUCH_ARM:
        raise InvalidValue(
            f"The index of {policy.name!r} chose an arm that is not there; try check_index on it."
        )
    return RunResult(
        ending == loop.FINISHED,
        course.regret,
        ledger.pulls,
        world.means,
        nanoseconds,
        _final_counts(ledger, told, curve.discrete, rule is not None),
        follow_ups=None if rule is None else course.follow_ups,
    )


def _scoring_parts(curve: Curve, index: Index, delayed: bool) -> dict[str, Any]:
    """The functions of curve and index, and what the loop does for them."""
    pending = delayed and index.counts_pending
    return {
        "note_pull": curve.note_pull,
        "score_arm": curve.score_arm,
        "contribute": curve.contribute,
        "known": curve.known,
        "aim": index.aim,
        "update": index.update,
        "choose": index.choose,
        "POOLED": curve.pooled > 0,
        "COUNTS_PENDING": pending,
        "STARTS_ANEW": pending and curve.note_pull is not note_nothing,
        "GUESSES_HORIZON": not index.horizon_known,
    }


def _scoring(curve: Curve, index: Index, arms: int, horizon: int) -> tuple[loop.Scoring, loop.Choosing]:
    """The arrays of curve and index before the first round."""
    z_grid = index.z_grid(curve.linear)
    scoring = loop.Scoring(
        curve.first_pulls,
        float(curve.growth),
        np.ascontiguousarray(curve.parameters),
        np.zeros((arms, curve.memory(len(z_grid)))),
        np.zeros(curve.pooled + curve.scratch),
        np.zeros((arms + 1, curve.pooled)),
        np.full((2, arms), curve.first_pulls),
    )
    choosing = loop.Choosing(
        float(np.log(horizon)),
        index.parameters(),
        np.zeros(index.memory(arms)),
        z_grid,
        np.zeros((arms, len(z_grid))),
    )
    return scoring, choosing


def _ledger(setting: Setting, curve: Curve, rule: FollowUpRule | None, delay: int) -> loop.Ledger:
    """Counts of nothing yet, with those of follow-ups below where there is a rule."""
    counts = Counts.empty(setting)
    table = counts.table if curve.discrete else counts.real().table
    scored_rows = table.shape[1]
    if rule is not None:
        table = np.concatenate([table, np.zeros_like(table)], axis=1)
        scored_rows = table.shape[1] if curve.follows_up else scored_rows
    scaled, arms = np.zeros((scored_rows, table.shape[2])), setting.arms
    return loop.Ledger(
        table, scaled, np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros((delay, 3))
    )


def _following(
    rule: FollowUpRule | None, follow_ups: FollowUps | None, arms: int, horizon: int, delay: int
) -> loop.Following:
    """The numbers of the rule, and what it keeps."""
    described = rule is not None and rule.describes
    return loop.Following(
        rule.numbers(follow_ups, horizon) if rule and follow_ups else np.zeros(1),
        np.zeros((arms, DESCRIBED if described else 0)),
        np.full(arms if described else 0, -1.0),
        np.full((delay if rule else 0, 3), -1.0),
    )


def _final_counts(ledger: loop.Ledger, setting: Setting, discrete: bool, followed: bool) -> Counts:
    """The counts at the end, in the direction of the world's outcomes."""
    levels, table = setting.maximizing().levels if discrete else None, ledger.counts
    if followed:
        half = table.shape[1] // 2
        final = Counts(table[:, :half].copy(), levels, setting.maximizing().centre, table[:, half:].copy())
    else:
        final = Counts(table, levels, setting.maximizing().centre)
    return final.reflected() if setting.minimize else final


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


def _follow_up_parts(rule: FollowUpRule | None, world: World, curve: Curve) -> dict[str, Any]:
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
        "answer": answer_level if curve.discrete else answer_real,
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


def _counting(setting: Setting, discrete: bool) -> tuple[Callable[..., Any], FloatArray]:
    """How an outcome of the world is counted; where less is better, it is reflected."""
    turned = setting.minimize
    if setting.levels is None:
        return (loop.reflected_value if turned else loop.value), np.array([setting.centre])
    values = np.asarray(setting.levels) - setting.centre
    about = np.append(-values if turned else values, np.nan)
    if not discrete:
        return loop.value_of_level, about
    return (loop.reflected_level if turned else loop.level), about

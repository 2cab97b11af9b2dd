"""A study: worlds x parameters x policies x runs; whether all of it can be played; and its tasks, which play it."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from truant import registry
from truant.errors import InvalidValue, TruantError
from truant.fingerprint import code_fingerprint
from truant.play.run import RunPlan, Watch, play
from truant.policies import Policy, named
from truant.policies.policy import parts_of
from truant.setting import FloatArray, IntArray
from truant.spec import Spec
from truant.worlds import World


@dataclass(frozen=True)
class Axis:
    """What varies, and its values; "K,L" are two parameters that take the same value."""

    name: str
    values: tuple[Any, ...]

    def settings(self) -> list[dict[str, Any]]:
        """For each value, what it sets."""
        return [dict.fromkeys(self.name.split(","), value) for value in self.values]


@dataclass(frozen=True)
class Choice:
    """A policy of a study: what it is, its full name as shown, the name without what varies, and what varies."""

    spec: Spec
    name: str
    family: str
    varied: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One place in a study: a world with its parameters, a horizon, a delay and a direction."""

    block: int
    world: Spec
    horizon: int
    delay: int = 0
    minimize: bool = False

    @property
    def words(self) -> str:
        """The place in words."""
        settings = [f"{key}={shown(value)}" for key, value in self.world.parameters.items()]
        late = [f"delay={self.delay:,}"] if self.delay else []
        return ", ".join([self.world.name, *settings, f"horizon={self.horizon:,}", *late])


@dataclass(frozen=True)
class WorldEntry:
    """One [[worlds]] entry: a world, what is set and what varies in it, and the policies that play there."""

    number: int
    world: str
    title: str
    fixed: Mapping[str, Any]
    axes: tuple[Axis, ...]
    horizons: tuple[int, ...]
    choices: tuple[Choice, ...]
    delays: tuple[int, ...] = (0,)
    minimize: bool = False

    def points(self) -> Iterator[Point]:
        """Every combination of what varies."""
        for horizon, delay in itertools.product(self.horizons, self.delays):
            for settings in itertools.product(*(axis.settings() for axis in self.axes)):
                varied = {key: value for setting in settings for key, value in setting.items()}
                world = Spec(self.world, {**self.fixed, **varied})
                yield Point(self.number, world, horizon, delay, self.minimize)


@dataclass(frozen=True)
class Study:
    """What to run; `source` is the text of its file."""

    title: str
    description: str
    seed: int
    runs: int
    blocks: tuple[WorldEntry, ...]
    file: str
    source: str
    minimize: bool = False

    def points(self) -> Iterator[Point]:
        """All places, block by block."""
        for block in self.blocks:
            yield from block.points()

    def choices(self, point: Point) -> tuple[Choice, ...]:
        """The policies that play at a point."""
        return self.blocks[point.block].choices


def check(study: Study) -> list[str]:
    """Build every world and every policy for it, and play nothing; gives each point's fingerprint.

    The fingerprint is that of the point's first instance: a world whose recipe or data changed has another.
    """
    fingerprints = []
    for point in study.points():
        with at(f"{study.file}: world {point.block + 1} ({point.words})"):
            world = plan_at(study.seed, point, ()).instance(0)
            fingerprints.append(fingerprint(world))
            for choice in study.choices(point):
                with at(f"policy {choice.name!r}"), _with_remedy():
                    policy = policy_of(choice.spec)
                    if policy.follow_up is not None:
                        raise InvalidValue(
                            "A study cannot follow up missing outcomes; use truant simulate --follow-up-cost instead."
                        )
                    policy.curve(world.setting, point.horizon)
    return fingerprints


def plan_at(seed: int, point: Point, policies: Sequence[Spec]) -> RunPlan:
    """What `simulate` would run at a point."""
    rounds = np.unique([max(1, point.horizon // 2), point.horizon])
    built = [policy_of(policy) for policy in policies]
    return RunPlan(point.world, built, point.horizon, seed, rounds, point.delay, point.minimize)


@functools.cache
def policy_of(spec: Spec) -> Policy:
    """The policy, built once: looking for parts in other packages takes longer than many a task."""
    return named(spec)


def fingerprint(world: World) -> str:
    """A name for an instance: what is drawn in it, what is lost in it, and what policies are told of it."""
    setting = world.setting
    told = (setting.arms, setting.mediators, setting.levels, setting.low, setting.high, setting.scale)
    digest = hashlib.sha256(repr((*told, setting.minimize)).encode())
    for table in (world.means, *world.tables):
        digest.update(np.ascontiguousarray(table).tobytes())
    return digest.hexdigest()


@contextmanager
def at(place: str) -> Iterator[None]:
    """Whatever is refused inside is refused with its place."""
    try:
        yield
    except TruantError as error:
        raise error.at(place) from None


@contextmanager
def _with_remedy() -> Iterator[None]:
    try:
        yield
    except TruantError as error:
        raise error.advising(
            "Leave this policy out here: give the world its own `policies`, or vary less."
        ) from None


def shown(value: Any, between: str = "–") -> str:
    """A parameter's value in words; a range as its two ends."""
    if isinstance(value, list | tuple):
        return between.join(shown(item, between) for item in value)
    if isinstance(value, float):
        return f"{value:.12g}"
    return re.sub(r"://[^/@\s]*@", "://", str(value))  # a URL may hold a password


RUNS = 100  # of a task, at least: less would cost more to hand out than to do
COLUMNS = ("regret", "regret_first_half", "best_arm_share", "nanoseconds")  # a row per run

Columns = dict[str, FloatArray]


@dataclass(frozen=True)
class Task:
    """Runs `first` to `first + runs - 1` of some policies at a point."""

    seed: int
    point: Point
    fingerprint: str
    policies: tuple[Spec, ...]
    first: int
    runs: int

    @property
    def rounds(self) -> int:
        """How much there is to do."""
        return self.point.horizon * self.runs * len(self.policies)

    def key(self, policy: Spec) -> str:
        """A name for all that decides the numbers of a policy's runs, wherever and however they are asked for."""
        world = self.point.world
        what = {
            "code": _code(world.name, policy.name),
            "versions": (np.__version__, numba.__version__),
            "world": (world.name, world.texts),
            "instance": self.fingerprint,
            "horizon": self.point.horizon,
            "delay": self.point.delay,
            "minimize": self.point.minimize,
            "policy": (policy.name, policy.texts),
            "seed": self.seed,
            "first": self.first,
            "runs": self.runs,
        }
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def tasks(study: Study, fingerprints: Sequence[str]) -> Iterator[Task]:
    """All tasks of a study, in its order."""
    for point, instance in zip(study.points(), fingerprints, strict=True):
        policies = tuple(choice.spec for choice in study.choices(point))
        for first, runs in chunks(study.runs):
            yield Task(study.seed, point, instance, policies, first, runs)


def chunks(runs: int) -> list[tuple[int, int]]:
    """(first, how many): a hundred each, and what is left over with the last."""
    count = tasks_of_a_point(runs)
    return [(i * RUNS, RUNS if i < count - 1 else runs - i * RUNS) for i in range(count)]


def tasks_of_a_point(runs: int) -> int:
    """How many tasks the runs at a point are."""
    return max(1, runs // RUNS)


def work(number: int, task: Task, stop: IntArray | None = None) -> tuple[int, dict[Spec, Columns] | None]:
    """Do a task: for each policy a column of each figure, a row per run; None if it was stopped."""
    plan = plan_at(task.seed, task.point, task.policies)
    done = {policy: {name: np.empty(task.runs) for name in COLUMNS} for policy in task.policies}
    for row in range(task.runs):
        run = task.first + row
        with at(f"{task.point.words}: run {run}"):
            world = plan.instance(run)
            for policy, columns in zip(plan.policies, done.values(), strict=True):
                rng = plan.generator(run)
                ended = play(policy, world, rng, plan.horizon, plan.rounds, Watch.new(stop), plan.delay)
                if not ended.finished or (stop is not None and stop[0]):
                    return number, None
                columns["regret"][row] = ended.regret[-1]
                columns["regret_first_half"][row] = ended.regret[0]
                columns["best_arm_share"][row] = ended.pulls[world.best].sum() / ended.pulls.sum()
                columns["nanoseconds"][row] = ended.nanoseconds
    if fingerprint(plan.instance(0)) != task.fingerprint:  # its numbers would be kept under the wrong name
        raise InvalidValue(
            f"{task.point.words}: this world is no longer what it was when the sweep began; did its data change? "
            "Run the sweep again."
        )
    return number, done


@functools.cache
def _code(world: str, policy: str) -> str:
    """A name for the code that decides the numbers of a policy in a world, whoever wrote it."""
    parts = (registry.find("world", world), *parts_of(Spec(policy)))
    return code_fingerprint(__name__, *(part.factory for part in parts))

"""A study: worlds x parameters x policies x runs; and whether every combination in it can be played."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truant.errors import InvalidValue, TruantError
from truant.play.run import Plan
from truant.policies import Policy, named
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
class Block:
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
    blocks: tuple[Block, ...]
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


def plan_at(seed: int, point: Point, policies: Sequence[Spec]) -> Plan:
    """What `simulate` would run at a point."""
    rounds = np.unique([max(1, point.horizon // 2), point.horizon])
    built = [policy_of(policy) for policy in policies]
    return Plan(point.world, built, point.horizon, seed, rounds, point.delay, point.minimize)


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

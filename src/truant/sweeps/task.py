"""The tasks of a sweep: some runs of some policies at one point, and what each leaves."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numba
import numpy as np

from truant import registry
from truant.errors import InvalidValue
from truant.fingerprint import code_fingerprint
from truant.play.run import play
from truant.policies.policy import parts_of
from truant.setting import FloatArray, IntArray
from truant.spec import Spec
from truant.sweeps.study import Point, Study, at, fingerprint, plan_at

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
                ended = play(policy, world, rng, plan.horizon, plan.rounds, stop=stop, delay=plan.delay)
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

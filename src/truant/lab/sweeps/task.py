"""The tasks of a sweep: some runs of some policies at one point; what each leaves, and where it is kept."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant import registry
from truant.files import written_whole
from truant.lab.play import played
from truant.lab.sweeps.study import Point, Study, at, plan_at
from truant.setting import FloatArray, IntArray

RUNS = 100  # of a task, at least: less would cost more to hand out than to do
ROOMS = ("assumptions", "indices", "worlds", "policies", "lab/loop.py", "counts.py", "setting.py")

Columns = dict[str, FloatArray]


@dataclass(frozen=True)
class Task:
    """Runs `first` to `first + runs - 1` of some policies at a point."""

    seed: int
    point: Point
    fingerprint: str
    policies: tuple[str, ...]
    first: int
    runs: int

    @property
    def rounds(self) -> int:
        """How much there is to do."""
        return self.point.horizon * self.runs * len(self.policies)

    def key(self, policy: str) -> str:
        """A name for all that decides the numbers of a policy's runs, wherever they are asked for."""
        what = {
            "code": _code(),
            "parts": _foreign_code(self.point.world, policy),
            "world": self.point.world,
            "parameters": dict(self.point.parameters),
            "instance": self.fingerprint,
            "horizon": self.point.horizon,
            "policy": policy,
            "seed": self.seed,
            "first": self.first,
            "runs": self.runs,
        }
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def tasks(study: Study, fingerprints: Sequence[str]) -> Iterator[Task]:
    """All tasks of a study, in its order."""
    for point, fingerprint in zip(study.points(), fingerprints, strict=True):
        policies = tuple(choice.spec for choice in study.choices(point))
        for first, runs in chunks(study.runs):
            yield Task(study.seed, point, fingerprint, policies, first, runs)


def chunks(runs: int) -> list[tuple[int, int]]:
    """(first, how many): a hundred each, and what is left over with the last."""
    count = tasks_of_a_point(runs)
    return [(i * RUNS, RUNS if i < count - 1 else runs - i * RUNS) for i in range(count)]


def tasks_of_a_point(runs: int) -> int:
    """How many tasks the runs at a point are."""
    return max(1, runs // RUNS)


def work(number: int, task: Task, stop: IntArray | None = None) -> tuple[int, dict[str, Columns] | None]:
    """Do a task: for each policy a column of each figure, a row per run; None if it was stopped."""
    plan = plan_at(task.seed, task.point, task.policies)
    names = ("regret", "regret_first_half", "best_arm_share", "nanoseconds")
    done = {policy: {name: np.empty(task.runs) for name in names} for policy in task.policies}
    for row in range(task.runs):
        run = task.first + row
        with at(f"{task.point.words}: run {run}"):
            world = plan.instance(run)
            best = world.gaps <= 1e-12  # arms that are equal by construction may differ in the last digit
            for policy in plan.policies:
                ended = played(policy, world, plan.generator(run), plan.horizon, plan.rounds, stop=stop)
                if not ended.finished or (stop is not None and stop[0]):
                    return number, None
                columns = done[policy.name]
                columns["regret"][row] = ended.regret[-1]
                columns["regret_first_half"][row] = ended.regret[0]
                columns["best_arm_share"][row] = ended.pulls[best].sum() / ended.pulls.sum()
                columns["nanoseconds"][row] = ended.nanoseconds
    return number, done


@dataclass(frozen=True)
class Parts:
    """The folder of what is done: a Parquet file for each policy of each task, whole or not there."""

    folder: Path

    def path(self, key: str) -> Path:
        """Where a part is kept."""
        return self.folder / key[:2] / f"{key}.parquet"

    def missing(self, task: Task) -> Task | None:
        """What is left to do of a task; None if nothing is."""
        left = tuple(policy for policy in task.policies if self.read(task, policy) is None)
        return replace(task, policies=left) if left else None

    def write(self, task: Task, done: dict[str, Columns]) -> None:
        """Keep what a task left."""
        for policy, columns in done.items():
            path = self.path(task.key(policy))
            with written_whole(path) as temporary:
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.table(columns), temporary, compression="zstd", write_page_checksum=True)

    def read(self, task: Task, policy: str) -> Any | None:
        """The columns of a policy's runs; None if they are not there, or damaged."""
        path = self.path(task.key(policy))
        try:
            table = pq.ParquetFile(path, page_checksum_verification=True).read() if path.exists() else None
        except (OSError, pa.ArrowException):
            return None
        return table if table is not None and table.num_rows == task.runs else None


@functools.cache
def _code() -> str:
    """A name for the code that decides the numbers."""
    home = Path(inspect.getfile(registry)).parent
    digest = hashlib.sha256(f"numpy {np.__version__}".encode())
    for room in ROOMS:
        place = home / room
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _foreign_code(*specs: str) -> str:
    """The same for parts of other packages: the files that they stand in."""
    digest = hashlib.sha256()
    for spec in specs:
        name = registry.parse(spec)[0]
        for kind in registry.ROOMS:
            for known in registry.names(kind):
                if known == name or (kind in ("assumption", "index") and known in name):
                    file = inspect.getsourcefile(registry.find(kind, known).factory)
                    digest.update(Path(file).read_bytes() if file else b"")
    return digest.hexdigest()[:16]

"""Keeps what is done, so that a study that was stopped goes on where it was; and shares work among the cores.

Pieces are kept by the code in src/ that made them: when it changes, all is done anew. After a change in how the
study itself computes a piece, remove out/study.
"""

from __future__ import annotations

import functools
import hashlib
import json
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from truant.files import written_whole
from truant.lab.result import Simulation
from truant.lab.simulate import simulate
from truant.worlds import World

ROOT = Path(__file__).parents[2]
SEED = 2026

Size = TypeVar("Size")
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Study:
    """Where a study's results go, and whether it is only a quick try."""

    page: Path
    images: Path
    kept: Path
    quick: bool

    @classmethod
    def open(cls, quick: bool) -> Study:
        sources = sorted((ROOT / "src").rglob("*.py"))
        code = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
        out = ROOT / "out" / ("study-quick" if quick else "study")
        base = out if quick else ROOT / "docs"
        study = cls(base / "validation.md", base / "images", out / code, quick)
        for folder in (study.images, study.kept):
            folder.mkdir(parents=True, exist_ok=True)
        return study

    def size(self, full: Size, quick: Size) -> Size:
        """A number of runs, rounds or pulls."""
        return quick if self.quick else full

    def piece(self, name: str, what: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """The kept result of that name, if it was computed for just this; else compute and keep it."""
        path = self.kept / f"{plain(name)}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["what"] == json.loads(json.dumps(what)):
                return kept["result"]
        print(name, flush=True)
        result = compute()
        with written_whole(path) as temporary:
            temporary.write_text(json.dumps({"what": what, "result": result}))
        return json.loads(path.read_text())["result"]  # lists, whether kept or new

    def simulated(
        self,
        name: str,
        world: World | str,
        policies: list[str],
        horizon: int,
        runs: int,
        delay: int = 0,
    ) -> Simulation:
        """A simulation, kept under a name of its own; outcomes come `delay` rounds late."""
        path = self.kept / f"{plain(name)}.parquet"
        if path.exists():
            kept = Simulation.load(path)
            if (kept.policies, kept.horizon, kept.runs) == (policies, horizon, runs):
                return kept
        print(f"{name}: {runs} runs of {horizon:,} rounds", flush=True)
        late = {"delay": delay} if delay else {}
        result = simulate(world, policies, horizon=horizon, runs=runs, seed=SEED, **late)
        result.save(path)
        return result


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The function of every item, on all cores; it must stand at the top of a module."""
    listed = list(items)
    return list(_pool().map(function, listed, chunksize=max(1, len(listed) // 32)))


@functools.cache
def _pool() -> ProcessPoolExecutor:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    # a fork of a process that has run threads may hang
    return ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn"))


def plain(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")

"""The paper's policies against a scalar C floor, interleaved in one process."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, nanoseconds
from research.speed.targets import judged
from truant.worlds import World, make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.4  # of the repeats, to confirm the ratios
SOURCE = Path(__file__).with_name("floor.c")
TARGET = 1.5  # times the floor
# policy: the world, and the function of floor.c
FLOORS = {
    "paper-mcar": ("mar", "run_mcar"),
    "paper-mar": ("mar", "run_mar"),
    "paper-mnar": ("mnar", "run_mnar"),
}


def section(bench: Workbench) -> list[str]:
    if shutil.which("gcc") is None:
        return []
    rows = []
    for policy, (world, function) in FLOORS.items():
        parts = {LOOP} | policy_modules(policy) | world_modules(world)
        sizes = {"horizon": bench.size(1_000_000, 10_000), "repeats": bench.runs(25, 2), "first": bench.first}
        pairs = bench.measured(pairs_of, parts, policy=policy, world=world, function=function, **sizes)
        floor, ours = np.median(pairs, axis=0)
        ratio = float(np.median([b / a for a, b in pairs]))
        costs = [Note(f"{cost:.1f}") for cost in (floor, ours)]
        rows.append([f"`{policy}`", *costs, speed_ratio(ratio), judged(ratio, TARGET)])
    return [
        "## Comparison with scalar C",
        "truant's policies are compared with a minimal C program for the same policy, in the same process "
        "and on the same instance, in turns; medians of CPU time per round. The C program keeps only the "
        "counts that its policy needs; truant also keeps squares and cubes.",
        table(("policy", "C, ns", "truant, ns", "ratio", "target"), rows),
    ]


def pairs_of(
    policy: str, world: str, function: str, horizon: int, repeats: int, first: int
) -> list[tuple[float, float]]:
    """CPU nanoseconds per round of the floor and of truant, in turns; the seeds follow on `first`."""
    instance = make(world, seed=3)
    with tempfile.TemporaryDirectory() as folder:
        library = built(folder)
        nanoseconds(instance, policy, horizon=1000)  # compiled
        return [
            (
                floor_cost(library, function, instance, horizon, seed),
                nanoseconds(instance, policy, horizon, seed=seed),
            )
            for seed in range(first + 1, first + repeats + 1)
        ]


def built(folder: str) -> ctypes.CDLL:
    """The floor, compiled."""
    library = f"{folder}/floor.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(SOURCE), "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)


def floor_cost(library: ctypes.CDLL, function: str, world: World, horizon: int, seed: int) -> float:
    """CPU nanoseconds per round of one run in C."""
    if function == "run_mnar":
        first, second = np.asarray(world.setting.levels), world.setting.condition_numbers[:, 0].copy()  # type: ignore[index]
    else:
        first, second = world.outcome_means, world.outcome_sd  # type: ignore[attr-defined]
    arrays = [np.ascontiguousarray(array) for array in (*world.tables[:2], first, second)]
    pulls = np.zeros(world.setting.arms, np.int64)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, pulls)]
    sizes = (ctypes.c_uint64(seed), ctypes.c_int64(horizon), world.setting.arms, world.setting.mediators)
    start = time.thread_time_ns()
    getattr(library, function)(*sizes, *pointers[:4], ctypes.c_double(2.0), pointers[4])
    return (time.thread_time_ns() - start) / horizon

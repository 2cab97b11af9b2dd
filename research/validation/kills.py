"""Sweeps that are killed at random moments and go on: is the result that of one which nobody touched?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import Note, exact, table
from research.markdown import verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.killed_sweep import POLICIES, WORLD, killed_sweep

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the kills and runs, to confirm that nothing is half-written
KILLS = 25  # of each
BACKENDS = ("threads", "processes")
COLUMNS = (
    "backend",
    "tasks",
    "kills",
    "after new work",
    "files done at each kill",
    "half-written files",
    "agrees",
)


def section(bench: Workbench) -> list[str]:
    kills = bench.runs(KILLS, 2)
    rows = [row(bench, backend, kills) for backend in BACKENDS]
    return [
        "## Sweeps that are killed",
        f"A sweep is killed (SIGKILL) {kills} times, every second time at a random moment and otherwise soon "
        "after it has stored something new; each time it is started again, and at last it runs to its end. "
        "Its `results.parquet` is compared, byte by byte, with that of a sweep that was not interrupted. A "
        "row agrees if these are the same, no file was half-written and at least half of the kills came "
        "after new work. " + verdict([row[-1] for row in rows], "rows"),
        table(COLUMNS, rows),
    ]


def row(bench: Workbench, backend: str, kills: int) -> list[str]:
    found = bench.piece(
        killed_sweep,
        world_modules(WORLD) | policy_modules(*POLICIES),
        backend=backend,
        kills=kills,
        runs=bench.runs(400, 100),
        steps=bench.size(10, 2),
        seed=bench.seed,
    )
    done = f"{', '.join(str(count) for count in found['done'])} of {found['files']}"
    amid, broken = found["amid"], found["broken"]
    agrees = yes(found["same"] and not broken and 2 * amid >= kills)
    counts = [Note(text) for text in (found["tasks"], kills, amid, done)]
    return [backend, *counts, exact(broken), agrees]

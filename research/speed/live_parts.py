"""Parts of a live experiment without the store, its status, and the command `truant ask`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import assumption_modules
from research.speed.fresh import cpu_seconds as process_seconds
from research.speed.in_turns import cpu_seconds, ratios, short
from research.speed.live import STORES
from research.speed.live_store import experiment, folder, run_for_days, sqlite_url
from research.speed.targets import judged
from truant.collection import by_policy
from truant.collection.intervals import REPLAYED
from truant.counts import Counts
from truant.live import counting
from truant.live.question import configure
from truant.live.settle import probabilities
from truant.live.store import decision_statements, statements
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.5  # of the repeats, to confirm the ratios of the command
DRAW = 20.0  # microseconds
BATCH, SETTLE = 10_000, 100.0  # decisions, and milliseconds
ALLOCATION = {"mar": 1.0, "mnar": 60.0, "both-mnar": 300.0}  # milliseconds, 10 arms
STATUS = 2.0  # seconds


def section(bench: Workbench) -> list[str]:
    command = bench.measured(command_seconds, STORES | {"truant.cli"}, repeats=bench.runs(9, 2))
    return [
        *(parts(bench) if bench.share == 1 else []),  # absolute times: nothing to confirm
        "The command `truant ask`, which does not import numba, compared with a Python process that does "
        "nothing; milliseconds:",
        table(
            ("time", "`truant ask`", "`python -c pass`", "ratio", "quartiles"),
            [command_row(kind, *times) for kind, times in command.items()],
        ),
    ]


def parts(bench: Workbench) -> list[str]:
    """What stands before the command."""
    repeats = bench.runs(9, 2)
    draw = bench.measured(draw_seconds, STORES, number=bench.size(5000, 100), repeats=repeats)
    batch = bench.size(BATCH, 100)
    settle = bench.measured(settle_seconds, STORES, decisions=batch, repeats=repeats)
    rows = [
        duration_row("draw an arm and make its id and Decision, microseconds", draw, 1e6, DRAW),
        duration_row(
            f"count {batch:,} settled decisions and allocate, `mar`, milliseconds", settle, 1e3, SETTLE
        ),
    ]
    for assumption, target in ALLOCATION.items():
        modules = STORES | assumption_modules(assumption)
        found = bench.measured(allocation_seconds, modules, assumption=assumption, repeats=bench.runs(9, 1))
        rows.append(duration_row(f"allocation, 10 arms, `{assumption}`, milliseconds", found, 1e3, target))
    decisions = bench.size(20_000, 400)
    status = bench.measured(status_seconds, STORES, decisions=decisions, repeats=bench.runs(5, 1))
    name = f"status with calibration, {decisions:,} decisions, `mar`, seconds"
    rows.append(duration_row(f"{name} of wall time", status["wall"], 1.0, STATUS))
    rows.append(
        [*duration_row(f"{name} of CPU time, on all cores together", status["CPU"], 1.0, STATUS)[:-1], ""]
    )
    return [
        "## Live experiments: parts",
        "After compilation, in one process; CPU time unless stated otherwise. Counting and allocating a "
        "batch is `counting.add_rows`, `counting.total_counts` and `allocation.probabilities`, on rows that "
        "were read from a store before. Status is computed anew each time, without a cache, with intervals "
        "calibrated by replaying the policy.",
        table(("what", "median", "quartiles", "target"), rows),
    ]


def duration_row(name: str, times: list[float], scale: float, target: float) -> list[str]:
    """Median and quartiles in a unit, and whether the target is met."""
    middle, low, high = (scale * float(value) for value in np.quantile(times, [0.5, 0.25, 0.75]))
    return [name, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", judged(middle, target)]


def draw_seconds(number: int, repeats: int) -> list[float]:
    """CPU seconds for a decision without the store."""
    live = experiment("sqlite://")
    state, rng, now = live.state, live.rng, live.now()

    def drawn() -> None:
        for i in range(number):
            state.decision(state.drawn(rng), decision_statements.NewDecision(1_000_000 + i, now, now))

    return [time / number for time in cpu_seconds(drawn, repeats)]


def settle_seconds(decisions: int, repeats: int) -> list[float]:
    """CPU seconds to count a batch of settled decisions and to make the next allocation."""
    live = run_for_days(decisions, days=1)
    rows, shares = live.store.read(
        lambda transaction: (
            list(decision_statements.counted_rows(transaction, live.number)),
            {one.version: one.probabilities for one in statements.allocations(transaction, live.number)},
        )
    )
    if len(rows) != decisions:
        raise RuntimeError(f"{decisions} decisions should be settled, not {len(rows)}.")
    configuration = live.configuration

    def settled() -> None:
        cells: counting.Cells = {}
        counting.add_rows(cells, rows, [], configuration, shares)
        probabilities(configuration, counting.total_counts(cells, configuration), None, 10, warming_up=False)

    return cpu_seconds(settled, repeats)


def allocation_seconds(assumption: str, repeats: int) -> list[float]:
    """CPU seconds for the allocation of ten arms with a thousand pulls each."""
    world = make(assumption, seed=1)
    setting, pulls = world.setting, 1000
    arms = setting.arms
    pulled = np.random.default_rng(1).integers(arms, size=pulls * arms)
    configuration = configure(
        arms=[f"arm {i}" for i in range(arms)],
        mediator_levels=[f"level {i}" for i in range(setting.mediators)],
        levels=None if setting.levels is None else list(setting.levels),
        range=(setting.low, setting.high) if setting.levels is None else None,
        assume=assumption,
        window="7d",
        horizon=100_000,
    )
    counts = Counts.fold(setting, pulled, *world.pulls(pulled, seed=1))

    def allocated() -> None:
        probabilities(configuration, counts, None, 10, warming_up=False)

    return cpu_seconds(allocated, repeats)


def status_seconds(decisions: int, repeats: int) -> dict[str, list[float]]:
    """Wall and CPU seconds for a status with calibration, nothing kept; the first one, which compiles, left out."""
    live = run_for_days(decisions, days=20)
    wall, cpu = [], []
    with patch.object(by_policy, "kept", lambda *_: None):  # what was replayed before
        for _ in range(repeats + 1):
            live.cached.clear()
            starts = time.perf_counter(), time.process_time()
            status = live.status()
            wall.append(time.perf_counter() - starts[0])
            cpu.append(time.process_time() - starts[1])
            if status.analysis.collection.intervals["mar"].method != REPLAYED:
                raise RuntimeError("The status was not calibrated.")
    return {"wall": wall[1:], "CPU": cpu[1:]}


def command_row(kind: str, ask: list[float], python: list[float]) -> list[str]:
    """Median milliseconds of the command and of a Python that does nothing, and their ratio."""
    ratio, low, high = ratios(ask, python)
    cells = [Note(f"{1e3 * float(np.median(times)):.0f}") for times in (ask, python)]
    return [kind, *cells, speed_ratio(ratio).with_text(short(ratio)), f"{short(low)} to {short(high)}"]


def command_seconds(repeats: int) -> dict[str, list[list[float]]]:
    """Wall and CPU seconds of `truant ask`, and of a Python that does nothing, in turns."""
    with folder() as place:
        path = place / "live.db"
        experiment(sqlite_url(path, "full")).store.close()
        ask = [str(Path(sys.executable).with_name("truant")), "ask", "mail", "--store", str(path)]
        turns = [[both_times(ask), both_times([sys.executable, "-c", "pass"])] for _ in range(repeats + 1)]
    return {kind: [[turn[i][kind] for turn in turns[1:]] for i in (0, 1)] for kind in ("wall", "CPU")}


def both_times(command: list[str]) -> dict[str, float]:
    """Wall and CPU seconds of a process."""
    start = time.perf_counter()
    cpu = process_seconds(command)
    return {"wall": time.perf_counter() - start, "CPU": cpu}

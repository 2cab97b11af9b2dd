"""The same runs with one thread and with two."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from research.markdown import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.targets import judged
from truant.lab.simulate import simulate

if TYPE_CHECKING:
    from research.workbench import Workbench

TARGET = 1.8  # times as fast


def section(bench: Workbench) -> list[str]:
    parts = {LOOP} | policy_modules("mar-ucb") | world_modules("mar")
    sizes = {"horizon": bench.size(1_000_000, 1000), "runs": bench.size(8, 2), "repeats": bench.size(4, 1)}
    one, two = np.min(bench.measured(pairs_of, parts, **sizes), axis=0)
    ratio = float(one / two)
    return [
        "## Two cores",
        "The fastest time of each, measured in turns, because idle cores are needed.",
        table(
            ("one thread, s", "two threads, s", "ratio", "target"),
            [[f"{one:.2f}", f"{two:.2f}", f"{ratio:.2f}", judged(ratio, TARGET, at_least=True)]],
        ),
    ]


def pairs_of(horizon: int, runs: int, repeats: int) -> list[tuple[float, float]]:
    """Wall seconds with one thread and with two, in turns."""

    def seconds(threads: int) -> float:
        start = time.perf_counter()
        simulate("mar", "mar-ucb", horizon=horizon, runs=runs, seed=1, threads=threads, progress=False)
        return time.perf_counter() - start

    return [(seconds(1), seconds(2)) for _ in range(repeats)]

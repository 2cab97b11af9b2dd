"""The same runs with one thread and with two."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.targets import judged
from truant.lab.simulate import simulate

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 1.0  # of the repeats, to confirm the ratio: they take a second
TARGET = 1.8  # times as fast


def section(bench: Workbench) -> list[str]:
    parts = {LOOP} | policy_modules("mar-ucb") | world_modules("mar")
    sizes = {"horizon": bench.size(1_000_000, 1000), "runs": bench.size(8, 2), "repeats": bench.runs(4, 1)}
    sizes["seed"] = 1 + bench.draw
    one, two = np.min(bench.measured(pairs_of, parts, **sizes), axis=0)
    ratio = float(one / two)
    return [
        "## Two cores",
        "The fastest time of each, measured in turns, because idle cores are needed.",
        table(
            ("one thread, s", "two threads, s", "ratio", "target"),
            [
                [
                    Note(f"{one:.2f}"),
                    Note(f"{two:.2f}"),
                    speed_ratio(ratio),
                    judged(ratio, TARGET, at_least=True),
                ]
            ],
        ),
    ]


def pairs_of(horizon: int, runs: int, repeats: int, seed: int) -> list[tuple[float, float]]:
    """Wall seconds with one thread and with two, in turns."""

    def seconds(threads: int) -> float:
        start = time.perf_counter()
        simulate("mar", "mar-ucb", horizon=horizon, runs=runs, seed=seed, threads=threads, progress=False)
        return time.perf_counter() - start

    return [(seconds(1), seconds(2)) for _ in range(repeats)]

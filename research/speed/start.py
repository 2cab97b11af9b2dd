"""The time to start: import and first simulation with a warm compile cache, and the command line's help."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.markdown import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.fresh import cpu_seconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

TARGET = 1.5  # seconds
HELP_TARGET = 3  # times `import numpy`
FIRST = "import truant; truant.simulate('mar', 'mar-ucb', horizon=1000, runs=2, progress=False)"
CODES = {"`import numpy`": "import numpy", "`import truant`": "import truant", "and first `simulate`": FIRST}


def section(bench: Workbench) -> list[str]:
    repeats = bench.size(5, 1)
    parts = {LOOP, "truant.lab.simulate"} | policy_modules("mar-ucb") | world_modules("mar")
    cpu = {
        name: bench.measured(cpu_of, parts, code=code, repeats=bench.size(3, 1))
        for name, code in CODES.items()
    }
    rows = [[f"{name} (CPU)", f"{value:.2f}", ""] for name, value in cpu.items()]
    rows[-1][-1] = judged(cpu["and first `simulate`"], TARGET)
    numpy = bench.measured(wall_of_numpy, repeats=repeats)
    help_text = bench.measured(wall_of_help, {"truant.cli"}, repeats=repeats)
    rows.append(["`python -c 'import numpy'` (wall)", f"{numpy:.2f}", ""])
    verdict = f"{judged(help_text / numpy, HELP_TARGET)} (times that)"
    rows.append(["`truant --help` (wall)", f"{help_text:.2f}", verdict])
    return ["## Start-up time with a warm cache", table(("what", "seconds", "target"), rows)]


def cpu_of(code: str, repeats: int) -> float:
    """CPU seconds beyond those of a Python that does nothing; medians."""
    warm, empty = [sys.executable, "-c", code], [sys.executable, "-c", "pass"]
    cpu_seconds(warm)  # compiled
    pairs = [(cpu_seconds(warm), cpu_seconds(empty)) for _ in range(repeats)]
    full, nothing = np.median(pairs, axis=0)
    return float(full - nothing)


def wall_of_numpy(repeats: int) -> float:
    """Wall seconds of a Python that imports numpy."""
    return wall([sys.executable, "-c", "import numpy"], repeats)


def wall_of_help(repeats: int) -> float:
    """Wall seconds of `truant --help`."""
    return wall([str(Path(sys.executable).with_name("truant")), "--help"], repeats)


def wall(command: list[str], repeats: int) -> float:
    """Median wall seconds of a process."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return float(np.median([once() for _ in range(repeats)]))

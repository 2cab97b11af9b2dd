"""The time to start: import and first simulation with a warm compile cache, and the command line's help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.fresh import cpu_seconds
from research.speed.in_turns import ratios
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 1.0  # of the repeats, to confirm the one ratio
TARGET = 1.5  # seconds
HELP_TARGET = 3  # times `import numpy`
FIRST = "import truant; truant.simulate('mar', 'mar-ucb', horizon=1000, runs=2, progress=False)"
CODES = {"`import numpy`": "import numpy", "`import truant`": "import truant", "and first `simulate`": FIRST}


def section(bench: Workbench) -> list[str]:
    repeats = bench.runs(9, 1)
    parts = {LOOP, "truant.lab.simulate"} | policy_modules("mar-ucb") | world_modules("mar")
    cpu = {
        name: bench.measured(cpu_of, parts, code=code, repeats=bench.runs(3, 1))
        for name, code in CODES.items()
    }
    rows = [[f"{name} (CPU)", Note(f"{value:.2f}"), ""] for name, value in cpu.items()]
    rows[-1][-1] = judged(cpu["and first `simulate`"], TARGET)
    starts = bench.measured(cpu_of_commands, {"truant.cli"}, repeats=repeats)
    numpy, help_text = (float(np.median(starts[name])) for name in ("numpy", "help"))
    ratio, _, _ = ratios(starts["help"], starts["numpy"])
    rows += [
        ["`python -c 'import numpy'`, with Python itself (CPU)", Note(f"{numpy:.2f}"), ""],
        ["`truant --help`, with Python itself (CPU)", Note(f"{help_text:.2f}"), ""],
        ["ratio of `truant --help` and `import numpy`", speed_ratio(ratio), judged(ratio, HELP_TARGET)],
    ]
    return ["## Start-up time with a warm cache", table(("what", "seconds", "target"), rows)]


def cpu_of(code: str, repeats: int) -> float:
    """CPU seconds beyond those of a Python that does nothing; medians."""
    warm, empty = [sys.executable, "-c", code], [sys.executable, "-c", "pass"]
    cpu_seconds(warm)  # compiled
    pairs = [(cpu_seconds(warm), cpu_seconds(empty)) for _ in range(repeats)]
    full, nothing = np.median(pairs, axis=0)
    return float(full - nothing)


def cpu_of_commands(repeats: int) -> dict[str, list[float]]:
    """CPU seconds of a Python that imports numpy, and of `truant --help`, in turns: they hang less on the load.

    numpy's threads wait busily for each other where cores are busy, hence one.
    """
    commands = {
        "numpy": [sys.executable, "-c", "import numpy"],
        "help": [str(Path(sys.executable).with_name("truant")), "--help"],
    }
    for command in commands.values():  # from the disk
        cpu_seconds(command)
    one = {"OPENBLAS_NUM_THREADS": "1"}
    turns = [{name: cpu_seconds(command, one) for name, command in commands.items()} for _ in range(repeats)]
    return {name: [turn[name] for turn in turns] for name in commands}

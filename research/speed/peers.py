"""Other packages on ten arms with nothing missing, in an environment of their own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, nanoseconds
from research.speed.targets import judged
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the repeats, to confirm the ratios
SCRIPT = Path(__file__).with_name("other_packages.py")
TARGET = 500  # times as fast


def section(bench: Workbench) -> list[str]:
    python = bench.peers / "bin" / "python"
    if not python.exists():
        return []
    parts = {LOOP} | policy_modules("paper-mcar") | world_modules("mcar")
    sizes = {"horizon": bench.size(1_000_000, 1000), "repeats": bench.runs(3, 1)}
    found = bench.measured(costs, parts, python=str(python), **sizes)
    rows = []
    for name in found[0]["theirs"]:
        value = float(np.median([pair["theirs"][name] for pair in found]))
        ratio = float(np.median([pair["theirs"][name] / pair["ours"] for pair in found]))
        cells = [Note(f"{value:,.0f}"), speed_ratio(ratio, "{:,.0f}x")]
        rows.append([name, *cells, judged(ratio, TARGET, at_least=True)])
    return [
        "## Other packages: UCB with 10 arms, nothing missing",
        table(("package", "ns per round", "truant's `paper-mcar` is faster by", "target"), rows),
    ]


def costs(python: str, horizon: int, repeats: int) -> list[dict[str, Any]]:
    """Nanoseconds per round of the others and of truant, in turns, since the machine's speed changes."""
    command = [python, str(SCRIPT), *(str(mean) for mean in make("mcar", seed=1).means)]
    world = make("mcar", seed=1, gamma=1.0)
    found = []
    for _ in range(repeats):
        before = nanoseconds(world, "paper-mcar", horizon)
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        after = nanoseconds(world, "paper-mcar", horizon)
        found.append({"theirs": json.loads(said), "ours": (before + after) / 2})
    return found

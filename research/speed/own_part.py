"""A policy from another package beside the built-in one with the same estimate and index."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, nanoseconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 1.0  # of the repeats, to confirm the ratio: compiling takes longer
EXAMPLE = Path(__file__).with_name("example_parts.py")
TARGET = 1.5  # times the built-in policy


def section(bench: Workbench) -> list[str]:
    parts = {LOOP} | policy_modules("mar-ucb") | world_modules("mar")
    sizes = {"horizon": bench.size(300_000, 3000), "repeats": bench.runs(7, 2), "first": bench.first}
    pairs = bench.measured(pairs_of, parts, **sizes)
    ours, own = np.median(pairs, axis=0)
    ratio = float(np.median([b / a for a, b in pairs]))
    return [
        "## A part from another package",
        "The estimate of `mar` and the index `ucb`, written again in another package.",
        table(
            ("built in, ns", "from another package, ns", "ratio", "target"),
            [[Note(f"{ours:.0f}"), Note(f"{own:.0f}"), speed_ratio(ratio), judged(ratio, TARGET)]],
        ),
    ]


def pairs_of(horizon: int, repeats: int, first: int) -> list[tuple[float, float]]:
    """Nanoseconds per round of the built-in policy and of the other one, in turns, with the seeds from `first`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "example_parts.py")
        path.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("example_parts", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["example_parts"] = module  # numba looks it up when it loads what it cached
        spec.loader.exec_module(module)
        return [
            (
                nanoseconds("mar", "mar-ucb", horizon, seed=seed),
                nanoseconds("mar", module.policy(), horizon, seed=seed),
            )
            for seed in range(first, first + repeats)
        ]

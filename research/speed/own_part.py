"""A policy from another package beside the built-in one with the same estimate and index."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.markdown import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, nanoseconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

EXAMPLE = Path(__file__).with_name("example_parts.py")
TARGET = 1.5  # times the built-in policy


def section(bench: Workbench) -> list[str]:
    bench.file(EXAMPLE)
    parts = {LOOP} | policy_modules("mar-ucb") | world_modules("mar")
    sizes = {"horizon": bench.size(300_000, 3000), "repeats": bench.size(7, 2)}
    pairs = bench.measured(pairs_of, parts, **sizes)
    ours, own = np.median(pairs, axis=0)
    ratio = float(np.median([b / a for a, b in pairs]))
    return [
        "## A part from another package",
        "The estimate of `mar` and the index `ucb`, written again in another package.",
        table(
            ("built in, ns", "from another package, ns", "ratio", "target"),
            [[f"{ours:.0f}", f"{own:.0f}", f"{ratio:.2f}", judged(ratio, TARGET)]],
        ),
    ]


def pairs_of(horizon: int, repeats: int) -> list[tuple[float, float]]:
    """Nanoseconds per round of the built-in policy and of the other one, in turns."""
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
            for seed in range(repeats)
        ]

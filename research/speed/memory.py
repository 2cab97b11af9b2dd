"""Peak memory of a simulation, by horizon: it must not grow where outcomes are known at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.fresh import peak_mebibytes
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 1.0  # one run of each horizon, to confirm the ratio
GROWTH = 1.02  # from the shortest to the longest horizon: what the allocator rounds up
PARTS = {LOOP, "truant.lab.simulate"}
CODE = """
import truant
truant.simulate('mar', 'mar-ucb', horizon={horizon}, runs=2, seed=1, threads=1, progress=False)
"""


def section(bench: Workbench) -> list[str]:
    parts = PARTS | policy_modules("mar-ucb") | world_modules("mar")
    horizons = bench.size((1_000, 100_000, 10_000_000), (100, 1000))
    peaks = [bench.measured(peak_mebibytes, parts, code=CODE.format(horizon=horizon)) for horizon in horizons]
    rows = [[f"{horizon:,}", Note(f"{peak:.0f}"), ""] for horizon, peak in zip(horizons, peaks, strict=True)]
    growth = peaks[-1] / peaks[0]
    return [
        "## Memory",
        "Peak memory of a new process.",
        table(
            ("horizon", "peak memory, MiB", "target"),
            [*rows, ["longest over shortest", speed_ratio(growth, "{:.3f}"), judged(growth, GROWTH)]],
        ),
    ]

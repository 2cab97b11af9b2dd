"""What a sweep costs beside its runs: wall time on two cores against the time of its runs in the compiled loop."""

from __future__ import annotations

import importlib.util
import tempfile
from typing import TYPE_CHECKING, Any

from research.figures import Note, speed_ratio, table
from research.sources import policy_modules, world_modules
from research.speed.fresh import peak_mebibytes
from research.speed.targets import judged
from truant.lab.sweep import sweep

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = (
    0.3  # of the repeats, to confirm the ratios of short studies; the number of runs decides them
)
CORES = 2
TARGET, RAY_TARGET = 1.3, 1.6  # wall time of the cores over the time in the loop
LONGEST_CONFIRMED = 10_000  # horizon; the studies that are longer take minutes
MAR = {
    "policies": ["naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb"],
    "worlds": [{"name": "mar", "vary": {"gamma": [0.2, 0.4, 0.6, 0.8, 1.0]}}],
}
MNAR = {
    "policies": ["naive-ucb", "mnar-ucb"],
    "worlds": [{"name": "mnar", "vary": {"gamma": [[0.3, 1.0], [0.5, 1.0]]}}],
}
# name: the study, its horizon, the backends
STUDIES: dict[str, tuple[dict[str, Any], int, tuple[str, ...]]] = {
    "mar, horizon 100,000": (MAR, 100_000, ("threads", "processes")),
    "mnar, horizon 10,000": (MNAR, 10_000, ("threads",)),
    "mar, horizon 10,000": (MAR, 10_000, ("threads",)),
    "mar, horizon 1,000": (MAR, 1_000, ("threads",)),
}
MEMORY = """
import tempfile, truant, numpy
study = dict(runs={runs}, horizon=50, policies=['naive-ucb', 'mcar-ucb'], worlds=[dict(name='mcar',
    vary=dict(gamma=numpy.linspace(.1, 1, {points}).round(6).tolist()))])
truant.sweep(study, out=tempfile.mkdtemp(), workers=2, progress=False)
"""
COLUMNS = ("backend", "wall x 2, s", "kernels, s", "ratio", "target")


def section(bench: Workbench) -> list[str]:
    runs, repeats = bench.size(400, 4), bench.runs(3, 1)
    rows = []
    for name, (study, horizon, backends) in STUDIES.items():
        if bench.share < 1 and horizon > LONGEST_CONFIRMED:
            continue
        sized = study | {"horizon": bench.size(horizon, 100)}
        for backend in backends:
            found = bench.measured(
                wall_and_kernels, parts_of(study), study=sized, backend=backend, runs=runs, repeats=repeats
            )
            whole, kernels = min(found, key=lambda pair: pair[0] / pair[1])
            rows.append([name, *figures(backend, whole, kernels, TARGET)])
    return [
        "## Sweeps on two cores",
        "The wall time of the whole sweep, including its page, compared with the CPU time of its runs in "
        f"the loop; the fastest of {repeats}.",
        table((f"study, {runs} runs of each", *COLUMNS), rows),
        *(ray_and_memory(bench, runs, repeats) if bench.share == 1 else []),
    ]


def ray_and_memory(bench: Workbench, runs: int, repeats: int) -> list[str]:
    """What is not confirmed: it takes minutes, or is an absolute size."""
    return [
        *on_ray(bench, runs, repeats),
        "Memory hardly grows with the study (rows are collected 100,000 at a time before they are written):",
        table(("points", "runs of each", "rows", "peak memory, MiB"), memory_rows(bench)),
    ]


def parts_of(study: dict[str, Any]) -> set[str]:
    return policy_modules(*study["policies"]) | world_modules(*(world["name"] for world in study["worlds"]))


def figures(backend: str, whole: float, kernels: float, target: float) -> list[str]:
    ratio = CORES * whole / kernels
    seconds = [Note(f"{time:.1f}") for time in (CORES * whole, kernels)]
    return [backend, *seconds, speed_ratio(ratio), judged(ratio, target)]


def on_ray(bench: Workbench, runs: int, repeats: int) -> list[str]:
    """On Ray, start-up aside: what three times the runs take beyond the runs; nothing where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        return []
    study = MAR | {"horizon": bench.size(100_000, 100)}
    pairs = bench.measured(beyond_on_ray, parts_of(MAR), study=study, runs=runs, repeats=repeats)
    whole, kernels = min(pairs, key=lambda pair: pair[0] / pair[1])
    name = f"mar, horizon 100,000, from {runs} to {3 * runs} runs"
    return [
        f"On a local Ray cluster, without start-up: the additional time of {3 * runs} runs compared with {runs}; "
        "tasks of a second or more.",
        table(("study", *COLUMNS), [[name, *figures("ray", whole, kernels, RAY_TARGET)]]),
    ]


def wall_and_kernels(
    study: dict[str, Any], backend: str, runs: int, repeats: int
) -> list[tuple[float, float]]:
    """Wall seconds and seconds in the loop of the whole of a sweep: reading, checking, runs, files, page."""
    once(study, backend, runs=2)  # compiled; processes have begun
    return [once(study, backend, runs) for _ in range(repeats)]


def beyond_on_ray(study: dict[str, Any], runs: int, repeats: int) -> list[tuple[float, float]]:
    """The same for what three times the runs take beyond the runs."""
    found = []
    for _ in range(repeats):
        small, large = once(study, "ray", runs), once(study, "ray", 3 * runs)
        found.append((large[0] - small[0], large[1] - small[1]))
    return found


def once(study: dict[str, Any], backend: str, runs: int) -> tuple[float, float]:
    """Wall seconds and seconds in the loop of a sweep from nothing, page and all."""
    with tempfile.TemporaryDirectory() as folder:
        result = sweep(study | {"runs": runs}, out=folder, backend=backend, workers=CORES, progress=False)
        return result.seconds, result.kernel_seconds


def memory_rows(bench: Workbench) -> list[list[str]]:
    """Peak memory of a fresh process, by the size of the study."""
    parts = {"truant.lab.sweep"} | policy_modules("naive-ucb", "mcar-ucb") | world_modules("mcar")
    rows = []
    for points, runs in bench.size(((10, 100), (100, 100), (100, 1000)), ((2, 2), (4, 2))):
        peak = bench.measured(peak_mebibytes, parts, code=MEMORY.format(points=points, runs=runs))
        rows.append([f"{points:,}", f"{runs:,}", f"{2 * points * runs:,}", f"{peak:.0f}"])
    return rows

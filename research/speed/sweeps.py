"""What a sweep costs beside its runs: wall time on two cores against the sum of the kernels' own time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable

import truant

CORES = 2
STUDIES: dict[str, dict[str, object]] = {
    "mar, horizon 100,000": {
        "horizon": 100_000,
        "policies": ["naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb"],
        "worlds": [{"name": "mar", "vary": {"gamma": [0.2, 0.4, 0.6, 0.8, 1.0]}}],
    },
    "mnar, horizon 10,000": {
        "horizon": 10_000,
        "policies": ["naive-ucb", "mnar-ucb"],
        "worlds": [{"name": "mnar", "vary": {"gamma": [[0.3, 1.0], [0.5, 1.0]]}}],
    },
    "mar, horizon 10,000": {
        "horizon": 10_000,
        "policies": ["naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb"],
        "worlds": [{"name": "mar", "vary": {"gamma": [0.2, 0.4, 0.6, 0.8, 1.0]}}],
    },
    "mar, horizon 1,000": {
        "horizon": 1_000,
        "policies": ["naive-ucb", "mar-ucb", "mar-thompson", "oracle-ucb"],
        "worlds": [{"name": "mar", "vary": {"gamma": [0.2, 0.4, 0.6, 0.8, 1.0]}}],
    },
}
FIRST = "mar, horizon 100,000"


def once(study: dict[str, object], backend: str, runs: int) -> tuple[float, float]:
    """Wall and kernel seconds of a sweep from nothing, page and all."""
    with tempfile.TemporaryDirectory() as folder:
        result = truant.sweep(
            study | {"runs": runs}, out=folder, backend=backend, workers=CORES, progress=False
        )
        return result.seconds, result.kernel_seconds


def sweep_rows(judged: Callable[[float, float], str]) -> list[str]:
    """The whole of a sweep: reading, checking, runs, files, page; the best of three times."""
    rows = [
        "| study, 400 runs of each | backend | wall x 2, s | kernels, s | ratio | target |",
        "|---|---|---|---|---|---|",
    ]
    for name, study in STUDIES.items():
        for backend in ("threads", "processes") if name == FIRST else ("threads",):
            once(study, backend, runs=2)  # compiled; processes have begun
            pairs = [once(study, backend, runs=400) for _ in range(3)]
            whole, kernels = min(pairs, key=lambda pair: pair[0] / pair[1])
            ratio = CORES * whole / kernels
            rows.append(
                f"| {name} | {backend} | {CORES * whole:.1f} | {kernels:.1f} | {ratio:.2f} | {judged(ratio, 1.3)} |"
            )
    return rows


def ray_rows(judged: Callable[[float, float], str]) -> list[str]:
    """On Ray, start-up aside: what a study of 1200 runs takes beyond one of 400."""
    rows = ["| study | backend | wall x 2, s | kernels, s | ratio | target |", "|---|---|---|---|---|---|"]
    study = STUDIES[FIRST]
    ratios = []
    for _ in range(3):
        small, large = once(study, "ray", 400), once(study, "ray", 1200)
        whole, kernels = CORES * (large[0] - small[0]), large[1] - small[1]
        ratios.append((whole / kernels, whole, kernels))
    ratio, whole, kernels = min(ratios)
    rows.append(
        f"| {FIRST}, from 400 to 1200 runs | ray | {whole:.1f} | {kernels:.1f} | {ratio:.2f} | {judged(ratio, 1.6)} |"
    )
    return rows


def memory_rows() -> list[str]:
    """Peak memory of a fresh process, by the size of the study."""
    rows = ["| points | runs of each | rows | peak memory, MiB |", "|---|---|---|---|"]
    for points, runs in ((10, 100), (100, 100), (100, 1000)):
        code = (
            "import tempfile, truant, numpy;"
            f"study = dict(runs={runs}, horizon=50, policies=['naive-ucb', 'mcar-ucb'], worlds=[dict(name='mcar', "
            f"vary=dict(gamma=numpy.linspace(.1, 1, {points}).round(6).tolist()))]);"
            "truant.sweep(study, out=tempfile.mkdtemp(), workers=2, progress=False);"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        rows.append(f"| {points:,} | {runs:,} | {2 * points * runs:,} | {int(out.stdout) / 1024:.0f} |")
    return rows


if __name__ == "__main__":  # these alone, for a look

    def judged(value: float, target: float) -> str:
        return f"at most {target}: {'met' if value <= target else 'missed'}"

    for part in sys.argv[1:] or ["sweep", "ray", "memory"]:
        found = {"sweep": lambda: sweep_rows(judged), "ray": lambda: ray_rows(judged), "memory": memory_rows}[
            part
        ]()
        print("\n".join(found), flush=True)

"""Speed side by side: each kernel against a C floor in one process, and peers in an environment of their own.

Figures are medians of CPU time, interleaved, and go to RESULTS.md with the command, the machine and the date.
"""

from __future__ import annotations

import ctypes
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # so that `python benchmarks/run.py` finds the others

from logs import logs_rows
from sweeps import memory_rows, ray_rows, sweep_rows
from truant import Decider
from truant.counts import Counts
from truant.lab.simulate import simulate
from truant.worlds import World, make

HERE = Path(__file__).parent
HORIZON, REPEATS = 1_000_000, 25
FLOORS = {
    "paper-mcar": ("mar", "run_mcar"),
    "paper-mar": ("mar", "run_mar"),
    "paper-mnar": ("mnar", "run_mnar"),
}
TARGETS = {
    ("mar", "mar-ucb"): 100,
    ("mar", "mar-thompson"): 500,
    ("mnar", "mnar-ucb"): 500,
    ("mediator-mnar", "mediator-mnar-ucb"): 700,
}
MANY_ARMS = {("mar-thompson", 1000): 2633}  # a third of what it took when every arm was drawn in every round
DECISIONS = {10: 1.0, 100: 60.0}  # milliseconds for the probabilities of so many arms
GROWTH = 1.02  # of the peak memory from the shortest to the longest horizon: what the allocator rounds up


def built(folder: str) -> ctypes.CDLL:
    library = f"{folder}/floor.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(HERE / "floor.c"), "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)


def floor_cost(library: ctypes.CDLL, name: str, world: World, seed: int) -> float:
    """CPU nanoseconds per round of one run in C."""
    if name == "run_mnar":
        first, second = np.asarray(world.setting.levels), world.setting.condition_numbers[:, 0].copy()  # type: ignore[index]
    else:
        first, second = world.outcome_means, world.outcome_sd  # type: ignore[attr-defined]
    arrays = [np.ascontiguousarray(array) for array in (*world.tables[:2], first, second)]
    pulls = np.zeros(world.setting.arms, np.int64)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, pulls)]
    sizes = (ctypes.c_uint64(seed), ctypes.c_int64(HORIZON), world.setting.arms, world.setting.mediators)
    start = time.thread_time_ns()
    getattr(library, name)(*sizes, *pointers[:4], ctypes.c_double(2.0), pointers[4])
    return (time.thread_time_ns() - start) / HORIZON


def cost(world: World | str, policy: str, horizon: int = HORIZON, runs: int = 1, seed: int = 1) -> float:
    """CPU nanoseconds per round of ours."""
    result = simulate(world, policy, horizon=horizon, runs=runs, seed=seed, threads=1, progress=False)
    return float(np.mean(result.nanoseconds) / horizon)


def against_the_floor() -> list[str]:
    rows = ["| policy | C floor, ns | truant, ns | ratio | target |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        library = built(folder)
        for policy, (world_name, name) in FLOORS.items():
            world = make(world_name, seed=3)
            cost(world, policy, horizon=1000)  # compiled
            pairs = [
                (floor_cost(library, name, world, i), cost(world, policy, seed=i))
                for i in range(1, REPEATS + 1)
            ]
            floor, ours = np.median(pairs, axis=0)
            ratio = np.median([b / a for a, b in pairs])
            rows.append(f"| `{policy}` | {floor:.1f} | {ours:.1f} | {ratio:.2f} | {judged(ratio, 1.5)} |")
    return rows


def own_policies() -> list[str]:
    rows = ["| world | policy | ns per round | target |", "|---|---|---|---|"]
    for (world, policy), target in TARGETS.items():
        options = {"horizon": 100_000, "runs": 20, "seed": 1, "threads": 1, "progress": False}
        repeats = [simulate(world, policy, **options).nanoseconds[0] for _ in range(3)]  # type: ignore[arg-type]
        value = float(
            np.min(repeats, axis=0).mean() / 100_000
        )  # the same work thrice: the rest is the neighbours'
        rows.append(f"| `{world}` | `{policy}` | {value:.0f} | {judged(value, target)} |")
    return rows


def judged(value: float, target: float, at_least: bool = False) -> str:
    """The target, and whether it is met; each verdict is kept for the table at the end."""
    met = value >= target if at_least else value <= target
    return f"{'at least' if at_least else 'at most'} {target:g}: {'met' if met else '**missed**'}"


def parts_of_ones_own() -> list[str]:
    """The same estimate and index as built-in ones, but from a package of its own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "own_parts.py").write_text((HERE / "own_parts.py").read_text(encoding="utf-8"))
        sys.path.insert(0, folder)
        from own_parts import policy  # type: ignore[import-not-found]

        pairs = []
        for i in range(7):
            ours = simulate("mar", "mar-ucb", horizon=300_000, runs=1, seed=i, threads=1, progress=False)
            own = simulate("mar", policy(), horizon=300_000, runs=1, seed=i, threads=1, progress=False)
            pairs.append((ours.nanoseconds[0, 0] / 300_000, own.nanoseconds[0, 0] / 300_000))
        sys.path.remove(folder)
    ours_ns, own_ns = np.median(pairs, axis=0)
    ratio = float(np.median([b / a for a, b in pairs]))
    rows = ["| built in, ns | from another package, ns | ratio | target |", "|---|---|---|---|"]
    return [*rows, f"| {ours_ns:.0f} | {own_ns:.0f} | {ratio:.2f} | {judged(ratio, 1.5)} |"]


def two_cores() -> list[str]:
    """The same runs with one thread and with two, interleaved; the best of each, since idle cores are wanted."""

    def seconds(threads: int) -> float:
        start = time.perf_counter()
        simulate("mar", "mar-ucb", horizon=1_000_000, runs=8, seed=1, threads=threads, progress=False)
        return time.perf_counter() - start

    pairs = [(seconds(1), seconds(2)) for _ in range(4)]
    one, two = np.min(pairs, axis=0)
    rows = ["| one thread, s | two threads, s | ratio | target |", "|---|---|---|---|"]
    return [*rows, f"| {one:.2f} | {two:.2f} | {one / two:.2f} | {judged(one / two, 1.8, at_least=True)} |"]


def memory() -> list[str]:
    """Peak memory of a fresh process, by horizon; it must not grow where outcomes are known at once."""
    rows, peaks = ["| horizon | peak memory, MiB | target |", "|---|---|---|"], []
    for horizon in (1_000, 100_000, 10_000_000):
        code = (
            "import truant;"
            f"truant.simulate('mar', 'mar-ucb', horizon={horizon}, runs=2, seed=1, threads=1, progress=False);"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        peaks.append(int(out.stdout) / 1024)
        rows.append(f"| {horizon:,} | {peaks[-1]:.0f} | |")
    growth = peaks[-1] / peaks[0]
    return [*rows, f"| longest over shortest | {growth:.3f} | {judged(growth, GROWTH)} |"]


def decisions() -> list[str]:
    """Time for the probabilities of all arms, given counts: warm, the median of 20."""
    rows = ["| policy | arms | milliseconds | target |", "|---|---|---|---|"]
    for policy in ("mar-ucb", "mar-thompson"):
        for arms, target in DECISIONS.items():
            value = decision_milliseconds(policy, arms)
            rows.append(f"| `{policy}` | {arms} | {value:.2f} | {judged(value, target)} |")
    return rows


def decision_milliseconds(policy: str, arms: int) -> float:
    world = make("mar", seed=1, arms=arms)
    pulled = np.random.default_rng(1).integers(arms, size=200 * arms)
    counts = Counts.fold(world.setting, pulled, *world.pulls(pulled, seed=1))
    decider = Decider(policy, world.setting, 100_000)
    times = []
    for _ in range(21):
        start = time.perf_counter()
        decider.probabilities(counts)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times[1:]))  # the first one compiles


def sizes() -> list[str]:
    rows = ["| policy | arms | ns per round | target |", "|---|---|---|---|"]
    for policy in ("mar-ucb", "mar-thompson"):
        for arms in (10, 100, 1000, 10_000):
            value = cost(f"mar:arms={arms}", policy, horizon=200_000)
            target = MANY_ARMS.get((policy, arms))
            rows.append(
                f"| `{policy}` | {arms:,} | {value:.0f} | {judged(value, target) if target else ''} |"
            )
    rows += ["", "| policy | K = L = 2 | 5 | 10 | 20 |", "|---|---|---|---|---|"]
    for policy, world in (("mar-ucb", "mar:K={}"), ("mnar-ucb", "mnar-clear:K={0},L={0}")):
        costs = [cost(world.format(k), policy, horizon=100_000, runs=3) for k in (2, 5, 10, 20)]
        rows.append(f"| `{policy}` | " + " | ".join(f"{value:.0f}" for value in costs) + " |")
    return rows


def start_up() -> list[str]:
    def seconds(code: str) -> float:
        program = f"import time; {code}; print(time.process_time())"
        outputs = [
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in range(3)
        ]
        return float(np.median([float(output.stdout) for output in outputs]))

    first = "import truant; truant.simulate('mar', 'mar-ucb', horizon=1000, runs=2, progress=False)"
    empty = seconds("pass")
    rows = [
        ("`import numpy`", "import numpy"),
        ("`import truant`", "import truant"),
        ("and first `simulate`", first),
    ]
    figures = [(name, seconds(code) - empty) for name, code in rows]
    cells = [f"| {name} (CPU) | {value:.2f} | |" for name, value in figures[:-1]]
    cells.append(f"| {figures[-1][0]} (CPU) | {figures[-1][1]:.2f} | {judged(figures[-1][1], 1.5)} |")
    numpy_time, help_time = wall([sys.executable, "-c", "import numpy"]), wall(["truant", "--help"])
    walls = [f"| `python -c 'import numpy'` (wall) | {numpy_time:.2f} | |"]
    walls.append(
        f"| `truant --help` (wall) | {help_time:.2f} | {judged(help_time / numpy_time, 3)} (times that) |"
    )
    return ["| what | seconds | target |", "|---|---|---|", *cells, *walls]


def wall(command: list[str]) -> float:
    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return float(np.median([once() for _ in range(5)]))


def peers(environment: Path) -> list[str]:
    means = [str(mean) for mean in make("mcar", seed=1).means]
    command = [str(environment / "bin/python"), str(HERE / "peers.py"), *means]
    world = make("mcar", seed=1, gamma=1.0)
    pairs = []
    for _ in range(3):  # in turns, since the machine's speed changes from minute to minute
        before = cost(world, "paper-mcar")
        theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        pairs.append((theirs, (before + cost(world, "paper-mcar")) / 2))
    rows = ["| package | ns per round | truant's `paper-mcar` is faster by | target |", "|---|---|---|---|"]
    for name in pairs[0][0]:
        value = float(np.median([theirs[name] for theirs, _ in pairs]))
        ratio = float(np.median([theirs[name] / ours for theirs, ours in pairs]))
        rows.append(f"| {name} | {value:,.0f} | {ratio:,.0f}x | {judged(ratio, 500, at_least=True)} |")
    return rows


def targets(parts: list[str]) -> list[str]:
    """Every row with a target, gathered in one table."""
    rows = ["| what | target |", "|---|---|"]
    for line in "\n".join(parts).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and (": met" in cells[-1] or "**missed**" in cells[-1]):
            rows.append(f"| {', '.join(cell for cell in cells[:-1] if cell)} | {cells[-1]} |")
    return rows


def reasons() -> str:
    return (HERE / "REASONS.md").read_text(encoding="utf-8").strip()


def main() -> None:
    if "--peers" in sys.argv:
        environment = Path(sys.argv[sys.argv.index("--peers") + 1])
    else:
        environment = None
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    parts = [
        "# Speed",
        f"`make bench`, {datetime.date.today()}, {machine}. n = 10, K = L = 5 unless said; one core.",
        "## Against a scalar C floor\n\nSame process, same instance, interleaved; medians of CPU time. The floor "
        "keeps only the counts that its policy needs; truant keeps squares and cubes as well.",
        "\n".join(against_the_floor()),
        "## Policies of our own\n\nMean over 20 instances of 100,000 rounds, each the best of three times.",
        "\n".join(own_policies()),
        "## Size of the problem\n\nNanoseconds per round.",
        "\n".join(sizes()),
        "## A part of one's own\n\nThe estimate of `mar` and the index `ucb` written anew in another package.",
        "\n".join(parts_of_ones_own()),
        "## Two cores",
        "\n".join(two_cores()),
        "## Decisions\n\n`truant.Decider(policy, setting, horizon).probabilities(counts)`; warm, the median of 20.",
        "\n".join(decisions()),
        "## Memory\n\nPeak memory of a fresh process.",
        "\n".join(memory()),
        "## Logs: ten million rows\n\nThe reduction to counts beside the same GROUP BY typed into DuckDB by hand.",
        "\n".join(logs_rows()),
        "## Sweeps on two cores\n\nThe whole sweep, page and all, beside the CPU time of its runs in the loop; the "
        "best of three.",
        "\n".join(sweep_rows(judged)),
        "On Ray (a local cluster), start-up aside: what 1200 runs take beyond 400; tasks of a second or more.",
        "\n".join(ray_rows(judged)),
        "Memory hardly grows with the study (rows are gathered 100,000 at a time before they are written):",
        "\n".join(memory_rows()),
        "## Start, with a warm cache",
        "\n".join(start_up()),
    ]
    if environment:
        parts += ["## Others, nothing missing, 10 arms, UCB", "\n".join(peers(environment))]
    parts += ["## Targets", "\n".join(targets(parts)), "## What was missed, and why", reasons()]
    text = "\n\n".join(part for part in parts if part) + "\n"
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

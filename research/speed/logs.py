"""A log of ten million rows reduced to counts, against the same GROUP BY typed into DuckDB by hand.

Both run in one process, interleaved, on one Parquet file; memory is the peak of a fresh process at 1 and 10 million.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from truant.logs.read import read

ROWS = 10_000_000
REPEATS = 9
TARGET = 1.5  # times the wall time by hand
BY_HAND = {
    "real": "SELECT arm, m, count(*), count(y), sum(y), sum(y * y), sum(y * y * y), min(y), max(y) "
    "FROM '{}' GROUP BY ALL",
    "discrete": "SELECT arm, m, d, count(*) FROM '{}' GROUP BY ALL",
}
OUTCOME = {"real": "y", "discrete": "d"}


def write_log(path: Path, rows: int) -> None:
    """4 arms and 6 mediator levels; 5% of mediators and 30% of outcomes are missing."""
    duckdb.sql(f"""
        COPY (SELECT ['A', 'B', 'C', 'D'][1 + floor(4 * random())::INT] AS arm,
                     CASE WHEN random() < .05 THEN NULL ELSE floor(6 * random())::INT END AS m,
                     CASE WHEN random() < .3 THEN NULL ELSE 100 + 10 * random() + 20 * random() END AS y,
                     CASE WHEN random() < .3 THEN NULL ELSE (random() < .4)::INT END AS d
              FROM range({rows})) TO '{path}' (FORMAT parquet)""")


def measured(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def by_hand(path: Path, kind: str) -> object:
    with duckdb.connect() as connection:  # a fresh one, as `read` opens
        return connection.sql(BY_HAND[kind].format(path)).fetchall()


def side_by_side(path: Path, kind: str) -> str:
    """One row: medians of CPU and wall seconds, and the median of the paired ratios."""
    ours, theirs = [], []
    for _ in range(REPEATS):
        theirs.append(measured(lambda: by_hand(path, kind)))
        ours.append(measured(lambda: read(path, arm="arm", mediator="m", outcome=OUTCOME[kind])))
    cells = []
    for i in (0, 1):
        a, b = ([pair[i] for pair in both] for both in (ours, theirs))
        ratio = statistics.median(x / y for x, y in zip(a, b, strict=True))
        cells += [f"{statistics.median(a):.2f} s", f"{statistics.median(b):.2f} s", f"{ratio:.2f}"]
    verdict = "met" if float(cells[-1]) <= TARGET else "**missed**"
    return f"| {kind} outcome | {' | '.join(cells)} | at most {TARGET:g}: {verdict} |"


def peak_megabytes(path: Path, kind: str) -> float:
    """Peak memory of a fresh process that reads the log once."""
    command = [sys.executable, __file__, "--peak", str(path), kind]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def own_peak_megabytes() -> float:
    """On Linux not ru_maxrss, which a child takes over from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def logs_rows() -> list[str]:
    """The Markdown tables of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        write_log(large, ROWS)
        write_log(small, ROWS // 10)
        rows = [
            f"| {ROWS:,} rows of Parquet | CPU, truant | CPU, by hand | ratio | wall, truant | wall, by hand | ratio | "
            "target |",
            "|---|---|---|---|---|---|---|---|",
            *(side_by_side(large, kind) for kind in BY_HAND),
            "",
            f"| peak memory of the process | {ROWS // 10:,} rows | {ROWS:,} rows |",
            "|---|---|---|",
        ]
        for kind in BY_HAND:
            peaks = [peak_megabytes(path, kind) for path in (small, large)]
            rows.append(f"| {kind} outcome | {peaks[0]:.0f} MB | {peaks[1]:.0f} MB |")
        return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        read(sys.argv[2], arm="arm", mediator="m", outcome=OUTCOME[sys.argv[3]])
        print(own_peak_megabytes())
    else:
        print("\n".join(logs_rows()))

"""A log reduced to counts, beside the same GROUP BY typed into DuckDB by hand; and the analysis of many cells.

Both run in one process, interleaved, on one Parquet file; memory is the peak of a fresh process. The analysis of many
arms and mediator levels is measured whole, in a fresh process for each kind of outcome.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from research.figures import Note, speed_ratio, table
from research.speed import log_engines
from research.speed.fresh import peak_mebibytes
from research.speed.log_engines import write_parquet
from research.speed.targets import judged
from truant.logs.read import read

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the repeats, to confirm the ratios; the number of rows decides them
TARGET = 1.5  # times the wall time by hand
MOST_BEYOND = 15.0  # seconds that an analysis of many cells may take beyond the GROUP BY by hand
BY_HAND = {
    "real": "SELECT arm, m, count(*), count(y), sum(y), sum(y * y), sum(y * y * y), min(y), max(y) "
    "FROM '{}' GROUP BY ALL",
    "discrete": "SELECT arm, m, d, count(*) FROM '{}' GROUP BY ALL",
}
OUTCOME = {"real": "y", "discrete": "d"}


def section(bench: Workbench) -> list[str]:
    rows = bench.size(10_000_000, 10_000)
    found = bench.measured(measured_logs, rows=rows, repeats=bench.runs(9, 2))
    columns = [f"{kind}{what}" for kind in ("CPU", "wall") for what in (", truant", ", by hand", " ratio")]
    times = [times_row(kind, figures["times"]) for kind, figures in found.items()]
    peaks = [[f"{kind} outcome", *(f"{peak:.0f} MB" for peak in found[kind]["peaks"])] for kind in found]
    return [
        "## Logs: ten million rows",
        "The reduction of a table to counts, compared with the same GROUP BY query in DuckDB, written by "
        "hand.",
        table((f"{rows:,} rows of Parquet", *columns, "target"), times),
        table(("peak memory of the process", f"{rows // 10:,} rows", f"{rows:,} rows"), peaks),
        *csv_rows(bench),
        *log_engines.section(bench),
        *(many_cells(bench) if bench.share == 1 else []),  # absolute times: nothing to confirm
    ]


def csv_rows(bench: Workbench) -> list[str]:
    """Reading CSV, which truant checks line by line: no row may be lost."""
    rows = bench.size(1_000_000, 10_000)
    found = bench.measured(measured_csv, rows=rows, repeats=bench.runs(9, 2))
    columns = [f"{kind}{what}" for kind in ("CPU", "wall") for what in (", truant", ", by hand", " ratio")]
    return [
        "### Reading CSV",
        f"{rows:,} rows of CSV, with the same query by hand on DuckDB's own reader of CSV.",
        table(
            (f"{rows:,} rows of CSV", *columns),
            [times_row(kind, times)[:-1] for kind, times in found.items()],
        ),
    ]


def many_cells(bench: Workbench) -> list[str]:
    """The analysis of many arms and mediator levels."""
    shape = {"arms": bench.size(900, 9), "levels": bench.size(90, 9), "rows": bench.size(5_000_000, 10_000)}
    beyond = bench.measured(measured_analyses, **shape)
    return [
        f"### Many cells: {shape['arms']} arms and {shape['levels']} mediator levels",
        f"`analyze` of {shape['rows']:,} rows in a fresh process, with every assumption that is possible; the last "
        "column is the time beyond the GROUP BY by hand, in seconds.",
        table(
            ("many cells", "by hand", "reduction to counts", "analysis", "beyond", "target"),
            [beyond_row(kind, times) for kind, times in beyond.items()],
        ),
    ]


def beyond_row(kind: str, times: dict[str, float]) -> list[str]:
    """Wall seconds, and those of the analysis beyond the query by hand."""
    beyond = times["analysis"] - times["by hand"]
    cells = [f"{times[name]:.1f} s" for name in ("by hand", "reduction", "analysis")]
    return [f"{kind} outcome", *cells, f"{beyond:.1f} s", judged(beyond, MOST_BEYOND)]


def measured_analyses(arms: int, levels: int, rows: int) -> dict[str, dict[str, float]]:
    """For each kind of outcome: wall seconds of the query by hand, of the reduction to counts, and of the analysis."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_many_cells(path, arms, levels, rows)
        found = {}
        for kind in BY_HAND:
            by_hand = seconds(lambda kind=kind: query_by_hand(path, kind))[1]  # type: ignore[misc]
            command = [sys.executable, "-c", timed(path, kind)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found[kind] = {"by hand": by_hand} | json.loads(printed)
        return found


def timed(path: Path, kind: str) -> str:
    """Code that prints how long the reduction and the whole analysis take."""
    options = f"arm='arm', mediator='m', outcome={OUTCOME[kind]!r}"
    return (
        "import json, time, truant\nfrom truant.logs.read import read\nimport sqlglot, duckdb\n"
        f"start = time.perf_counter()\nread({str(path)!r}, {options})\nmiddle = time.perf_counter()\n"
        f"truant.analyze({str(path)!r}, {options})\nend = time.perf_counter()\n"
        "print(json.dumps({'reduction': middle - start, 'analysis': end - middle}))"
    )


def write_many_cells(path: Path, arms: int, levels: int, rows: int) -> None:
    """30% of outcomes are missing."""
    duckdb.sql(f"""
        COPY (SELECT floor({arms} * random())::INT AS arm, floor({levels} * random())::INT AS m,
                     CASE WHEN random() < .3 THEN NULL ELSE 100 + 10 * random() + 20 * random() END AS y,
                     CASE WHEN random() < .3 THEN NULL ELSE (random() < .4)::INT END AS d
              FROM range({rows})) TO '{path}' (FORMAT parquet)""")


def times_row(kind: str, times: dict[str, list[list[float]]]) -> list[str]:
    """Medians of CPU and wall seconds, and the median of the paired ratios."""
    cells, ratio = list[str](), 0.0
    for ours, by_hand in (times["cpu"], times["wall"]):
        ratio = statistics.median(x / y for x, y in zip(ours, by_hand, strict=True))
        cells += [Note(f"{statistics.median(own):.2f} s") for own in (ours, by_hand)]
        cells.append(speed_ratio(ratio))
    return [f"{kind} outcome", *cells, judged(ratio, TARGET)]


def measured_logs(rows: int, repeats: int) -> dict[str, Any]:
    """For each kind of outcome: times of truant and by hand, and peak memory for a tenth of the rows and for all."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        write_parquet(large, rows)
        write_parquet(small, rows // 10)
        return {
            kind: {
                "times": side_by_side(large, kind, repeats),
                "peaks": [peak_mebibytes(reading(path, kind)) for path in (small, large)],
            }
            for kind in BY_HAND
        }


def measured_csv(rows: int, repeats: int) -> dict[str, dict[str, list[list[float]]]]:
    """For each kind of outcome: times of truant and by hand on a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        parquet, path = Path(folder) / "log.parquet", Path(folder) / "log.csv"
        write_parquet(parquet, rows)
        duckdb.sql(f"COPY (FROM '{parquet}') TO '{path}' (HEADER)")
        return {kind: side_by_side(path, kind, repeats) for kind in BY_HAND}


def reading(path: Path, kind: str) -> str:
    """Code that reads a log once."""
    names = f"arm='arm', mediator='m', outcome={OUTCOME[kind]!r}"
    return f"from truant.logs.read import read\nread({str(path)!r}, {names})"


def side_by_side(path: Path, kind: str, repeats: int) -> dict[str, list[list[float]]]:
    """CPU and wall seconds: those of truant, and those by hand, in turns."""
    ours, by_hand = [], []
    for _ in range(repeats):
        by_hand.append(seconds(lambda: query_by_hand(path, kind)))
        ours.append(seconds(lambda: read(path, arm="arm", mediator="m", outcome=OUTCOME[kind])))
    return {
        name: [[pair[i] for pair in ours], [pair[i] for pair in by_hand]]
        for i, name in enumerate(("cpu", "wall"))
    }


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def query_by_hand(path: Path, kind: str) -> object:
    with duckdb.connect() as connection:  # a fresh one, as `read` opens
        return connection.sql(BY_HAND[kind].format(path)).fetchall()

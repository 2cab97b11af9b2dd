"""Tables as rows for a terminal, and as files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.envelope import parquet_metadata
from truant.errors import label, require, visible
from truant.files import written_whole
from truant.tables.request import PLAIN_NUMBER

if TYPE_CHECKING:
    import pyarrow

BATCH = 10_000  # rows of Arrow that become Python values at a time


def names_and_rows(
    table: pyarrow.Table | Mapping[str, Any],
) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """The names of the columns, and each row as plain values; None where a value is missing."""
    if isinstance(table, Mapping):
        return list(table), zip(*map(_plain, table.values()), strict=True)
    batches = table.to_batches(max_chunksize=BATCH)  # a log of millions of rows need not be there twice
    return table.column_names, (list(row.values()) for batch in batches for row in batch.to_pylist())


def plain_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each row of a dict of columns by name; NaN is None."""
    names, rows = names_and_rows(columns)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _plain(values: Any) -> list[Any]:
    cells = values.tolist() if isinstance(values, np.ndarray) else values
    return [None if _is_nan(cell) else cell for cell in cells]


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and cell != cell


def text_table(table: pyarrow.Table | Mapping[str, Any]) -> str:
    """Columns side by side, texts flush left and numbers flush right."""
    names, rows = names_and_rows(table)
    cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    columns = [
        _aligned([label(name), *(label(shown(cell)) for cell in column)], _is_text(column))
        for name, column in zip(names, cells, strict=True)
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def html_table(table: pyarrow.Table | Mapping[str, Any], most_rows: int | None = None) -> str:
    """A plain HTML table, escaped; of a longer one the first rows, and a line that says how many there are."""
    names, every = names_and_rows(table)
    rows = list(islice(every, most_rows))
    left = sum(1 for _ in every)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    more = f"<p>The first {len(rows):,} of {len(rows) + left:,} rows.</p>" if left else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shown(value: Any) -> str:
    """A cell: four figures below 1000, whole with thousands separators above; blank for what is not known."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return visible(str(value))


def _is_text(column: list[Any]) -> bool:
    return any(isinstance(cell, str) for cell in column)


def _aligned(cells: list[str], left: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]


# what makes a spreadsheet compute a text, or start a new cell
FORMULA = tuple("=+-@\t\r\n")
_SPLITS = re.compile(r'[,;|\t\r\n"]')


def write_table(
    table: pyarrow.Table | Mapping[str, Any],
    target: Path,
    kind: str,
    schema: int = 1,
    fields: Mapping[str, Any] | None = None,
) -> Path:
    """Write a table as .csv or .parquet, whole or not at all; a Parquet file says its schema, and holds `fields`."""
    with written_whole(target) as temporary:
        if target.suffix.lower() == ".csv":
            write_csv(table, temporary)
        else:
            write_parquet(table, temporary, kind, schema, fields)
    return target


def write_csv(table: pyarrow.Table | Mapping[str, Any], path: Path) -> None:
    """A header and a line for each row, see `write_csv_rows`."""
    write_csv_rows(*names_and_rows(table), path)


def write_csv_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], path: Path) -> None:
    """A header and a line for each row; blank where a value is missing.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP recommends. Texts that hold
    any sign at which a spreadsheet may split are quoted: behind a semicolon a new cell could begin with a formula.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_written, names)) + "\n")
        file.writelines(",".join(map(_written, row)) + "\n" for row in rows)


def _written(cell: Any) -> str:
    text = "" if cell is None else str(_no_formula(cell))
    return '"{}"'.format(text.replace('"', '""')) if _SPLITS.search(text) else text


def _no_formula(cell: Any) -> Any:
    """The cell; a text that begins like a formula, and is not a number, with an apostrophe in front."""
    formula = isinstance(cell, str) and cell.startswith(FORMULA) and not PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if formula else cell


def write_parquet(
    table: pyarrow.Table | Mapping[str, Any],
    path: Path,
    kind: str,
    schema: int,
    fields: Mapping[str, Any] | None = None,
) -> None:
    """A Parquet file whose metadata say which schema it has and which truant wrote it, and hold further fields."""
    require("logs", "Parquet files", "pyarrow")
    from pyarrow import parquet

    from truant.tables.arrow import make_table

    arrow = make_table(table) if isinstance(table, Mapping) else table
    parquet.write_table(arrow.replace_schema_metadata(parquet_metadata(kind, schema, fields)), path)

"""Files of past decisions, .csv or .parquet: their rows with the line that each stands in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from truant.errors import InvalidValue, unknown
from truant.extras import require
from truant.tables.rows import names_and_rows
from truant.tables.write import FORMULA
from truant.text import named

IMPORTED = (
    *("key", "arm", "probability", "asked", "mediator", "outcome", "late_outcome"),
    *("followed_up", "pick_probability", "holdout"),
)
PASSED_OVER = ("id", "deadline", "state", "reason")  # columns of an export that say nothing more

Rows = Iterable[tuple[int, Sequence[Any]]]  # each with the number of its line


def read_decisions(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """The rows of the file by column, each with the number of its line; blanks are None."""
    names, rows = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _csv_rows(path)
    _check_columns(path, names)
    return [(number, dict(zip(names, row, strict=True))) for number, row in rows]


def without_guard(text: Any, known: Sequence[str]) -> Any:
    """A name without the apostrophe that an export puts before what a spreadsheet would compute."""
    guarded = isinstance(text, str) and text.startswith("'") and text[1:].startswith(FORMULA)
    return text[1:] if guarded and text not in known and text[1:] in known else text


def _parquet_rows(path: Path) -> tuple[list[str], Rows]:
    require("logs", "Parquet files", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names, rows = names_and_rows(parquet.read_table(path))
    except (OSError, pa.ArrowException) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}: {' '.join(str(error).split())}.") from None
    return names, enumerate(rows, start=2)


def _csv_rows(path: Path) -> tuple[list[str], Rows]:
    lines, number = list[tuple[int, list[str]]](), 1
    try:
        reader = csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""), strict=True)
        for line in reader:
            if line:
                lines.append((number, line))
            number = reader.line_num + 1  # a cell may hold line breaks
    except UnicodeDecodeError:
        raise InvalidValue(
            f"Cannot read {named(path.name)}: it is not UTF-8; save it as CSV in UTF-8."
        ) from None
    except (OSError, csv.Error) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}, line {number}: {error}.") from None
    if not lines:
        raise InvalidValue(f"Cannot read {named(path.name)}: it is empty.")
    (_, names), *rows = lines
    for number, row in rows:
        if len(row) != len(names):
            raise InvalidValue(
                f"Cannot read {named(path.name)}: the header has {len(names)} fields, line {number} has {len(row)}."
            )
    return names, ((number, [cell or None for cell in row]) for number, row in rows)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    """Refuse a file without arms, with a column twice, or with one that is not known: it may be misspelt."""
    if "arm" not in names:
        others = ", ".join(name for name in IMPORTED if name != "arm")
        raise InvalidValue(
            f"{named(path.name)} must have a column arm, and may have {others}, with commas between them; "
            f"got {', '.join(names)}."
        )
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidValue(f"{named(path.name)} has the column {named(name)} twice.")
        if name not in (*IMPORTED, *PASSED_OVER):
            raise unknown(f"column of {named(path.name)}:", name, IMPORTED)

"""Of 340 hostile CSV files each is read as Python's csv module reads it, or refused in a sentence: never in silence."""

from __future__ import annotations

from collections import Counter

from tests.tables.hostile_files import HostileFile, Row, hostile_files
from truant.errors import TruantError
from truant.logs.source import find


def rows_of(file: HostileFile, path) -> list[Row] | None:
    """The rows as they are read; None if the file is refused."""
    path.write_bytes(file.data)
    try:
        source = find(path)
        try:
            names = source.columns
            table = source.fetch(source.pick({f"c{i}": i for i in range(len(names))}).select)
        finally:
            source.close()
    except TruantError as refused:
        return None if "\n" not in str(refused) else [("more than one line",)]
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(value or "" for value in row) for row in zip(*columns, strict=True)]


def test_each_file_is_read_rightly_or_refused(tmp_path):
    found: Counter[str] = Counter()
    wrong = []
    for file in hostile_files():
        rows = rows_of(file, tmp_path / "log.csv")
        if rows is not None and rows != file.rows:
            wrong.append(
                f"{file.name}: {len(rows)} rows, {None if file.rows is None else len(file.rows)} expected"
            )
        odd = "odd" in file.name
        found["read" if rows is not None else "good but refused" if file.rows is not None else "refused"] += 1
        found["odd but refused"] += odd and rows is None and file.rows is not None
    assert not wrong
    assert found["refused"] > 120
    assert found["read"] > 150
    assert found["odd but refused"] == 0

"""Finds the files of a log (one, several, a folder) and lets DuckDB read them where they are."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.errors import InvalidValue

if TYPE_CHECKING:
    import ibis.expr.types as ir

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
REMOTE = ("http://", "https://", "s3://", "gs://", "hf://")


def find_files(name: str) -> list[str]:
    """The files that a path, a folder or a pattern such as `logs/*.parquet` stands for; or raises InvalidValue."""
    if "\0" in name or not name.strip():
        raise InvalidValue(f"A file name is needed, got {name!r}.")
    path = Path(name).expanduser()
    if name.startswith(REMOTE):
        found = [name]
    elif path.is_dir():
        found = sorted(os.fspath(p) for p in path.rglob("*") if _kind(p.name) and p.is_file())
    elif path.exists():
        found = [os.fspath(path)]
    else:
        found = sorted(p for p in glob.glob(os.fspath(path), recursive=True) if os.path.isfile(p))
    if not found:
        raise InvalidValue(_nothing_there(name, path))
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1 or kinds == {None}:
        came = sorted({os.path.basename(file) for file in found})
        raise InvalidValue(
            f"A log must be files of one kind that end in {', '.join(CSV + PARQUET)}; "
            f"got {', '.join(came[:3])}{' ...' if len(came) > 3 else ''}."
        )
    for file in found:
        if not file.startswith(REMOTE) and os.path.getsize(file) == 0:
            raise InvalidValue(f"Cannot read {file!r}: it is empty; a log needs a header and rows.")
    return found


def open_files(connection: Any, files: Sequence[str]) -> tuple[ir.Table, tuple[str, ...]]:
    """The table of the files, and the names of its columns as the files spell them.

    DuckDB renames a column that occurs twice (also if only the case differs), hence the second look at the names.
    """
    # DuckDB would read a path as a pattern: what was found is meant as it is
    paths = [file if file.startswith(REMOTE) else glob.escape(file) for file in files]
    if _kind(files[0]) == "parquet":
        # Parquet's statistics leave NaN out, and DuckDB would believe them that there is none (duckdb #25521)
        table = connection.read_parquet(paths, can_have_nan=True)
        names = _parquet_names(files[0])
    else:
        # all as text: a type guessed from the first rows would fail on a later "NA"
        table = connection.read_csv(paths, header=True, all_varchar=True)
        head = connection.read_csv(paths[:1], header=False, all_varchar=True).limit(1)
        names = [name or "" for name in connection.to_pyarrow(head).to_pylist()[0].values()]
    if len(names) > len(table.columns):
        names = []
    # folders such as day=3/ add columns of their own at the end
    return table, (*names, *table.columns[len(names) :])


def untyped(files: Sequence[str]) -> bool:
    """Whether the files hold text only, in which numbers are to be recognised."""
    return _kind(files[0]) == "csv"


def _kind(name: str) -> str | None:
    name = name.lower()
    return "parquet" if name.endswith(PARQUET) else "csv" if name.endswith(CSV) else None


def _parquet_names(file: str) -> list[str]:
    if file.startswith(REMOTE):
        return []
    import pyarrow.parquet

    return list(pyarrow.parquet.read_schema(file).names)


def _nothing_there(name: str, path: Path) -> str:
    if path.is_dir():
        return f"The folder {name!r} holds no file that ends in {', '.join(CSV + PARQUET)}."
    if glob.has_magic(name):
        return f"No file matches {name!r}; check the folder and the pattern."
    return f"The file {name!r} does not exist; check the path."

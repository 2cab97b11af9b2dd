"""Finds the files of a log (one, several, a folder) and lets DuckDB read them where they are.

Columns that are written in folder names, such as `day=3/log.csv`, are read only if asked for.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from truant.errors import InvalidValue, TruantError
from truant.logs.engines import Engine, Table, described, duckdb_engine
from truant.logs.places import CSV, PARQUET
from truant.tables.csv_files import check_encoding, csv_query, explained, look_at
from truant.tables.engine import as_pattern, lock, open_in_memory, private_folder, quoted


def check_partitions(files: Sequence[str], columns: Sequence[str]) -> None:
    """Every file is below folders of the same keys, none of which is a column of the files; or raises InvalidValue."""
    odd = next((part for file in files for part in Path(file).parts[:-1] if part.count("=") > 1), None)
    if odd is not None:
        raise InvalidValue(
            f"With partitioned, a folder name must be a column and its value, as in day=3; {odd!r} has more than one "
            "=: rename the folder, or leave out partitioned."
        )
    first = _keys(files[0])
    if not first:
        raise InvalidValue(
            f"partitioned is for files below folders such as day=3, {files[0]!r} is below none; leave it out."
        )
    for file in files:
        keys = _keys(file)
        if keys != first:
            raise InvalidValue(
                f"All files must be below folders of the same keys: {files[0]!r} has {_listed(first)}, "
                f"{file!r} has {_listed(keys)}."
            )
    twice = next((key for i, key in enumerate(first) if key.lower() in map(str.lower, first[:i])), None)
    if twice is not None:
        raise InvalidValue(f"Folder names must not give {twice!r} twice, {files[0]!r} does.")
    # DuckDB does not tell upper from lower case
    taken = {column.lower() for column in columns}
    clash = next((key for key in first if key.lower() in taken), None)
    if clash is not None:
        raise InvalidValue(
            f"Column {clash!r} is both in the files and in their folder names; rename one, or leave out partitioned."
        )


def _keys(file: str) -> tuple[str, ...]:
    parts = [part.partition("=") for part in Path(file).parts[:-1]]
    return tuple(key for key, sign, _ in parts if sign and key)


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(map(repr, keys)) or "none"


@dataclass(frozen=True)
class OpenFiles:
    """Files as one table."""

    engine: Engine
    table: Table
    untyped: bool  # text only, in which numbers are to be recognised
    explain: Callable[[Exception], TruantError | None]
    clean_up: Callable[[], None]
    durations: frozenset[str] = frozenset()  # columns of time spans, which DuckDB takes for whole numbers
    semicolons: bool = False  # between the fields of a CSV file


def find_files(name: str) -> list[str]:
    """The files that a path, a folder or a pattern such as `logs/*.parquet` stands for; or raises InvalidValue."""
    if "\0" in name or not name.strip():
        raise InvalidValue(f"A file name is needed, got {name!r}.")
    try:
        path = Path(name).expanduser()
        found = _found(path)
        if not found:
            raise InvalidValue(_nothing_there(name, path))
        _check_kinds(found)
        _check_each(found)
    except (
        OSError,
        RuntimeError,
    ) as error:  # a name too long, a folder that may not be entered, no such home
        said = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise InvalidValue(f"The file {name[:60]!r} cannot be read: {said}; check the path.") from None
    return found


def open_files(files: Sequence[str], encoding: str | None, partitioned: bool) -> OpenFiles:
    """The files as one table of a connection that reads nothing else; or raises InvalidValue."""
    untyped = _kind(files[0]) == "csv"
    if encoding is not None and not untyped:
        raise InvalidValue("encoding is for CSV files, Parquet files have none; leave it out.")
    plain = check_encoding("utf-8" if encoding is None else encoding)
    folder = tempfile.mkdtemp(dir=private_folder())
    connection = None
    try:
        paths = [os.path.abspath(file) for file in files]
        named = zip(paths, files, strict=True) if untyped else ()
        csvs = [look_at(path, name, plain, folder) for path, name in named]
        connection = open_in_memory(paths)
        if untyped:
            query, columns = csv_query(csvs, partitioned)
        else:
            query, columns = _parquet_query(paths, files, partitioned)
        if partitioned:
            check_partitions(paths, (*columns, *(f"column {i}" for i in range(len(columns)))))
        connection.execute(f"CREATE TEMP VIEW log AS {query}")
        lock(connection)
        engine = duckdb_engine(connection)
        table = described(engine, exp.table_("log", quoted=True))
    except BaseException as error:
        if connection is not None:
            connection.close()
        shutil.rmtree(folder, ignore_errors=True)
        known = explained(error, csvs) if connection is not None and isinstance(error, Exception) else None
        if known is not None:
            raise known from error
        raise
    partitions = tuple(name for name, _ in table.columns[len(columns) :])
    return OpenFiles(
        engine,
        replace(table, names=(*columns, *partitions)),
        untyped,
        lambda error: explained(error, csvs),
        lambda: shutil.rmtree(folder, ignore_errors=True),
        frozenset() if untyped else _durations(paths),
        any(file.delimiter == ";" for file in csvs),
    )


def _parquet_query(
    paths: Sequence[str], names: Sequence[str], partitioned: bool
) -> tuple[str, tuple[str, ...]]:
    """The query for Parquet files, and the names of their columns; DuckDB renames those that differ in case only."""
    import pyarrow.parquet

    columns = [tuple(pyarrow.parquet.read_schema(path).names) for path in paths]
    for name, other in zip(names, columns, strict=True):
        if set(other) != set(columns[0]):
            differing = sorted(set(other) ^ set(columns[0]))[0]
            raise InvalidValue(
                f"Files of a log must have the same columns: {differing!r} is in only one of {names[0]!r} and {name!r}."
            )
    listed = ", ".join(quoted(as_pattern(path)) for path in paths)
    # Parquet's statistics leave NaN out, and DuckDB would believe them that there is none (duckdb #25521);
    # by name, so that a column of whole numbers in the first file does not round those of the next
    options = (
        f"can_have_nan = true, hive_partitioning = {str(partitioned).lower()}, hive_types_autocast = false, "
        f"union_by_name = {str(len(paths) > 1).lower()}"
    )
    return f"SELECT * FROM read_parquet([{listed}], {options})", columns[0]


def _durations(paths: Sequence[str]) -> frozenset[str]:
    import pyarrow
    from pyarrow import parquet

    fields = (field for path in paths for field in parquet.read_schema(path))
    return frozenset(field.name for field in fields if pyarrow.types.is_duration(field.type))


def _found(path: Path) -> list[str]:
    if path.is_dir():
        # links to folders are not followed, so that no loop can hold us up
        below = (p.relative_to(path) for p in path.rglob("*") if _kind(p.name))
        return sorted(os.fspath(path / p) for p in below if not _hidden(p.parts) and (path / p).is_file())
    if path.exists():
        return [os.fspath(path)]
    fixed, wild = _at_first_wildcard(path)
    if "**" in wild:
        hits: Iterable[Path] = fixed.glob(os.path.join(*wild))
    else:
        hits = map(Path, glob.glob(os.fspath(path), include_hidden=True))
    typed = "".join(part[0] for part in wild)  # who writes _*.csv wants such names
    return sorted(
        os.fspath(p) for p in hits if p.is_file() and not _hidden(p.parts[len(fixed.parts) :], typed)
    )


def _at_first_wildcard(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The folders in front of the first part of a pattern that holds a wildcard, and the parts from there on."""
    first = next((i for i, part in enumerate(path.parts) if glob.has_magic(part)), len(path.parts))
    return Path(*path.parts[:first]), path.parts[first:]


def _hidden(parts: Sequence[str], typed: str = "") -> bool:
    """Of another program or half-written: .ipynb_checkpoints, _temporary, ._log.csv."""
    return any(part[0] in "._" and part[0] not in typed for part in parts if part)


def _check_kinds(found: Sequence[str]) -> None:
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1 or kinds == {None}:
        came = sorted({os.path.basename(file) for file in found})
        raise InvalidValue(
            f"A log must be files of one kind that end in {', '.join(CSV + PARQUET)}; "
            f"got {', '.join(came[:3])}{' ...' if len(came) > 3 else ''}."
        )


def _check_each(found: Sequence[str]) -> None:
    """Plain files that hold something, each of them once."""
    seen: dict[tuple[int, int], str] = {}
    for file in found:
        if not file.isascii() and any("\ud800" <= letter <= "\udfff" for letter in file):
            raise InvalidValue(f"Cannot read {file!r}: its name is not UTF-8; rename it.")
        if not os.path.isfile(file):
            raise InvalidValue(
                f"Cannot read {file!r}: it is a device or a pipe; write its rows to a file first."
            )
        status = os.stat(file)
        if status.st_size == 0:
            raise InvalidValue(f"Cannot read {file!r}: it is empty; a log needs a header and rows.")
        other = seen.setdefault((status.st_dev, status.st_ino), file)
        if other != file:
            raise InvalidValue(
                f"{other!r} and {file!r} are the same file, whose rows would count twice; remove the link."
            )


def _kind(name: str) -> str | None:
    name = name.lower()
    return "parquet" if name.endswith(PARQUET) else "csv" if name.endswith(CSV) else None


def _nothing_there(name: str, path: Path) -> str:
    if path.is_dir():
        return f"The folder {name!r} holds no file that ends in {', '.join(CSV + PARQUET)}."
    if glob.has_magic(name):
        return f"No file matches {name!r}; check the folder and the pattern."
    return f"The file {name!r} does not exist; check the path."

"""Columns that are written in folder names, such as `day=3/log.csv`; they are read only if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from truant.errors import InvalidValue


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

"""Opens DuckDB so that it reads what it was given, and nothing else.

It installs and loads no extension, looks at no folder of the user, keeps its temporary files in a private folder, and
finds no variable of the program that calls it. In memory it may open the named files alone; a database file is opened
read-only, and its views and macros can read no other file.
"""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def open_in_memory(files: Sequence[str] = ()) -> duckdb.DuckDBPyConnection:
    """A connection that can read these files (absolute paths), and those in `private_folder`."""
    import duckdb

    connection = duckdb.connect(config=_settings(f"spill-{secrets.token_hex(8)}"))
    # a path is compared with what the query says, which is the pattern, and with what the pattern finds
    paths = sorted({*files, *map(as_pattern, files)})
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, paths))}]")
    connection.execute(f"SET allowed_directories = [{quoted(private_folder())}]")
    connection.execute("SET enable_external_access = false")
    return connection


def open_database(path: str) -> duckdb.DuckDBPyConnection:
    """A database file, read-only; raises duckdb.Error where that cannot be."""
    import duckdb

    # the same settings each time: DuckDB shares one database among the connections of a process
    settings = _settings("spill-databases") | {"enable_external_access": False}
    return duckdb.connect(os.path.abspath(path), read_only=True, config=settings)


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """No setting can be changed any more."""
    connection.execute("SET lock_configuration = true")


def private_folder() -> str:
    """A folder of this process that no other user can read; it is removed at exit."""
    folder = _private_folder(os.getpid())
    os.makedirs(folder, mode=0o700, exist_ok=True)  # someone may have cleaned up
    return folder


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def as_pattern(path: str) -> str:
    """The pattern that matches this path alone: DuckDB reads every path as a pattern."""
    import glob

    return glob.escape(path)


def _settings(spill: str) -> dict[str, Any]:
    home = private_folder()
    return {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_unsigned_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        "home_directory": home,
        "secret_directory": os.path.join(home, "secrets"),
        "extension_directory": os.path.join(home, "extensions"),
        "temp_directory": os.path.join(home, spill),  # which DuckDB makes when needed, and removes
    }


@functools.cache
def _private_folder(process: int) -> str:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="truant-"))

    def remove() -> None:
        if os.getpid() == process:  # a forked process leaves its parent's alone
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder

"""Writes files whole or not at all, and refuses a path that cannot be written before the work begins."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from truant.errors import InvalidValue

CHARTS = (".png", ".svg", ".html")
TABLES = (".parquet",)


def output_path(path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """The path, if a file of one of these kinds can be written there; or raises InvalidValue."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"A file name is needed, got {path!r}.")
    target, name = Path(path), os.fspath(path)
    if "\0" in name or len(target.name.encode()) > 255:
        raise InvalidValue(f"{name[:60]!r} cannot be a file name: it is too long, or has a NUL character.")
    if target.suffix.lower() not in suffixes:
        *others, last = suffixes
        listed = f"{', '.join(others)} or {last}" if others else last
        raise InvalidValue(f"The file name must end in {listed}, got {name!r}.")
    if target.is_dir():
        raise InvalidValue(f"Cannot write {name!r}: it is a folder; name a file in it.")
    if not target.parent.is_dir():
        folder = os.fspath(target.parent)
        raise InvalidValue(f"Cannot write {name!r}: the folder {folder!r} does not exist; make it first.")
    if not os.access(target.parent, os.W_OK):
        raise InvalidValue(f"Cannot write {name!r}: the folder is not writable.")
    return target


def output_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if need be, if files can be written there; or raises InvalidValue."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"A folder is needed, got {path!r}.")
    if not os.fspath(path):
        raise unfit_folder(path, "it has no name")
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise unfit_folder(path, "it is a file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise unfit_folder(path, getattr(error, "strerror", error)) from None
    if not os.access(folder, os.W_OK):
        raise unfit_folder(path, "it is not writable")
    return folder


def unfit_folder(path: str | os.PathLike[str], reason: object) -> InvalidValue:
    """The error for a folder that results cannot go to."""
    return InvalidValue(f"Cannot use {os.fspath(path)!r} as the folder of results: {reason}; choose another.")


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A temporary path beside the target that takes its place when the block ends without an error."""
    temporary = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        raise InvalidValue(f"Cannot write {os.fspath(target)!r}: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):  # it never came to be
            temporary.unlink()


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes left half-written; only where nobody else is writing."""
    for stray in folder.glob(f".{'[0-9a-f]' * 32}.part"):
        stray.unlink(missing_ok=True)

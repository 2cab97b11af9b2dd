"""Folders of results: new, empty, or made by truant for the same kind of results, which a marker in them says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from truant.errors import InvalidValue, TruantError
from truant.files.inputs import absolute, input_of
from truant.files.outputs import kind_of, refuse_unwritable
from truant.files.writing import is_unfinished, remove_unfinished, try_lock, written_whole
from truant.text import quoted

MARKER = ".truant"  # a file whose one line says what the folder holds, as in "truant sweep"


def output_folder(
    path: str | os.PathLike[str], kind: str, files: Iterable[str] = (), inputs: Iterable[str] = ()
) -> Path:
    """The folder, if results can be written there, made and marked if need be; or raises InvalidValue.

    A folder that holds anything is used only if its marker says that truant made it for this kind of results. What
    earlier versions made has no marker; their runs would not be used again in any case.

    Parameters
    ----------
    path : of the folder.
    kind : such as "sweep".
    files : names of what will be written there.
    inputs : paths and patterns of what is read.
    """
    folder = _checked(path, kind, tuple(files), tuple(inputs))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unfit_folder(path, error.strerror) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unfit_folder(path, "it is not writable")
    remove_unfinished(folder)
    if not (folder / MARKER).exists():
        with written_whole(folder / MARKER) as temporary:
            temporary.write_text(f"truant {kind}\n", encoding="utf-8")
    return folder


def unfit_folder(path: str | os.PathLike[str], reason: object) -> InvalidValue:
    """The error for a folder that results cannot go to."""
    return InvalidValue(f"Cannot use {os.fspath(path)!r} as the folder of results: {reason}; choose another.")


@contextmanager
def locked(folder: Path, kind: str) -> Iterator[Path]:
    """One process at a time in a folder; the system lets go of the lock if the process is killed."""
    _refuse_odd(folder, ".lock")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(folder / ".lock", flags, 0o666)
    except OSError as error:
        raise unfit_folder(folder, f"{error.strerror} (.lock)") from None
    try:
        if try_lock(handle) is False:  # where nothing can be locked, two sweeps only do some work twice
            raise InvalidValue(
                f"Another {kind} is at work in {os.fspath(folder)!r}; wait for it, or choose another folder."
            )
        yield folder
    except (TruantError, OSError):
        if not folder.is_dir():  # whatever was wrong, this is why
            raise InvalidValue(
                f"The folder {os.fspath(folder)!r} was removed or renamed while the {kind} was at work; "
                f"run the {kind} again."
            ) from None
        raise
    finally:
        os.close(handle)


def _refuse_odd(folder: Path, name: str) -> None:
    """Raise InvalidValue if a name in the folder is there, and is no ordinary file."""
    try:
        status = (folder / name).lstat()
    except OSError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise unfit_folder(folder, f"its {name} is {kind_of(status)}")


def _checked(
    path: str | os.PathLike[str], kind: str, files: tuple[str, ...], inputs: tuple[str, ...]
) -> Path:
    """The folder, if it is fit; nothing is made yet."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"A folder is needed, got {quoted(path)}.")
    if not os.fspath(path):
        raise unfit_folder(path, "it has no name")
    folder = Path(path)
    if "\0" not in os.fspath(path):
        absolute(folder)
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return folder
    except UnicodeEncodeError:
        raise unfit_folder(path, "its name contains half of a surrogate pair") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise unfit_folder(path, getattr(error, "strerror", error)) from None
    if not stat.S_ISDIR(status.st_mode):
        raise unfit_folder(path, f"it is {kind_of(status)}")
    try:
        _refuse_foreign(folder, kind)
    except OSError as error:
        raise unfit_folder(path, error.strerror) from None
    for name in files:
        refuse_unwritable(folder / name)
        if (found := input_of(folder / name, inputs)) is not None:
            raise unfit_folder(path, f"its file {name} would be written, and is the input {found!r}")
    return folder


def _refuse_foreign(folder: Path, kind: str) -> None:
    """Raise InvalidValue if others made the folder, or truant for another kind of results."""
    marker = folder / MARKER
    _refuse_odd(folder, MARKER)
    if marker.exists():
        said = marker.read_bytes()[:100].decode(errors="replace").strip()
        if said != f"truant {kind}":
            raise unfit_folder(folder, f"it holds something else than a {kind} ({MARKER} says {said!r})")
        return
    others = sorted(entry.name for entry in os.scandir(folder) if not is_unfinished(entry.name))
    if others:
        raise unfit_folder(
            folder,
            f"it holds {others[0]!r} and no file {MARKER} with the line 'truant {kind}', which truant puts into its "
            "folders (earlier versions did not)",
        )

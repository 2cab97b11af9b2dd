"""Writes files whole or not at all: into a temporary file beside the target, flushed, which then takes its place.

The writer holds a lock on its temporary file as long as it lives. So a process that finds one without a lock knows that
its writer was killed, wherever that one ran, and removes it.

Folders of results: new, empty, or made by truant for the same kind of results, which a marker in them says.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from truant.errors import InvalidValue, TruantError, quoted
from truant.files.paths import absolute, input_of, kind_of, refuse_unwritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LEFTOVER = re.compile(r"\.truant-[0-9a-f]{32}\.part")
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), None)  # None: a library did not say
ABANDONED = 24 * 3600.0  # seconds, where files cannot be locked


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A temporary path beside the target that takes its place when the block ends without an error.

    Whatever is wrong with the disk or the folder raises InvalidValue, and leaves what was there before.
    """
    refuse_unwritable(target)
    temporary: Path | None = None
    handle = -1
    try:
        remove_unfinished(target.parent)
        before = target.lstat() if os.path.lexists(target) else None
        temporary, handle = _temporary(target.parent, private=before is not None)
        yield temporary
        _settle(handle, before)
        if fcntl is None:  # Windows does not rename a file that is open
            os.close(handle)
            handle = -1
        os.replace(temporary, target)
        _flush_folder(target.parent)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        remedy = "choose another place" + (", or make room" if error.errno in _FULL else "")
        raise InvalidValue(
            f"Cannot write {os.fspath(target)!r}: {reason}; nothing was changed: {remedy}."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # it has taken the target's place
                temporary.unlink()
            if handle >= 0:  # only now: without its lock it would be taken for a leftover
                os.close(handle)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed writers left in a folder, and nothing that a living one is still writing."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if LEFTOVER.fullmatch(entry.name):
                _remove_abandoned(folder / entry.name)


def is_unfinished(name: str) -> bool:
    """Whether this is the name of a temporary file."""
    return LEFTOVER.fullmatch(name) is not None


def _temporary(folder: Path, private: bool) -> tuple[Path, int]:
    """A new file with a lock on it; who may read it is decided by the umask, or later by the file that it replaces."""
    while True:
        path = folder / f".truant-{uuid.uuid4().hex}.part"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        # between these lines another process may take it for a leftover
        if try_lock(handle) is not False and path.exists():
            return path, handle
        os.close(handle)


def _settle(handle: int, before: os.stat_result | None) -> None:
    """Give the file the owner and the mode of the one before, and have the system write it to the disk."""
    if before is not None and hasattr(os, "fchown"):
        with contextlib.suppress(OSError):  # only root may, and few file systems do not know owners
            os.fchown(handle, before.st_uid, before.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(handle, stat.S_IMODE(before.st_mode))
    os.fsync(handle)


def _flush_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some systems cannot: the file is there all the same
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def try_lock(handle: int) -> bool | None:
    """Lock a file without waiting: False if somebody else has locked it, None where files cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_abandoned(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was quicker, or it is somebody else's
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status, free = os.fstat(handle), try_lock(handle)
            if free is None:
                free = time.time() - status.st_mtime > ABANDONED
            if free and stat.S_ISREG(status.st_mode):
                path.unlink()
        finally:
            os.close(handle)


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

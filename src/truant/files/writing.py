"""Writes files whole or not at all: into a temporary file beside the target, flushed, which then takes its place.

The writer holds a lock on its temporary file as long as it lives. So a process that finds one without a lock knows that
its writer was killed, wherever that one ran, and removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truant.errors import InvalidValue
from truant.files.outputs import refuse_unwritable

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

"""The file of an SQLite store: whether it is still the one that was opened, and when its log is on the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from truant.errors import Unavailable, named

_SYNC = getattr(os, "fdatasync", os.fsync)


class StoreFile:
    """The file of a store, and the log that SQLite keeps beside it.

    A commit writes to the log without waiting for the disk, and gives the lock back; `wait_for_disk` comes afterwards,
    so that processes wait for the disk side by side instead of one after the other. What a reader sees meanwhile may
    be lost in a power cut; what was acknowledged may not.

    Parameters
    ----------
    path : of the file; None: the store is in memory.
    durable : whether `wait_for_disk` waits.
    """

    def __init__(self, path: Path | None, durable: bool) -> None:
        self._shown = path
        self._path = None if path is None else os.path.abspath(path)  # the current folder may change
        self._durable = durable and path is not None
        self._log: int | None = None
        self.forget()

    @property
    def address(self) -> str:
        """What SQLite opens: the file if it is there; a new one is not made."""
        return ":memory:" if self._path is None else f"{Path(self._path).as_uri()}?mode=rw"

    def forget(self) -> None:
        """Take whatever file is there when it is opened next."""
        self._identity: tuple[int, int] | None = None
        self._log_identity: tuple[int, int] | None = None

    def make_parts_writable(self) -> None:
        """Give the files beside it its permissions: SQLite made them read-only if it was so itself then."""
        for part in (f"{self._path}-wal", f"{self._path}-shm"):
            if self._path is not None and os.access(self._path, os.W_OK) and not os.access(part, os.W_OK):
                with suppress(OSError):  # there is none, or it is not ours
                    os.chmod(part, os.stat(self._path).st_mode & 0o777)

    def know(self) -> None:
        """Note which file was opened."""
        if self._path is not None and self._identity is None:
            self._identity = _identity(self._path)

    def know_log(self) -> None:
        """Note which log belongs to it, once SQLite has opened it."""
        if self._path is not None and self._log_identity is None:
            self._log_identity = _identity(f"{self._path}-wal") or (0, 0)

    def check(self) -> None:
        """Raise Unavailable if the file, or its log, is not the one that was opened."""
        if self._path is None or self._identity is None:
            return
        found = _identity(self._path)
        if found != self._identity:
            raise Unavailable(
                f"The file of the store {named(self._shown)} was {_fate(found)} while it was in use. {ADVICE}"
            )
        if self._log_identity is not None and _identity(f"{self._path}-wal") != self._log_identity:
            raise Unavailable(
                f"The file {named(f'{self._shown}-wal')}, a part of the store, was deleted or replaced while it was in "
                f"use. {ADVICE}"
            )

    def wait_for_disk(self) -> None:
        """Return when what was committed is on the disk."""
        if not self._durable:
            return
        if self._log is None:
            self._log = os.open(f"{self._path}-wal", os.O_RDWR)
        _SYNC(self._log)

    def close(self) -> None:
        """Close the log; its identity is that of the next one that is opened."""
        if self._log is not None:
            with suppress(OSError):
                os.close(self._log)
        self._log = self._log_identity = None


ADVICE = "To use the file that is there now, open the experiment again (in Python: experiment.reopen()), and repeat."


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _fate(found: tuple[int, int] | None) -> str:
    return "deleted" if found is None else "replaced by another one"

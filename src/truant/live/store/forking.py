"""Lets a process be forked only while no SQLite connection is in use.

SQLite keeps its locks by process: a child that inherits an open connection takes the parent's locks for its own, also
those of connections that it opens itself, and what it writes can be lost. So connections are closed before a fork.
"""

from __future__ import annotations

import os
import threading


class ForkGate:
    """Counts the threads that use a connection; while it is shut, those that begin wait."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside: dict[int, int] = {}  # uses by thread: one may use two stores at once
        self._shut = False

    def enter(self) -> None:
        """Begin to use a connection; waits between `shut` and `open`."""
        thread = threading.get_ident()
        with self._lock:
            while self._shut and thread not in self._inside:
                self._changed.wait()
            self._inside[thread] = self._inside.get(thread, 0) + 1

    def leave(self) -> None:
        """The connection is not used any more."""
        thread = threading.get_ident()
        with self._lock:
            left = self._inside.pop(thread, 1) - 1  # none in a child that was forked in here
            if left:
                self._inside[thread] = left
            elif self._shut:
                self._changed.notify_all()

    def shut(self, patience: float) -> bool:
        """Wait until no thread uses a connection, and let none begin; False if that took too long."""
        own = threading.get_ident()
        with self._changed:
            self._shut = True
            self._changed.wait_for(lambda: self._inside.keys() <= {own}, patience)
            return not self._inside

    def open(self) -> None:
        """Let threads use connections again."""
        with self._changed:
            self._shut = False
            self._changed.notify_all()

    def renew(self) -> None:
        """Forget the threads of the parent, in a forked process."""
        if self._process != os.getpid():
            self._reset()

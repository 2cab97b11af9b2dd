"""Compiling a little faster: what numba spends a fifth of its time on, and need not."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import TargetConfig

_hash, _equal = TargetConfig.__hash__, TargetConfig.__eq__


@functools.cache
def _hash_of(kind: Any) -> int:
    return int(_hash(kind()))


def _quick_hash(self: Any) -> int:
    """The same number: numba hashes the names of the options, which are those of the class."""
    return _hash_of(type(self))  # type: ignore[arg-type]


def _quick_equal(self: Any, other: Any) -> Any:
    """The same answer, without looking at every option where both have set the same ones."""
    if self is other or (type(self) is type(other) and self._values == other._values):
        return True
    return _equal(self, other)


@contextmanager
def compiling() -> Iterator[None]:
    """Inside, flags compare fast, and garbage is not collected: numba makes many objects, few of them garbage."""
    with global_compiler_lock:
        before = gc.isenabled(), TargetConfig.__hash__, TargetConfig.__eq__
        gc.disable()
        TargetConfig.__hash__, TargetConfig.__eq__ = _quick_hash, _quick_equal
        try:
            yield
        finally:
            TargetConfig.__hash__, TargetConfig.__eq__ = before[1:]
            if before[0]:
                gc.enable()

"""Shares work among the cores."""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The function of every item, on all cores; it must stand at the top of a module."""
    listed = list(items)
    return list(_pool().map(function, listed, chunksize=max(1, len(listed) // 32)))


@functools.cache
def _pool() -> ProcessPoolExecutor:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    # a fork of a process that has run threads may hang
    return ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn"))

"""Work for each arm, on all cores where arms are many: limits of a likelihood take milliseconds, outside the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from truant.play.run import cores

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW_ARMS = 50  # up to which threads cost more than they save, and every arm's curve is looked at


def each_arm(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The function of every item, in their order."""
    listed = list(items)
    if len(listed) <= FEW_ARMS:
        return [function(item) for item in listed]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(function, listed))

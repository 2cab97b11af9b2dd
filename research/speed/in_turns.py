"""Pieces of work measured in turns, since the machine's speed changes; and their ratios, turn by turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from research.figures import Note, speed_ratio
from research.speed.targets import judged


def seconds(work: Callable[[], object]) -> float:
    """Wall time."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds(work: Callable[[], object], repeats: int) -> list[float]:
    """CPU time of work that waits for nothing, so many times; a first time is not counted."""
    times = []
    for _ in range(repeats + 1):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return times[1:]


def in_turns(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Wall seconds of each piece of work, one after the other, so many times; a first turn is not counted."""
    turns = [{name: seconds(work) for name, work in works.items()} for _ in range(repeats + 1)]
    return {name: [turn[name] for turn in turns[1:]] for name in works}


def ratios(top: Sequence[float], bottom: Sequence[float]) -> tuple[float, float, float]:
    """Of two pieces of work in the same turn: the median, the lower and the upper quartile."""
    middle, low, high = np.quantile(np.divide(top, bottom), [0.5, 0.25, 0.75])
    return float(middle), float(low), float(high)


def ratio_row(
    name: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    target: float | None = None,
    compared: bool = True,
) -> list[str]:
    """Rates of two pieces of work, by how much the first is faster in the median turn, its quartiles, and the target.

    Parameters
    ----------
    name : what is done.
    ours, theirs : seconds for one of it, in turns.
    target : the least ratio of the rates.
    compared : whether other runs must have nearly the same ratio; one that depends on the disk need not.
    """
    middle, low, high = ratios(theirs, ours)
    rates = [Note(f"{1 / float(np.median(times)):,.0f}") for times in (ours, theirs)]
    ratio = speed_ratio(middle).with_text(short(middle)) if compared else Note(short(middle))
    spread = f"{short(low)} to {short(high)}"
    return [name, *rates, ratio, spread, "" if target is None else judged(middle, target, at_least=True)]


def short(value: float) -> str:
    """Two decimals where they matter."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"

"""This tree beside another checkout: the kernels of both, in fresh processes that take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research import ROOT
from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # another checkout is needed, which a confirmation does not have
SCRIPT = Path(__file__).with_name("kernels.py")
TARGET = 1.03  # times the other tree's CPU time
WORLDS = ("mar", "mcar", "mnar", "mediator-mnar")
POLICIES = (
    *("mar-ucb", "mar-thompson", "mcar-ucb", "mnar-ucb", "mediator-mnar-ucb"),
    *("paper-mcar", "paper-mar", "paper-mnar"),
)

Turns = list[dict[str, list[float]]]  # of each process, the times of each kernel


def section(bench: Workbench) -> list[str]:
    if bench.against is None:
        return []
    turns, repeats = bench.runs(20, 2), bench.runs(15, 2)
    ours, others = bench.measured(
        in_turns,
        {LOOP, "truant.policies.decider"} | world_modules(*WORLDS) | policy_modules(*POLICIES),
        other=str(bench.against.resolve()),
        caches=str(bench.folder / "compiled"),
        turns=turns,
        repeats=repeats,
        scale=bench.size(1.0, 0.01),
    )
    return [
        "## Comparison with another version",
        "CPU nanoseconds per round (per decision for `Decider`) compared with commit "
        f"{commit(bench.against)}: {turns} new processes of each, in turns, with {repeats} repetitions of "
        "each kernel. The shortest time of a process counts, since longer times are due to other processes. "
        "*Ratio*: the median over the turns of this version's shortest time divided by the other's, with a "
        "bootstrap 95% interval; a target is met or missed if the whole interval is on one side of it.",
        table(
            ("kernel", "other, ns", "this, ns", "ratio of least", "ratio", "95% interval", "target"),
            [row(kernel, ours, others) for kernel in ours[0]],
        ),
    ]


def row(kernel: str, ours: Turns, others: Turns) -> list[str]:
    least, other_least = (np.array([min(turn[kernel]) for turn in turns]) for turns in (ours, others))
    ratio, low, high = median_ratio(least / other_least)
    best = least.min() / other_least.min()
    figures = [f"{other_least.min():,.1f}", f"{least.min():,.1f}", f"{best:.3f}", f"{ratio:.3f}"]
    return [kernel, *figures, f"{low:.3f} to {high:.3f}", f"at most {TARGET:g}: {verdict(low, high)}"]


def median_ratio(ratios: np.ndarray) -> tuple[float, float, float]:
    """The median, and a bootstrap 95% interval of it."""
    chosen = np.random.default_rng(1).integers(len(ratios), size=(2000, len(ratios)))
    low, high = np.quantile(np.median(ratios[chosen], axis=1), (0.025, 0.975))
    return float(np.median(ratios)), float(low), float(high)


def verdict(low: float, high: float) -> str:
    """Whether the target is met, missed, or cannot be told from so few turns."""
    if high <= TARGET:
        return "met"
    return "**missed**" if low > TARGET else "not clear"


def in_turns(
    other: str, caches: str, turns: int, repeats: int, scale: float
) -> tuple[list[dict[str, list[float]]], list[dict[str, list[float]]]]:
    """The times of this tree's processes and of the other's; who goes first changes from turn to turn."""
    trees = (ROOT, Path(other))
    for tree in trees:
        times_of(tree, caches, 1, scale)  # compiled
    found: dict[Path, Turns] = {tree: [] for tree in trees}
    for turn in range(turns):
        for tree in trees if turn % 2 else trees[::-1]:
            found[tree].append(times_of(tree, caches, repeats, scale))
    return found[trees[0]], found[trees[1]]


def times_of(tree: Path, caches: str, repeats: int, scale: float) -> dict[str, list[float]]:
    """What a fresh process with the truant of a tree measures; each tree has a compile cache of its own."""
    cache = Path(caches) / ("this" if tree == ROOT else "other")
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "TRUANT_CACHE_DIR": str(cache)}
    command = [sys.executable, str(SCRIPT), str(repeats), str(scale)]
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=tree)
    found = json.loads(said.stdout)
    if not Path(found["from"]).is_relative_to(tree / "src"):
        raise ValueError(
            f"{tree} was to be measured, and {found['from']} was; does it have a folder src/truant?"
        )
    times: dict[str, list[float]] = found["times"]
    return times


def commit(tree: Path) -> str:
    """The short name of the commit that a tree has checked out."""
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

"""Time for one decision: the probabilities of all arms, given counts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.targets import judged
from truant.counts import Counts
from truant.policies.decider import Decider
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # absolute times: nothing to compare
POLICIES = ("mar-ucb", "mar-thompson")
TARGETS = {10: 1.0, 100: 60.0}  # milliseconds for the probabilities of so many arms


def section(bench: Workbench) -> list[str]:
    repeats = bench.runs(20, 3)
    rows = []
    for policy in POLICIES:
        for arms, target in TARGETS.items():
            parts = policy_modules(policy) | world_modules("mar")
            value = bench.measured(milliseconds, parts, policy=policy, arms=arms, repeats=repeats)
            rows.append([f"`{policy}`", f"{arms}", f"{value:.2f}", judged(value, target)])
    return [
        "## Decisions",
        "`truant.Decider(policy, setting, horizon).probabilities(counts)` after compilation, the median of "
        f"{repeats} calls.",
        table(("policy", "arms", "milliseconds", "target"), rows),
    ]


def milliseconds(policy: str, arms: int, repeats: int) -> float:
    """Median wall time of a decision."""
    world = make("mar", seed=1, arms=arms)
    pulled = np.random.default_rng(1).integers(arms, size=200 * arms)
    counts = Counts.fold(world.setting, pulled, *world.pulls(pulled, seed=1))
    decider = Decider(policy, world.setting, 100_000)
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        decider.probabilities(counts)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times[1:]))  # the first one compiles

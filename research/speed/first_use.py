"""The first use: CPU time of `import truant` and a first simulation, beginning with an empty compile cache."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP
from research.speed.fresh import cpu_seconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # absolute times: nothing to compare
CODE = "import truant; truant.simulate({world!r}, {policy!r}, horizon=1000, runs=2, delay={delay}, progress=False)"


class Use(NamedTuple):
    """A process that simulates a policy in a world, what its cache has before, and its target in CPU seconds."""

    policy: str
    world: str
    target: float
    before: str = "what was compiled above"
    delay: int = 0


# each family begins with an empty cache; the others find what those above them compiled
FAMILIES = (
    (
        Use("mar-ucb", "mar", 5, "nothing"),
        Use("mar-ucb", "mar", 1.5, "all that it needs"),
        Use("mar-thompson", "mar", 3),
        Use("mediator-mar-ucb", "mediator-mar", 3),
        Use("mar-ucb", "rates", 3),
    ),
    (
        Use("mnar-ucb", "mnar", 15, "nothing"),
        Use("mnar-ucb", "mnar", 1.5, "all that it needs"),
        Use("mnar-thompson", "mnar", 3),
        Use("mnar-greedy", "mnar", 3),
        Use("mnar-ucb", "mnar", 3, delay=100),
        Use("both-mnar-ucb", "both-mnar", 3),
    ),
)


def section(bench: Workbench) -> list[str]:
    repeats = bench.runs(3, 1)
    rows = []
    for family in bench.size(FAMILIES, (FAMILIES[0][:3],)):
        worlds, policies = {use.world for use in family}, {use.policy for use in family}
        parts = {LOOP, "truant.lab.simulate"} | world_modules(*worlds) | policy_modules(*policies)
        codes = [CODE.format(world=use.world, policy=use.policy, delay=use.delay) for use in family]
        found = np.min(
            [bench.measured(cpu_of_each, parts, codes=codes, repeat=i) for i in range(repeats)], axis=0
        )
        for use, seconds in zip(family, found, strict=True):
            late = f", {use.delay} rounds late" if use.delay else ""
            cells = [f"`{use.policy}`", f"`{use.world}`{late}", use.before, f"{seconds:.1f}"]
            rows.append([*cells, judged(float(seconds), use.target)])
    return [
        "## First use",
        "CPU seconds (user and system) of a new process that imports truant and simulates once, by the "
        f"content of its compile cache; the fastest of {repeats}.",
        table(("policy", "world", "in the cache before", "CPU, s", "target"), rows),
    ]


def cpu_of_each(codes: list[str], repeat: int) -> list[float]:
    """CPU seconds of one process after the other; they share a cache that is empty at first."""
    with tempfile.TemporaryDirectory() as folder:
        return [cpu_seconds([sys.executable, "-c", code], {"TRUANT_CACHE_DIR": folder}) for code in codes]

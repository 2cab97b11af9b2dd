"""truant's own policies: nanoseconds per round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, least_nanoseconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # absolute times: nothing to compare
TARGETS = {
    ("mar", "mar-ucb"): 100,
    ("mar", "mar-thompson"): 500,
    ("mnar", "mnar-ucb"): 500,
    ("mediator-mnar", "mediator-mnar-ucb"): 700,
    ("mnar-hidden", "follow-up-ucb"): 150,
    ("mar-low", "follow-up-ucb"): 150,
}


def section(bench: Workbench) -> list[str]:
    horizon, runs, repeats = bench.size(100_000, 1000), bench.runs(20, 2), bench.runs(3, 2)
    rows = []
    for (world, policy), target in TARGETS.items():
        parts = {LOOP} | policy_modules(policy) | world_modules(world)
        sizes = {"horizon": horizon, "runs": runs, "repeats": repeats}
        value = bench.measured(least_nanoseconds, parts, world=world, policy=policy, **sizes)
        rows.append([f"`{world}`", f"`{policy}`", f"{value:.0f}", judged(value, target)])
    return [
        "## truant's own policies",
        f"Mean over {runs} instances of {horizon:,} rounds, each the fastest of {repeats} repetitions.",
        table(("world", "policy", "ns per round", "target"), rows),
    ]

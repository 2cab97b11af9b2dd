"""How the cost of a round grows with the number of arms and of levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import table
from research.sources import policy_modules, world_modules
from research.speed.cost import LOOP, nanoseconds
from research.speed.targets import judged

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # absolute times: nothing to compare
ARMS = (10, 100, 1000, 10_000)
TARGETS = {("mar-thompson", 1000): 2633}  # a third of what it took when every arm was drawn in every round
LEVELS = (2, 5, 10, 20)
BY_LEVELS = (("mar-ucb", "mar:K={0}"), ("mnar-ucb", "mnar-clear:K={0},L={0}"))


def section(bench: Workbench) -> list[str]:
    by_arms = [arms_row(bench, policy, arms) for policy in ("mar-ucb", "mar-thompson") for arms in ARMS]
    by_levels = []
    for policy, world in BY_LEVELS:
        costs = [cost(bench, policy, world.format(levels), 100_000, 3) for levels in LEVELS]
        by_levels.append([f"`{policy}`", *(f"{value:.0f}" for value in costs)])
    first, *others = LEVELS
    return [
        "## Size of the problem",
        "Nanoseconds per round, by the number of arms and by the number of levels (K = L).",
        table(("policy", "arms", "ns per round", "target"), by_arms),
        table(("policy", f"K = L = {first}", *(f"{levels}" for levels in others)), by_levels),
    ]


def arms_row(bench: Workbench, policy: str, arms: int) -> list[str]:
    value = cost(bench, policy, f"mar:arms={arms}", 200_000, 1)
    target = TARGETS.get((policy, arms))
    return [f"`{policy}`", f"{arms:,}", f"{value:.0f}", judged(value, target) if target else ""]


def cost(bench: Workbench, policy: str, world: str, horizon: int, runs: int) -> float:
    parts = {LOOP} | policy_modules(policy) | world_modules(world)
    horizon = bench.size(horizon, 1000)
    return float(bench.measured(nanoseconds, parts, world=world, policy=policy, horizon=horizon, runs=runs))

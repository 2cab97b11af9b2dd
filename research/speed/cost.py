"""Nanoseconds per round of the compiled loop."""

from __future__ import annotations

import numpy as np

from truant.lab.simulate import simulate
from truant.policies import Policy
from truant.worlds import World

LOOP = "truant.play.run"  # what is reached besides worlds and policies


def nanoseconds(
    world: World | str, policy: Policy | str, horizon: int, runs: int = 1, seed: int = 1
) -> float:
    """CPU time per round, mean over the runs."""
    result = simulate(world, policy, horizon=horizon, runs=runs, seed=seed, threads=1, progress=False)
    return float(np.mean(result.nanoseconds) / horizon)


def least_nanoseconds(world: str, policy: str, horizon: int, runs: int, repeats: int) -> float:
    """The same work several times: the least of each run, since what is more is the neighbours' work."""
    options = {"horizon": horizon, "runs": runs, "seed": 1, "threads": 1, "progress": False}
    options |= {"follow_up_cost": 0.1} if policy.startswith("follow-up") else {}
    found = [simulate(world, policy, **options).nanoseconds[0] for _ in range(repeats)]  # type: ignore[arg-type]
    return float(np.min(found, axis=0).mean() / horizon)

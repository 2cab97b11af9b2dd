"""Whether 95% intervals hold the truth at the end of adaptive runs."""

from __future__ import annotations

import numpy as np

from research.cores import each
from research.validation.intervals import covers
from research.validation.plans import plan_named
from truant.play.run import play


def adaptive_runs(
    assumption: str, world: str, horizon: int, runs: int, seed: int
) -> list[dict[str, list[bool | None]]]:
    """Of each run of `ucb`, which intervals hold the truth at its end: the best arm's and the others'."""
    return each(_adaptive_run, [(assumption, world, horizon, seed, run) for run in range(runs)])


def _adaptive_run(item: tuple[str, str, int, int, int]) -> dict[str, list[bool | None]]:
    assumption, world, horizon, seed, run = item
    plan = plan_named(world, [f"{assumption}-ucb"], horizon, seed)
    instance = plan.instance(run)
    counts = play(plan.policies[0], instance, plan.generator(run), horizon, plan.rounds).counts
    best = int(np.argmax(instance.means))
    held = [
        covers(assumption, counts, arm, instance.setting, float(mean))
        for arm, mean in enumerate(instance.means)
    ]
    return {"best": [held[best]], "others": held[:best] + held[best + 1 :]}

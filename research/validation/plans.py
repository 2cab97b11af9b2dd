"""Runs as `simulate` would make them, for what a simulation does not keep; and what theory says of their instances."""

from __future__ import annotations

import numpy as np

from truant import theory
from truant.play.run import RunPlan
from truant.policies import named
from truant.spec import Spec


def plan_named(spec: str, policies: list[str], horizon: int, seed: int) -> RunPlan:
    """The runs that `simulate` would make; regret is noted at the last round only."""
    built = [named(policy) for policy in policies]
    return RunPlan(Spec.parse(spec), built, horizon, seed, np.array([horizon]))


def yardsticks(world: str, assumption: str, horizon: int, runs: int, seed: int) -> list[float]:
    """2 V/gap log T, summed over the worse arms, of the instance of each run."""
    plan = plan_named(world, [], horizon, seed)
    return [theory.instance_regret(plan.instance(run), horizon, assumption) for run in range(runs)]

"""Whether 95% intervals of fixed samples hold the truth."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from research.cores import each
from research.validation.instances import world_named
from truant import registry
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.setting import Setting

TWO_SIDED = 1.959964  # 95%


def fixed_samples(
    assumption: str, world: str, pulls: int, replications: int, first: int
) -> list[bool | None]:
    """Of each replication, whether the interval of one arm of a new instance holds the truth; None if refused.

    Parameters
    ----------
    first : seed of the first replication.
    """
    seeds = range(first, first + replications)
    return each(_fixed_sample, [(assumption, world, pulls, seed) for seed in seeds])


def _fixed_sample(item: tuple[str, str, int, int]) -> bool | None:
    assumption, spec, pulls, seed = item
    world = world_named(spec, seed)
    arms = np.full(pulls, seed % world.setting.arms)
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, seed))
    return covers(assumption, counts, int(arms[0]), world.setting, float(world.means[arms[0]]))


def covers(name: str, counts: Counts, arm: int, setting: Setting, truth: float) -> bool | None:
    """Whether an assumption's interval holds the truth; None if it refuses the counts."""
    assumption = _assumption(name)
    try:
        if hasattr(assumption, "fit"):  # the root at the truth says the same as two limits, in one search
            fit = assumption.fit(counts, arm)
            return bool(2 * (fit.log_likelihood - fit.log_likelihood_at(truth)) <= TWO_SIDED**2)
        low, high = assumption.estimate(counts, arm, setting).interval(0.95)
        return bool(low <= truth <= high)
    except NotIdentified:
        return None


@functools.cache
def _assumption(name: str) -> Any:
    return registry.find("assumption", name).build()

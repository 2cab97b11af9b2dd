"""Arms sorted by how well mediator and outcome tell each other's levels apart: the condition number of Theta."""

from __future__ import annotations

import numpy as np

from research.validation.samples import Arm
from truant.worlds import make

# the odds system of each assumption is that of Theta (0) or of its transpose (1)
WORLDS = {"mnar": 0, "mediator-mnar": 1, "both-mnar": 0}
CLASSES = {"below 20": 20.0, "20 to 150": 150.0, "150 to 1000": 1000.0, "above 1000": np.inf}


def class_of(condition_number: float) -> str:
    """The class of a condition number; the upper end belongs to the class above it."""
    return next(name for name, end in CLASSES.items() if condition_number < end or end == np.inf)


def classed_arms(world: str, wanted: int, first: int) -> dict[str, list[Arm]]:
    """The first arms of each class of condition number, over instances first, first + 1 ..."""
    found: dict[str, list[Arm]] = {label: [] for label in CLASSES}
    seed = first
    while any(len(arms) < wanted for arms in found.values()):
        numbers = make(world, seed=seed).setting.condition_numbers
        assert numbers is not None
        for arm, number in enumerate(numbers[:, WORLDS[world]]):
            label = class_of(float(number))
            if len(found[label]) < wanted:
                found[label].append((world, seed, arm))
        seed += 1
    return found

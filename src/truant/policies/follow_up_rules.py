"""When a missing outcome is worth following up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truant.assumptions.follow_up import (
    ANSWERED,
    ARM_PULLS,
    ASKED,
    FREEDOM,
    MEAN,
    MISSING_VARIANCE,
    SEEN_VARIANCE,
)
from truant.compile import hot, lean
from truant.errors import InvalidValue, unknown
from truant.setting import FloatArray, is_number, positive_number, share, whole_number
from truant.text import quoted

SUCCESS, BUDGET, COST, HORIZON, OWN = range(5)  # what every rule is told, then its own parameters


@dataclass(frozen=True)
class FollowUps:
    """What following up a missing outcome costs, in units of the outcome, and how often it brings an answer."""

    cost: float
    success: float = 1.0

    def __post_init__(self) -> None:
        positive_number("follow_up_cost", self.cost, or_zero=True)
        if not share("follow_up_success", self.success) > 0:
            raise InvalidValue(f"follow_up_success must be in (0, 1], got {self.success}.")


@dataclass(frozen=True)
class FollowUpRule:
    """Whether to follow up a missing outcome, beside the index's `choose`.

    `worth(arm, t, rule, described, wanted, rng)` is compiled and answers it after a pull of `arm` in round t whose
    outcome is missing. `rule` has success, budget, cost, horizon and the rule's own parameters.
    """

    name: str
    worth: Callable[..., bool] = field(repr=False)
    describes: bool = True  # whether it reads what the curve of `follow-up` says of the arms
    own: tuple[float, ...] = ()
    budget: float = math.inf

    def numbers(self, follow_ups: FollowUps, horizon: int) -> FloatArray:
        """What `worth` is told."""
        return np.array([follow_ups.success, self.budget, follow_ups.cost, float(horizon), *self.own])


@hot
def at_random(
    arm: int, t: int, rule: FloatArray, described: FloatArray, wanted: FloatArray, rng: Any
) -> bool:
    """A share of the missing outcomes."""
    return bool(rng.random() < rule[OWN])


@lean
def other_mean(arm: int, described: FloatArray) -> float:
    """The highest mean of the other arms."""
    best = -math.inf
    for a in range(described.shape[0]):
        if a != arm:
            best = max(best, described[a, MEAN])
    return best


@lean
def above_threshold(arm: int, t: int, rule: FloatArray, described: FloatArray) -> bool:
    log_horizon = math.log(rule[HORIZON])
    n0 = described[arm, ASKED]
    D = abs(described[arm, MEAN] - other_mean(arm, described))
    part = described[arm, MISSING_VARIANCE] * (described[arm, ANSWERED] + 1.0) / (n0 + 1.0)
    W = math.sqrt(part * log_horizon)
    if (n0 + 1.0) * rule[COST] > 0.1 * max(D, W) * rule[HORIZON]:
        return False
    if n0 < 10.0:
        return True
    return W > 0.7 * D and part >= described[arm, SEEN_VARIANCE]


@hot
def threshold(
    arm: int, t: int, rule: FloatArray, described: FloatArray, wanted: FloatArray, rng: Any
) -> bool:
    if wanted[arm] < 0.0:
        wanted[arm] = 1.0 if above_threshold(arm, t, rule, described) else 0.0
    return bool(wanted[arm] > 0.0)


def rule_of(follow_up: object, budget: object, is_own: bool) -> FollowUpRule:
    own = FollowUpRule("threshold", threshold)
    return own


parts: dict = {}

"""What every assumption offers: a check, a curve for choosing, an estimate for reporting."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from truant.compile import hot
from truant.counts import Counts
from truant.errors import InvalidValue
from truant.setting import FloatArray, Setting


@dataclass(frozen=True)
class Estimate:
    """An arm's value: the best guess, and `at(z)`, the value z standard deviations away from it."""

    mean: float
    at: Callable[[float], float] = field(repr=False)

    @classmethod
    def normal(cls, mean: float, variance: float) -> Estimate:
        """An estimate that is nearly normal: at(z) = mean + z standard errors."""
        centre, error = float(mean), float(np.sqrt(variance))
        return cls(centre, lambda z: centre + z * error if z else centre)

    @functools.cached_property
    def standard_error(self) -> float:
        """Half the distance from at(-1) to at(1)."""
        return (self.at(1.0) - self.at(-1.0)) / 2

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval at(-z), at(z) of that level."""
        if not 0 < level < 1:
            raise InvalidValue(f"level must be between 0 and 1, got {level}.")
        z = NormalDist().inv_cdf((1 + level) / 2)
        return self.at(-z), self.at(z)


@hot
def forget(row: FloatArray, memory: FloatArray, mediator: int, outcome: float) -> None:
    """Keeps nothing of a pull but its counts."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How the compiled loop turns one arm's counts into at(z).

    `fill(row, memory, shared, parameters, knots, values)` writes at(z) for each z of `knots` into `values`.
    All are the pulled arm's own, but for `shared`, which all arms have in common; `row` is its counts,
    `memory` what it keeps from its last call (zeros at first). Where it makes no arrays
    (scratch space can be part of `shared`) and is marked `lean` or `hot`, the loop is several times as fast.

    `follow(row, memory, mediator, outcome)`, if given, is called after each pull of the arm, with the counts it
    has entered: it brings the memory up to date, so that `fill` need not go over all cells. `fill` must be able to
    do without it (memory all zeros). The outcome is about the centre (NaN if missing), or its level; mediator K
    and level L mean missing.
    """

    fill: Callable[..., None]
    follow: Callable[..., None] = forget
    parameters: FloatArray  # (arms, any number)
    discrete: bool = False  # wants the discrete layout of counts, not the real one
    linear: bool = True  # at(z) is a straight line, so two knots say all
    first_pulls: int = 1  # of each arm, before any choice
    growth: float = 0.0  # recompute when the arm's pulls grew by this share
    memory: Callable[[int], int] = lambda knots: 0  # numbers kept per arm, given the number of knots
    shared: int = 0  # numbers kept for all arms together


class Assumption(ABC):
    """A belief about why outcomes are missing, and what follows from it."""

    needs: ClassVar[str]  # one line, for listings

    @abstractmethod
    def check(self, setting: Setting) -> None:
        """Raise NotIdentified if the setting cannot meet the assumption."""

    @abstractmethod
    def curve(self, setting: Setting) -> Curve:
        """For choosing: how the loop estimates an arm (shrunk, so that thin cells do no harm)."""

    @abstractmethod
    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """For reporting: the arm's value without shrinkage; NotIdentified where the counts do not allow it."""


def per_arm(setting: Setting, *values: Any) -> FloatArray:
    """The same parameters for every arm."""
    flat = np.concatenate([np.ravel(np.asarray(value, np.float64)) for value in values])
    return np.tile(flat, (setting.arms, 1))

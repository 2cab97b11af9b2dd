"""`ucb`: look sqrt(log T) standard deviations up; `cautious` looks sqrt(2 log T) up.

The plain level is right as T grows for a nearly normal estimate, and best or near best in every setting
tried, but has no finite-time guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.compile import hot
from truant.errors import InvalidValue, unknown
from truant.indices.index import Index, highest, highest_memory, highest_read, knots_of
from truant.setting import FloatArray, as_float

LEVELS = {"plain": 1.0, "cautious": 2.0}


@hot
def choose(
    values: FloatArray,
    knots: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    last: int,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(sqrt(level log T)), which is the only knot; or at(sqrt(level log t)), read between knots."""
    if len(knots) == 1:  # with log T, an arm's score changes only when it is pulled
        return highest(values, memory, last, rng)
    return highest_read(values, knots, np.sqrt(parameters[0] * np.log(t)), False, rng)


@dataclass(frozen=True)
class Ucb(Index):
    """The arm whose value could be highest: at(z) with z = sqrt(level log T).

    Parameters
    ----------
    level : "plain" (1), "cautious" (2), or a number.
    horizon : "known" uses log T, "unknown" uses log t.
    """

    level: str | float = "plain"
    horizon: str = "known"
    choose = staticmethod(choose)

    def __post_init__(self) -> None:
        if self.horizon not in ("known", "unknown"):
            raise InvalidValue(f"horizon must be 'known' or 'unknown', got {self.horizon!r}.")
        self.multiple  # noqa: B018 - refuse a bad level at once

    @property
    def multiple(self) -> float:
        """The level as a number."""
        if isinstance(self.level, str):
            if self.level not in LEVELS:
                raise unknown("level", self.level, LEVELS)
            return LEVELS[self.level]
        number = isinstance(self.level, int | float | np.number) and not isinstance(self.level, bool)
        if not (number and 0 < as_float(self.level) < np.inf):
            raise InvalidValue(f"level must be a positive number, 'plain' or 'cautious', got {self.level}.")
        return float(self.level)

    def knots(self, horizon: int, linear: bool) -> FloatArray:
        """One knot if the horizon is known."""
        if self.horizon == "known":
            return np.array([np.sqrt(self.multiple * np.log(horizon))])
        return knots_of(linear)

    def parameters(self, horizon: int) -> FloatArray:
        """The level."""
        return np.array([self.multiple])

    def memory(self, arms: int) -> int:
        """What `highest` keeps."""
        return highest_memory(arms)


parts = {"ucb": Ucb}

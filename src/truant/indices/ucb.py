"""`ucb`: look far enough up that a better arm would show; `cautious` looks twice as far, in squares.

The level has no finite-time guarantee; it is best or near best in every setting tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from truant.compile import hot
from truant.errors import InvalidValue, unknown
from truant.indices.index import Index, highest, highest_memory, share_among_highest, update_highest
from truant.setting import FloatArray, as_float

LEAST = 2.0  # half a squared z for an arm that is known as well as can be
LEVELS = {"plain": 1.0, "cautious": 2.0}


@hot
def choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(z), which is the only z."""
    return highest(memory)


@hot
def probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    """All on the highest at(z)."""
    share_among_highest(values, out)


@hot
def aim(known: float, log_horizon: float, parameters: FloatArray, z_grid: FloatArray) -> None:
    """Sets z = sqrt(level x squared_z) for this arm."""
    z_grid[0] = math.sqrt(parameters[0] * squared_z(known, log_horizon))


@hot
def squared_z(known: float, log_horizon: float) -> float:
    """The square of z: log T, or less where more is known of the arm than its share of what is to come.

    With N outcomes known and x = log(T/N): 2 max(x - log(max(x, 1))/2 - 1.96, 2), which is near the boundary of the
    best index for a normal outcome over the rounds that are left.
    """
    if known <= 0.0:
        return log_horizon
    x = max(log_horizon - math.log(known), 0.0)
    return float(2.0 * max(x - math.log(max(x, 1.0)) / 2.0 - 1.96, LEAST))


@dataclass(frozen=True)
class Ucb(Index):
    """The arm whose value could be highest: at(z), z^2 = level log T, or less where the arm is well known.

    Parameters
    ----------
    level : How wide the upper confidence bounds are: plain (1), cautious (2), or a number; it multiplies z squared.
    horizon : Whether the horizon is known, or unknown: the horizon is then guessed from the rounds so far.
    """

    level: str | float = "plain"
    horizon: str = "known"
    choose = staticmethod(choose)
    update = staticmethod(update_highest)
    probabilities = staticmethod(probabilities)
    aim = staticmethod(aim)
    counts_pending = True

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

    @property
    def horizon_known(self) -> bool:
        """As was said."""
        return self.horizon == "known"

    def z_grid(self, linear: bool) -> FloatArray:
        """One, which `aim` sets."""
        return np.zeros(1)

    def parameters(self) -> FloatArray:
        """The level."""
        return np.array([self.multiple])

    def memory(self, arms: int) -> int:
        """What `highest` keeps."""
        return highest_memory(arms)


def cautious(horizon: str = "known") -> Ucb:
    """Looks sqrt(2) times as far up as `ucb`.

    Parameters
    ----------
    horizon : Whether the horizon is known, or unknown: the horizon is then guessed from the rounds so far.
    """
    return Ucb("cautious", horizon)


parts = {"ucb": Ucb, "cautious": cautious}

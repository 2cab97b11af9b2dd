"""`greedy` and `epsilon-greedy`: the best guess, at(0), with or without a share of random pulls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.compile import hot
from truant.errors import InvalidValue
from truant.indices.index import Index, highest, highest_memory, share_among_highest, update_highest
from truant.setting import FloatArray


@hot
def choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(0), or any arm with probability epsilon."""
    if parameters[0] > 0.0 and rng.random() < parameters[0]:
        return int(rng.random() * values.shape[0])
    return highest(memory)


@hot
def probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    """Epsilon spread over all arms, the rest on the highest at(0)."""
    share_among_highest(values, out)
    for a in range(len(out)):
        out[a] = (1.0 - parameters[0]) * out[a] + parameters[0] / len(out)


@dataclass(frozen=True)
class EpsilonGreedy(Index):
    """The best guess, except for a share epsilon of pulls spread over all arms.

    Parameters
    ----------
    epsilon : Share of the rounds in which an arm is drawn at random, all arms with equal probability.
    """

    epsilon: float = 0.1
    choose = staticmethod(choose)
    update = staticmethod(update_highest)
    probabilities = staticmethod(probabilities)

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, int | float | np.number) or not 0 <= self.epsilon <= 1:
            raise InvalidValue(f"epsilon must be in [0, 1], got {self.epsilon}.")

    def z_grid(self, linear: bool) -> FloatArray:
        """The best guess alone."""
        return np.zeros(1)

    def parameters(self) -> FloatArray:
        """The share of random pulls."""
        return np.array([float(self.epsilon)])

    def memory(self, arms: int) -> int:
        """What `highest` keeps."""
        return highest_memory(arms)


def greedy() -> EpsilonGreedy:
    """The best guess, always: at(0); explores nothing."""
    return EpsilonGreedy(epsilon=0.0)


def uniform() -> EpsilonGreedy:
    """Every arm alike, as a fixed experiment would."""
    return EpsilonGreedy(epsilon=1.0)


parts = {"greedy": greedy, "epsilon-greedy": EpsilonGreedy, "uniform": uniform}

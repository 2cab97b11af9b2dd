"""What every index offers, and what the compiled ones share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from truant.compile import hot, lean
from truant.setting import FloatArray

STRAIGHT = (0.0, 1.0)  # two points say all of a straight at(z)
CURVED = (-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5)
ROOT_HALF = math.sqrt(0.5)


@hot
def as_they_are(known: float, log_horizon: float, parameters: FloatArray, z_grid: FloatArray) -> None:
    """Looks at the same z for every arm."""


@hot
def keep_nothing(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    arm: int,
    rng: np.random.Generator,
) -> None:
    """Keeps nothing of the arms' values."""


@hot
def guessed_log_horizon(rounds: float) -> float:
    """Of an unknown horizon: four times the rounds so far, and a thousand more, so that the first are not trusted."""
    return float(math.log(4.0 * rounds + 1000.0))


class Index(ABC):
    """Which arm to pull, given every arm's at(z).

    All of these are compiled:
    `choose(values, z_grid, parameters, memory, t, rng)` returns an arm; `values` has each arm's at(z) on the grid,
    `t` counts rounds from 1, `memory` is the index's own, zeros at first.
    `update(values, z_grid, parameters, memory, arm, rng)` is called when values of an arm have changed (of all of them
    if `arm` is -1), so that `choose` need not compare all arms.
    `probabilities(values, z_grid, parameters, t, out)` writes the probability that `choose` has for each arm; where it
    is None, the index can be simulated, but not asked for a decision with known probabilities.
    `aim(known, log_horizon, parameters, z_grid)` writes the z at which an arm's curve is wanted, given how many
    outcomes its estimate is worth (0: not known); unless given, the z of `z_grid` are the same for all arms.
    """

    choose: ClassVar[Callable[..., int]]
    update: ClassVar[Callable[..., None]] = staticmethod(keep_nothing)
    probabilities: ClassVar[Callable[..., None] | None] = None
    aim: ClassVar[Callable[..., None]] = staticmethod(as_they_are)
    # an arm's pulls whose outcome is not yet due count as if they had come out like the others
    counts_pending: ClassVar[bool] = False

    @property
    def horizon_known(self) -> bool:
        """Whether the number of rounds may be used; if not, a guess is raised as rounds go by."""
        return True

    @abstractmethod
    def z_grid(self, linear: bool) -> FloatArray:
        """The z at which at(z) is wanted; two are enough where it is a straight line."""

    def parameters(self) -> FloatArray:
        """Numbers that `choose` needs."""
        return np.zeros(1)

    def memory(self, arms: int) -> int:
        """How many numbers `choose` keeps."""
        return 0


def z_grid_of(linear: bool) -> FloatArray:
    """Knots from which at(z) can be read anywhere."""
    return np.asarray(STRAIGHT if linear else CURVED)


@hot
def read(values: FloatArray, z_grid: FloatArray, z: float) -> float:
    """at(z) between the points of the grid, by straight lines (and beyond them)."""
    k = 1
    while k < len(z_grid) - 1 and z > z_grid[k]:
        k += 1
    if values[k] == np.inf:
        return np.inf
    slope = (values[k] - values[k - 1]) / (z_grid[k] - z_grid[k - 1])
    return float(values[k - 1] + slope * (z - z_grid[k - 1]))


@hot
def where(values: FloatArray, z_grid: FloatArray, x: float) -> float:
    """The highest z at which at(z) is not above x: `read` the other way round. Values must not fall."""
    k = len(z_grid) - 1
    while k > 1 and x < values[k - 1]:
        k -= 1
    if x == np.inf:
        return np.inf
    if values[k] == np.inf:
        return float(z_grid[k - 1]) if k > 1 else -np.inf
    rise = values[k] - values[k - 1]
    if rise <= 0.0:
        return np.inf if x >= values[k] else -np.inf
    return float(z_grid[k - 1] + (x - values[k - 1]) / rise * (z_grid[k] - z_grid[k - 1]))


@hot
def normal_below(values: FloatArray, z_grid: FloatArray, x: float) -> float:
    """P(at(Z) <= x) for Z ~ N(0, 1)."""
    z = where(values, z_grid, x)
    if z > 8.3:
        return 1.0
    return 0.5 * math.erfc(-z * ROOT_HALF)


def highest_memory(arms: int) -> int:
    """Numbers that `highest` keeps: the second's value, the leader, and winner and ties of each match."""
    return 2 + 2 * bracket.py_func(arms)  # type: ignore[attr-defined, no-any-return]


@hot
def update_highest(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    arm: int,
    rng: np.random.Generator,
) -> None:
    """Find the arm with the highest first value anew; ties are broken at random.

    While the leader still beats the second, nothing needs comparing; else the arm's matches are played again, and
    no others: log2(arms) comparisons at most.
    """
    if arm < 0 or memory[1] != arm or values[arm, 0] <= memory[0]:
        tournament(values, memory, arm, rng)


@hot
def highest(memory: FloatArray) -> int:
    """The arm that `update_highest` found."""
    return int(memory[1])


@lean
def bracket(arms: int) -> int:
    """Places of a knock-out tournament: the next power of two."""
    places = 1
    while places < arms:
        places *= 2
    return places


@lean
def tournament(values: FloatArray, memory: FloatArray, last: int, rng: np.random.Generator) -> int:
    """Play the matches of one arm again (all of them if `last` is -1); the leader, as for `highest`.

    Match i is between the winners of 2i and 2i + 1, the final is match 1; from number `places` on they are arms.
    """
    arms = values.shape[0]
    places = bracket(arms)
    winners, ties = memory[2 : 2 + places], memory[2 + places :]
    match = (places + last) // 2 if last >= 0 else places - 1
    while match >= 1:
        play(values, winners, ties, places, match, rng)
        match = match // 2 if last >= 0 else match - 1
    best = int(winners[1]) if places > 1 else 0
    second, match = -np.inf, places + best  # the second best has lost to the winner
    while match > 1:
        rival = winner(winners, places, match ^ 1)
        if rival < arms:
            second = max(second, values[rival, 0])
        match //= 2
    memory[0], memory[1] = second, best
    return best


@hot
def winner(winners: FloatArray, places: int, match: int) -> int:
    """The arm that a match sends on; one that is not there if it was between empty places."""
    return int(winners[match]) if match < places else match - places


@hot
def play(
    values: FloatArray,
    winners: FloatArray,
    ties: FloatArray,
    places: int,
    match: int,
    rng: np.random.Generator,
) -> None:
    """Of two equal winners each goes on in proportion to those that it is tied with."""
    left, right = winner(winners, places, 2 * match), winner(winners, places, 2 * match + 1)
    many_left = ties[2 * match] if 2 * match < places else 1.0
    many_right = ties[2 * match + 1] if 2 * match + 1 < places else 1.0
    arms = values.shape[0]
    if right >= arms or values[left, 0] > values[right, 0]:  # empty places are all on the right
        winners[match], ties[match] = left, many_left
    elif values[left, 0] < values[right, 0]:
        winners[match], ties[match] = right, many_right
    else:
        ties[match] = many_left + many_right
        winners[match] = left if rng.random() * ties[match] < many_left else right


@hot
def share_among_highest(values: FloatArray, out: FloatArray) -> None:
    """Probability 1 for the highest first value, shared among those that are tied."""
    top = values[0, 0]
    for a in range(1, values.shape[0]):
        top = max(top, values[a, 0])
    ties = 0.0
    for a in range(values.shape[0]):
        ties += 1.0 if values[a, 0] == top else 0.0
    for a in range(values.shape[0]):
        out[a] = 1.0 / ties if values[a, 0] == top else 0.0

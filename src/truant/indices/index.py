"""What every index offers, and what the compiled ones share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from truant.compile import hot, lean
from truant.setting import FloatArray

STRAIGHT = (0.0, 1.0)  # two knots say all of a straight at(z)
CURVED = (-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5)


class Index(ABC):
    """Which arm to pull, given every arm's at(z).

    `choose(values, knots, parameters, memory, last, t, rng)` is compiled and returns an arm. `values` has
    at(z) of each arm at the knots; only the row of `last` changed since the round before (all of them if
    `last` is -1); `t` counts rounds from 1; `memory` is the index's own, zeros at first.
    """

    choose: ClassVar[Callable[..., int]]

    @abstractmethod
    def knots(self, horizon: int, linear: bool) -> FloatArray:
        """The z at which at(z) is wanted; two are enough where it is a straight line."""

    def parameters(self, horizon: int) -> FloatArray:
        """Numbers that `choose` needs."""
        return np.zeros(1)

    def memory(self, arms: int) -> int:
        """How many numbers `choose` keeps."""
        return 0


def knots_of(linear: bool) -> FloatArray:
    """Knots from which at(z) can be read anywhere."""
    return np.asarray(STRAIGHT if linear else CURVED)


@hot
def read(values: FloatArray, knots: FloatArray, z: float) -> float:
    """at(z) between the knots, by straight lines (and beyond them)."""
    k = 1
    while k < len(knots) - 1 and z > knots[k]:
        k += 1
    if values[k] == np.inf:
        return np.inf
    slope = (values[k] - values[k - 1]) / (knots[k] - knots[k - 1])
    return float(values[k - 1] + slope * (z - knots[k - 1]))


def highest_memory(arms: int) -> int:
    """Numbers that `highest` keeps: the second's value, the leader, and winner and ties of each match."""
    return 2 + 2 * bracket.py_func(arms)  # type: ignore[attr-defined, no-any-return]


@hot
def highest(values: FloatArray, memory: FloatArray, last: int, rng: np.random.Generator) -> int:
    """The arm with the highest first value; ties are broken at random.

    Must be asked in every round, since only the last arm's value is looked at anew. While it is the leader that
    is pulled and it still beats the second, nothing needs comparing; else its matches are played again, and no
    others: a round costs log2(arms) comparisons at most.
    """
    if last >= 0 and memory[1] == last and values[last, 0] > memory[0]:
        return last
    return tournament(values, memory, last, rng)


@lean
def bracket(arms: int) -> int:
    """Places of a knock-out tournament: the next power of two."""
    places = 1
    while places < arms:
        places *= 2
    return places


@lean
def tournament(values: FloatArray, memory: FloatArray, last: int, rng: np.random.Generator) -> int:
    """Play the matches of the last arm again (all of them if `last` is -1); the leader, as for `highest`.

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
def highest_read(
    values: FloatArray, knots: FloatArray, z: float, randomly: bool, rng: np.random.Generator
) -> int:
    """The arm with the highest at(z), or at(Z) with Z ~ N(0, 1) for each arm; ties are broken at random."""
    best, ties, top = 0, 0, -np.inf
    for a in range(values.shape[0]):
        score = read(values[a], knots, rng.standard_normal() if randomly else z)
        if score > top:
            best, ties, top = a, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    return best

"""What every index offers, and what the compiled ones share.

The probability that an arm is the highest, and the expected loss of another choice, by quadrature.

Arm a's value is at_a(Z), Z ~ N(0, 1), independent of the others, with distribution function F_a. The highest value
has the distribution function G = product of all F_a, and arm a is the highest with probability
int G dlog F_a. The integral is taken from the top downwards in cells, each with a small part of G; within a cell
all log F_a are taken to be proportional to log G. So the cells follow the arms that matter, whatever their scales,
and each costs one look at each arm. Where values are equal (a flat piece of at_a, or an infinite value), F_a jumps:
there all F_a go from one side to the other in proportion, which is what breaking ties at random does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from truant.compile import heavy, hot, lean
from truant.compile.marks import NUMBER, TABLE, VECTOR, WHOLE
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


FAR = 8.3  # beyond this z there is less than 1e-16
LEAST = 1e-8  # of G, which is neglected
CELL = 0.004  # of G, at most
TAIL_CELL = 0.25  # of what is left of G, or above it
TOP = 1e-9  # of G, in the highest cell
MOST_CELLS = 20_000  # never reached


@heavy(NUMBER(TABLE, VECTOR, WHOLE, VECTOR))
def best(values: FloatArray, z_grid: FloatArray, leader: int, out: FloatArray) -> float:
    """Writes P(arm is highest); returns E[max_a V_a - V_leader], the expected loss (0 without a leader: -1).

    The loss is int (F_leader - G) dx. Its value is no use where values are infinite.
    """
    top, bottom = support(values, z_grid)
    for a in range(len(out)):
        out[a] = 0.0
    x, level = top, all_below(values, z_grid, top, top, 1.0)
    slide(values, z_grid, np.inf, top, out)
    step, loss = (top - bottom) / 64.0, 0.0
    for _ in range(MOST_CELLS):
        if not (level > LEAST and x > bottom):
            break
        allowed = min(CELL, TAIL_CELL * level, TAIL_CELL * (1.0 - level) + TOP)
        good, good_level, bad = descend(values, z_grid, x, level, step, allowed, bottom)
        award(values, z_grid, (x, x, 1.0), (good, good, 1.0), level, good_level, out)
        if leader >= 0:
            loss += missed(values, z_grid, leader, x, good, level, good_level)
        if bad < good:  # nothing between them: a jump
            slide(values, z_grid, good, bad, out)
            x, level = bad, all_below(values, z_grid, bad, bad, 1.0)
            step = (top - bottom) / 64.0
        else:
            growth = min(4.0, 0.8 * allowed / max(level - good_level, 0.2 * allowed))
            step, x, level = (x - good) * growth, good, good_level
    normalise(out)
    return loss + (shortfall(values[leader], z_grid, x, level) if leader >= 0 else 0.0)


@lean
def descend(
    values: FloatArray, z_grid: FloatArray, x: float, level: float, step: float, allowed: float, bottom: float
) -> tuple[float, float, float]:
    """The lower end of a cell, with G there; and, if G jumps just below it, the other side of the jump."""
    good, good_level, bad = x, level, np.inf
    trial = max(x - step, bottom)
    while True:
        trial_level = all_below(values, z_grid, trial, trial, 1.0)
        if level - trial_level <= allowed:
            good, good_level = trial, trial_level
            if bad == np.inf or level - good_level > 0.25 * allowed:
                return good, good_level, good
        else:
            bad = trial
        trial = 0.5 * (good + bad)
        if not bad < trial < good or good - bad < 1e-15 * (abs(good) + abs(bad)) + 1e-18 * step:
            return good, good_level, bad


@lean
def slide(values: FloatArray, z_grid: FloatArray, high: float, low: float, out: FloatArray) -> None:
    """The cells of a jump: all F_a go from their values at `high` to those at `low` in proportion."""
    s, step, level = 1.0, 1.0, all_below(values, z_grid, high, low, 1.0)
    for _ in range(MOST_CELLS):
        if not (level > LEAST and s > 0.0):
            return
        allowed = min(CELL, TAIL_CELL * level, TAIL_CELL * (1.0 - level) + TOP)
        trial = max(s - step, 0.0)
        trial_level = all_below(values, z_grid, high, low, trial)
        if level - trial_level <= allowed or step < 1e-15:
            award(values, z_grid, (high, low, s), (high, low, trial), level, trial_level, out)
            growth = min(4.0, 0.8 * allowed / max(level - trial_level, 0.2 * allowed))
            s, level = trial, trial_level
            step *= growth
        else:
            step *= 0.5


@lean
def award(
    values: FloatArray,
    z_grid: FloatArray,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    level: float,
    end_level: float,
    out: FloatArray,
) -> None:
    """Share out a cell's part of G in proportion to the changes of log F_a."""
    if not level > end_level > 0.0:
        return
    weight = (level - end_level) / math.log(level / end_level)
    for a in range(len(out)):
        lower = between(values[a], z_grid, end[0], end[1], end[2])
        if lower < 1.0:
            upper = between(values[a], z_grid, start[0], start[1], start[2])
            out[a] += weight * math.log(upper / lower)


@lean
def all_below(values: FloatArray, z_grid: FloatArray, high: float, low: float, s: float) -> float:
    """G, the product of all F_a; 0 as soon as it is negligible."""
    product = 1.0
    for a in range(values.shape[0]):
        product *= between(values[a], z_grid, high, low, s)
        if product < 1e-3 * LEAST:
            return 0.0
    return product


@hot
def between(values: FloatArray, z_grid: FloatArray, high: float, low: float, s: float) -> float:
    """F_a at a point or, if it jumps from `high` to `low`, a share s of the way up."""
    lower = normal_below(values, z_grid, low)
    if high == low:
        return lower
    return lower + s * (normal_below(values, z_grid, high) - lower)


@lean
def support(values: FloatArray, z_grid: FloatArray) -> tuple[float, float]:
    """The highest value that is finite, and a value that some arm is sure to exceed."""
    top = bottom = -np.inf
    last = len(z_grid) - 1
    for a in range(values.shape[0]):
        highest = read(values[a], z_grid, max(FAR, z_grid[last]))
        for k in range(last, 0, -1):
            if values[a, k] == np.inf:  # so at(z) is beyond the z before it
                highest = values[a, k - 1] if k > 1 else -np.inf
        top = max(top, highest)
        bottom = max(bottom, read(values[a], z_grid, min(-FAR, z_grid[0])))
    return top, bottom - 1e-9 * max(abs(bottom), top - bottom, 1e-290)


@lean
def missed(
    values: FloatArray,
    z_grid: FloatArray,
    leader: int,
    high: float,
    low: float,
    level: float,
    low_level: float,
) -> float:
    """The integral of F_leader - G over a cell, by Simpson's rule."""
    own, middle = values[leader], 0.5 * (high + low)
    total = normal_below(own, z_grid, high) - level + normal_below(own, z_grid, low) - low_level
    total += 4.0 * (normal_below(own, z_grid, middle) - all_below(values, z_grid, middle, middle, 1.0))
    return (high - low) / 6.0 * total


@lean
def shortfall(values: FloatArray, z_grid: FloatArray, x: float, level: float) -> float:
    """The integral of F - G below x, where G, the product of F and others, is negligible: nearly E[max(x - V, 0)].

    It is taken by pieces, on each of which V is a straight line in Z.
    """
    limit, total, last = where(values, z_grid, x), 0.0, len(z_grid) - 1
    for k in range(1, last + 1):
        left = -np.inf if k == 1 else z_grid[k - 1]
        right = min(limit, np.inf if k == last else z_grid[k])
        if right > left:
            slope = (values[k] - values[k - 1]) / (z_grid[k] - z_grid[k - 1])
            start = values[k - 1] - slope * z_grid[k - 1]
            mass = 0.5 * (math.erfc(-right * math.sqrt(0.5)) - math.erfc(-left * math.sqrt(0.5)))
            turn = math.exp(-0.5 * right * right) - math.exp(-0.5 * left * left)
            total += (x - start) * mass + slope * turn / math.sqrt(2.0 * math.pi)
    return total * (1.0 - level / max(normal_below(values, z_grid, x), level, 1e-300))


@lean
def normalise(out: FloatArray) -> None:
    """What was neglected is shared in proportion."""
    total = 0.0
    for a in range(len(out)):
        total += out[a]
    for a in range(len(out)):
        out[a] /= total

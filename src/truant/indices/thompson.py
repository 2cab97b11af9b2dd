"""`thompson`: look at a random z, so that an arm is pulled as often as it may be the best.

Thompson sampling for many arms: draw only those that may be the highest; exact in distribution.

With a threshold theta, arm a exceeds it with probability q_a = P(at_a(Z) > theta), independently of the others. Its
hazard is h_a = -log(1 - q_a): put the hazards side by side on a line, throw points on it at rate 1, and each arm
has a point in its part with probability q_a. So the arms that exceed theta are found by jumping along the line, and
the highest of them is chosen. If there are none (probability e^-H, H the sum), all arms are drawn, each below theta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from truant.compile import heavy, hot, lean
from truant.compile.marks import NOTHING, TABLE, VECTOR
from truant.indices.index import ROOT_HALF, Index, best, bracket, read, support, where, z_grid_of
from truant.setting import FloatArray

MANY = 4  # arms from which on this is faster than drawing them all
# in memory: theta, whether it is used, H when it was set, changes until it is set again, the tree
THRESHOLD, ACTIVE, SET_TO, WAIT, TREE = range(5)
LOW, HIGH = 0.6, 2.0  # theta is set anew when H leaves this range, in multiples of `wanted`,
SET_LOW, SET_HIGH = 0.8, 1.25  # so that H is in this one
SURE = 40.0  # hazard of an arm that exceeds theta for certain: e^-40 is below what a double can tell from 0
FIND, REDRAW = (
    2.0,
    2.5,
)  # cost of finding and drawing an arm above theta, or below it, in draws of a plain arm
PATIENCE = 50.0  # changes after which it is tried again whether a theta can be found


def contenders_memory(arms: int) -> int:
    """Numbers kept: four, and the hazards in a tree of sums; none for few arms."""
    return TREE + 2 * bracket.py_func(arms) if arms >= MANY else 0  # type: ignore[attr-defined]


@hot
def wanted(arms: int) -> float:
    """H at which a round costs least: more finds more arms above theta, less draws all arms more often."""
    return 1.0 + math.log(arms)


@lean
def highest_of_contenders(
    values: FloatArray, z_grid: FloatArray, memory: FloatArray, rng: np.random.Generator
) -> int:
    """The arm with the highest at(Z); ties are broken at random."""
    hazards, theta, places = memory[TREE:], memory[THRESHOLD], bracket(values.shape[0])
    best, ties, top = -1, 0, -np.inf
    position = rng.standard_exponential()
    while position < hazards[1]:
        node, start = 1, 0.0
        while node < places:
            node *= 2
            if position >= start + hazards[node] and hazards[node + 1] > 0.0:
                start += hazards[node]
                node += 1
        arm = node - places
        score = read(values[arm], z_grid, above(where(values[arm], z_grid, theta), rng))
        if score > top:
            best, ties, top = arm, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = arm
        position = start + hazards[node] + rng.standard_exponential()
    return best if best >= 0 else highest_below(values, z_grid, theta, rng)


@lean
def highest_below(values: FloatArray, z_grid: FloatArray, theta: float, rng: np.random.Generator) -> int:
    """The arm with the highest at(Z), given that none exceeds theta."""
    best, ties, top = 0, 0, -np.inf
    for a in range(values.shape[0]):
        score = read(values[a], z_grid, -above(-where(values[a], z_grid, theta), rng))
        if score > top:
            best, ties, top = a, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    return best


@lean
def above(limit: float, rng: np.random.Generator) -> float:
    """Z ~ N(0, 1), given that it is above a limit; far out by Robert's (1995) exponential proposals."""
    if limit < 0.3:
        z = rng.standard_normal()
        while z <= limit:
            z = rng.standard_normal()
        return z
    limit = min(limit, 1000.0)
    rate = 0.5 * (limit + math.sqrt(limit * limit + 4.0))
    while True:
        z = limit + rng.standard_exponential() / rate
        if rng.random() < math.exp(-0.5 * (z - rate) * (z - rate)):
            return z


@lean
def update_contenders(values: FloatArray, z_grid: FloatArray, memory: FloatArray, arm: int) -> None:
    """Take note of an arm's new values (of all of them: -1)."""
    if arm >= 0 and memory[ACTIVE] == 0.0:
        memory[WAIT] -= 1.0
        if memory[WAIT] > 0.0:
            return
    elif arm >= 0:
        hazards, node = memory[TREE:], bracket(values.shape[0]) + arm
        hazards[node] = hazard(values[arm], z_grid, memory[THRESHOLD])
        while node > 1:
            node //= 2
            hazards[node] = hazards[2 * node] + hazards[2 * node + 1]
        least, most = LOW * wanted(values.shape[0]), HIGH * wanted(values.shape[0])
        if min(least, 0.5 * memory[SET_TO]) <= hazards[1] <= max(most, 2.0 * memory[SET_TO]):
            return
    set_threshold(values, z_grid, memory)


@heavy(NOTHING(TABLE, VECTOR, VECTOR))
def set_threshold(values: FloatArray, z_grid: FloatArray, memory: FloatArray) -> None:
    """Choose theta, with H as wanted if there is such a theta, and fill the tree."""
    arms, places, hazards = values.shape[0], bracket(values.shape[0]), memory[TREE:]
    # the theta before is a good guess; before there was one, 0 would be a matter of units
    theta = find_threshold(values, z_grid, memory[THRESHOLD] if memory[SET_TO] > 0.0 else np.nan)
    above_it = 0.0
    for a in range(places):
        hazards[places + a] = hazard(values[a], z_grid, theta) if a < arms else 0.0
        above_it -= math.expm1(-hazards[places + a])
    for node in range(places - 1, 0, -1):
        hazards[node] = hazards[2 * node] + hazards[2 * node + 1]
    cost = 1.0 + FIND * above_it + REDRAW * math.exp(-hazards[1]) * arms  # of a round, expected
    memory[THRESHOLD], memory[ACTIVE] = theta, 1.0 if cost < arms else 0.0
    memory[SET_TO], memory[WAIT] = hazards[1], PATIENCE


@lean
def find_threshold(values: FloatArray, z_grid: FloatArray, guess: float) -> float:
    """The theta with H as wanted, roughly; where H jumps past it, the lower side of the jump. Newton on log H."""
    high, low = support(values, z_grid)
    aim = wanted(values.shape[0])
    if not low < high:  # an infinite arm exceeds all that is finite
        return high
    theta = guess if low < guess < high else 0.5 * (low + high)
    for _ in range(100):
        total, steepness = 0.0, 0.0
        for a in range(values.shape[0]):
            z = where(values[a], z_grid, theta)
            if z < 8.3:
                h = hazard_at(z)
                total += h
                rise = read(values[a], z_grid, z + 1e-3) - read(values[a], z_grid, z)
                if 0.0 < rise < np.inf and h < SURE:
                    steepness += density(z) * math.exp(h) * 1e-3 / rise
        if SET_LOW * aim <= total <= SET_HIGH * aim:
            return theta
        if total > aim:
            low = theta
        else:
            high = theta
        step = math.log(total / aim) * total / steepness if total > 0.0 and steepness > 0.0 else np.inf
        theta = theta + step if low < theta + step < high else 0.5 * (low + high)
        if not low < theta < high:
            break
    return low


@hot
def density(z: float) -> float:
    """The standard normal density."""
    return 0.3989422804014327 * math.exp(-0.5 * z * z)


@hot
def hazard(values: FloatArray, z_grid: FloatArray, theta: float) -> float:
    """-log P(at(Z) <= theta)."""
    return hazard_at(where(values, z_grid, theta))


@hot
def hazard_at(z: float) -> float:
    """-log P(Z <= z), at most SURE."""
    if z > 8.3:
        return 0.0
    if z > 0.0:
        return -math.log1p(-0.5 * math.erfc(z * ROOT_HALF))
    return min(-math.log(0.5 * math.erfc(-z * ROOT_HALF)), SURE) if z > -9.0 else SURE


@hot
def choose(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    t: int,
    rng: np.random.Generator,
) -> int:
    """The highest at(z), z ~ N(0, 1) for each arm."""
    if values.shape[0] >= MANY and memory[ACTIVE] == 1.0:
        return highest_of_contenders(values, z_grid, memory, rng)
    best, ties, top = 0, 0, -np.inf
    for a in range(values.shape[0]):
        score = read(values[a], z_grid, rng.standard_normal())
        if score > top:
            best, ties, top = a, 1, score
        elif score == top:
            ties += 1
            if rng.random() * ties < 1.0:
                best = a
    return best


@hot
def update(
    values: FloatArray,
    z_grid: FloatArray,
    parameters: FloatArray,
    memory: FloatArray,
    arm: int,
    rng: np.random.Generator,
) -> None:
    """Keep account of which arms may be the highest, where there are many."""
    if values.shape[0] >= MANY:
        update_contenders(values, z_grid, memory, arm)


@hot
def probabilities(
    values: FloatArray, z_grid: FloatArray, parameters: FloatArray, t: int, out: FloatArray
) -> None:
    """How likely each arm is to be the best."""
    best(values, z_grid, -1, out)


@dataclass(frozen=True)
class Thompson(Index):
    """A draw from what each arm may be worth: at(z) with z ~ N(0, 1); explores while outcomes are late."""

    choose = staticmethod(choose)
    update = staticmethod(update)
    probabilities = staticmethod(probabilities)

    def z_grid(self, linear: bool) -> FloatArray:
        """Enough to read any z."""
        return z_grid_of(linear)

    def memory(self, arms: int) -> int:
        """What many arms need."""
        return contenders_memory(arms)


parts = {"thompson": Thompson}

"""The probability that an arm is the highest, and the expected loss of another choice, by quadrature.

Arm a's value is at_a(Z), Z ~ N(0, 1), independent of the others, with distribution function F_a. The highest value
has the distribution function G = product of all F_a, and arm a is the highest with probability
int G dlog F_a. The integral is taken from the top downwards in cells, each with a small part of G; within a cell
all log F_a are taken to be proportional to log G. So the cells follow the arms that matter, whatever their scales,
and each costs one look at each arm. Where values are equal (a flat piece of at_a, or an infinite value), F_a jumps:
there all F_a go from one side to the other in proportion, which is what breaking ties at random does.
"""

from __future__ import annotations

import math

import numpy as np

from truant.compile import heavy, hot, lean
from truant.compile.kinds import NUMBER, TABLE, VECTOR, WHOLE
from truant.indices.index import normal_below, read, where
from truant.setting import FloatArray

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

"""How noisy the cells of an arm are: what arms and mediator levels lend each other, for `borrowing`.

A cell's variance is its own, that of its arm, and that of the same mediator level of other arms, each as far as such
variances agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from truant.assumptions.assumption import CONTRIBUTE
from truant.assumptions.robust import (
    ENOUGH,
    LEAST_LENT,
    MOST_WEIGHT,
    OWN,
    POOLED,
    RANGE,
    SCALE,
    agreement,
    contribution,
    lent_variance,
    moments_within,
    own_jump,
    pooled_noise,
    square_outside,
    stands_out,
)
from truant.compile import heavy, hot, lean
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM
from truant.setting import FloatArray, Setting

# further parameters of every arm; where P(M|a) is known, it stands behind them
ROWS, SEVERAL, FLOOR, IS_KNOWN, PROBABILITIES = range(OWN, OWN + 5)

# Behind what all curves pool, an arm contributes how its cells' variances compare with its own: logarithms for how
# much they agree, then for each row the squares relative to the arm's variance, and the degrees of freedom.
CELL_LOG, CELL_LOG_SQUARED, CELL_LOG_NOISE, CELL_LOGS = range(POOLED, POOLED + 4)
BY_ROW = POOLED + 4
ROW_PRIOR = 20.0  # degrees of freedom that "as noisy as the others" counts for in a row
CELL_LENT = 10.0  # degrees of freedom lent to a cell before anything is known of how much cells differ


def pooled_numbers(setting: Setting) -> int:
    """What an arm contributes: as many for each row of its counts."""
    return BY_ROW + 2 * (setting.mediators + 1)


@heavy(CONTRIBUTE)
def contribute(row: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """Moments within and between the cells, and how the cells' variances compare."""
    rows = int(parameters[ROWS])
    squares = freedom = cubes = pulls = 0.0
    share = first = second = third = 0.0  # of the cells with an observed outcome, about the centre
    for m in range(rows):
        n = row[m, OBSERVED]
        pulls += row[m, PULLS]
        if n > 0.0:
            y, p = row[m, SUM] / n, row[m, PULLS]
            share += p
            first += p * y
            second += p * y * y
            third += p * y * y * y
            if n > 1.0:
                within, cubed = moments_within(n, row[m, SUM], row[m, SQUARES], row[m, CUBES])
                squares += within
                cubes += cubed
                freedom += n - 1.0
    if share > 0.0:
        first /= share
        third = third / share - 3.0 * first * second / share + 2.0 * first * first * first
        second = max(second / share - first * first, 0.0)
    contribution(squares, freedom, cubes, pulls, second, third, parameters[SCALE], out)
    compare_cells(row, rows, squares, freedom, out)


@lean
def compare_cells(row: FloatArray, rows: int, squares: float, freedom: float, out: FloatArray) -> None:
    """An arm's part of what is known of noisy mediator levels."""
    for k in range(CELL_LOG, len(out)):
        out[k] = 0.0
    if squares <= 0.0 or freedom < 2.0:
        return
    usual = squares / freedom
    for m in range(rows):
        n = row[m, OBSERVED]
        if n > 1.0:
            within = max(row[m, SQUARES] - row[m, SUM] * row[m, SUM] / n, 0.0) / usual
            df = n - 1.0
            weight = min(1.0, MOST_WEIGHT / df)
            out[BY_ROW + 2 * m] = weight * within
            out[BY_ROW + 2 * m + 1] = weight * df
            if df >= ENOUGH:
                log = math.log((within + 1.0) / (df + 1.0))
                out[CELL_LOG] += log
                out[CELL_LOG_SQUARED] += log * log
                out[CELL_LOG_NOISE] += 2.0 / df
                out[CELL_LOGS] += 1.0


class Noise(NamedTuple):
    """What is known of an arm's noise before its cells are looked at one by one."""

    variance: float  # of an observed outcome within cells, s^2
    freedom: float  # degrees of freedom of that, phi
    ordinary: float  # s_all^2/s^2, at most 1
    jump: float  # J
    worth: float  # of a degree of freedom
    lent: float  # degrees of freedom that the arm lends to its cells


@lean
def noise_of(row: FloatArray, rows: int, shared: FloatArray, parameters: FloatArray) -> Noise:
    """The arm's noise within its cells, with what all arms lend it."""
    squares = freedom = cubes = 0.0
    for m in range(rows):
        n = row[m, OBSERVED]
        if n > 1.0:
            within, cubed = moments_within(n, row[m, SUM], row[m, SQUARES], row[m, CUBES])
            squares += within
            cubes += cubed
            freedom += n - 1.0
    everyone, jump, worth = pooled_noise(shared, parameters[SCALE], parameters[RANGE])
    for m in range(rows):
        stray = square_outside(row[m, OBSERVED], row[m, SUM], everyone, parameters)
        if stray > 0.0:
            squares += stray
            freedom += 1.0
    variance, freedom = lent_variance(shared, squares, freedom, everyone, worth)
    jump = own_jump(squares, cubes, everyone, jump)
    ordinary = min(1.0, everyone / variance)
    return Noise(variance, freedom, ordinary, jump, worth, lent_to_cells(shared, worth))


@hot
def lent_to_cells(shared: FloatArray, worth: float) -> float:
    """Degrees of freedom that an arm lends to its cells."""
    noise = shared[CELL_LOG_NOISE] / worth
    return agreement(shared[CELL_LOG], shared[CELL_LOG_SQUARED], noise, shared[CELL_LOGS], CELL_LENT)


@hot
def cell_noise(row: FloatArray, m: int, shared: FloatArray, noise: Noise) -> tuple[float, float]:
    """A cell's variance and its degrees of freedom: lent by the arm, and by the same level of other arms."""
    usual = noise.variance * (shared[BY_ROW + 2 * m] + ROW_PRIOR) / (shared[BY_ROW + 2 * m + 1] + ROW_PRIOR)
    n, lent = row[m, OBSERVED], noise.lent
    if n <= 1.0:
        return usual, lent
    df = n - 1.0
    squares = max(row[m, SQUARES] - row[m, SUM] * row[m, SUM] / n, 0.0)
    if stands_out(squares, df, usual, noise.worth):
        lent = LEAST_LENT
    df *= noise.worth
    return (noise.worth * squares + lent * usual) / (df + lent), df + lent

"""How `mar` and `mediator-mar` choose: cell means borrow strength from each other.

Cell means of an arm are taken to scatter about the arm's own mean with a spread tau that is not known. For each
tau of a grid the arm's value has a mean, a variance and a likelihood; at(z) is the farthest value that any
tau not too unlikely allows. It never leaves the band that the plain shrunk estimate gives, whose
floor keeps a good arm from hiding in a mediator level that is hardly ever seen.

How noisy the cells of an arm are: what arms and mediator levels lend each other, for `borrowing`.

A cell's variance is its own, that of its arm, and that of the same mediator level of other arms, each as far as such
variances agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from truant.assumptions.assumption import CONTRIBUTE, SCORE_ARM, Curve
from truant.assumptions.robust import (
    CENTRE,
    ENOUGH,
    FIRST_PULLS,
    GROWTH,
    LEAST_LENT,
    MOST_WEIGHT,
    OWN,
    POOLED,
    RANGE,
    SCALE,
    agreement,
    contribution,
    jump_between,
    lent_variance,
    moments_within,
    own_jump,
    parameters_of,
    pooled_noise,
    pseudo_observations,
    square_outside,
    stands_out,
    width,
)
from truant.compile import heavy, hot, lean
from truant.compile.marks import NOTHING, TABLE, VECTOR
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


BORROWED_AT = 3.0  # the z at which borrowing between cells is weighed
SPREADS = (0.001, 0.05, 0.1, 0.2, 0.4, 0.8)  # tau, in units of the outcome's scale


# where `plain` leaves what it finds: at the end of the scratch space, behind them the variance of each cell
MEAN, VARIANCE, KNOWN_OUTCOMES, PHI, HALF_JUMP, NOISES = range(6)


def borrowing_curve(
    setting: Setting, kappa: float, floor: float, rows: int, known_shares: FloatArray | None = None
) -> Curve:
    """The curve over the first `rows` rows of an arm's counts; `known_shares` is P(M|a), if that is known."""
    is_known = known_shares is not None
    # a level that was not met can hide a jump only where nobody knows how likely it is
    several = setting.mediators > 1 and not is_known
    own = np.tile([float(rows), float(several), float(floor), float(is_known)], (setting.arms, 1))
    parameters = [parameters_of(setting, kappa), own]
    if known_shares is not None:
        parameters += [known_shares, np.zeros((setting.arms, 1))]  # no weight on missing mediators
    return Curve(
        score_arm=score_arm,
        contribute=contribute,
        known=known,
        parameters=np.hstack(parameters),
        linear=False,
        first_pulls=FIRST_PULLS,
        growth=GROWTH,
        pooled=pooled_numbers(setting),
        scratch=3 * len(SPREADS) + NOISES + setting.mediators + 1,
    )


@hot
def share(row: FloatArray, m: int, total: float, parameters: FloatArray) -> float:
    """The probability p_m of a mediator level."""
    return float(parameters[PROBABILITIES + m] if parameters[IS_KNOWN] else row[m, PULLS] / total)


@heavy(NOTHING(TABLE, VECTOR, VECTOR, VECTOR))
def plain(row: FloatArray, shared: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """The shrunk estimate, each cell on its own: mean about the centre, v, known outcomes, phi and half the jump.

    v = sum p_m^2 s_m^2/(n_m + kappa) + B/N, with B the spread between cells, less what their noise adds to it.
    The cells' variances s_m^2 stand behind these. Degrees of freedom add up as Satterthwaite's do. A jump may be
    waiting in a cell, or in a level not met yet.
    """
    noises = out[NOISES:]
    rows = int(parameters[ROWS])
    noise = noise_of(row, rows, shared, parameters)
    pulls = 0.0
    for m in range(rows):
        pulls += row[m, PULLS]
    mean = square = error = blur = doubt = single = thinnest = 0.0
    total = max(pulls, 1.0)
    for m in range(rows):
        noises[m], df = cell_noise(row, m, shared, noise)
        p, n = share(row, m, total, parameters), row[m, OBSERVED]
        thickness = 1.0 / (n + pseudo_observations(parameters, noises[m]))
        r = row[m, SUM] * thickness
        mean += p * r
        square += p * r * r
        single += p * noises[m]
        part = p * p * thickness * noises[m]
        error += part
        doubt += (part / noise.variance) * (part / noise.variance) / df
        blur += p * (1.0 - p) * n * thickness * thickness * noises[m]
        thinnest = max(thinnest, p / (n + 1.0))
    for m in range(rows, row.shape[0]):  # missing mediators, where they are no level of their own
        noises[m] = noise.variance
    if pulls == 0.0 and not parameters[IS_KNOWN]:  # as sure as a cell without outcomes, and of nothing else
        error = noise.variance / pseudo_observations(parameters, noise.variance)
        single, thinnest = noise.variance, 1.0
    v = error
    if not parameters[IS_KNOWN]:
        between = max(square - mean * mean - blur, 0.0)
        v += (pulls * between + noise.variance / 2.0) / (pulls + 2.0) / total
    freedom = 1.0 / (1.0 / noise.freedom + doubt * (noise.variance / v) * (noise.variance / v))
    jump = noise.jump * thinnest
    if parameters[SEVERAL]:
        jump = max(jump, jump_between(shared, parameters[SCALE], parameters[RANGE]) / total)
    out[MEAN], out[VARIANCE], out[KNOWN_OUTCOMES] = mean, v, single * noise.ordinary / v
    out[PHI], out[HALF_JUMP] = freedom, jump / 2.0


@lean
def known(row: FloatArray, shared: FloatArray, parameters: FloatArray) -> float:
    """s^2/v: outcomes that the estimate is worth; those of an arm noisier than the others are worth less."""
    found = shared[len(shared) - row.shape[0] - NOISES :]
    plain(row, shared, parameters, found)
    return float(found[KNOWN_OUTCOMES])


@heavy(SCORE_ARM)
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) with the variance that borrowing leaves, between `floor` and all of it, on each side of the mean."""
    rows, scale = int(parameters[ROWS]), parameters[SCALE]
    count = len(SPREADS)
    found = shared[len(shared) - row.shape[0] - NOISES :]
    plain(row, shared, parameters, found)
    mean, v, freedom, jump, noises = (
        found[MEAN],
        found[VARIANCE],
        found[PHI],
        found[HALF_JUMP],
        found[NOISES:],
    )
    space = shared[len(shared) - len(found) - 3 * count :]
    weights, means, spreads = space[:count], space[count : 2 * count], space[2 * count : 3 * count]
    pulls = 0.0
    for m in range(rows):
        pulls += row[m, PULLS]
    sd, floor = math.sqrt(v), math.sqrt(parameters[FLOOR])
    for k in range(count):
        weights[k], means[k], spreads[k] = hierarchical(
            row, SPREADS[k] * SPREADS[k] * scale, noises, max(pulls, 1.0), parameters
        )
    normalise(weights)
    up = farthest(weights, means, spreads, BORROWED_AT, mean) / (BORROWED_AT * sd)
    down = farthest(weights, means, spreads, -BORROWED_AT, mean) / (BORROWED_AT * sd)
    up, down = min(max(up, floor), 1.0), min(max(down, floor), 1.0)
    for k in range(len(z_grid)):
        share_left = up if z_grid[k] > 0.0 else down
        values[k] = parameters[CENTRE] + mean + width(z_grid[k], v * share_left * share_left, freedom, jump)


@lean
def normalise(weights: FloatArray) -> None:
    """Logarithms of weights, so that the weights sum to 1."""
    top = weights[0]
    for k in range(1, len(weights)):
        top = max(top, weights[k])
    total = 0.0
    for k in range(len(weights)):
        total += math.exp(weights[k] - top)
    for k in range(len(weights)):
        weights[k] -= top + math.log(total)


@lean
def farthest(weights: FloatArray, means: FloatArray, spreads: FloatArray, z: float, mean: float) -> float:
    """The largest distance from the mean, in the direction of z, that any spread allows at that likelihood."""
    side = 1.0 if z > 0.0 else -1.0
    best = -np.inf
    for k in range(len(weights)):
        room = 0.5 * z * z + weights[k]
        if room >= 0.0:
            best = max(best, side * (means[k] - mean) + math.sqrt(2.0 * spreads[k] * room))
    return best


@lean
def hierarchical(
    row: FloatArray, tau: float, noises: FloatArray, pulls: float, parameters: FloatArray
) -> tuple[float, float, float]:
    """Of one spread tau^2: log weight up to a constant, mu_tau about the centre, v_tau.

    Cells shrink to the arm's mean, which has the prior N(centre, s_0^2); outcomes without mediator are a cell, too.
    """
    scale = parameters[SCALE]
    W, first, second, logs = 1.0 / scale, 0.0, 0.0, 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        if n > 0.0:
            d, y = tau + noises[m] / n, row[m, SUM] / n
            W += 1.0 / d
            first += y / d
            second += y * y / d
            logs += math.log(d)
    weight = -(logs + math.log(W * scale)) / 2.0 - (second - first * first / W) / 2.0
    middle = first / W
    mean = square = within = loose = wobble = 0.0
    for m in range(int(parameters[ROWS])):
        p, n = share(row, m, pulls, parameters), row[m, OBSERVED]
        own, r = 0.0, middle
        if n > 0.0:
            own = tau / (tau + noises[m] / n)
            r += own * (row[m, SUM] / n - middle)
        mean += p * r
        square += p * r * r
        within += p * p * tau * (1.0 - own)
        loose += p * (1.0 - own)
        wobble += p * (1.0 - p) * tau * (1.0 - own)
    v = within + loose * loose / W
    if not parameters[IS_KNOWN]:
        between = max(square - mean * mean, 0.0)
        v += (pulls * (between + wobble) + 2.0 * tau) / (pulls + 2.0) / pulls
    return weight, mean, v

"""How `mar` and `mediator-mar` choose: cell means borrow strength from each other.

Cell means of an arm are taken to scatter about the arm's own mean with a spread tau that is not known. For each
tau of a grid the arm's value has a mean, a variance and a likelihood; at(z) is the farthest value that any
tau not too unlikely allows. It never leaves the band that the plain shrunk estimate gives, whose
floor keeps a good arm from hiding in a mediator level that is hardly ever seen.
"""

from __future__ import annotations

import numpy as np

from truant.assumptions.assumption import Curve
from truant.assumptions.robust import (
    CENTRE,
    FIRST_PULLS,
    GROWTH,
    OWN,
    POOLED,
    RANGE,
    SCALE,
    contribution,
    jump_between,
    jump_within,
    lent_variance,
    moments_within,
    parameters_of,
    pseudo_observations,
    width,
)
from truant.compile import hot, lean
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM
from truant.setting import FloatArray, Setting

SPREADS = (0.001, 0.05, 0.1, 0.2, 0.4, 0.8)  # tau, in units of the outcome's scale

ROWS, SEVERAL, FLOOR = OWN, OWN + 1, OWN + 2  # further parameters of every arm


def borrowing_curve(setting: Setting, kappa: float, floor: float, rows: int) -> Curve:
    """The curve over the first `rows` rows of an arm's counts."""
    own = np.tile([float(rows), float(setting.mediators > 1), float(floor)], (setting.arms, 1))
    return Curve(
        fill=fill,
        contribute=contribute,
        known=known,
        parameters=np.hstack([parameters_of(setting, kappa), own]),
        linear=False,
        first_pulls=FIRST_PULLS,
        growth=GROWTH,
        pooled=POOLED,
        scratch=3 * len(SPREADS),
    )


@lean
def contribute(row: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """Moments within and between the cells."""
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


@hot
def noise_within(row: FloatArray, rows: int, shared: FloatArray, prior: float) -> tuple[float, float]:
    """An arm's outcome variance and its degrees of freedom."""
    squares = freedom = 0.0
    for m in range(rows):
        n = row[m, OBSERVED]
        if n > 1.0:
            squares += max(row[m, SQUARES] - row[m, SUM] * row[m, SUM] / n, 0.0)
            freedom += n - 1.0
    variance, freedom, _ = lent_variance(shared, squares, freedom, prior)
    return variance, freedom


@lean
def plain(
    row: FloatArray, shared: FloatArray, parameters: FloatArray
) -> tuple[float, float, float, float, float]:
    """The shrunk estimate, each cell on its own: mean about the centre, v, s^2, phi and N.

    v = sum p_m^2 s^2/(n_m + kappa) + B/N, with B the spread between cells, less what their noise adds to it.
    """
    rows = int(parameters[ROWS])
    variance, freedom = noise_within(row, rows, shared, parameters[SCALE])
    kappa = pseudo_observations(parameters, variance)
    pulls = 0.0
    for m in range(rows):
        pulls += row[m, PULLS]
    if pulls == 0.0:  # as sure as a cell without outcomes, and of nothing else
        return 0.0, variance / kappa + variance / 2.0, variance, freedom, pulls
    mean = square = error = noise = 0.0
    for m in range(rows):
        p, n = row[m, PULLS] / pulls, row[m, OBSERVED]
        thickness = 1.0 / (n + kappa)
        r = row[m, SUM] * thickness
        mean += p * r
        square += p * r * r
        error += p * p * thickness
        noise += p * (1.0 - p) * n * thickness * thickness
    between = max(square - mean * mean - noise * variance, 0.0)
    spread = (pulls * between + variance / 2.0) / (pulls + 2.0)
    return mean, error * variance + spread / pulls, variance, freedom, pulls


@lean
def known(row: FloatArray, shared: FloatArray, parameters: FloatArray) -> float:
    """s^2/v: outcomes that the estimate is worth."""
    _, v, variance, _, _ = plain(row, shared, parameters)
    return variance / v


@lean
def waiting(row: FloatArray, shared: FloatArray, parameters: FloatArray, pulls: float) -> float:
    """Half the jump that may be waiting, per unit of beta: in a cell, or in a level not met yet."""
    prior, reach = parameters[SCALE], parameters[RANGE]
    thinnest = 0.0
    total = max(pulls, 1.0)
    for m in range(int(parameters[ROWS])):
        thinnest = max(thinnest, row[m, PULLS] / total / (row[m, OBSERVED] + 1.0))
    jump = jump_within(shared, prior, reach) * thinnest
    if parameters[SEVERAL]:
        jump = max(jump, jump_between(shared, prior, reach) / total)
    return jump / 2.0


@lean
def fill(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """at(z): the borrowed value within the plain one's band, and what unknown variance and jumps add to it."""
    rows, scale = int(parameters[ROWS]), parameters[SCALE]
    mean, v, variance, freedom, pulls = plain(row, shared, parameters)
    jump = waiting(row, shared, parameters, pulls)
    sd, floor = np.sqrt(v), np.sqrt(parameters[FLOOR])
    count = len(SPREADS)
    space = shared[POOLED:]
    weights, means, spreads = space[:count], space[count : 2 * count], space[2 * count : 3 * count]
    for k in range(count):
        weights[k], means[k], spreads[k] = hierarchical(
            row, rows, SPREADS[k] * SPREADS[k] * scale, variance, scale, max(pulls, 1.0)
        )
    normalise(weights)
    for k in range(len(knots)):
        z = knots[k]
        away = abs(z)
        far = farthest(weights, means, spreads, z, mean)
        far = min(max(far, floor * away * sd), away * sd)
        borrowed = far if z > 0.0 else -far
        values[k] = parameters[CENTRE] + mean + borrowed + width(z, v, freedom, jump) - z * sd


@lean
def normalise(weights: FloatArray) -> None:
    """Logarithms of weights, so that the weights sum to 1."""
    top = weights[0]
    for k in range(1, len(weights)):
        top = max(top, weights[k])
    total = 0.0
    for k in range(len(weights)):
        total += np.exp(weights[k] - top)
    for k in range(len(weights)):
        weights[k] -= top + np.log(total)


@lean
def farthest(weights: FloatArray, means: FloatArray, spreads: FloatArray, z: float, mean: float) -> float:
    """The largest distance from the mean, in the direction of z, that any spread allows at that likelihood."""
    side = 1.0 if z > 0.0 else -1.0
    best = -np.inf
    for k in range(len(weights)):
        room = 0.5 * z * z + weights[k]
        if room >= 0.0:
            best = max(best, side * (means[k] - mean) + np.sqrt(2.0 * spreads[k] * room))
    return best


@lean
def hierarchical(
    row: FloatArray, rows: int, tau: float, variance: float, scale: float, pulls: float
) -> tuple[float, float, float]:
    """Of one spread tau^2: log weight up to a constant, mu_tau about the centre, v_tau.

    Cells shrink to the arm's mean, which has the prior N(centre, s_0^2); outcomes without mediator are a cell, too.
    """
    W, first, second, logs = 1.0 / scale, 0.0, 0.0, 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        if n > 0.0:
            d, y = tau + variance / n, row[m, SUM] / n
            W += 1.0 / d
            first += y / d
            second += y * y / d
            logs += np.log(d)
    weight = -(logs + np.log(W * scale)) / 2.0 - (second - first * first / W) / 2.0
    middle = first / W
    mean = square = within = loose = wobble = 0.0
    for m in range(rows):
        p, n = row[m, PULLS] / pulls, row[m, OBSERVED]
        share, r = 0.0, middle
        if n > 0.0:
            share = tau / (tau + variance / n)
            r += share * (row[m, SUM] / n - middle)
        mean += p * r
        square += p * r * r
        within += p * p * tau * (1.0 - share)
        loose += p * (1.0 - share)
        wobble += p * (1.0 - p) * tau * (1.0 - share)
    between = max(square - mean * mean, 0.0)
    q = (pulls * (between + wobble) + 2.0 * tau) / (pulls + 2.0)
    return weight, mean, within + loose * loose / W + q / pulls

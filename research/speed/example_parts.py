"""What a user would write in a package of his own: an assumption and an index, here a plain mar with ucb."""

import numpy as np

from truant.assumptions import Assumption, Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.assumptions.robust import straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SQUARES, SUM
from truant.indices import Index
from truant.policies.policy import combine

WITHIN, FREEDOM = 0, 1  # what arms pool: sums of squares within cells, and their degrees of freedom


@hot
def contribute(row, parameters, out):
    out[WITHIN] = out[FREEDOM] = 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        if n > 1.0:
            out[WITHIN] += max(row[m, SQUARES] - row[m, SUM] * row[m, SUM] / n, 0.0)
            out[FREEDOM] += n - 1.0


@hot
def score_arm(row, memory, shared, parameters, z_grid, values):
    variance = (shared[WITHIN] + 2.0 * parameters[1]) / (shared[FREEDOM] + 2.0)
    pulls = mean = square = error = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
    for m in range(row.shape[0]):
        p = row[m, PULLS] / pulls
        thickness = 1.0 / (row[m, OBSERVED] + 1.0)
        r = row[m, SUM] * thickness
        mean += p * r
        square += p * r * r
        error += p * p * thickness
    between = (pulls * max(square - mean * mean, 0.0) + variance / 2) / (pulls + 2)
    straight(parameters[0] + mean, error * variance + between / pulls, z_grid, values)


class Own(Assumption):
    """Missing at random given the mediator."""

    needs = "what mar needs"

    def check(self, setting):
        pass

    def curve(self, setting):
        parameters = per_arm(setting, setting.centre, setting.outcome_scale**2)
        return Curve(score_arm=score_arm, contribute=contribute, parameters=parameters, pooled=2)

    def estimate(self, counts, arm, setting):
        return Mar().estimate(counts, arm, setting)


@hot
def choose(values, z_grid, parameters, memory, t, rng):
    best = 0
    for a in range(1, values.shape[0]):
        if values[a, 0] > values[best, 0]:
            best = a
    return best


@hot
def aim(known, log_horizon, parameters, z_grid):
    z_grid[0] = np.sqrt(log_horizon)


class Upper(Index):
    """The highest at(sqrt(log T))."""

    choose = staticmethod(choose)
    aim = staticmethod(aim)

    def z_grid(self, linear):
        return np.zeros(1)


def policy():
    return combine(Own(), Upper(), "own")

"""What a user would write in a package of his own: an assumption and an index, here those of mar-plain-ucb."""

from truant.assumptions import Assumption, Curve
from truant.assumptions.mar import Mar
from truant.assumptions.normal import pooled_variance, pseudo_observations, shrinking, straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SQUARES, SUM
from truant.indices import Index
from truant.policies.policy import combine


@hot
def fill(row, memory, shared, parameters, knots, values):
    pulls = within = freedom = 0.0
    for m in range(row.shape[0]):
        n = row[m, OBSERVED]
        pulls += row[m, PULLS]
        if n > 1.0:
            within += max(row[m, SQUARES] - row[m, SUM] * row[m, SUM] / n, 0.0)
            freedom += n - 1.0
    variance = pooled_variance(memory, shared, within, freedom, parameters[2])
    kappa = pseudo_observations(parameters, variance)
    mean = square = error = 0.0
    for m in range(row.shape[0]):
        p = row[m, PULLS] / pulls
        thickness = 1.0 / (row[m, OBSERVED] + kappa)
        r = row[m, SUM] * thickness
        mean += p * r
        square += p * r * r
        error += p * p * thickness
    between = (pulls * max(square - mean * mean, 0.0) + variance / 2) / (pulls + 2)
    straight(parameters[0] + mean, error * variance + between / pulls, knots, values)


class Own(Assumption):
    """Missing at random given the mediator."""

    needs = "what mar needs"

    def check(self, setting):
        pass

    def curve(self, setting):
        return Curve(fill=fill, parameters=shrinking(setting, 1.0), memory=lambda knots: 2, shared=2)

    def estimate(self, counts, arm, setting):
        return Mar().estimate(counts, arm, setting)


@hot
def choose(values, knots, parameters, memory, last, t, rng):
    best = 0
    for a in range(1, values.shape[0]):
        if values[a, 0] > values[best, 0]:
            best = a
    return best


class Upper(Index):
    """The highest at(sqrt(log T))."""

    choose = staticmethod(choose)

    def knots(self, horizon, linear):
        import numpy as np

        return np.array([np.sqrt(np.log(horizon))])


def policy():
    return combine(Own(), Upper(), "own")

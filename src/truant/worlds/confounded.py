"""The worst case for whoever ignores the mediator: two arms that look the same and differ by almost 1."""

from __future__ import annotations

import numpy as np

from truant.errors import InvalidValue
from truant.setting import whole_number
from truant.worlds.draws import number, spread
from truant.worlds.real import RealWorld


def confounded(rng: np.random.Generator, *, K: int = 5, eps: float = 0.1, sd: float = 1.0) -> RealWorld:
    """Two arms whose observed outcomes have the same distribution, though their means differ by almost 1.

    The instance in the proof of the paper's theorem on mediator-agnostic policies: `two_arms`.

    Parameters
    ----------
    K : number of mediator levels, at least 2.
    eps : probability of all levels but the arm's likely one, in (0, 1).
    sd : standard deviation of an outcome given its mediator.
    """
    return two_arms(K, eps, sd, better=int(rng.integers(2)))


def two_arms(K: int, eps: float, sd: float = 1.0, better: int = 0) -> RealWorld:
    """The instance itself, with the better arm at a given place.

    E[Y|m] is 1 at the first level and 0 elsewhere. The better arm has that level with probability 1-eps, the
    other arm its second one; the remaining levels share eps. gamma_m = (1/p_m) / sum_k (1/p_k) makes
    P(m, O=1|a) the same for all levels and both arms.
    """
    levels = whole_number("K", K, at_least=2)
    rest = number("eps", eps)
    if not 0 < rest < 1:
        raise InvalidValue(f"eps must be in (0, 1), got {rest:g}.")
    p = np.full((2, levels), rest / (levels - 1))
    p[better, 0] = p[1 - better, 1] = 1 - rest
    means = np.zeros((2, levels))
    means[:, 0] = 1.0
    gamma = (1 / p) / (1 / p).sum(axis=1, keepdims=True)
    return RealWorld(p, means, gamma, outcome_sd=spread(sd))


parts = {"confounded": confounded}

"""Worlds with unequal noise: one arm or one mediator level is far noisier than the rest, and it matters most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.setting import whole_number
from truant.worlds.draws import Range, chances, dirichlet, number_range, one_arm, spread
from truant.worlds.real import RealWorld


def noisy_arm(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 3,
    gap: Range = (0.3, 0.6),
    gamma: Range = (0.2, 1.0),
    sd: float = 0.3,
    noise: float = 3.0,
) -> RealWorld:
    """One arm is far noisier than the others, and it is the best: its first outcomes are often low.

    E[Y|m,a] ~ U[0, .4], and `gap` above .4 in the noisy arm, whatever the level; P(m|a) ~ Dirichlet(1).

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    gap : how far the noisy arm's mean is above .4, one number or a low, high range.
    gamma : P(O=1|m,a), one number or a low, high range.
    sd : standard deviation of an outcome of the quiet arms given its mediator.
    noise : standard deviation of an outcome of the noisy arm.
    """
    shape = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    gaps = number_range("gap", gap, at_least=0.0)
    best = one_arm(rng, shape[0])
    means = rng.uniform(0.0, 0.4, shape)
    means[best] = 0.4 + rng.uniform(*gaps)
    sds = np.full(shape, spread(sd))
    sds[best] = spread(noise, "noise")
    seen = chances(rng, "gamma", gamma, shape)
    return RealWorld(dirichlet(rng, np.ones(shape)), means, seen, outcome_sd=sds)


def noisy_level(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 3,
    gain: Range = (2.0, 4.0),
    gamma: Range = (0.02, 0.1),
    sd: float = 0.3,
    noise: float = 2.0,
) -> RealWorld:
    """One mediator level is noisy and rarely observed, and it decides which arm is best.

    The last level has probability 1/5; the others share the rest as Dirichlet(1). E[Y|m,a] ~ U[0, .4], and the
    best arm has `gain` more in the noisy level. Outcomes of the quiet levels are seen with probability .9.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels, at least 2.
    gain : how much more the best arm gets in the noisy level, one number or a low, high range.
    gamma : P(O=1|a) in the noisy level, one number or a low, high range.
    sd : standard deviation of an outcome in the quiet levels.
    noise : standard deviation of an outcome in the noisy level.
    """
    shape = n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=2)
    gains = number_range("gain", gain, at_least=0.0)
    best = one_arm(rng, n)
    means = rng.uniform(0.0, 0.4, shape)
    means[best, -1] += rng.uniform(*gains)
    sds, seen = np.full(shape, spread(sd)), np.full(shape, 0.9)
    sds[:, -1] = spread(noise, "noise")
    seen[:, -1:] = chances(rng, "gamma", gamma, (n, 1))
    p = np.hstack([0.8 * dirichlet(rng, np.ones((n, levels - 1))), np.full((n, 1), 0.2)])
    return RealWorld(p, means, seen, outcome_sd=sds)


parts: dict[str, Callable[..., RealWorld]] = {"noisy-arm": noisy_arm, "noisy-level": noisy_level}

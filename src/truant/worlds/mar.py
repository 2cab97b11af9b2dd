"""Worlds in which the outcome is missing at random given arm and mediator: O ⟂ Y given A, M.

The paper draws two graphs for this, (i) with M before Y and (ii) with Y before M. They are one statistical
world: both say O ⟂ Y given A, M and nothing else, and any joint law of (M, Y) factorises as p(m) p(y|m) and
as p(y) p(m|y) alike. So there is one family here, drawn as p(m) p(y|m).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.setting import FloatArray, whole_number
from truant.worlds.draws import Range, boosted_means, chances, dirichlet, spread
from truant.worlds.real import RealWorld

MediatorDraw = Callable[[tuple[int, int]], FloatArray]  # (arms, K) -> P(m|a)


def mar(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.8, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing at random given the mediator; most outcomes are observed, and one arm is better by 0.6.

    E[Y|m,a] ~ U[0, .4] and .6 more on one arm, Y ~ N(E[Y|m,a], sd), P(m|a) ~ Dirichlet(1), gamma uniform per
    arm and level (the paper's MAR experiment, with the best arm anywhere).

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    gamma : P(O=1|m,a), one number or a low, high range.
    sd : standard deviation of an outcome given its mediator.
    """
    return _mar(rng, arms, K, gamma, sd, lambda shape: dirichlet(rng, np.ones(shape)))


def mar_low(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.1, 1.0), sd: float = 1.0
) -> RealWorld:
    """`mar` with many missing outcomes: gamma from 0.1 to 1."""
    return mar(rng, arms=arms, K=K, gamma=gamma, sd=sd)


def mar_uniform(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.8, 1.0), sd: float = 1.0
) -> RealWorld:
    """`mar` with all mediator levels equally likely."""
    return _mar(rng, arms, K, gamma, sd, lambda shape: np.full(shape, 1 / shape[1]))


def mar_peaked(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.8, 1.0), sd: float = 1.0
) -> RealWorld:
    """`mar` with one likely mediator level per arm: Dirichlet weight 5 there, 1 elsewhere."""

    def peaked(shape: tuple[int, int]) -> FloatArray:
        weights = np.ones(shape)
        weights[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = 5.0
        return dirichlet(rng, weights)

    return _mar(rng, arms, K, gamma, sd, peaked)


def null(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.1, 1.0), sd: float = 1.0
) -> RealWorld:
    """All arms have the same mean; only missingness differs between them.

    One P(m) ~ Dirichlet(1) and one E[Y|m] ~ U[0, 1] for all arms, gamma uniform per arm and level. Every
    policy has regret 0 here; dropping the missing rows shows differences that do not exist.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    gamma : P(O=1|m,a), one number or a low, high range.
    sd : standard deviation of an outcome given its mediator.
    """
    n = whole_number("arms", arms, at_least=1)
    levels = whole_number("K", K, at_least=1)
    means = rng.uniform(0.0, 1.0, levels)
    p = dirichlet(rng, np.ones(levels))
    seen = chances(rng, "gamma", gamma, (n, levels))
    return RealWorld(np.tile(p, (n, 1)), np.tile(means, (n, 1)), seen, outcome_sd=spread(sd))


def _mar(
    rng: np.random.Generator, arms: int, K: int, gamma: Range, sd: float, mediators: MediatorDraw
) -> RealWorld:
    """The common recipe; the mediator comes last, so that one seed has the same means and gammas in all."""
    shape = (whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1))
    means = boosted_means(rng, *shape)
    seen = chances(rng, "gamma", gamma, shape)
    return RealWorld(mediators(shape), means, seen, outcome_sd=spread(sd))


parts = {
    "mar": mar,
    "mar-low": mar_low,
    "mar-uniform": mar_uniform,
    "mar-peaked": mar_peaked,
    "null": null,
}

"""Worlds that try to break an index for `mar`: the good arm's value sits where outcomes are hardly ever seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.setting import whole_number
from truant.worlds.draws import Range, chances, dirichlet, number, one_arm, spread
from truant.worlds.real import RealWorld


def mar_rare(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = 0.02, sd: float = 1.0
) -> RealWorld:
    """The best arm is better only in one mediator level, whose outcomes are almost never observed.

    Plain arms have mean .5 everywhere. The best one has mean .2, but 4 in one level of probability 1/5, so .96
    in all; outcomes of that level are seen with probability gamma, all others with .9.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels, at least 2.
    gamma : P(O=1) in the level that matters, one number or a low, high range.
    sd : standard deviation of an outcome given its mediator.
    """
    n, levels = whole_number("arms", arms, at_least=2), whole_number("K", K, at_least=2)
    best, level = one_arm(rng, n), int(rng.integers(levels))
    means, seen = np.full((n, levels), 0.5), np.full((n, levels), 0.9)
    p = np.full((n, levels), 0.8 / (levels - 1))
    p[:, level] = 0.2
    means[best] = 0.2
    means[best, level] = 4.0
    seen[best, level] = chances(rng, "gamma", gamma, (1,))[0]
    return RealWorld(p, means, seen, outcome_sd=spread(sd))


def mar_one_hidden(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, lowest: float = 0.05, sd: float = 1.0
) -> RealWorld:
    """The best arm's outcomes are mostly missing in its good mediator levels and observed in its bad ones.

    The best arm's E[Y|m] is U[0, 2] sorted, its gamma falls from .9 to `lowest` over the levels; the others have
    E[Y|m,a] ~ U[0, .4] and gamma ~ U[.8, 1]; P(m|a) ~ Dirichlet(1).

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    lowest : the best arm's gamma in its best level.
    sd : standard deviation of an outcome given its mediator.
    """
    shape = n, levels = whole_number("arms", arms, at_least=2), whole_number("K", K, at_least=1)
    best = one_arm(rng, n)
    means, seen = rng.uniform(0.0, 0.4, shape), rng.uniform(0.8, 1.0, shape)
    means[best] = np.sort(rng.uniform(0.0, 2.0, levels))
    seen[best] = np.linspace(0.9, number("lowest", lowest), levels)
    return RealWorld(dirichlet(rng, np.ones(shape)), means, seen, outcome_sd=spread(sd))


def mar_wide(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.1, 1.0), sd: float = 1.0
) -> RealWorld:
    """Means differ far more between mediator levels than between arms: drawn from -2 to 3."""
    shape = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    means = rng.uniform(-2.0, 3.0, shape)
    seen = chances(rng, "gamma", gamma, shape)
    return RealWorld(dirichlet(rng, np.ones(shape)), means, seen, outcome_sd=spread(sd))


parts: dict[str, Callable[..., RealWorld]] = {
    "mar-rare": mar_rare,
    "mar-one-hidden": mar_one_hidden,
    "mar-wide": mar_wide,
}

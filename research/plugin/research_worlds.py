"""Worlds of the validation and the ablations, as a package of its own would offer them: by entry points.

`import research` finds them; `PYTHONPATH=research/plugin truant worlds` lists them beside the built-in ones.
"""

from __future__ import annotations

import numpy as np

from truant.setting import FloatArray, number, whole_number
from truant.worlds import DiscreteWorld, RealWorld
from truant.worlds.draws import (
    MATCH,
    Range,
    chances,
    dirichlet,
    hiding,
    matching_sizes,
    one_arm,
    sizes,
)
from truant.worlds.mnar import boosted_joint, clear_joint, informative, sorted_joint


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
    return RealWorld(
        np.tile(p, (n, 1)), np.tile(means, (n, 1)), seen, outcome_sd=number("sd", sd, at_least=0)
    )


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
    return RealWorld(p, means, seen, outcome_sd=number("sd", sd, at_least=0))


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
    return RealWorld(dirichlet(rng, np.ones(shape)), means, seen, outcome_sd=number("sd", sd, at_least=0))


def mar_wide(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.1, 1.0), sd: float = 1.0
) -> RealWorld:
    """Means differ far more between mediator levels than between arms: drawn from -2 to 3."""
    shape = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    means = rng.uniform(-2.0, 3.0, shape)
    seen = chances(rng, "gamma", gamma, shape)
    return RealWorld(dirichlet(rng, np.ones(shape)), means, seen, outcome_sd=number("sd", sd, at_least=0))


def mnar_hidden_clear(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, match: float = MATCH
) -> DiscreteWorld:
    """`mnar-hidden` with the informative mediator of `mnar-clear` (needs K = L)."""
    boosted, joint = boosted_joint(rng, *matching_sizes("mnar-hidden-clear", arms, K, L))
    observation = hiding(len(joint), boosted, joint.shape[2])[:, None, :]
    return DiscreteWorld(informative(rng, joint, match), observation)


def mediator_mnar_hidden(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5
) -> DiscreteWorld:
    """`mediator-mnar` where the best arm's good mediator levels and the others' bad ones are often missing.

    Both chances, to see M and to see Y, fall linearly from .9 to .15 over the best arm's sorted levels and
    rise from .3 to .95 over those of the others.
    """
    return _both_hidden(sorted_joint(rng, *sizes(arms, K, L)))


def mediator_mnar_hidden_clear(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, match: float = MATCH
) -> DiscreteWorld:
    """`mediator-mnar-hidden` with the informative mediator of `mediator-mnar-clear` (needs K = L)."""
    return _both_hidden(clear_joint(rng, match, *matching_sizes("mediator-mnar-hidden-clear", arms, K, L)))


def _both_hidden(joint: FloatArray) -> DiscreteWorld:
    arms, K, L = joint.shape
    best = int(np.argmax(joint.sum(axis=1) @ np.linspace(0, 1, L)))
    seen = hiding(arms, best, K)
    return DiscreteWorld(joint, seen[..., None], seen)

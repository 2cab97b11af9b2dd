"""A world in which missingness depends on mediator and outcome together, so that no assumption about it holds."""

from __future__ import annotations

import numpy as np

from truant.setting import probabilities
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.draws import boosted_outcomes, dirichlet, matching, matching_sizes, number

SEEN = 0.9  # the chance to see an outcome that is not hidden


def mediator_and_outcome(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    L: int = 5,
    match: float = 0.5,
    hidden: float = 0.1,
) -> DiscreteWorld:
    """Missingness depends on mediator and outcome together: no assumption holds; follow-ups still work.

    P(y|a) is that of `mnar`; the mediator has the outcome's level with probability `match`, else it is drawn from one
    Dirichlet(1) vector per arm and outcome. The boosted arm hides outcomes at or above the level of the mediator (as
    good as promised, or better), the others hide those at or below it. Dropping the missing rows, `mar` and `mnar` all
    prefer another arm in about nine of ten instances.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    L : number of outcome levels, as many.
    match : how often mediator and outcome have the same level.
    hidden : P(O=1|m,y,a) of a hidden outcome; it is 0.9 for the others.
    """
    arms, K, L = matching_sizes("mediator-and-outcome", arms, K, L)
    chance = float(probabilities("hidden", number("hidden", hidden)))
    boosted, outcomes = boosted_outcomes(rng, arms, K, L)
    shares = (dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes).sum(axis=1)  # P(y|a)
    joint = np.swapaxes(shares[..., None] * matching(rng, match, (arms, L, L)), 1, 2)
    level, promised = np.arange(L), np.arange(K)[:, None]
    observation = np.tile(np.where(level <= promised, chance, SEEN), (arms, 1, 1))
    observation[boosted] = np.where(level >= promised, chance, SEEN)
    return DiscreteWorld(joint, observation)


parts = {"mediator-and-outcome": mediator_and_outcome}

"""The mediator is missing too, by chance: Q ⟂ M given A, and Q ⟂ Y given A, M, O."""

from __future__ import annotations

import numpy as np

from truant.errors import InvalidValue
from truant.setting import whole_number
from truant.worlds.draws import Range, boosted_means, chances, dirichlet, spread
from truant.worlds.real import RealWorld


def mediator_mar(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    gamma: Range = (0.5, 1.0),
    mediator_gamma: Range = (0.5, 1.0),
    sd: float = 1.0,
    linked: bool = False,
) -> RealWorld:
    """`mar` with missing mediators, too, with a probability of its own in each arm.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels.
    gamma : P(O=1|m,a), one number or a low, high range.
    mediator_gamma : P(Q=1|a), one number or a low, high range.
    sd : standard deviation of an outcome given its mediator.
    linked : whether O depends on Q as well, as in the paper's graph: pulls without a mediator then have
        outcome probabilities of their own, drawn from the same range.
    """
    if not isinstance(linked, bool | np.bool_):
        raise InvalidValue(f"linked must be true or false, got {linked!r}.")
    n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    means = boosted_means(rng, n, levels)
    seen = chances(rng, "gamma", gamma, (n, levels))
    p = dirichlet(rng, np.ones((n, levels)))
    mediator_seen = chances(rng, "mediator_gamma", mediator_gamma, (n, 1))
    unseen = chances(rng, "gamma", gamma, (n, levels)) if linked else seen
    observation = np.stack([unseen, seen], axis=1)  # (arms, mediator missing or seen, K)
    return RealWorld(p, means, observation, outcome_sd=spread(sd), mediator_observation=mediator_seen)


parts = {"mediator-mar": mediator_mar}

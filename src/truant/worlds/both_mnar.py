"""Outcome and mediator both hide themselves: O ⟂ (M, Q) given A, Y, and Q ⟂ (Y, O) given A, M."""

from __future__ import annotations

import numpy as np

from truant.worlds.discrete import DiscreteWorld
from truant.worlds.draws import Range, chances, sizes
from truant.worlds.mnar import boosted_joint


def both_mnar(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    L: int = 5,
    gamma: Range = (0.5, 1.0),
    mediator_gamma: Range = (0.5, 1.0),
) -> DiscreteWorld:
    """Outcome and mediator are both missing not at random, each depending on its own value.

    P(m,y|a) as in `mnar`; gamma uniform per arm and outcome, mediator_gamma per arm and mediator level.

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels (identified only for K = L).
    L : number of outcome levels, at least 2.
    gamma : P(O=1|y,a), one number or a low, high range.
    mediator_gamma : P(Q=1|m,a), one number or a low, high range.
    """
    n, levels, outcomes = sizes(arms, K, L)
    _, joint = boosted_joint(rng, n, levels, outcomes)
    seen = chances(rng, "gamma", gamma, (n, 1, outcomes))
    mediator_seen = chances(rng, "mediator_gamma", mediator_gamma, (n, levels))
    return DiscreteWorld(joint, seen, mediator_seen)


parts = {"both-mnar": both_mnar}

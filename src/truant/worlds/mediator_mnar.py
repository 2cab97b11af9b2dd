"""The mediator hides itself, and the outcome is missing by the mediator: Y, O, Q independent given A, M."""

from __future__ import annotations

import numpy as np

from truant.setting import FloatArray
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.draws import (
    MATCH,
    Range,
    boosted_outcomes,
    chances,
    dirichlet,
    hiding,
    matching,
    matching_sizes,
    one_arm,
    sizes,
)


def mediator_mnar(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    L: int = 5,
    gamma: Range = (0.5, 1.0),
    mediator_gamma: Range = (0.5, 1.0),
) -> DiscreteWorld:
    """The mediator is missing depending on its own value, the outcome depending on the mediator.

    P(y|m,a) ~ Dirichlet(1), on one arm with weight 5 on the top outcome, levels sorted by E[Y|m] within each
    arm, P(m|a) ~ Dirichlet(1), outcomes equally spaced on [0, 1].

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels (identified only for L >= K).
    L : number of outcome levels, at least 2.
    gamma : P(O=1|m,a), one number or a low, high range.
    mediator_gamma : P(Q=1|m,a), one number or a low, high range.
    """
    joint = _sorted_joint(rng, *sizes(arms, K, L))
    return _drawn(rng, joint, gamma, mediator_gamma)


def mediator_mnar_hidden(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5
) -> DiscreteWorld:
    """`mediator-mnar` where the best arm's good mediator levels and the others' bad ones are often missing.

    Both chances, to see M and to see Y, fall linearly from .9 to .15 over the best arm's sorted levels and
    rise from .3 to .95 over those of the others.
    """
    return _hidden(_sorted_joint(rng, *sizes(arms, K, L)))


def mediator_mnar_clear(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    L: int = 5,
    gamma: Range = (0.5, 1.0),
    mediator_gamma: Range = (0.5, 1.0),
    match: float = MATCH,
) -> DiscreteWorld:
    """`mediator-mnar` where mediator and outcome have one level with probability `match` (needs K = L).

    P(y|m,a) is `match` on y = m plus the rest of a Dirichlet(1) vector, and the boosted arm has
    P(m|a) ~ Dirichlet(1,..,1,5): it is better because its high levels are likelier.
    """
    joint = _clear_joint(rng, match, *matching_sizes("mediator-mnar-clear", arms, K, L))
    return _drawn(rng, joint, gamma, mediator_gamma)


def mediator_mnar_hidden_clear(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, match: float = MATCH
) -> DiscreteWorld:
    """`mediator-mnar-hidden` with the informative mediator of `mediator-mnar-clear` (needs K = L)."""
    return _hidden(_clear_joint(rng, match, *matching_sizes("mediator-mnar-hidden-clear", arms, K, L)))


def _sorted_joint(rng: np.random.Generator, arms: int, K: int, L: int) -> FloatArray:
    _, outcomes = boosted_outcomes(rng, arms, K, L)
    order = np.argsort(outcomes @ np.linspace(0, 1, L), axis=1)  # by E[Y|m,a]
    outcomes = np.take_along_axis(outcomes, order[..., None], axis=1)
    return dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes


def _clear_joint(rng: np.random.Generator, match: float, arms: int, K: int, L: int) -> FloatArray:
    weights = np.ones((arms, K))
    weights[one_arm(rng, arms), -1] = 5.0
    # not sorted: the levels are the outcomes', and a swap would break y = m
    outcomes = matching(rng, match, (arms, K, L))
    joint: FloatArray = dirichlet(rng, weights)[..., None] * outcomes
    return joint


def _drawn(rng: np.random.Generator, joint: FloatArray, gamma: Range, mediator_gamma: Range) -> DiscreteWorld:
    arms, K, _ = joint.shape
    seen = chances(rng, "gamma", gamma, (arms, K))
    mediator_seen = chances(rng, "mediator_gamma", mediator_gamma, (arms, K))
    return DiscreteWorld(joint, seen[..., None], mediator_seen)


def _hidden(joint: FloatArray) -> DiscreteWorld:
    arms, K, L = joint.shape
    best = int(np.argmax(joint.sum(axis=1) @ np.linspace(0, 1, L)))
    seen = hiding(arms, best, K)
    return DiscreteWorld(joint, seen[..., None], seen)


parts = {
    "mediator-mnar": mediator_mnar,
    "mediator-mnar-hidden": mediator_mnar_hidden,
    "mediator-mnar-clear": mediator_mnar_clear,
    "mediator-mnar-hidden-clear": mediator_mnar_hidden_clear,
}

"""Worlds in which the outcome hides itself, O ⟂ M given A, Y: the mediator is its shadow.

In the plain worlds mediator and outcome have little to do with each other, so the shadow is faint; in the
clear ones they have the same level with probability `match`. In the hidden ones the good arm's high outcomes
stay away, and so do the other arms' low ones: dropping the missing rows then prefers a wrong arm.
"""

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
    sizes,
)


def mnar(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, gamma: Range = (0.5, 1.0)
) -> DiscreteWorld:
    """Missing not at random: the probability that an outcome is observed depends on the outcome.

    P(y|m,a) ~ Dirichlet(1), on one arm with weight 5 on the top outcome, P(m|a) ~ Dirichlet(1), gamma uniform
    per arm and outcome, outcomes equally spaced on [0, 1] (the paper's MNAR experiment).

    Parameters
    ----------
    arms : number of arms.
    K : number of mediator levels (identified only for K >= L).
    L : number of outcome levels, at least 2.
    gamma : P(O=1|y,a), one number or a low, high range.
    """
    _, joint = boosted_joint(rng, *sizes(arms, K, L))
    return DiscreteWorld(joint, _by_outcome(rng, gamma, joint))


def mnar_hidden(rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5) -> DiscreteWorld:
    """`mnar` where high outcomes of the arm that is usually best, and low ones of the others, are often missing.

    gamma falls linearly from .9 to .15 over the boosted arm's outcomes and rises from .3 to .95 elsewhere.
    """
    boosted, joint = boosted_joint(rng, *sizes(arms, K, L))
    return DiscreteWorld(joint, _hidden(boosted, joint))


def mnar_clear(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 5,
    L: int = 5,
    gamma: Range = (0.5, 1.0),
    match: float = MATCH,
) -> DiscreteWorld:
    """`mnar` where mediator and outcome have one level with probability `match` (needs K = L).

    P(y|a) is that of the `mnar` draw; else M is drawn from one Dirichlet(1) vector per arm and outcome, which may
    give the outcome's level too. With match = 0 that vector is all there is, with 1 the mediator is the outcome.
    """
    _, joint = boosted_joint(rng, *matching_sizes("mnar-clear", arms, K, L))
    gammas = _by_outcome(rng, gamma, joint)
    return DiscreteWorld(_clear(rng, joint, match), gammas)


def mnar_hidden_clear(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, match: float = MATCH
) -> DiscreteWorld:
    """`mnar-hidden` with the informative mediator of `mnar-clear` (needs K = L)."""
    boosted, joint = boosted_joint(rng, *matching_sizes("mnar-hidden-clear", arms, K, L))
    return DiscreteWorld(_clear(rng, joint, match), _hidden(boosted, joint))


def boosted_joint(rng: np.random.Generator, arms: int, K: int, L: int) -> tuple[int, FloatArray]:
    """The boosted arm, and P(m,y|a) with P(m|a) ~ Dirichlet(1), shape (arms, K, L)."""
    boosted, outcomes = boosted_outcomes(rng, arms, K, L)
    return boosted, dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes


def _by_outcome(rng: np.random.Generator, gamma: Range, joint: FloatArray) -> FloatArray:
    arms, _, L = joint.shape
    return chances(rng, "gamma", gamma, (arms, 1, L))


def _hidden(boosted: int, joint: FloatArray) -> FloatArray:
    arms, _, L = joint.shape
    return hiding(arms, boosted, L)[:, None, :]


def _clear(rng: np.random.Generator, joint: FloatArray, match: float) -> FloatArray:
    """The same P(y|a), with P(m|y,a) `matching`."""
    arms, _, L = joint.shape
    given = matching(rng, match, (arms, L, L))  # (arms, y, m)
    return np.swapaxes(joint.sum(axis=1)[..., None] * given, 1, 2)


parts = {
    "mnar": mnar,
    "mnar-hidden": mnar_hidden,
    "mnar-clear": mnar_clear,
    "mnar-hidden-clear": mnar_hidden_clear,
}

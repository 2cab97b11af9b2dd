"""Worlds of discrete outcomes in which outcome or mediator hide themselves, or both.

In `mnar` and its kin the outcome hides itself, O ⟂ M given A, Y: the mediator is its shadow. In the plain worlds
mediator and outcome have little to do with each other, so the shadow is faint; in the clear ones they have the same
level with probability `match`. In `mnar-hidden` the good arm's high outcomes stay away, and so do the other arms'
low ones: dropping the missing rows then prefers a wrong arm. In `both-mnar` the mediator hides itself, too (O ⟂ (M, Q)
given A, Y, and Q ⟂ (Y, O) given A, M); in `mediator-mnar` and its kin the mediator does, and the outcome is missing by
the mediator (Y, O, Q independent given A, M).
"""

from __future__ import annotations

import numpy as np

from truant.setting import FloatArray, number
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


def mnar(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5, gamma: Range = (0.5, 1.0)
) -> DiscreteWorld:
    """Missing not at random: the probability that an outcome is observed depends on the outcome.

    P(y|m,a) ~ Dirichlet(1), on one arm with weight 5 on the top outcome, P(m|a) ~ Dirichlet(1), gamma uniform
    per arm and outcome, outcomes equally spaced on [0, 1] (the paper's MNAR experiment).

    Parameters
    ----------
    arms : Number of arms.
    K : Number of mediator levels (identified only for K >= L).
    L : Number of outcome levels, equally spaced from 0 to 1.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and outcome level.
    """
    _, joint = boosted_joint(rng, *sizes(arms, K, L))
    return DiscreteWorld(joint, chances(rng, "gamma", gamma, (len(joint), 1, joint.shape[2])))


def mnar_hidden(rng: np.random.Generator, *, arms: int = 10, K: int = 5, L: int = 5) -> DiscreteWorld:
    """`mnar` where high outcomes of the arm that is usually best, and low ones of the others, are often missing.

    gamma falls linearly from .9 to .15 over the boosted arm's outcomes and rises from .3 to .95 elsewhere.
    """
    boosted, joint = boosted_joint(rng, *sizes(arms, K, L))
    return DiscreteWorld(joint, hiding(len(joint), boosted, joint.shape[2])[:, None, :])


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

    Parameters
    ----------
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and outcome level.
    """
    _, joint = boosted_joint(rng, *matching_sizes("mnar-clear", arms, K, L))
    gammas = chances(rng, "gamma", gamma, (len(joint), 1, joint.shape[2]))
    return DiscreteWorld(informative(rng, joint, match), gammas)


def boosted_joint(rng: np.random.Generator, arms: int, K: int, L: int) -> tuple[int, FloatArray]:
    """The boosted arm, and P(m,y|a) with P(m|a) ~ Dirichlet(1), shape (arms, K, L)."""
    boosted, outcomes = boosted_outcomes(rng, arms, K, L)
    return boosted, dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes


def informative(rng: np.random.Generator, joint: FloatArray, match: float) -> FloatArray:
    """The same P(y|a), with P(m|y,a) `matching`."""
    arms, _, L = joint.shape
    given = matching(rng, match, (arms, L, L))  # (arms, y, m)
    return np.swapaxes(joint.sum(axis=1)[..., None] * given, 1, 2)


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
    arms : Number of arms.
    K : Number of mediator levels (identified only for K = L).
    L : Number of outcome levels, equally spaced from 0 to 1.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and outcome level.
    mediator_gamma : Probability that the mediator is observed (1: no mediator is missing); one number, or low,high
        to draw it from that range for each arm and mediator level.
    """
    n, levels, outcomes = sizes(arms, K, L)
    _, joint = boosted_joint(rng, n, levels, outcomes)
    seen = chances(rng, "gamma", gamma, (n, 1, outcomes))
    mediator_seen = chances(rng, "mediator_gamma", mediator_gamma, (n, levels))
    return DiscreteWorld(joint, seen, mediator_seen)


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
    arms : Number of arms.
    K : Number of mediator levels (identified only for L >= K).
    L : Number of outcome levels, equally spaced from 0 to 1.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    mediator_gamma : Probability that the mediator is observed (1: no mediator is missing); one number, or low,high
        to draw it from that range for each arm and mediator level.
    """
    joint = sorted_joint(rng, *sizes(arms, K, L))
    return _drawn(rng, joint, gamma, mediator_gamma)


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
    joint = clear_joint(rng, match, *matching_sizes("mediator-mnar-clear", arms, K, L))
    return _drawn(rng, joint, gamma, mediator_gamma)


def sorted_joint(rng: np.random.Generator, arms: int, K: int, L: int) -> FloatArray:
    """P(m,y|a) of `mediator-mnar`, shape (arms, K, L)."""
    _, outcomes = boosted_outcomes(rng, arms, K, L)
    order = np.argsort(outcomes @ np.linspace(0, 1, L), axis=1)  # by E[Y|m,a]
    outcomes = np.take_along_axis(outcomes, order[..., None], axis=1)
    return dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes


def clear_joint(rng: np.random.Generator, match: float, arms: int, K: int, L: int) -> FloatArray:
    """P(m,y|a) of `mediator-mnar-clear`, shape (arms, K, L)."""
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
    arms : Number of arms.
    K : Number of mediator levels.
    L : Number of outcome levels, equally spaced from 0 to 1.
    match : Probability with which mediator and outcome are given the same level; else the level is drawn at random.
    hidden : Probability that an outcome of the hidden kind is observed; it is 0.9 for the others.
    """
    arms, K, L = matching_sizes("mediator-and-outcome", arms, K, L)
    chance = number("hidden", hidden, 0, 1)
    boosted, outcomes = boosted_outcomes(rng, arms, K, L)
    shares = (dirichlet(rng, np.ones((arms, K)))[..., None] * outcomes).sum(axis=1)  # P(y|a)
    joint = np.swapaxes(shares[..., None] * matching(rng, match, (arms, L, L)), 1, 2)
    level, promised = np.arange(L), np.arange(K)[:, None]
    observation = np.tile(np.where(level <= promised, chance, SEEN), (arms, 1, 1))
    observation[boosted] = np.where(level >= promised, chance, SEEN)
    return DiscreteWorld(joint, observation)


parts = {
    "mnar": mnar,
    "mnar-hidden": mnar_hidden,
    "mnar-clear": mnar_clear,
    "both-mnar": both_mnar,
    "mediator-mnar": mediator_mnar,
    "mediator-mnar-clear": mediator_mnar_clear,
    "mediator-and-outcome": mediator_and_outcome,
}

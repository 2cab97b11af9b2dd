"""Worlds of normal outcomes that are missing by chance, in an arm or given its mediator: O ⟂ Y given A, M.

The paper draws two graphs for this, (i) with M before Y and (ii) with Y before M. They are one statistical
world: both say O ⟂ Y given A, M and nothing else, and any joint law of (M, Y) factorises as p(m) p(y|m) and
as p(y) p(m|y) alike. So there is one family here, drawn as p(m) p(y|m).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.errors import InvalidValue
from truant.setting import FloatArray, number, whole_number
from truant.worlds.draws import (
    Range,
    boosted_means,
    chances,
    dirichlet,
    number_range,
    one_arm,
)
from truant.worlds.real import RealWorld


def mcar(
    rng: np.random.Generator, *, arms: int = 10, gamma: Range = (0.5, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing completely at random: one gamma for all arms, no mediator, normal outcomes.

    mu_a ~ U[0, 1] and Y ~ N(mu_a, sd); gamma is drawn once (the paper's MCAR experiment).

    Parameters
    ----------
    arms : Number of arms.
    gamma : Probability that an outcome is observed (1: no outcome is missing), the same in all arms; one number, or
        low,high to draw it from that range.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    """
    n = whole_number("arms", arms, at_least=1)
    means = rng.uniform(0.0, 1.0, (n, 1))
    shared = chances(rng, "gamma", gamma, (1, 1))
    return RealWorld(np.ones((n, 1)), means, shared, outcome_sd=number("sd", sd, at_least=0))


def no_mediator(
    rng: np.random.Generator, *, arms: int = 10, gamma: Range = (0.2, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing with a probability of its own in each arm: no mediator, normal outcomes.

    mu_a ~ U[0, 1], Y ~ N(mu_a, sd), gamma_a uniform per arm (the paper's special case O ⟂ Y given A).

    Parameters
    ----------
    arms : Number of arms.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    """
    n = whole_number("arms", arms, at_least=1)
    means = rng.uniform(0.0, 1.0, (n, 1))
    per_arm = chances(rng, "gamma", gamma, (n, 1))
    return RealWorld(np.ones((n, 1)), means, per_arm, outcome_sd=number("sd", sd, at_least=0))


def confounded(rng: np.random.Generator, *, K: int = 5, eps: float = 0.1, sd: float = 1.0) -> RealWorld:
    """Two arms whose observed outcomes have the same distribution, though their means differ by almost 1.

    The instance in the proof of the paper's theorem on mediator-agnostic policies: `two_arms`.

    Parameters
    ----------
    K : Number of mediator levels, at least 2.
    eps : Probability of all mediator levels of an arm except its likeliest one; above 0 and below 1.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    """
    return two_arms(K, eps, sd, better=int(rng.integers(2)))


def two_arms(K: int, eps: float, sd: float = 1.0, better: int = 0) -> RealWorld:
    """The instance itself, with the better arm at a given place.

    E[Y|m] is 1 at the first level and 0 elsewhere. The better arm has that level with probability 1-eps, the
    other arm its second one; the remaining levels share eps. gamma_m = (1/p_m) / sum_k (1/p_k) makes
    P(m, O=1|a) the same for all levels and both arms.
    """
    levels = whole_number("K", K, at_least=2)
    rest = number("eps", eps)
    if not 0 < rest < 1:
        raise InvalidValue(f"eps must be in (0, 1), got {rest:g}.")
    p = np.full((2, levels), rest / (levels - 1))
    p[better, 0] = p[1 - better, 1] = 1 - rest
    means = np.zeros((2, levels))
    means[:, 0] = 1.0
    gamma = (1 / p) / (1 / p).sum(axis=1, keepdims=True)
    return RealWorld(p, means, gamma, outcome_sd=number("sd", sd, at_least=0))


MediatorDraw = Callable[[tuple[int, int]], FloatArray]  # (arms, K) -> P(m|a)


def mar(
    rng: np.random.Generator, *, arms: int = 10, K: int = 5, gamma: Range = (0.8, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing at random given the mediator; most outcomes are observed, and one arm is better by 0.6.

    E[Y|m,a] ~ U[0, .4] and .6 more on one arm, Y ~ N(E[Y|m,a], sd), P(m|a) ~ Dirichlet(1), gamma uniform per
    arm and level (the paper's MAR experiment, with the best arm anywhere).

    Parameters
    ----------
    arms : Number of arms.
    K : Number of mediator levels.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    sd : Standard deviation of an outcome, given its arm and mediator level.
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


def _mar(
    rng: np.random.Generator, arms: int, K: int, gamma: Range, sd: float, mediators: MediatorDraw
) -> RealWorld:
    """The common recipe; the mediator comes last, so that one seed has the same means and gammas in all."""
    shape = (whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1))
    means = boosted_means(rng, *shape)
    seen = chances(rng, "gamma", gamma, shape)
    return RealWorld(mediators(shape), means, seen, outcome_sd=number("sd", sd, at_least=0))


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
    arms : Number of arms.
    K : Number of mediator levels.
    gap : How far the mean of the noisy arm is above 0.4; one number, or low,high to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    noise : Standard deviation of an outcome in the noisy arm.
    """
    shape = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    gaps = number_range("gap", gap, at_least=0.0)
    best = one_arm(rng, shape[0])
    means = rng.uniform(0.0, 0.4, shape)
    means[best] = 0.4 + rng.uniform(*gaps)
    sds = np.full(shape, number("sd", sd, at_least=0))
    sds[best] = number("noise", noise, at_least=0)
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
    arms : Number of arms.
    K : Number of mediator levels, at least 2.
    gain : How much higher the mean of the best arm is in the noisy mediator level; one number, or low,high to draw
        it from that range.
    gamma : Probability that an outcome is observed in the noisy mediator level; one number, or low,high to draw it
        from that range for each arm.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    noise : Standard deviation of an outcome in the noisy mediator level.
    """
    shape = n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=2)
    gains = number_range("gain", gain, at_least=0.0)
    best = one_arm(rng, n)
    means = rng.uniform(0.0, 0.4, shape)
    means[best, -1] += rng.uniform(*gains)
    sds, seen = np.full(shape, number("sd", sd, at_least=0)), np.full(shape, 0.9)
    sds[:, -1] = number("noise", noise, at_least=0)
    seen[:, -1:] = chances(rng, "gamma", gamma, (n, 1))
    p = np.hstack([0.8 * dirichlet(rng, np.ones((n, levels - 1))), np.full((n, 1), 0.2)])
    return RealWorld(p, means, seen, outcome_sd=sds)


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
    arms : Number of arms.
    K : Number of mediator levels.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    mediator_gamma : Probability that the mediator is observed (1: no mediator is missing); one number, or low,high
        to draw it from that range for each arm.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    linked : Whether the probability that an outcome is observed also depends on whether its mediator is observed;
        without one it then has probabilities of its own, drawn from the same range.
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
    return RealWorld(
        p, means, observation, outcome_sd=number("sd", sd, at_least=0), mediator_observation=mediator_seen
    )


parts: dict[str, Callable[..., RealWorld]] = {
    "mcar": mcar,
    "no-mediator": no_mediator,
    "confounded": confounded,
    "mar": mar,
    "mar-low": mar_low,
    "mar-uniform": mar_uniform,
    "mar-peaked": mar_peaked,
    "noisy-arm": noisy_arm,
    "noisy-level": noisy_level,
    "mediator-mar": mediator_mar,
}

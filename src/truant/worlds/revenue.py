"""Worlds of sales, whose outcomes are mostly 0, and worlds whose best arm is so by something large and rare."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.setting import number, positive_number, whole_number
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.draws import (
    Range,
    chances,
    dirichlet,
    lifted,
    lifted_chances,
    number_range,
    one_arm,
)
from truant.worlds.real import RealWorld, SkewedWorld
from truant.worlds.world import World

AMOUNTS = (0.9, 1.1)  # an arm's median amount, in units of `size`


def conversion(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    rate: Range = (0.01, 0.02),
    lift: Range = (1.6, 2.6),
    gamma: Range = (0.2, 1.0),
    size: float = 50.0,
    sigma: float = 1.0,
) -> SkewedWorld:
    """Revenue after a rare conversion: the mediator is the stage reached, and missingness depends on it.

    Three stages: left, visited (probability uniform on [.2, .5], per arm), converted. The outcome is 0 unless
    converted, then lognormal with a median uniform on [.9, 1.1] times `size`, per arm. Gamma is uniform per arm
    and stage, so dropping the missing rows counts the conversions of some arms too often.

    Parameters
    ----------
    arms : Number of arms.
    rate : Probability of a conversion, in all arms but the best; one number, or low,high to draw it from that
        range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    size : Median amount of an outcome above 0.
    sigma : Standard deviation of the logarithm of an amount, from 0 to 4.
    """
    n = whole_number("arms", arms, at_least=1)
    _, converted = lifted_chances(rng, n, "rate", rate, lift)
    visited = rng.uniform(0.2, 0.5, n) * (1 - converted)
    amounts = positive_number("size", size) * rng.uniform(*AMOUNTS, (n, 1))
    return SkewedWorld(
        np.column_stack([1 - visited - converted, visited, converted]),
        [0.0, 0.0, 1.0],
        amounts,
        jump_sigma=number("sigma", sigma, 0, 4),
        observation=chances(rng, "gamma", gamma, (n, 3)),
    )


def zero_inflated(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    rate: Range = (0.02, 0.05),
    lift: Range = (1.4, 2.0),
    gamma: Range = (0.2, 1.0),
    size: float = 50.0,
    sigma: float = 1.0,
) -> SkewedWorld:
    """Revenue without a mediator: mostly 0, else lognormal; missing with a probability of its own in each arm.

    The median amount is uniform on [.9, 1.1] times `size`, per arm.

    Parameters
    ----------
    arms : Number of arms.
    rate : Probability of an outcome above 0, in all arms but the best; one number, or low,high to draw it from that
        range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm.
    size : Median amount of an outcome above 0.
    sigma : Standard deviation of the logarithm of an amount, from 0 to 4.
    """
    n = whole_number("arms", arms, at_least=1)
    _, paid = lifted_chances(rng, n, "rate", rate, lift)
    amounts = positive_number("size", size) * rng.uniform(*AMOUNTS, (n, 1))
    seen = chances(rng, "gamma", gamma, (n, 1))
    return SkewedWorld(
        np.ones((n, 1)), paid[:, None], amounts, jump_sigma=number("sigma", sigma, 0, 4), observation=seen
    )


def rates(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    rate: Range = (0.005, 0.015),
    lift: Range = (1.4, 2.0),
    gamma: Range = (0.2, 1.0),
) -> DiscreteWorld:
    """Rare successes (outcomes 0 and 1) without a mediator, missing with a probability of its own in each arm.

    Parameters
    ----------
    arms : Number of arms.
    rate : Probability of an outcome above 0, in all arms but the best; one number, or low,high to draw it from that
        range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm.
    """
    n = whole_number("arms", arms, at_least=1)
    _, success = lifted_chances(rng, n, "rate", rate, lift)
    joint = np.stack([1 - success, success], axis=1)[:, None, :]
    return DiscreteWorld(joint, chances(rng, "gamma", gamma, (n, 1, 1)))


def lognormal(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 1,
    median: Range = (0.5, 1.0),
    lift: Range = (1.2, 1.6),
    gamma: Range = (0.2, 1.0),
    sigma: float = 1.4,
) -> SkewedWorld:
    """Lognormal outcomes whose medians differ between arms; no mediator unless K is set.

    With K levels, P(m|a) ~ Dirichlet(1), and the median of each level is that of its arm times a factor that is
    uniform on [.5, 1.5], the same for all arms.

    Parameters
    ----------
    arms : Number of arms.
    K : Number of mediator levels.
    median : Median outcome of all arms but the best; one number, or low,high to draw it from that range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    sigma : Standard deviation of the logarithm of an amount, from 0 to 4.
    """
    n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    _, medians = lifted(rng, n, "median", median, lift)
    factors = rng.uniform(0.5, 1.5, levels) if levels > 1 else np.ones(1)
    seen = chances(rng, "gamma", gamma, (n, levels))
    p = dirichlet(rng, np.ones((n, levels)))
    return SkewedWorld(
        p, 1.0, np.outer(medians, factors), jump_sigma=number("sigma", sigma, 0, 4), observation=seen
    )


SKEWED_LEVELS = (0.0, 1.0, 2.0, 5.0, 100.0)


def jackpots(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 3,
    chance: Range = (0.0003, 0.0015),
    lift: Range = (3.0, 4.0),
    gamma: Range = (0.3, 1.0),
    size: float = 100.0,
    sd: float = 1.0,
) -> SkewedWorld:
    """Normal outcomes and, in some arms, a rare huge one, which is most frequent in the best arm.

    Half of the arms, never the best, have no jackpots. The others have them with a probability of their own, in
    some mediator levels up to three times as often as in others. Without a jackpot Y ~ N(E[Y|m,a], sd), where
    E[Y|m,a] ~ U[0, .2], in the best arm U[0, .1]; P(m|a) ~ Dirichlet(1).

    Parameters
    ----------
    arms : Number of arms.
    K : Number of mediator levels.
    chance : Probability of a jackpot (a huge outcome) in the arms that have one, except the best; one number, or
        low,high to draw it from that range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and mediator level.
    size : Outcome of a jackpot.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    """
    shape = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    n = shape[0]
    best, jackpot = lifted_chances(rng, n, "chance", chance, lift)
    without = rng.permutation(np.delete(np.arange(n), best))[: n // 2]
    jackpot[without] = 0.0
    p = dirichlet(rng, np.ones(shape))
    factors = rng.uniform(0.5, 1.5, shape)
    factors /= (p * factors).sum(axis=1, keepdims=True)
    base = rng.uniform(0.0, 0.2, shape)
    base[best] /= 2
    seen = chances(rng, "gamma", gamma, shape)
    return SkewedWorld(
        p,
        np.minimum(jackpot[:, None] * factors, 1.0),
        positive_number("size", size),
        base_mean=base,
        base_sd=number("sd", sd, at_least=0),
        observation=seen,
    )


def rare_level(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    K: int = 3,
    rare: Range = (0.01, 0.03),
    gamma: Range = (0.05, 0.15),
    size: Range = (15.0, 30.0),
    sd: float = 1.0,
) -> RealWorld:
    """The best arm is better only in a rare mediator level whose outcomes are rarely observed.

    The last level is rare; the others share the rest as Dirichlet(1). E[Y|m,a] ~ U[0, .2], save for the best arm
    in the rare level, where it is `size`. Outcomes of the other levels are seen with probability .9.

    Parameters
    ----------
    arms : Number of arms.
    K : Number of mediator levels, at least 2.
    rare : Probability of the rare mediator level; one number, or low,high to draw it from that range.
    gamma : Probability that an outcome is observed in the rare mediator level; one number, or low,high to draw it
        from that range for each arm.
    size : Mean outcome of the best arm in the rare mediator level; one number, or low,high to draw it from that
        range.
    sd : Standard deviation of an outcome, given its arm and mediator level.
    """
    n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=2)
    value = number_range("size", size, at_least=0.2)
    best = one_arm(rng, n)
    means = rng.uniform(0.0, 0.2, (n, levels))
    means[best, -1] = rng.uniform(*value)
    last = chances(rng, "rare", rare, (n, 1))
    p = np.hstack([(1 - last) * dirichlet(rng, np.ones((n, levels - 1))), last])
    seen = np.full((n, levels), 0.9)
    seen[:, -1:] = chances(rng, "gamma", gamma, (n, 1))
    return RealWorld(p, means, seen, outcome_sd=number("sd", sd, at_least=0))


def mnar_skewed(
    rng: np.random.Generator,
    *,
    arms: int = 10,
    top: Range = (0.001, 0.005),
    lift: Range = (4.0, 7.0),
    gamma: Range = (0.5, 1.0),
) -> DiscreteWorld:
    """`mnar` with outcomes 0, 1, 2, 5 and 100; the last one is rare, and more frequent in the best arm.

    Five mediator levels, P(m|a) ~ Dirichlet(1). P(Y=100|a) is the same in all of them; the other outcomes share
    the rest as Dirichlet(4, 3, 2, 1), per arm and level. Gamma is uniform per arm and outcome.

    Parameters
    ----------
    arms : Number of arms.
    top : Probability of the outcome 100, in all arms but the best; one number, or low,high to draw it from that
        range.
    lift : Factor by which the best arm is above the upper end of the range of the others; one number, or low,high
        to draw it from that range.
    gamma : Probability that an outcome is observed (1: no outcome is missing); one number, or low,high to draw it
        from that range for each arm and outcome level.
    """
    n, K = whole_number("arms", arms, at_least=1), len(SKEWED_LEVELS)
    _, rare = lifted_chances(rng, n, "top", top, lift)
    given = np.empty((n, K, K))
    given[..., -1] = rare[:, None]
    weights = np.broadcast_to([4.0, 3.0, 2.0, 1.0], (n, K, K - 1))
    given[..., :-1] = (1 - rare)[:, None, None] * dirichlet(rng, weights)
    joint = dirichlet(rng, np.ones((n, K)))[..., None] * given
    return DiscreteWorld(joint, chances(rng, "gamma", gamma, (n, 1, K)), levels=SKEWED_LEVELS)


parts: dict[str, Callable[..., World]] = {
    "conversion": conversion,
    "zero-inflated": zero_inflated,
    "rates": rates,
    "lognormal": lognormal,
    "jackpots": jackpots,
    "rare-level": rare_level,
    "mnar-skewed": mnar_skewed,
}

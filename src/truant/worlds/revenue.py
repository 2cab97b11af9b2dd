"""Worlds of sales: most outcomes are 0, and the few others are skewed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.setting import positive_number, whole_number
from truant.worlds.discrete import DiscreteWorld
from truant.worlds.draws import Range, chances, dirichlet, lifted, lifted_chances, log_spread
from truant.worlds.skewed import SkewedWorld
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
    arms : number of arms.
    rate : probability of a conversion, one number or a low, high range, of all arms but the best.
    lift : the best arm's conversion probability as a multiple of the upper end of `rate`, one number or a range.
    gamma : P(O=1|m,a), where m is the stage; one number or a low, high range.
    size : median amount of a conversion.
    sigma : standard deviation of the logarithm of an amount, at most 4.
    """
    n = whole_number("arms", arms, at_least=1)
    _, converted = lifted_chances(rng, n, "rate", rate, lift)
    visited = rng.uniform(0.2, 0.5, n) * (1 - converted)
    amounts = positive_number("size", size) * rng.uniform(*AMOUNTS, (n, 1))
    return SkewedWorld(
        np.column_stack([1 - visited - converted, visited, converted]),
        [0.0, 0.0, 1.0],
        amounts,
        jump_sigma=log_spread(sigma),
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
    arms : number of arms.
    rate : probability of an outcome above 0, one number or a low, high range, of all arms but the best.
    lift : the best arm's probability as a multiple of the upper end of `rate`, one number or a range.
    gamma : P(O=1|a), one number or a low, high range.
    size : median amount.
    sigma : standard deviation of the logarithm of an amount, at most 4.
    """
    n = whole_number("arms", arms, at_least=1)
    _, paid = lifted_chances(rng, n, "rate", rate, lift)
    amounts = positive_number("size", size) * rng.uniform(*AMOUNTS, (n, 1))
    seen = chances(rng, "gamma", gamma, (n, 1))
    return SkewedWorld(
        np.ones((n, 1)), paid[:, None], amounts, jump_sigma=log_spread(sigma), observation=seen
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
    arms : number of arms.
    rate : P(Y=1|a), one number or a low, high range, of all arms but the best.
    lift : the best arm's P(Y=1|a) as a multiple of the upper end of `rate`, one number or a range.
    gamma : P(O=1|a), one number or a low, high range.
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
    arms : number of arms.
    K : number of mediator levels.
    median : median outcome, one number or a low, high range, of all arms but the best.
    lift : the best arm's median as a multiple of the upper end of `median`, one number or a range.
    gamma : P(O=1|m,a), one number or a low, high range.
    sigma : standard deviation of the logarithm of an outcome, at most 4.
    """
    n, levels = whole_number("arms", arms, at_least=1), whole_number("K", K, at_least=1)
    _, medians = lifted(rng, n, "median", median, lift)
    factors = rng.uniform(0.5, 1.5, levels) if levels > 1 else np.ones(1)
    seen = chances(rng, "gamma", gamma, (n, levels))
    p = dirichlet(rng, np.ones((n, levels)))
    return SkewedWorld(p, 1.0, np.outer(medians, factors), jump_sigma=log_spread(sigma), observation=seen)


parts: dict[str, Callable[..., World]] = {
    "conversion": conversion,
    "zero-inflated": zero_inflated,
    "rates": rates,
    "lognormal": lognormal,
}

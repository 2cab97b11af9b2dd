"""Worlds without a mediator: the outcome is missing by chance, at one rate for all arms or one per arm."""

from __future__ import annotations

import numpy as np

from truant.setting import whole_number
from truant.worlds.draws import Range, chances, spread
from truant.worlds.real import RealWorld


def mcar(
    rng: np.random.Generator, *, arms: int = 10, gamma: Range = (0.5, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing completely at random: one gamma for all arms, no mediator, normal outcomes.

    mu_a ~ U[0, 1] and Y ~ N(mu_a, sd); gamma is drawn once (the paper's MCAR experiment).

    Parameters
    ----------
    arms : number of arms.
    gamma : P(O=1), one number or a low, high range.
    sd : standard deviation of an outcome.
    """
    n = whole_number("arms", arms, at_least=1)
    means = rng.uniform(0.0, 1.0, (n, 1))
    shared = chances(rng, "gamma", gamma, (1, 1))
    return RealWorld(np.ones((n, 1)), means, shared, outcome_sd=spread(sd))


def no_mediator(
    rng: np.random.Generator, *, arms: int = 10, gamma: Range = (0.2, 1.0), sd: float = 1.0
) -> RealWorld:
    """Missing with a probability of its own in each arm: no mediator, normal outcomes.

    mu_a ~ U[0, 1], Y ~ N(mu_a, sd), gamma_a uniform per arm (the paper's special case O ⟂ Y given A).

    Parameters
    ----------
    arms : number of arms.
    gamma : P(O=1|a), one number or a low, high range.
    sd : standard deviation of an outcome.
    """
    n = whole_number("arms", arms, at_least=1)
    means = rng.uniform(0.0, 1.0, (n, 1))
    per_arm = chances(rng, "gamma", gamma, (n, 1))
    return RealWorld(np.ones((n, 1)), means, per_arm, outcome_sd=spread(sd))


parts = {"mcar": mcar, "no-mediator": no_mediator}

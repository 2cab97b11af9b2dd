"""What the recipes of the named worlds share: checked parameters and the random pieces of an instance.

Every piece is drawn whether or not its range is a single number, so that two values of one parameter
under one seed give instances that differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truant.errors import InvalidValue, quoted
from truant.setting import FloatArray, as_float, is_list, is_number, number, whole_number

Range = float | Sequence[float]  # one number (fixed), or the ends of a uniform draw

MATCH = 0.7  # in the "clear" worlds, unless set: how often mediator and outcome have the same level


def matching(rng: np.random.Generator, match: object, shape: tuple[int, ...]) -> FloatArray:
    """`match` on the same level plus the rest of a Dirichlet(1) vector, shape (..., levels, levels)."""
    same = number("match", match, 0, 1)
    return same * np.eye(shape[-1]) + (1 - same) * dirichlet(rng, np.ones(shape))


def probability_range(name: str, value: object) -> tuple[float, float]:
    """The ends of a range inside (0, 1]; one number is a range of no width."""
    low, high = _ends(name, value)
    for end in (low, high):
        if not 0 < end <= 1:
            raise InvalidValue(f"{name} must be in (0, 1], got {end:g}.")
    return _in_order(name, low, high)


def number_range(name: str, value: object, at_least: float) -> tuple[float, float]:
    """The ends of a range of finite numbers of at least `at_least`; one number is a range of no width."""
    low, high = _ends(name, value)
    for end in (low, high):
        if not at_least <= end < np.inf:
            raise InvalidValue(f"{name} must be finite and at least {at_least:g}, got {end:g}.")
    return _in_order(name, low, high)


def _ends(name: str, value: object) -> tuple[float, float]:
    ends: Sequence[object] = (value, value)
    if isinstance(value, Sequence | np.ndarray) and is_list(value) and not isinstance(value, str | bytes):
        ends = tuple(value)
    if len(ends) != 2 or not all(map(is_number, ends)):
        raise InvalidValue(f"{name} must be one number or a low, high range, got {quoted(value)}.")
    return as_float(ends[0]), as_float(ends[1])


def _in_order(name: str, low: float, high: float) -> tuple[float, float]:
    if low > high:
        raise InvalidValue(f"{name} must have low <= high, got {low:g}, {high:g}.")
    return low, high


def chances(rng: np.random.Generator, name: str, value: object, shape: tuple[int, ...]) -> FloatArray:
    """Observation probabilities, uniform on the range of the parameter `name`."""
    low, high = probability_range(name, value)
    return rng.uniform(low, high, shape)


def dirichlet(rng: np.random.Generator, weights: FloatArray) -> FloatArray:
    """Probability vectors along the last axis, one for each vector of weights."""
    parts = rng.standard_gamma(weights)
    vectors: FloatArray = parts / parts.sum(axis=-1, keepdims=True)
    return vectors


def one_arm(rng: np.random.Generator, arms: int) -> int:
    """The position of the arm that is made better: any, with equal probability."""
    return int(rng.integers(arms))


def lifted(
    rng: np.random.Generator, arms: int, name: str, value: object, lift: object
) -> tuple[int, FloatArray]:
    """One arm, and a positive number for each: uniform on the range of the parameter `name`, save for that arm.

    Its number is the upper end of that range times `lift`, a number or a range of at least 1.
    """
    low, high = number_range(name, value, at_least=0.0)
    if low == 0:
        raise InvalidValue(f"{name} must be positive, got 0.")
    factors = number_range("lift", lift, at_least=1.0)
    best = one_arm(rng, arms)
    values = rng.uniform(low, high, arms)
    values[best] = high * rng.uniform(*factors)
    return best, values


def lifted_chances(
    rng: np.random.Generator, arms: int, name: str, value: object, lift: object
) -> tuple[int, FloatArray]:
    """The same for probabilities: none may exceed 1."""
    top = probability_range(name, value)[1] * number_range("lift", lift, at_least=1.0)[1]
    if top > 1:
        raise InvalidValue(f"lift times {name} must be at most 1, got {top:g}.")
    return lifted(rng, arms, name, value, lift)


def boosted_means(rng: np.random.Generator, arms: int, K: int) -> FloatArray:
    """E[Y|m,a] ~ U[0, .4], and .6 more on one arm, shape (arms, K)."""
    best = one_arm(rng, arms)
    means = rng.uniform(0.0, 0.4, (arms, K))
    means[best] += 0.6
    return means


def boosted_outcomes(rng: np.random.Generator, arms: int, K: int, L: int) -> tuple[int, FloatArray]:
    """One arm, and P(y|m,a) ~ Dirichlet(1), with weight 5 on that arm's top outcome, shape (arms, K, L)."""
    boosted = one_arm(rng, arms)
    weights = np.ones((arms, K, L))
    weights[boosted, :, -1] = 5.0
    return boosted, dirichlet(rng, weights)


def hiding(arms: int, hider: int, count: int) -> FloatArray:
    """Chances over `count` levels that fall (.9 to .15) for one arm and rise (.3 to .95) for the others."""
    rising = np.tile(np.linspace(0.3, 0.95, count), (arms, 1))
    rising[hider] = np.linspace(0.9, 0.15, count)
    return rising


def sizes(arms: int, K: int, L: int) -> tuple[int, int, int]:
    """The three sizes of a discrete world, checked."""
    return (
        whole_number("arms", arms, at_least=1),
        whole_number("K", K, at_least=1),
        whole_number("L", L, at_least=2),
    )


def matching_sizes(name: str, arms: int, K: int, L: int) -> tuple[int, int, int]:
    """The same with K = L: else "mediator and outcome have the same level" would have no meaning."""
    checked = sizes(arms, K, L)
    if checked[1] != checked[2]:
        raise InvalidValue(f"World {name!r} needs K = L, got K={checked[1]}, L={checked[2]}.")
    return checked

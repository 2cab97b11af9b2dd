"""The paper's formulas written out in numpy, from an arm's mediators and outcomes (not from counts)."""

import math

import numpy as np
import numpy.typing as npt
from tests.scoring import guess_and_scores

from truant.counts import Counts
from truant.policies import Policy
from truant.setting import Setting

FloatArray = npt.NDArray[np.float64]
Pulls = tuple[npt.NDArray[np.int64], FloatArray]  # of one arm: mediators (-1 missing), outcomes (NaN missing)


def table_of(policy: Policy, arms: list[Pulls], setting: Setting) -> FloatArray:
    codes = np.repeat(np.arange(len(arms)), [len(m) for m, _ in arms])
    columns = [np.concatenate(part) for part in zip(*arms, strict=True)]
    counts = Counts.fold(setting, codes, *columns)
    return counts.table if policy.curve(setting, 1000).discrete else counts.real().table


def assert_same(
    policy: Policy, arms: list[Pulls], setting: Setting, expected: list[tuple[float, float]], **near
):
    for horizon in (2000, 10**6):
        found = guess_and_scores(policy, table_of(policy, arms, setting), setting, horizon)
        for a, (mean, width) in enumerate(expected):  # width: the bonus over sqrt(log T)
            if math.isinf(width):
                assert np.all(found[a] == np.inf), a
                continue
            upper = mean + width * math.sqrt(math.log(horizon))
            np.testing.assert_allclose(found[a], [mean, upper], **near, err_msg=f"arm {a}, T={horizon}")


# The formulas: best guess, and bonus/sqrt(log T)


def hoeffding_mean(pulls: Pulls, alpha: float) -> tuple[float, float]:
    y = pulls[1][~np.isnan(pulls[1])]
    return (float(y.mean()), math.sqrt(alpha / (2 * len(y)))) if len(y) else (np.nan, np.inf)


def widened(expected: list[tuple[float, float]], setting: Setting) -> list[tuple[float, float]]:
    """Hoeffding's width is that of range 1, times the range."""
    return [(mean, (setting.high - setting.low) * width) for mean, width in expected]


def over_levels(pulls: Pulls, p: dict[int, float], alpha: float, factor: float) -> tuple[float, float]:
    """sum p mu_m + factor sqrt(alpha/2 sum p^2/n_m); infinite if a cell with p > 0 shows no outcome."""
    mean = squares = 0.0
    for level, share in p.items():
        if share == 0:
            continue
        y = pulls[1][(pulls[0] == level) & ~np.isnan(pulls[1])]
        if not len(y):
            return np.nan, np.inf
        mean += share * float(y.mean())
        squares += share**2 / len(y)
    return mean, factor * math.sqrt(alpha / 2 * squares)


def estimated_levels(pulls: Pulls, alpha: float) -> tuple[float, float]:
    m = pulls[0]
    return over_levels(pulls, {int(level): float(np.mean(m == level)) for level in np.unique(m)}, alpha, 8)


def seen_mediators(pulls: Pulls, alpha: float) -> tuple[float, float]:
    keep = pulls[0] >= 0
    return estimated_levels((pulls[0][keep], pulls[1][keep]), alpha) if keep.any() else (np.nan, np.inf)


def frequencies(
    pulls: Pulls, K: int, levels: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """P(m, y, both seen), P(m, outcome missing), P(y, mediator missing), P(m, mediator seen): over all pulls."""
    m, y = pulls
    theta = np.array([[np.mean((m == k) & (y == level)) for level in levels] for k in range(K)])
    outcome_missing = np.array([np.mean((m == k) & np.isnan(y)) for k in range(K)])
    mediator_missing = np.array([np.mean((m == -1) & (y == level)) for level in levels])
    return theta, outcome_missing, mediator_missing, np.array([np.mean(m == k) for k in range(K)])


def norm(matrix: FloatArray) -> float:
    return float(np.linalg.norm(matrix, np.inf))


def mnar_inverse(pulls: Pulls, K: int, levels: FloatArray, C: float, alpha: float) -> tuple[float, float]:
    theta, b, _, _ = frequencies(pulls, K, levels)
    x = np.linalg.pinv(theta) @ b
    L, gamma = len(levels), 1 / np.max(1 + x)
    T_a, T_ao = len(pulls[0]), int(np.sum(~np.isnan(pulls[1])))
    if T_ao == 0:
        return np.nan, np.inf
    bonus = 8 * L * C / (norm(theta) * gamma) * math.sqrt(alpha / T_a) + K / gamma * math.sqrt(alpha / T_ao)
    return float(levels @ ((1 + x) * theta.sum(axis=0))), np.abs(levels).sum() * bonus


def mediator_mnar_inverse(
    pulls: Pulls, K: int, levels: FloatArray, C: float, alpha: float
) -> tuple[float, float]:
    theta, _, b, seen = frequencies(pulls, K, levels)
    x = np.linalg.pinv(theta.T) @ b
    p, lam, T_a = (1 + x) * seen, 1 / np.max(1 + x), len(pulls[0])
    mean = squares = 0.0
    for k in range(K):
        y = pulls[1][(pulls[0] == k) & ~np.isnan(pulls[1])]
        if seen[k] == 0:
            continue
        if not len(y):
            return np.nan, np.inf
        mean += p[k] * float(y.mean())
        squares += 4 * p[k] ** 2 / len(y)
    if not theta.any():
        return np.nan, np.inf
    system = 8 * C / norm(theta.T) * K / lam + K / lam  # norms of the matrix that is solved
    bonus = 2 * math.sqrt(alpha / (2 * T_a)) * system + math.sqrt(alpha / 2 * squares)
    return mean, max(1.0, np.abs(levels).max()) * bonus


# Random pulls


def real_pulls(rng: np.random.Generator, size: int, K: int, low: float, q: float = 1.0) -> Pulls:
    m = rng.choice(K, size=size, p=rng.dirichlet(np.ones(K)))
    y = low + rng.random(size) * rng.random(K)[m]
    y[rng.random(size) > rng.uniform(0.2, 1, K)[m]] = np.nan
    m[rng.random(size) > q] = -1
    return m, y


def level_pulls(rng: np.random.Generator, size: int, K: int, levels: FloatArray, q: float = 1.0) -> Pulls:
    joint = rng.dirichlet(np.ones(K * len(levels)))
    m, code = np.divmod(rng.choice(K * len(levels), size=size, p=joint), len(levels))
    y = levels[code].copy()
    y[rng.random(size) > rng.uniform(0.4, 1, len(levels))[code]] = np.nan
    m[rng.random(size) > q] = -1
    return m, y

"""Profile-likelihood limits: the value u whose signed root sqrt(2 (l_max - l(u))) is z."""

from __future__ import annotations

import numpy as np

from truant.assumptions.assumption import Estimate
from truant.assumptions.likelihood import fit, loosen, maximise, mean_outcome, size
from truant.compile import entry, jit
from truant.setting import FloatArray

EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS = 1e-9, 1e-8, 100_000  # reporting: stop tight, add (almost) nothing


@jit
def profile(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    u: float,
    inner: FloatArray,
    best: FloatArray,
    prior: float,
    tolerance: float,
    most_maps: int,
    out: FloatArray,
) -> float:
    """l(u) = max log L with mean outcome u, from two starts: the bracket's inner end and a loosened maximum."""
    cells = (C.shape[0] - 1) * len(levels)
    loosen(out, cells, 0.02, 0.03, inner)
    value = fit(C, levels, by_outcome, out, prior, tolerance, most_maps, u)
    other = np.empty_like(out)
    for k in range(len(out)):
        middle = 1.0 / cells if k < cells else 0.5
        other[k] = 0.8 * best[k] + 0.2 * middle
    second = fit(C, levels, by_outcome, other, prior, tolerance, most_maps, u)
    if second > value:
        out[:] = other
        return second
    return value


@jit
def limit(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    z: float,
    best: FloatArray,
    highest: float,
    guess: float,
    state: FloatArray,
    prior: float,
    tolerance: float,
    most_maps: int,
    precision: float,
) -> tuple[float, bool]:
    """at(z), by a bracketed secant in the signed root; `state` is a warm start and is left at the limit.

    The second value is True if a higher maximum than `highest` turned up: `state` then holds it.
    """
    K = C.shape[0] - 1
    mean = mean_outcome(best, levels, K)
    span = levels[-1] - levels[0]
    edge = levels[-1] - 1e-9 * span if z > 0 else levels[0] + 1e-9 * span
    aim = abs(z)
    inner_u, inner_root, outer_u, outer_root = mean, 0.0, edge, np.inf
    if (edge - mean) * z <= 0.0:
        return edge, False
    inside = state.copy()
    out = np.empty_like(state)
    u = guess
    for turn in range(60):
        reach = (u - inner_u) / (outer_u - inner_u)
        if not 0.0 < reach < 1.0:
            u = (inner_u + outer_u) / 2
        value = profile(C, levels, by_outcome, u, inside, best, prior, tolerance, most_maps, out)
        if value > highest + 10 * tolerance:
            state[:] = out
            return u, True
        root = np.sqrt(2.0 * max(highest - value, 0.0))
        state[:] = out
        if abs(root - aim) <= precision * aim or abs(outer_u - inner_u) <= 1e-7 * span:
            break
        if root < aim:
            inner_u, inner_root = u, root
            inside[:] = out
        else:
            outer_u, outer_root = u, root
        if outer_root < np.inf:
            slope = (aim - inner_root) / (outer_root - inner_root)
            u = inner_u + min(max(slope, 0.05), 0.95) * (outer_u - inner_u)
            if turn % 4 == 3:  # a secant can creep from one side
                u = (inner_u + outer_u) / 2
        elif inner_root > 0.05 * aim:
            u = mean + (inner_u - mean) * 1.02 * aim / inner_root
            if (edge - u) * z <= 0.0:
                u = (inner_u + edge) / 2
        else:
            u = (inner_u + edge) / 2
    return u, False


@jit
def first_guess(mean: float, z: float, levels: FloatArray, pulls: float) -> float:
    """A rough at(z): half the range as standard deviation."""
    edge = levels[-1] if z > 0 else levels[0]
    away = z * (levels[-1] - levels[0]) / (2 * np.sqrt(pulls + 1.0))
    return mean + away if abs(away) < abs(edge - mean) else (mean + edge) / 2


@jit
def fill_from_likelihood(
    C: FloatArray,
    by_outcome: bool,
    memory: FloatArray,
    levels: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """at(z) at the knots, for choosing: loose stops, warm starts from the arm's last fit.

    Memory: the mediator levels of the last fit (0: none), its parameters, then per knot its value and state.
    """
    prior, tolerance, most_maps, precision = 0.001, 0.001, 400, 0.03
    K, L = C.shape[0] - 1, len(levels)
    P = K * L + (L if by_outcome else K) + K
    warm = memory[0] == K
    best = memory[1 : 1 + P]
    highest = maximise(C, levels, by_outcome, best, prior, tolerance, most_maps, warm)
    pulls = C.sum()
    again = 0
    k = 0
    while k < len(knots):
        mean = mean_outcome(best, levels, K)
        if knots[k] == 0.0:
            values[k] = mean
            k += 1
            continue
        place = 1 + P + k * (1 + P)
        state = memory[place + 1 : place + 1 + P]
        guess = memory[place]
        if not warm:
            guess = first_guess(mean, knots[k], levels, pulls)
            state[:] = best
        u, higher = limit(
            C, levels, by_outcome, knots[k], best, highest, guess, state, prior, tolerance, most_maps, precision
        )
        if higher and again < 3:  # refit from there, and take every knot again
            best[:] = state
            highest = fit(C, levels, by_outcome, best, prior, tolerance, most_maps, np.nan)
            again += 1
            k = 0
            continue
        values[k] = memory[place] = u
        k += 1
    memory[0] = K


def memory_size(K: int, L: int, by_outcome: bool, knots: int) -> int:
    """Numbers that `fill_from_likelihood` keeps per arm."""
    P = size(K, L, by_outcome)
    return 1 + P + knots * (1 + P)


@entry
def exact_maximum(C: FloatArray, levels: FloatArray, by_outcome: bool, theta: FloatArray) -> float:
    """The maximum for reporting: tight stop."""
    return maximise(C, levels, by_outcome, theta, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, False)


@entry
def exact_limit(
    C: FloatArray, levels: FloatArray, by_outcome: bool, z: float, best: FloatArray, highest: float
) -> tuple[float, float]:
    """at(z) for reporting, and the maximum it is measured from; `best` is replaced if a higher one turns up."""
    guess = first_guess(mean_outcome(best, levels, C.shape[0] - 1), z, levels, C.sum())
    while True:
        state = best.copy()
        u, higher = limit(
            C, levels, by_outcome, z, best, highest, guess, state, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, 1e-5
        )
        if not higher:
            return u, highest
        best[:] = state
        highest = fit(C, levels, by_outcome, best, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, np.nan)


@entry
def exact_profile(C: FloatArray, levels: FloatArray, by_outcome: bool, u: float, best: FloatArray) -> float:
    """l(u) for reporting."""
    out = np.empty_like(best)
    return profile(C, levels, by_outcome, u, best, best, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, out)


class LikelihoodFit:
    """The maximum of one arm's table, and its profile limits."""

    def __init__(self, C: FloatArray, levels: FloatArray, by_outcome: bool) -> None:
        K, L = C.shape[0] - 1, C.shape[1] - 1
        self.table, self.levels, self.by_outcome = np.ascontiguousarray(C), np.asarray(levels), by_outcome
        self.theta = np.empty(size(K, L, by_outcome))
        self.log_likelihood = exact_maximum(self.table, self.levels, by_outcome, self.theta)

    @property
    def joint(self) -> FloatArray:
        """pi[m,y] = P(m, y|a)."""
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return self.theta[: K * L].reshape(K, L)

    @property
    def observation(self) -> FloatArray:
        """g: P(O=1) given the outcome, or given the mediator."""
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return self.theta[K * L : -K]

    @property
    def mediator_observation(self) -> FloatArray:
        """lambda: P(Q=1) given the mediator."""
        return self.theta[-(self.table.shape[0] - 1) :]

    @property
    def mean(self) -> float:
        """sum y pi[m,y]."""
        return float(self.joint.sum(axis=0) @ self.levels)

    def at(self, z: float) -> float:
        """The value whose signed root is z."""
        if z == 0:
            return self.mean
        u, self.log_likelihood = exact_limit(
            self.table, self.levels, self.by_outcome, float(z), self.theta, self.log_likelihood
        )
        return float(u)

    def log_likelihood_at(self, u: float) -> float:
        """l(u), the greatest log likelihood with mean outcome u."""
        return float(exact_profile(self.table, self.levels, self.by_outcome, float(u), self.theta))

    def estimate(self) -> Estimate:
        """The maximum, with its profile limits."""
        return Estimate(self.mean, self.at)

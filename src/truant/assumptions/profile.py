"""Profile-likelihood limits: the value u whose signed root sqrt(2 (l_max - l(u))) is z."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truant.assumptions.assumption import Curve, Estimate, per_arm
from truant.assumptions.likelihood import copy, fit, maximise, mean_outcome, size, work_size
from truant.compile import entry, lean
from truant.setting import FloatArray, Setting

FIRST_PULLS = 10  # of each arm, before its likelihood is looked at
GROWTH = 0.05  # an arm is refitted when its pulls grew by this share
EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS = 1e-9, 1e-8, 100_000  # reporting: stop tight, add (almost) nothing


@lean
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
    starts: int,
    out: FloatArray,
    work: FloatArray,
) -> float:
    """l(u) = max log L with mean outcome u: from the bracket's inner end, a loosened maximum, and more starts."""
    cells = (C.shape[0] - 1) * len(levels)
    other, rest = work[: len(out)], work[len(out) :]
    copy(out, inner)
    value = maximise(C, levels, by_outcome, out, prior, tolerance, most_maps, u, starts, True, work)
    for k in range(len(out)):
        middle = 1.0 / cells if k < cells else 0.5
        other[k] = 0.8 * best[k] + 0.2 * middle
    second = fit(C, levels, by_outcome, other, prior, tolerance, most_maps, u, rest)
    if second > value:
        copy(out, other)
        return second
    return value


@lean
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
    starts: int,
    precision: float,
    work: FloatArray,
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
    P = len(state)
    inside, out, rest = work[:P], work[P : 2 * P], work[2 * P :]
    copy(inside, state)
    u = guess
    for turn in range(60):
        reach = (u - inner_u) / (outer_u - inner_u)
        if not 0.0 < reach < 1.0:
            u = (inner_u + outer_u) / 2
        value = profile(
            C, levels, by_outcome, u, inside, best, prior, tolerance, most_maps, starts, out, rest
        )
        if value > highest + 10 * tolerance:
            copy(state, out)
            return u, True
        root = np.sqrt(2.0 * max(highest - value, 0.0))
        copy(state, out)
        if abs(root - aim) <= precision * aim or abs(outer_u - inner_u) <= 1e-7 * span:
            break
        if root < aim:
            inner_u, inner_root = u, root
            copy(inside, out)
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


@lean
def first_guess(mean: float, z: float, levels: FloatArray, pulls: float) -> float:
    """A rough at(z): half the range as standard deviation."""
    edge = levels[-1] if z > 0 else levels[0]
    away = z * (levels[-1] - levels[0]) / (2 * np.sqrt(pulls + 1.0))
    return float(mean + away if abs(away) < abs(edge - mean) else (mean + edge) / 2)


@lean
def fill_from_likelihood(
    C: FloatArray,
    by_outcome: bool,
    memory: FloatArray,
    levels: FloatArray,
    knots: FloatArray,
    values: FloatArray,
    work: FloatArray,
) -> None:
    """at(z) at the knots, for choosing: loose stops, warm starts from the arm's last fit.

    Memory: the mediator levels of the last fit (0: none), its parameters, then per knot its value and state.
    """
    prior, tolerance, most_maps = 0.001, 0.001, 400
    K, L = C.shape[0] - 1, len(levels)
    P = K * L + (L if by_outcome else K) + K
    warm = memory[0] == K
    best = memory[1 : 1 + P]
    highest = maximise(C, levels, by_outcome, best, prior, tolerance, most_maps, np.nan, 3, warm, work)
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
            copy(state, best)
        u, higher = limit(
            C,
            levels,
            by_outcome,
            knots[k],
            best,
            highest,
            guess,
            state,
            prior,
            tolerance,
            most_maps,
            0,
            0.03,
            work,
        )
        if higher and again < 3:  # refit from there, and take every knot again
            copy(best, state)
            highest = fit(C, levels, by_outcome, best, prior, tolerance, most_maps, np.nan, work)
            again += 1
            k = 0
            continue
        values[k] = memory[place] = u
        k += 1
    for k in range(1, len(knots)):  # where the likelihood is flat, the search need not end in order
        values[k] = max(values[k], values[k - 1])
    memory[0] = K


def likelihood_curve(
    fill: Callable[..., None], setting: Setting, levels: int, by_outcome: bool, growth: float
) -> Curve:
    """The curve of a likelihood assumption whose fits have so many mediator levels."""
    L = setting.outcomes
    return Curve(
        fill=fill,
        parameters=per_arm(setting, setting.levels),
        discrete=True,
        linear=False,
        first_pulls=FIRST_PULLS,
        growth=growth,
        memory=lambda knots: memory_size(levels, L, by_outcome, knots),
        shared=work_size(levels, L, by_outcome) + (levels + 1) * (L + 1),
    )


def memory_size(K: int, L: int, by_outcome: bool, knots: int) -> int:
    """Numbers that `fill_from_likelihood` keeps per arm."""
    P = size(K, L, by_outcome)
    return 1 + P + knots * (1 + P)


@entry
def exact_maximum(
    C: FloatArray, levels: FloatArray, by_outcome: bool, theta: FloatArray, work: FloatArray
) -> float:
    """The maximum for reporting: tight stop."""
    return maximise(C, levels, by_outcome, theta, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, np.nan, 5, False, work)


@entry
def exact_limit(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    z: float,
    best: FloatArray,
    highest: float,
    work: FloatArray,
) -> tuple[float, float]:
    """at(z) for reporting, and the maximum it is measured from; `best` is replaced if a higher one turns up."""
    state, rest = work[: len(best)], work[len(best) :]
    guess = first_guess(mean_outcome(best, levels, C.shape[0] - 1), z, levels, C.sum())
    prior, gain, maps = EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS
    while True:
        copy(state, best)
        u, higher = limit(
            C, levels, by_outcome, z, best, highest, guess, state, prior, gain, maps, 5, 1e-5, rest
        )
        if not higher:
            return u, highest
        copy(best, state)
        highest = fit(C, levels, by_outcome, best, prior, gain, maps, np.nan, rest)


@entry
def exact_profile(
    C: FloatArray, levels: FloatArray, by_outcome: bool, u: float, best: FloatArray, work: FloatArray
) -> float:
    """l(u) for reporting."""
    out, rest = work[: len(best)], work[len(best) :]
    return profile(C, levels, by_outcome, u, best, best, EXACT_PRIOR, EXACT_GAIN, EXACT_MAPS, 5, out, rest)


class LikelihoodFit:
    """The maximum of one arm's table, and its profile limits."""

    def __init__(self, C: FloatArray, levels: FloatArray, by_outcome: bool) -> None:
        K, L = C.shape[0] - 1, C.shape[1] - 1
        self.table, self.levels, self.by_outcome = np.ascontiguousarray(C), np.asarray(levels), by_outcome
        self.theta = np.empty(size(K, L, by_outcome))
        self.log_likelihood = exact_maximum(self.table, self.levels, by_outcome, self.theta, self._work())

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
        """Sum y pi[m,y]."""
        return float(self.joint.sum(axis=0) @ self.levels)

    def at(self, z: float) -> float:
        """The value whose signed root is z."""
        if z == 0:
            return self.mean
        u, self.log_likelihood = exact_limit(
            self.table, self.levels, self.by_outcome, float(z), self.theta, self.log_likelihood, self._work()
        )
        return float(u)

    def log_likelihood_at(self, u: float) -> float:
        """l(u), the greatest log likelihood with mean outcome u."""
        work = self._work()
        return float(exact_profile(self.table, self.levels, self.by_outcome, float(u), self.theta, work))

    def _work(self) -> FloatArray:
        K, L = self.table.shape[0] - 1, self.table.shape[1] - 1
        return np.empty(len(self.theta) + work_size(K, L, self.by_outcome))

    def estimate(self) -> Estimate:
        """The maximum, with its profile limits."""
        return Estimate(self.mean, self.at)

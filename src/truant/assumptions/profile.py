"""Profile-likelihood limits: the value u whose signed root sqrt(2 (l_max - l(u))) is z.

The maximum of the likelihood of a table with holes: SQUAREM from several starts.

An EM map (`likelihood.step`) never loses; SQUAREM extrapolates from three of its iterates. There can be several local
maxima, so that fits begin from several shapes of the chances of being seen.
"""

from __future__ import annotations

import math

import numpy as np

from truant.assumptions.likelihood import CHOOSING, Care, copy, eliminate, step
from truant.compile import heavy, lean
from truant.compile.marks import FLAG, NOTHING, NUMBER, TABLE, VECTOR, kind_of
from truant.setting import FloatArray

LINES = 5  # starts whose chances are a straight line over the levels


@heavy(NUMBER(TABLE, VECTOR, FLAG, VECTOR, kind_of(CHOOSING), NUMBER, VECTOR))
def fit(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    theta: FloatArray,
    care: Care,
    target: float,
    work: FloatArray,
) -> float:
    """Improve `theta` in place by SQUAREM until a cycle gains too little; returns its log L.

    An extrapolated step keeps a tenth of the distance to a boundary, and is taken back if log L falls.
    """
    P = len(theta)
    one, two, columns = work[:P], work[P : 2 * P], work[2 * P : 2 * P + len(levels)]
    cells = (C.shape[0] - 1) * len(levels)
    tilt, before, maps = 0.0, -np.inf, 0
    if math.isfinite(target):  # a start off the constraint can be likelier than anything on it
        _, tilt = step(C, levels, by_outcome, theta, one, care, target, tilt, columns, False)
        copy(theta, one)
    while True:
        now, tilt = step(C, levels, by_outcome, theta, one, care, target, tilt, columns, True)
        if now < before:  # the last extrapolation lost: go back to the plain map, which cannot
            copy(theta, two)
            now, tilt = step(C, levels, by_outcome, theta, one, care, target, tilt, columns, True)
        maps += 3
        if now - before < care.gain or maps >= care.maps:
            return now
        before = now
        _, tilt = step(C, levels, by_outcome, one, two, care, target, tilt, columns, False)
        extrapolate(theta, one, two, cells)
        _, tilt = step(C, levels, by_outcome, theta, one, care, target, tilt, columns, False)
        copy(theta, one)


@lean
def extrapolate(theta: FloatArray, one: FloatArray, two: FloatArray, cells: int) -> None:
    """SQUAREM's step from three iterates, written over the first; the first `cells` entries are pi."""
    step_square = bend_square = 0.0
    for k in range(len(theta)):
        first, second = one[k] - theta[k], two[k] - one[k]
        step_square += first * first
        bend_square += (second - first) * (second - first)
    length = math.sqrt(step_square / bend_square) if bend_square > 0.0 else 1.0
    length = max(length, 1.0)
    total = 0.0
    for k in range(len(theta)):
        first, second = one[k] - theta[k], two[k] - one[k]
        value = theta[k] + 2.0 * length * first + length * length * (second - first)
        value = max(value, 0.1 * two[k])
        if k >= cells:
            value = min(value, 1.0 - 0.1 * (1.0 - two[k]))
        else:
            total += value
        theta[k] = value
    for k in range(cells):
        theta[k] /= total


@lean
def chance_at(k: int, levels: int, direction: int) -> float:
    """.7 everywhere, or a straight line from .95 down to .3 (direction 1) or up from .3 (-1)."""
    if direction == 0:
        return 0.7
    share = k / max(levels - 1, 1)
    return 0.95 - 0.65 * share if direction == 1 else 0.3 + 0.65 * share


@lean
def number_of_starts(C: FloatArray, by_outcome: bool) -> int:
    """The shapes that `start` has for a table; where no mediator is missing, none hides one."""
    K, L = C.shape[0] - 1, C.shape[1] - 1
    shapes = LINES + (L if by_outcome else K)
    if C[K].sum() > 0.0:
        shapes += K if by_outcome else 2 * K
    return int(shapes)


@lean
def start(C: FloatArray, by_outcome: bool, theta: FloatArray, shape: int) -> None:
    """A start off the boundary, by the chances of being seen.

    Shapes 0 to 2 are flat, falling or rising over the levels, for outcome and mediator alike; 3 and 4 in
    opposite directions. Then each level of g is hidden in turn, .1 against .9 elsewhere, then each of lambda,
    then each of both, if both belong to the mediator.
    """
    K, L = C.shape[0] - 1, C.shape[1] - 1
    g, lam = K * L, K * L + (L if by_outcome else K)
    if shape < LINES:
        direction = 0 if shape == 0 else (1 if shape == 1 or shape == 3 else -1)
        for k in range(lam - g):
            theta[g + k] = chance_at(k, lam - g, direction)
        for m in range(K):
            theta[lam + m] = chance_at(m, K, direction if shape <= 2 else -direction)
    else:
        hidden = shape - LINES
        both = not by_outcome and hidden >= 2 * K
        for k in range(lam + K - g):
            theta[g + k] = 0.1 if k == hidden or (both and k % K == hidden % K) else 0.9
    total = 0.0
    for m in range(K):
        for y in range(L):
            chance = theta[g + (y if by_outcome else m)]
            theta[m * L + y] = (C[m, y] + 0.5) / chance
            total += theta[m * L + y]
    for cell in range(g):
        theta[cell] /= total


@lean
def loosen(theta: FloatArray, cells: int) -> None:
    """Pull parameters off the boundary, which EM cannot leave: pi 2% to uniform, chances into [.03, .97]."""
    for k in range(cells):
        theta[k] = 0.98 * theta[k] + 0.02 / cells
    for k in range(cells, len(theta)):
        theta[k] = min(max(theta[k], 0.03), 0.97)


@lean
def mean_outcome(theta: FloatArray, levels: FloatArray, K: int) -> float:
    """Sum y pi[m,y]."""
    L = len(levels)
    total = 0.0
    for cell in range(K * L):
        total += levels[cell % L] * theta[cell]
    return total


@lean
def maximise(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    theta: FloatArray,
    care: Care,
    target: float,
    starts: int,
    warm: bool,
    work: FloatArray,
) -> float:
    """The maximum over some starts, `theta` itself among them if `warm`: there can be several local ones."""
    cells = (C.shape[0] - 1) * len(levels)
    trial, rest = work[: len(theta)], work[len(theta) :]
    best = -np.inf
    if warm:
        loosen(theta, cells)
        best = fit(C, levels, by_outcome, theta, care, target, rest)
    for shape in range(min(starts, number_of_starts(C, by_outcome))):
        start(C, by_outcome, trial, shape)
        value = fit(C, levels, by_outcome, trial, care, target, rest)
        if value > best:
            best = value
            copy(theta, trial)
    return best


REFITS = 10  # from a higher maximum on the way; along a ridge each gains little


@lean
def profile(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    u: float,
    best: FloatArray,
    care: Care,
    out: FloatArray,
    work: FloatArray,
) -> float:
    """l(u) = max log L with mean outcome u: from `out`, from a mixed maximum, and from fresh starts."""
    cells = (C.shape[0] - 1) * len(levels)
    other, rest = work[: len(out)], work[len(out) :]
    value = maximise(C, levels, by_outcome, out, care, u, care.profile_starts, True, work)
    for k in range(len(out)):
        middle = 1.0 / cells if k < cells else 0.5
        other[k] = 0.8 * best[k] + 0.2 * middle
    second = fit(C, levels, by_outcome, other, care, u, rest)
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
    care: Care,
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
        copy(out, inside)
        value = profile(C, levels, by_outcome, u, best, care, out, rest)
        if value > highest + 10 * care.gain:
            copy(state, out)
            return u, True
        root = math.sqrt(2.0 * max(highest - value, 0.0))
        copy(state, out)
        if abs(root - aim) <= care.precision * aim or abs(outer_u - inner_u) <= 1e-7 * span:
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
    away = z * (levels[-1] - levels[0]) / (2 * math.sqrt(pulls + 1.0))
    return float(mean + away if abs(away) < abs(edge - mean) else (mean + edge) / 2)


@lean
def solved(C: FloatArray, theta: FloatArray, care: Care, work: FloatArray) -> bool:
    """Write the linear solution into `theta`, if there is one that is the maximum.

    That is with K = L, no mediator missing, no negative odds, and no chance below the soft floor.
    """
    K, L = C.shape[0] - 1, C.shape[1] - 1
    if K != L or C[K].sum() > 0.0:
        return False
    x, system = work[:L], work[L : L + L * (L + 1)].reshape(L, L + 1)
    for m in range(K):
        for y in range(L + 1):
            system[m, y] = C[m, y]
    if not eliminate(system, x):
        return False
    total = C.sum()
    for y in range(L):
        if x[y] < 0.0 or (1.0 + x[y]) * care.floor > 1.0:
            return False
    for y in range(L):
        theta[K * L + y] = 1.0 / (1.0 + x[y])
        theta[K * L + L + y] = 1.0
        for m in range(K):
            theta[m * L + y] = C[m, y] * (1.0 + x[y]) / total
    return True


@heavy(NOTHING(TABLE, FLAG, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def score_by_likelihood(
    C: FloatArray,
    by_outcome: bool,
    memory: FloatArray,
    levels: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
    work: FloatArray,
) -> None:
    """at(z) for each z of the grid, for choosing: loose stops, warm starts from the arm's last fit.

    Memory: the mediator levels of the last fit (0: none), its parameters, then per z its value and state.
    """
    K, L = C.shape[0] - 1, len(levels)
    P = K * L + (L if by_outcome else K) + K
    warm = memory[0] == K
    best = memory[1 : 1 + P]
    if by_outcome and solved(C, best, CHOOSING, work):  # a feasible linear solution is the maximum
        highest = fit(C, levels, by_outcome, best, CHOOSING, np.nan, work)
    else:
        highest = maximise(C, levels, by_outcome, best, CHOOSING, np.nan, CHOOSING.starts, warm, work)
    pulls = C.sum()
    again = 0
    k = 0
    while k < len(z_grid):
        mean = mean_outcome(best, levels, K)
        if z_grid[k] == 0.0:
            values[k] = mean
            k += 1
            continue
        place = 1 + P + k * (1 + P)
        state = memory[place + 1 : place + 1 + P]
        guess = memory[place]
        if not warm:
            guess = first_guess(mean, z_grid[k], levels, pulls)
            copy(state, best)
        u, higher = limit(C, levels, by_outcome, z_grid[k], best, highest, guess, state, CHOOSING, work)
        if higher and again < REFITS:  # refit from there, and take every z again
            copy(best, state)
            highest = fit(C, levels, by_outcome, best, CHOOSING, np.nan, work)
            again += 1
            k = 0
            continue
        values[k] = memory[place] = u
        k += 1
    for k in range(1, len(z_grid)):  # where the likelihood is flat, the search need not end in order
        values[k] = max(values[k], values[k - 1])
    memory[0] = K

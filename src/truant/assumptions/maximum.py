"""The maximum of the likelihood of a table with holes: SQUAREM from several starts.

An EM map (`likelihood.step`) never loses; SQUAREM extrapolates from three of its iterates. There can be several local
maxima, so that fits begin from several shapes of the chances of being seen.
"""

from __future__ import annotations

import math

import numpy as np

from truant.assumptions.likelihood import CHOOSING, Care, copy, step
from truant.compile import heavy, lean
from truant.compile.kinds import FLAG, NUMBER, TABLE, VECTOR, kind_of
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

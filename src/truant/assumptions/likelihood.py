"""Maximum likelihood for a table with holes in both directions: one model behind three assumptions.

A pull of an arm falls into cell (m, y) with probability pi[m,y]; its mediator is seen with probability
lambda[m], its outcome with probability g, which depends on the outcome (`mnar`, `both-mnar`) or on the
mediator (`mediator-mnar`). The table C has the seen cells, a last column for missing outcomes and a last row
for missing mediators. Where mediators are never missing, lambda is 1 and drops out.

Parameters are one vector: pi (K*L), then g (L or K), then lambda (K). Nothing here makes arrays: `work` is
scratch space, of which each function takes the front and hands on the rest.

The paper's linear solutions are here, too: they are exact where they are feasible, and a diagnostic where not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truant.compile import hot, lean
from truant.setting import FloatArray

MINUTE = 1e-300  # keeps logarithms and divisions finite
EVERY = 1000  # more starts than there are: all of them


class Care(NamedTuple):
    """How hard to look for a maximum."""

    prior: float  # added to each cell in the pi-step alone
    gain: float  # stop when a SQUAREM cycle gains less
    maps: int  # stop after so many EM maps
    starts: int  # fresh starts for the maximum, at most: see `start`
    profile_starts: int  # and for each constrained maximum, beside the warm ones
    precision: float  # relative, in the root of a limit
    doubt: float  # strength of the soft floor under g: see `floor_cost`
    floor: float  # and where it is


CHOOSING = Care(
    prior=0.001, gain=0.001, maps=400, starts=3, profile_starts=0, precision=0.03, doubt=6.0, floor=0.1
)
REPORTING = Care(
    prior=1e-9,
    gain=1e-8,
    maps=100_000,
    starts=EVERY,
    profile_starts=EVERY,
    precision=1e-5,
    doubt=0.0,
    floor=0.0,
)


def size(K: int, L: int, by_outcome: bool) -> int:
    """Number of parameters."""
    return K * L + (L if by_outcome else K) + K


def work_size(K: int, L: int, by_outcome: bool) -> int:
    """Scratch space that fitting and profiling need."""
    return 5 * size(K, L, by_outcome) + L


@hot
def copy(target: FloatArray, source: FloatArray) -> None:
    """Element by element: assigning a slice may make an array."""
    for k in range(len(target)):
        target[k] = source[k]


@lean
def step(
    C: FloatArray,
    levels: FloatArray,
    by_outcome: bool,
    theta: FloatArray,
    out: FloatArray,
    care: Care,
    target: float,
    tilt: float,
    columns: FloatArray,
    weigh: bool,
) -> tuple[float, float]:
    """One EM map from `theta` to `out`; returns log L at `theta` (if asked to `weigh` it), and the tilt.

    Logarithms are most of its cost. Where `care` has a soft floor, log L includes it (`floor_cost`).

    With a finite `target` the new pi has mean outcome `target`: the M-step is the same with one tilt,
    pi = c/(sum(c) (1 + t (y - target))). The prior is added to each cell in the pi-step alone.
    """
    K, L = C.shape[0] - 1, C.shape[1] - 1
    g, lam = K * L, K * L + (L if by_outcome else K)
    log_likelihood = 0.0
    for k in range(g, len(out)):
        out[k] = 0.0  # first the expected number of seen ones
    # outcome missing: each mediator's pulls spread over the outcomes
    for m in range(K):
        total = 0.0
        for y in range(L):
            hidden = 1.0 - theta[g + (y if by_outcome else m)]
            total += theta[m * L + y] * hidden
        share = 0.0
        if C[m, L] > 0.0:
            if weigh:
                log_likelihood += C[m, L] * math.log(total + MINUTE)
            share = C[m, L] / (total + MINUTE)
        seen = C[m, L]
        for y in range(L):
            k = g + (y if by_outcome else m)
            cell = m * L + y
            count = C[m, y]
            out[cell] = count + share * theta[cell] * (1.0 - theta[k])
            if count > 0.0:
                if weigh:
                    log_likelihood += count * math.log(theta[cell] * theta[k] + MINUTE)
                out[k] += count
                seen += count
        out[lam + m] = seen
        if weigh and seen > 0.0:
            log_likelihood += seen * math.log(theta[lam + m] + MINUTE)
    # mediator missing: each outcome's pulls, and those with nothing seen, spread over the mediators
    for y in range(L + 1):
        if C[K, y] > 0.0:
            total = spread_over_mediators(C, by_outcome, theta, out, y)
            if weigh:
                log_likelihood += C[K, y] * math.log(total + MINUTE)
    if weigh and care.doubt > 0.0:
        log_likelihood -= floor_cost(theta, g, lam, care)
    to_chances(theta, out, K, L, by_outcome, care)
    return log_likelihood, normalise(levels, out, K, care.prior, target, tilt, columns)


@lean
def floor_cost(theta: FloatArray, g: int, lam: int, care: Care) -> float:
    """The cost of chances g below the soft floor: the sum of -doubt log(min(g/floor, 1)).

    A level that is never seen fits any table with g near 0; without a cost its probability, and with it the
    arm's limit, need not fall with the number of pulls. lambda has no floor: with one, mediator-mnar-ucb lost
    in one world what it gained in another.
    """
    cost = 0.0
    for k in range(g, lam):
        if theta[k] < care.floor:
            cost -= care.doubt * math.log((theta[k] + MINUTE) / care.floor)
    return cost


@hot
def likeliest_chance(seen: float, total: float, before: float, care: Care) -> float:
    """M-step of one g: the maximum of seen log g + (total - seen) log(1 - g) less the cost of the floor.

    The function is concave with a kink at the floor: its maximum is seen/total if that is above the floor,
    (seen + doubt)/(total + doubt) if that is below it, else the floor. As before where nothing is expected.
    """
    if total <= 0.0:
        return before
    chance = seen / total
    if chance < care.floor:
        return min((seen + care.doubt) / (total + care.doubt), care.floor)
    return chance


@hot
def to_chances(theta: FloatArray, out: FloatArray, K: int, L: int, by_outcome: bool, care: Care) -> None:
    """M-step of the chances to be seen, from the expected numbers seen; as before where none are expected."""
    g, lam = K * L, K * L + (L if by_outcome else K)
    for m in range(K):
        total = 0.0
        for y in range(L):
            total += out[m * L + y]
        if not by_outcome:
            out[g + m] = likeliest_chance(out[g + m], total, theta[g + m], care)
        out[lam + m] = out[lam + m] / total if total > 0.0 else theta[lam + m]
    if by_outcome:
        for y in range(L):
            total = 0.0
            for m in range(K):
                total += out[m * L + y]
            out[g + y] = likeliest_chance(out[g + y], total, theta[g + y], care)


@hot
def spread_over_mediators(
    C: FloatArray, by_outcome: bool, theta: FloatArray, out: FloatArray, column: int
) -> float:
    """E-step of the row of missing mediators, for one column; returns the probability of that cell.

    In the last column the outcome is missing too.
    """
    K, L = C.shape[0] - 1, C.shape[1] - 1
    g, lam = K * L, K * L + (L if by_outcome else K)
    first, end = (column, column + 1) if column < L else (0, L)
    total = 0.0
    for m in range(K):
        for y in range(first, end):
            chance = theta[g + (y if by_outcome else m)]
            chance = chance if column < L else 1.0 - chance
            total += theta[m * L + y] * (1.0 - theta[lam + m]) * chance
    share = C[K, column] / (total + MINUTE)
    for m in range(K):
        for y in range(first, end):
            k = g + (y if by_outcome else m)
            chance = theta[k] if column < L else 1.0 - theta[k]
            expected = share * theta[m * L + y] * (1.0 - theta[lam + m]) * chance
            out[m * L + y] += expected
            if column < L:
                out[k] += expected
    return total


@hot
def normalise(
    levels: FloatArray,
    out: FloatArray,
    K: int,
    prior: float,
    target: float,
    tilt: float,
    columns: FloatArray,
) -> float:
    """Turn expected counts into probabilities with mean outcome `target` (any, if not finite)."""
    L = len(levels)
    total = 0.0
    for cell in range(K * L):
        out[cell] += prior
        total += out[cell]
    total = max(total, MINUTE)
    if not math.isfinite(target):
        for cell in range(K * L):
            out[cell] /= total
        return 0.0
    columns[:] = 0.0
    for cell in range(K * L):
        columns[cell % L] += out[cell]
    tilt = tilt_root(columns, levels, target, tilt)
    for y in range(L):
        factor = 1.0 / (total * (1.0 + tilt * (levels[y] - target)))
        for m in range(K):
            out[m * L + y] *= factor
    return tilt


@lean
def tilt_root(columns: FloatArray, levels: FloatArray, target: float, tilt: float) -> float:
    """The root t of sum_y c_y (y-u)/(1 + t (y-u)), a falling function: Newton, bracketed."""
    low, high = -1.0 / (levels[-1] - target), -1.0 / (levels[0] - target)
    if not low < tilt < high:
        tilt = 0.0
    scale = 0.0
    for y in range(len(levels)):
        scale += columns[y] * abs(levels[y] - target)
    for _ in range(100):
        value = slope = 0.0
        for y in range(len(levels)):
            d = levels[y] - target
            ratio = d / (1.0 + tilt * d)
            value += columns[y] * ratio
            slope += columns[y] * ratio * ratio
        if abs(value) <= 1e-10 * scale or slope == 0.0:
            break
        if value > 0.0:
            low = tilt
        else:
            high = tilt
        tilt += value / slope
        if not low < tilt < high:
            tilt = (low + high) / 2
    return tilt


ILL_CONDITIONED = 100  # condition numbers above it deserve a warning


@dataclass(frozen=True)
class LinearSolution:
    """What solving the odds equations gives for one arm."""

    mean: float
    odds: FloatArray  # P(missing)/P(seen): of the outcome by y, or of the mediator by m
    feasible: bool  # all odds and probabilities are possible ones
    exact: bool  # the equations are solved, not only fitted (with more of them than unknowns they never quite are)
    condition_number: float  # of Theta (mediator-mnar: of its transpose), infinity norm
    standard_error: float = float("nan")  # influence function; only `mnar` with K = L
    mediator_odds: FloatArray | None = None  # of the mediator by m, where `odds` are the outcome's

    @property
    def warning(self) -> str:
        """What is doubtful about the table, in one sentence; empty if nothing is."""
        if self.condition_number > ILL_CONDITIONED:
            return (
                f"Mediator and outcome tell each other's levels apart only badly (condition number "
                f"{self.condition_number:.0f}, above {ILL_CONDITIONED}): expect wide intervals and slow learning."
            )
        if not self.feasible:
            return (
                "The observed shares do not fit the assumption exactly: the linear solution is not possible."
            )
        return ""


def solve_mnar(C: FloatArray, levels: FloatArray) -> LinearSolution:
    """Theta x = b, mu = sum_y y (1+x_y) P(y, O=1): joint frequencies, divided by all pulls."""
    K, L = C.shape[0] - 1, C.shape[1] - 1
    total = C[:K].sum()
    theta, b = C[:K, :L] / total, C[:K, L] / total
    x = np.linalg.pinv(theta) @ b
    mean = float(levels @ ((1 + x) * theta.sum(axis=0)))
    feasible = bool(np.all(x >= -1e-12))
    error = _influence_error(theta, b, x, levels, mean, total) if K == L else float("nan")
    return LinearSolution(
        mean, x, feasible, _solved(theta, x, b), condition_number(theta), standard_error=error
    )


def _influence_error(
    theta: FloatArray, b: FloatArray, x: FloatArray, levels: FloatArray, mean: float, total: float
) -> float:
    """From the influence O (1+x_Y) Y - O x_Y h(M) + (1-O) h(M) - mu, with h the bridge E[h(M)|y,O=1] = y."""
    h = np.linalg.pinv(theta.T) @ (levels * theta.sum(axis=0))
    seen = (1 + x) * levels - x * h[:, None] - mean  # (K, L)
    missing = h - mean
    return float(np.sqrt((np.sum(theta * seen**2) + np.sum(b * missing**2)) / total))


def solve_mediator_mnar(C: FloatArray, levels: FloatArray) -> LinearSolution:
    """Theta^T x = b; p_m = (1+x_m) P(m, Q=1); mu = sum p_m E[Y|m, both seen]."""
    K, L = C.shape[0] - 1, C.shape[1] - 1
    total = C.sum()
    theta, b = C[:K, :L] / total, C[K, :L] / total
    x = np.linalg.pinv(theta.T) @ b
    p = (1 + x) * C[:K].sum(axis=1) / total
    seen = theta.sum(axis=1)
    means = np.where(seen > 0, theta @ levels / np.where(seen > 0, seen, 1), 0.0)
    # the pulls with nothing seen are not used, so that p need not add up to 1; far from it is impossible
    feasible = bool(np.all(x >= -1e-12)) and abs(p.sum() - 1) <= 5 / np.sqrt(total)
    return LinearSolution(float(p @ means), x, feasible, _solved(theta.T, x, b), condition_number(theta.T))


def solve_both_mnar(C: FloatArray, levels: FloatArray) -> LinearSolution:
    """Theta x = N10/N, Theta^T z = N01/N, pi = Theta (1+x_y)(1+z_m)."""
    K, L = C.shape[0] - 1, C.shape[1] - 1
    total = C.sum()
    theta = C[:K, :L] / total
    missing, unseen = C[:K, L] / total, C[K, :L] / total
    x = np.linalg.pinv(theta) @ missing
    z = np.linalg.pinv(theta.T) @ unseen
    joint = theta * (1 + x) * (1 + z[:, None])
    possible = np.all(x >= -1e-12) and np.all(z >= -1e-12)
    feasible = bool(possible) and abs(joint.sum() - 1) <= 5 / np.sqrt(total)
    exact = _solved(theta, x, missing) and _solved(theta.T, z, unseen)
    mean = float(joint.sum(axis=0) @ levels)
    return LinearSolution(mean, x, feasible, exact, condition_number(theta), mediator_odds=z)


def _solved(matrix: FloatArray, x: FloatArray, right: FloatArray) -> bool:
    return bool(np.allclose(matrix @ x, right, atol=1e-9))


def condition_number(matrix: FloatArray) -> float:
    """|A| |A^+| in the infinity norm; infinite if A is singular."""
    if np.linalg.matrix_rank(matrix) < min(matrix.shape):
        return float("inf")
    return float(np.abs(matrix).sum(1).max() * np.abs(np.linalg.pinv(matrix)).sum(1).max())


@lean
def least_squares(A: FloatArray, b: FloatArray, space: FloatArray) -> None:
    """X = A^+ b for small A with full column rank, by elimination; nearly so (a trace of ridge) if it has not.

    `space` is scratch of columns (columns + 2) numbers, the first of which hold x.
    """
    rows, columns = A.shape
    square = rows == columns
    x = space[:columns]
    work = space[columns : columns * (columns + 2)].reshape(columns, columns + 1)
    for attempt in range(2):
        if square and attempt == 0:
            for i in range(columns):
                for j in range(columns):
                    work[i, j] = A[i, j]
                work[i, columns] = b[i]
        else:
            trace = 0.0
            for i in range(columns):
                for j in range(columns):
                    work[i, j] = 0.0
                    for m in range(rows):
                        work[i, j] += A[m, i] * A[m, j]
                work[i, columns] = 0.0
                for m in range(rows):
                    work[i, columns] += A[m, i] * b[m]
                trace += work[i, i]
            for i in range(columns):
                work[i, i] += 1e-12 * trace + 1e-300
        if eliminate(work, x):
            return


@lean
def eliminate(work: FloatArray, x: FloatArray) -> bool:
    """Solve the augmented system in place, with pivoting; False if it is singular."""
    n = work.shape[0]
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(work[i, j]))
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(work[i, k]) > abs(work[pivot, k]):
                pivot = i
        if abs(work[pivot, k]) <= 1e-14 * largest:
            return False
        for j in range(k, n + 1):
            work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
        for i in range(k + 1, n):
            factor = work[i, k] / work[k, k]
            for j in range(k, n + 1):
                work[i, j] -= factor * work[k, j]
    for k in range(n - 1, -1, -1):
        value = work[k, n]
        for j in range(k + 1, n):
            value -= work[k, j] * x[j]
        x[k] = value / work[k, k]
    return True


@lean
def invert(A: FloatArray, inverse: FloatArray, space: FloatArray) -> bool:
    """The inverse of a small square matrix, column by column; False if it is singular.

    `space` is scratch of columns (columns + 2) numbers.
    """
    n = A.shape[0]
    x, work = space[:n], space[n : n * (n + 2)].reshape(n, n + 1)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                work[i, j] = A[i, j]
            work[i, n] = 1.0 if i == k else 0.0
        if not eliminate(work, x):
            return False
        for i in range(n):
            inverse[i, k] = x[i]
    return True

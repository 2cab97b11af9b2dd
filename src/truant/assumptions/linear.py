"""The paper's linear solutions of the MNAR models: exact where feasible, and a diagnostic where not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.compile import lean
from truant.setting import FloatArray

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

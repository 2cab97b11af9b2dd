import numpy as np
import pytest

from tests.assumptions.tables import cells, random_table
from truant.assumptions.likelihood import (
    condition_number,
    eliminate,
    invert,
    least_squares,
    solve_both_mnar,
    solve_mediator_mnar,
    solve_mnar,
)

LEVELS = np.array([0.0, 0.4, 1.0])
SOLVERS = {"mnar": (solve_mnar, True, False), "mediator-mnar": (solve_mediator_mnar, False, True)}
SOLVERS["both-mnar"] = (solve_both_mnar, True, True)


@pytest.mark.parametrize("model", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_population_tables_give_the_true_mean(model, seed):
    solve, by_outcome, mediator_missing = SOLVERS[model]
    rng = np.random.default_rng(seed)
    _, (pi, g, lam) = random_table(rng, 3, 3, 10, by_outcome, mediator_missing)
    solution = solve(1000 * cells(pi, g, lam, by_outcome), LEVELS)
    assert solution.mean == pytest.approx(pi.sum(axis=0) @ LEVELS, abs=1e-9)
    hidden = g if model != "mediator-mnar" else lam
    assert solution.odds == pytest.approx((1 - hidden) / hidden, abs=1e-7)
    assert solution.feasible


def test_more_mediator_levels_than_outcome_levels():
    rng = np.random.default_rng(1)
    _, (pi, g, lam) = random_table(rng, 5, 3, 10, True, False)
    assert solve_mnar(cells(pi, g, lam, True), LEVELS).mean == pytest.approx(pi.sum(axis=0) @ LEVELS)


def test_more_outcome_levels_than_mediator_levels():
    rng = np.random.default_rng(1)
    _, (pi, g, lam) = random_table(rng, 2, 3, 10, False, True)
    solution = solve_mediator_mnar(500 * cells(pi, g, lam, False), LEVELS)
    assert solution.mean == pytest.approx(pi.sum(axis=0) @ LEVELS)
    assert solution.odds == pytest.approx((1 - lam) / lam)
    assert solution.exact


@pytest.mark.parametrize("model", ["mediator-mnar", "both-mnar"])
def test_probabilities_may_add_up_to_one_within_five_standard_errors(model):
    """Pulls with nothing seen are not used: so many more of them that the sum is c/sqrt(N) too small."""
    solve, by_outcome, _ = SOLVERS[model]
    pi = 0.7 * np.eye(3) / 3 + 0.1 / 3
    table = 10_000 * cells(pi, np.array([0.9, 0.6, 0.4]), np.array([0.5, 0.8, 0.7]), by_outcome)
    for c, feasible in ((4.9, True), (5.1, False)):
        total = ((c + np.sqrt(c**2 + 4 * 10_000)) / 2) ** 2  # 1 - 10,000/N = c/sqrt(N)
        more = table.copy()
        more[3, 3] += total - 10_000
        solution = solve(more, LEVELS)
        assert solution.feasible == feasible
        assert solution.odds.min() > 0


def test_an_impossible_solution_is_called_infeasible():
    table = np.array([[30.0, 5.0, 40.0], [5.0, 30.0, 0.0], [0.0, 0.0, 0.0]])  # needs odds below 0
    solution = solve_mnar(table, np.array([0.0, 1.0]))
    assert solution.odds.min() < 0
    assert not solution.feasible


def test_influence_function_error_agrees_with_simulation():
    """Standard deviation of the estimate over 4000 tables; its own standard error is sd/sqrt(8000)."""
    rng = np.random.default_rng(4)
    pi = 0.8 * np.eye(3) / 3 + 0.2 / 9
    g = np.array([0.9, 0.6, 0.4])
    chances = cells(pi, g, np.ones(3), True)
    tables = rng.multinomial(2000, chances.ravel(), size=4000).reshape(-1, 4, 4).astype(float)
    solutions = [solve_mnar(table, LEVELS) for table in tables]
    means = np.array([solution.mean for solution in solutions])
    sd = means.std(ddof=1)
    predicted = np.mean([solution.standard_error for solution in solutions])
    assert predicted == pytest.approx(sd, abs=4 * sd / np.sqrt(8000))
    assert means.mean() == pytest.approx(pi.sum(axis=0) @ LEVELS, abs=0.002)


@pytest.mark.parametrize("shape", [(3, 3), (5, 5), (6, 4)])
def test_elimination_agrees_with_the_pseudo_inverse(shape):
    rng = np.random.default_rng(2)
    for _ in range(50):
        A, b = rng.uniform(0, 1, shape), rng.uniform(0, 1, shape[0])
        space = np.empty(shape[1] * (shape[1] + 2))
        least_squares.py_func(A, b, space)
        assert space[: shape[1]] == pytest.approx(np.linalg.pinv(A) @ b, rel=1e-5, abs=1e-5)


def test_elimination_swaps_rows_and_tells_a_singular_system():
    """Small whole numbers, with many zeros where a pivot is wanted: each against the exact determinant."""
    rng, singular = np.random.default_rng(6), 0
    for _ in range(300):
        n = int(rng.integers(1, 5))
        A, b = rng.integers(-1, 2, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
        x, inverse = np.empty(n), np.empty((n, n))
        solvable = round(np.linalg.det(A)) != 0
        singular += not solvable
        assert eliminate.py_func(np.column_stack([A, b]), x) == solvable
        assert invert.py_func(A, inverse, np.empty(n * (n + 2))) == solvable
        if solvable:
            assert x == pytest.approx(np.linalg.solve(A, b), abs=1e-12)
            assert inverse == pytest.approx(np.linalg.inv(A), abs=1e-12)
    assert 50 < singular < 250
    tiny = 1.1e-13  # the largest pivot keeps the digits
    for A in (
        [[tiny, 1], [1, 1]],
        [[0, 0, 1], [1, 1, 1], [tiny, 1, 2]],
        [[0, 0, 1], [tiny, 1, 2], [1, 1, 1]],
    ):
        x = np.empty(len(A))
        assert eliminate.py_func(np.column_stack([A, np.sum(A, axis=1)]), x)
        assert x == pytest.approx(np.ones(len(A)), rel=1e-12)


def test_elimination_survives_a_singular_table():
    A = np.array([[1.0, 0.0], [2.0, 0.0]])  # an outcome level that was never seen
    space = np.empty(8)
    least_squares.py_func(A, np.array([1.0, 2.0]), space)
    assert space[:2] == pytest.approx([1, 0], abs=1e-6)


def test_condition_number():
    assert condition_number(np.eye(3)) == pytest.approx(1)
    assert condition_number(np.diag([1.0, 0.01])) == pytest.approx(100)
    assert condition_number(np.ones((2, 2))) == np.inf

"""The paper's own algorithms with its constants, for comparison: each brings its own width.

Each index is mean + sqrt(alpha log T) x width, so at(z) with z = sqrt(alpha log T) as for `ucb`. All but
Algorithm 1 begin with ceil(log(T)^2) pulls of each arm; a cell with no observed outcome is infinitely good. The MNAR
algorithms solve the system of the odds by its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from truant.assumptions import Assumption, Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.likelihood import invert, least_squares
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.mediator_mnar import mediator_mnar
from truant.assumptions.mnar import mnar
from truant.assumptions.robust import straight
from truant.compile import hot, lean
from truant.counts import OBSERVED, PULLS, SUM
from truant.errors import InvalidValue, NotIdentified
from truant.indices.ucb import Ucb
from truant.policies.policy import Policy
from truant.setting import FloatArray, Setting


def first_pulls(horizon: int) -> int:
    """ceil(log(T)^2), at least one."""
    return max(1, math.ceil(math.log(horizon) ** 2))


def width(setting: Setting) -> float:
    """The range of the outcomes: Hoeffding's widths, as printed, are for a range of 1."""
    return setting.high - setting.low


def ucb(alpha: float) -> Ucb:
    """Looks at z = sqrt(alpha log T)."""
    number = isinstance(alpha, int | float | np.number) and not isinstance(alpha, bool)
    if not (number and 0 < alpha < np.inf):
        raise InvalidValue(f"alpha must be a positive number, got {alpha!r}.")
    return Ucb(level=alpha)


def paper_policy(alpha: float, assumption: Assumption, curve: Callable[[Setting, int], Curve]) -> Policy:
    """An algorithm of the paper: its own curve, looked at sqrt(alpha log T) up."""
    return Policy("", ucb(alpha), curve, assumption)


def paper_mcar(alpha: float = 2.0) -> Policy:
    """Algorithm 1: mean of the observed outcomes, Hoeffding width.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """

    def curve(setting: Setting, horizon: int) -> Curve:
        parameters = per_arm(setting, setting.centre, width(setting) ** 2 / 2)
        return Curve(score_arm=score_mcar, note_pull=add_up, parameters=parameters, memory=lambda points: 3)

    return paper_policy(alpha, Mcar(), curve)


@hot
def add_up(row: FloatArray, memory: FloatArray, mediator: int, outcome: float) -> None:
    """Number and sum of the observed outcomes over all mediators; the third says that they have been taken."""
    if memory[2] and not math.isnan(outcome):
        memory[0] += 1.0
        memory[1] += outcome


@hot
def score_mcar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """S/n + range sqrt(alpha log T/(2 n)); infinite until an outcome is observed."""
    if not memory[2]:
        for m in range(row.shape[0]):
            memory[0] += row[m, OBSERVED]
            memory[1] += row[m, SUM]
        memory[2] = 1.0
    n = memory[0]
    if n == 0.0:
        values[:] = np.inf
    else:
        straight(parameters[0] + memory[1] / n, parameters[1] / n, z_grid, values)


def paper_mar_known(alpha: float = 2.0) -> Policy:
    """Algorithm 2: mediator distribution known, Hoeffding width over its levels.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """

    def curve(setting: Setting, horizon: int) -> Curve:
        assumption.check(setting)
        assert setting.mediator_probabilities is not None
        parameters = np.hstack(
            [per_arm(setting, setting.centre, width(setting)), setting.mediator_probabilities]
        )
        return Curve(score_arm=score_mar_known, parameters=parameters, first_pulls=first_pulls(horizon))

    assumption = Mar(known=True)
    return paper_policy(alpha, assumption, curve)


def paper_mar(alpha: float = 2.0) -> Policy:
    """Algorithm 3: mediator distribution estimated, eight times the width.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """

    def curve(setting: Setting, horizon: int) -> Curve:
        parameters = per_arm(setting, setting.centre, 8.0 * width(setting))
        return Curve(score_arm=score_mar, parameters=parameters, first_pulls=first_pulls(horizon))

    return paper_policy(alpha, Mar(), curve)


def paper_mediator_mar(alpha: float = 2.0) -> Policy:
    """Algorithm 3 on the pulls with the mediator seen.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """

    def curve(setting: Setting, horizon: int) -> Curve:
        parameters = per_arm(setting, setting.centre, 8.0 * width(setting))
        return Curve(score_arm=score_mediator_mar, parameters=parameters, first_pulls=first_pulls(horizon))

    return paper_policy(alpha, MediatorMar(), curve)


@hot
def weighted(
    row: FloatArray,
    p: FloatArray,
    pulls: float,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Sum p mu_m + factor range sqrt(alpha log T/2 sum p^2/n_m), with p/pulls for p."""
    mean = error = 0.0
    for m in range(len(p)):
        if p[m] > 0.0:
            n = row[m, OBSERVED]
            if n == 0.0:
                values[:] = np.inf
                return
            mean += p[m] * row[m, SUM] / n
            error += p[m] * p[m] / n
    variance = parameters[1] ** 2 * error / (2.0 * pulls * pulls)
    straight(parameters[0] + mean / pulls, variance, z_grid, values)


@hot
def score_mar_known(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """With the given p."""
    weighted(row, parameters[2:], 1.0, parameters, z_grid, values)


@hot
def score_mar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """With p_m = N_m/N over all pulls."""
    pulls = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
    weighted(row, row[:, PULLS], pulls, parameters, z_grid, values)


@hot
def score_mediator_mar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """With p_m = N_m/N over the pulls with the mediator seen; infinite until one is."""
    pulls = 0.0
    for m in range(row.shape[0] - 1):
        pulls += row[m, PULLS]
    if pulls == 0.0:
        values[:] = np.inf
    else:
        weighted(row, row[:-1, PULLS], pulls, parameters, z_grid, values)


def paper_mnar(alpha: float = 2.0) -> Policy:
    """Algorithm 4 with the joint frequencies that it needs: the odds system solved by its inverse.

    The printed bonus is for outcomes with sum|y| = 1; here it is sum|y| times as wide, so that the policy does not
    depend on the unit. The final estimates of a run are truant's maximum likelihood, not this estimate.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """
    return _paper_mnar(alpha, literal=False)


def paper_mnar_literal(alpha: float = 2.0) -> Policy:
    """Algorithm 4 as printed, with frequencies given that the outcome is seen: tends to mu/P(O=1).

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """
    return _paper_mnar(alpha, literal=True)


def _paper_mnar(alpha: float, literal: bool) -> Policy:
    def curve(setting: Setting, horizon: int) -> Curve:
        assumption.check(setting)
        number = _condition_number(setting, 0)
        size = float(np.abs(setting.levels).sum())  # type: ignore[arg-type]
        parameters = np.hstack(
            [per_arm(setting, float(literal)), number, per_arm(setting, size, setting.levels)]
        )
        L = setting.outcomes
        return Curve(
            score_arm=score_mnar,
            note_pull=keep_inverse,
            parameters=parameters,
            discrete=True,
            first_pulls=first_pulls(horizon),
            memory=lambda points: 4 + L * (L + 2),
            scratch=L * (L + 2),
        )

    assumption = mnar()
    return paper_policy(alpha, assumption, curve)


def _condition_number(setting: Setting, column: int) -> FloatArray:
    if setting.condition_numbers is None:
        raise NotIdentified(
            "The paper's MNAR policies need condition_numbers, a bound C_a for each arm; "
            "truant.theory.condition_numbers computes them from a table of probabilities or counts."
        )
    return setting.condition_numbers[:, column : column + 1]


# What an arm keeps for Algorithm 4: for how many pulls its inverse still holds (0: it has none), the odds x (L),
# pulls with the outcome seen by level (L), pulls, seen ones, the largest number of seen ones of a mediator, and the
# inverse of its table (L x L). A pull adds one to a single cell, so that inverse and odds change by a rank-one
# update; rounding is cleared away whenever the arm's pulls have doubled.


@hot
def keep_inverse(row: FloatArray, memory: FloatArray, mediator: int, level: int) -> None:
    """Sherman and Morrison's update of the arm's inverse and odds, where it has an inverse; and its totals."""
    K, L = row.shape[0] - 1, row.shape[1] - 1
    if memory[0] == 0.0 or mediator == K:
        return
    x, by_level, totals = memory[1 : 1 + L], memory[1 + L :], memory[1 + 2 * L :]
    inverse = memory[4 + 2 * L :].reshape(L, L)
    memory[0] -= 1.0
    totals[0] += 1.0
    if level == L:
        for i in range(L):
            x[i] += inverse[i, mediator]
        return
    by_level[level] += 1.0
    totals[1] += 1.0
    seen = 0.0
    for y in range(L):
        seen += row[mediator, y]
    totals[2] = max(totals[2], seen)
    pivot = 1.0 + inverse[level, mediator]
    if abs(pivot) < 1e-8:  # the table is nearly singular now: solve it anew
        memory[0] = 0.0
        return
    changed, odds = inverse[level], x[level]
    for i in range(L):
        if i != level:
            factor = inverse[i, mediator] / pivot
            x[i] -= factor * odds
            for j in range(L):
                inverse[i, j] -= factor * changed[j]
    x[level] = odds / pivot
    for j in range(L):
        changed[j] /= pivot


@lean
def solve_anew(row: FloatArray, memory: FloatArray, shared: FloatArray) -> None:
    """Totals and odds from the whole table, and its inverse if it has one and K = L."""
    K, L = row.shape[0] - 1, row.shape[1] - 1
    x, by_level, totals = memory[1 : 1 + L], memory[1 + L :], memory[1 + 2 * L :]
    totals[:3] = 0.0
    for y in range(L):
        by_level[y] = row[:K, y].sum()
    for m in range(K):
        seen = row[m, :L].sum()
        totals[0] += row[m].sum()
        totals[1] += seen
        totals[2] = max(totals[2], seen)
    inverse = memory[4 + 2 * L :].reshape(L, L)
    if K == L and invert(row[:K, :L], inverse, shared):
        memory[0] = totals[0]
        for i in range(L):
            x[i] = 0.0
            for m in range(K):
                x[i] += inverse[i, m] * row[m, L]
    else:
        least_squares(row[:K, :L], row[:K, L], shared)  # scales cancel: counts serve as well as frequencies
        for i in range(L):
            x[i] = shared[i]


@hot
def score_mnar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Mu + sum|y| (8 L C/(|Theta| g) sqrt(alpha log T/T_a) + K/g sqrt(alpha log T/T_ao)), g = 1/max(1+x)."""
    K, L = row.shape[0] - 1, row.shape[1] - 1
    literal, number, size, levels = parameters[0], parameters[1], parameters[2], parameters[3:]
    if memory[0] == 0.0:
        solve_anew(row, memory, shared)
    x, by_level, totals = memory[1 : 1 + L], memory[1 + L :], memory[1 + 2 * L :]
    pulls, seen, norm = totals[0], totals[1], totals[2]  # with the mediator seen
    if seen == 0.0:
        values[:] = np.inf
        return
    mean = largest = 0.0
    for y in range(L):
        odds = 1.0 + x[y]
        mean += levels[y] * odds * by_level[y]
        largest = max(largest, odds)
    mean /= seen if literal else pulls
    width = size * largest * (8.0 * L * number * math.sqrt(pulls) / norm + K / math.sqrt(seen))
    for k in range(len(z_grid)):
        values[k] = mean + z_grid[k] * width


def paper_mediator_mnar(alpha: float = 2.0) -> Policy:
    """The missing-mediator MNAR algorithm, with its transposed system and the lost K put back.

    The printed bonus is for outcomes in [0, 1]; where some are beyond 1 in size it is max|y| times as wide.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """

    def curve(setting: Setting, horizon: int) -> Curve:
        assumption.check(setting)
        size = max(1.0, float(np.abs(setting.levels).max()))  # type: ignore[arg-type]
        parameters = np.hstack([_condition_number(setting, 1), per_arm(setting, size, setting.levels)])
        return Curve(
            score_arm=score_mediator_mnar,
            parameters=parameters,
            discrete=True,
            first_pulls=first_pulls(horizon),
            scratch=setting.mediators * (setting.mediators + 2),
        )

    assumption = mediator_mnar()
    return paper_policy(alpha, assumption, curve)


@lean
def score_mediator_mnar(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """Mu + max(1, |y|) (2 sqrt(a/(2 T_a)) (8 C K/(|Theta| l) + K/l) + sqrt(a/2 sum 4 p^2/n_m)), a = alpha log T.

    l = 1/max(1+x), with x the odds of a missing mediator.
    """
    K, L = row.shape[0] - 1, row.shape[1] - 1
    number, size, levels = parameters[0], parameters[1], parameters[2:]
    x = shared[:K]
    least_squares(row[:K, :L].T, row[K, :L], shared)
    pulls = row.sum()
    mean = spread = largest = norm = 0.0
    for m in range(K):
        both, p = row[m, :L].sum(), (1.0 + x[m]) * row[m].sum() / pulls
        if row[m].sum() > 0.0:
            if both == 0.0:
                values[:] = np.inf
                return
            for y in range(L):
                mean += p * levels[y] * row[m, y] / both
            spread += 4.0 * p * p / both
        largest = max(largest, 1.0 + x[m])
    for y in range(L):
        norm = max(norm, row[:K, y].sum() / pulls)
    if norm == 0.0:
        values[:] = np.inf
        return
    width = 2.0 * math.sqrt(0.5 / pulls) * K * largest * (8.0 * number / norm + 1.0) + math.sqrt(spread / 2.0)
    straight(mean, (size * width) ** 2, z_grid, values)


parts = {
    "paper-mcar": paper_mcar,
    "paper-mar-known": paper_mar_known,
    "paper-mar": paper_mar,
    "paper-mediator-mar": paper_mediator_mar,
    "paper-mnar": paper_mnar,
    "paper-mnar-literal": paper_mnar_literal,
    "paper-mediator-mnar": paper_mediator_mnar,
}

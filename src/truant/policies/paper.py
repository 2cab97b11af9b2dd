"""The paper's own algorithms with its constants, for comparison: each brings its own width.

Each index is mean + sqrt(alpha log T) x width, so at(z) with z = sqrt(alpha log T) as for `ucb`. All but
Algorithm 1 begin with ceil(log(T)^2) pulls of each arm; a cell with no observed outcome is infinitely good.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from truant.assumptions import Assumption, Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.normal import straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SUM
from truant.errors import InvalidValue
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
    """Algorithm 1: mean of the observed outcomes, Hoeffding width."""

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
    """Algorithm 2: mediator distribution known, Hoeffding width over its levels."""

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
    """Algorithm 3: mediator distribution estimated, eight times the width."""

    def curve(setting: Setting, horizon: int) -> Curve:
        parameters = per_arm(setting, setting.centre, 8.0 * width(setting))
        return Curve(score_arm=score_mar, parameters=parameters, first_pulls=first_pulls(horizon))

    return paper_policy(alpha, Mar(), curve)


def paper_mediator_mar(alpha: float = 2.0) -> Policy:
    """Algorithm 3 on the pulls with the mediator seen."""

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


parts = {
    "paper-mcar": paper_mcar,
    "paper-mar-known": paper_mar_known,
    "paper-mar": paper_mar,
    "paper-mediator-mar": paper_mediator_mar,
}

"""What people do today (drop the missing rows, or call them zero), and oracles that see every outcome.

Beside them `mar-provable`: a width for `mar` that holds at every arm and round with probability 1 - delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from truant.assumptions import Assumption, Curve, Estimate
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.robust import straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue
from truant.indices.thompson import Thompson
from truant.indices.ucb import Ucb
from truant.policies.paper import paper_mcar, ucb, width
from truant.policies.policy import Policy, combine
from truant.setting import FloatArray, Setting


def naive_ucb(alpha: float = 2.0) -> Policy:
    """Drop the missing rows, then the classical UCB (the paper's Algorithm 1).

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """
    return paper_mcar(alpha)


def naive_thompson() -> Policy:
    """Drop the missing rows, then Thompson sampling (`mcar-thompson`)."""
    return combine(Mcar(), Thompson(), "naive-thompson")


@dataclass(frozen=True)
class Zero(Assumption):
    """Missing outcomes are worth 0."""

    needs = "a pull in each arm"

    def check(self, setting: Setting) -> None:
        """No requirements."""

    def curve(self, setting: Setting) -> Curve:
        """S/N with the width of the classical UCB."""
        return Curve(
            score_arm=score_zero, parameters=per_arm(setting, setting.centre, width(setting) ** 2 / 2)
        )

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """S/N, every missing outcome counted as 0."""
        counts = counts.real().about(0.0)
        pulls, total, squares = counts.table[arm].sum(axis=0)[[PULLS, SUM, SQUARES]]
        mean = total / max(pulls, 1.0)
        variance = squares / max(pulls, 1.0) - mean**2
        return Estimate.normal(mean, max(variance, 0.0) / pulls if pulls else np.inf)


@hot
def score_zero(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """(S + n c)/N + range sqrt(alpha log T/(2 N)); sums are about c."""
    pulls = total = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
        total += row[m, SUM] + parameters[0] * row[m, OBSERVED]
    pulls = max(pulls, 1.0)
    straight(total / pulls, parameters[1] / pulls, z_grid, values)


def zero_ucb(alpha: float = 2.0) -> Policy:
    """Count missing outcomes as 0, then the classical UCB.

    Parameters
    ----------
    alpha : Width of the paper's confidence bounds: log T is multiplied by alpha, where T is the horizon.
    """
    return combine(Zero(), ucb(alpha), "zero-ucb")


def oracle_ucb(level: str | float = "plain", horizon: str = "known") -> Policy:
    """Sees every outcome, missing or not: what `ucb` would do with nothing missing.

    Parameters
    ----------
    level : How wide the upper confidence bounds are: plain (1), cautious (2), or a number; it multiplies z squared.
    horizon : Whether the horizon is known, or unknown: the horizon is then guessed from the rounds so far.
    """
    return replace(combine(Mar(), Ucb(level, horizon), ""), reveals=True)


def oracle_thompson() -> Policy:
    """Sees every outcome, missing or not: what `thompson` would do with nothing missing."""
    return replace(combine(Mar(), Thompson(), ""), reveals=True)


def mar_provable(delta: float = 0.1) -> Policy:
    """`mar` with a confidence width that provably holds, for outcomes no wilder than the stated scale.

    Parameters
    ----------
    delta : Probability with which the confidence bounds may fail.
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < 1:
        raise InvalidValue(f"delta must be between 0 and 1, got {delta!r}.")

    def curve(setting: Setting, horizon: int) -> Curve:
        beta = math.log(4 * setting.arms * horizon / delta)
        span = setting.high - setting.low
        parameters = per_arm(setting, setting.centre, setting.outcome_scale, span, beta)
        return Curve(score_arm=score_arm, parameters=parameters)

    return Policy("", Ucb(), curve, Mar())


@hot
def score_arm(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    z_grid: FloatArray,
    values: FloatArray,
) -> None:
    """U = sum p mu_m + sigma sqrt(2 beta sum p^2/n_m) + range sqrt(beta/(2 N)) + sum over unseen m of p_m range.

    A level without outcomes counts as the lowest value before its range is added, so as the highest after.
    The width is the policy's own, whatever the z.
    """
    centre, sigma, span, beta = parameters[0], parameters[1], parameters[2], parameters[3]
    pulls = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
    pulls = max(pulls, 1.0)
    mean = error = 0.0
    for m in range(row.shape[0]):
        p, n = row[m, PULLS] / pulls, row[m, OBSERVED]
        if n > 0.0:
            mean += p * row[m, SUM] / n
            error += p * p / n
        else:
            mean += p * span / 2.0
    width = sigma * math.sqrt(2.0 * beta * error) + span * math.sqrt(beta / (2.0 * pulls))
    values[:] = centre + mean + width


parts = {
    "naive-ucb": naive_ucb,
    "naive-thompson": naive_thompson,
    "zero-ucb": zero_ucb,
    "oracle-ucb": oracle_ucb,
    "oracle-thompson": oracle_thompson,
    "mar-provable": mar_provable,
}

"""What people do today (drop the missing rows, or call them zero), and oracles that see every outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truant.assumptions import Assumption, Curve, Estimate
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.normal import straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.indices.thompson import Thompson
from truant.indices.ucb import Ucb
from truant.policies.paper import paper_mcar, ucb, width
from truant.policies.policy import Policy, combine
from truant.setting import FloatArray, Setting


def naive_ucb(alpha: float = 2.0) -> Policy:
    """Drop the missing rows, then the classical UCB (the paper's Algorithm 1)."""
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
    """Count missing outcomes as 0, then the classical UCB."""
    return combine(Zero(), ucb(alpha), "zero-ucb")


def oracle_ucb(level: str | float = "plain", horizon: str = "known") -> Policy:
    """Sees every outcome, missing or not: what `ucb` would do with nothing missing."""
    return replace(combine(Mar(), Ucb(level, horizon), ""), reveals=True)


def oracle_thompson() -> Policy:
    """Sees every outcome, missing or not: what `thompson` would do with nothing missing."""
    return replace(combine(Mar(), Thompson(), ""), reveals=True)


parts = {
    "naive-ucb": naive_ucb,
    "naive-thompson": naive_thompson,
    "zero-ucb": zero_ucb,
    "oracle-ucb": oracle_ucb,
    "oracle-thompson": oracle_thompson,
}

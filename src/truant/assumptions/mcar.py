"""`mcar`: outcomes are missing completely at random (or, weaker, independently of Y given the arm).

Data contradict it where the share of missing outcomes differs between mediator levels of an arm that also differ
in their outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.normal import pooled_variance, pseudo_observations, shrinking, straight
from truant.compile import hot
from truant.counts import OBSERVED, SQUARES, SUM, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting, positive_number


@dataclass(frozen=True)
class Mcar(Assumption):
    """Missing completely at random: the mean of the observed outcomes is the arm's value."""

    needs = "an observed outcome in each arm"
    kappa: float = (
        1.0  # pseudo-observations at the centre of the range when choosing (fewer if noise is small)
    )

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)

    def check(self, setting: Setting) -> None:
        """Every setting will do."""

    def curve(self, setting: Setting) -> Curve:
        """Shrunk mean of the observed, with the pooled scale."""
        return Curve(fill=fill, parameters=shrinking(setting, self.kappa), memory=lambda knots: 2, shared=2)

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """S/n, with variance s^2/n."""
        counts = counts.real()
        n, total, squares = counts.table[arm].sum(axis=0)[[OBSERVED, SUM, SQUARES]]
        if n == 0:
            raise NotIdentified(f"mcar: none of the outcomes of arm {arm} was observed.")
        variance = (squares - total**2 / n) / (n - 1) if n > 1 else np.inf
        return Estimate.normal(counts.centre + total / n, max(variance, 0.0) / n)


@hot
def fill(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """Mean (S + kappa c)/(n + kappa), v = s^2/(n + kappa); sums are about c."""
    n = total = squares = 0.0
    for m in range(row.shape[0]):
        n += row[m, OBSERVED]
        total += row[m, SUM]
        squares += row[m, SQUARES]
    within = freedom = 0.0
    if n > 1:
        within = max(squares - total * total / n, 0.0)
        freedom = n - 1.0
    variance = pooled_variance(memory, shared, within, freedom, parameters[2])
    n += pseudo_observations(parameters, variance)
    straight(parameters[0] + total / n, variance / n, knots, values)


parts = {"mcar": Mcar}

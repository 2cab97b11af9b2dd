"""`mediator-mar`: as `mar`, with mediators missing too, independently of their value given the arm.

Q ⟂ M given A, and Q ⟂ Y given A, M, O: pulls with the mediator seen are a fair sample, so all is done on
them. Dividing by all pulls instead would shrink the value by P(Q=1). Data contradict it where, within an arm,
outcomes seen with and without their mediator differ more than O's dependence on Q explains.
"""

from __future__ import annotations

from dataclasses import dataclass

from truant.assumptions.assumption import Assumption, Curve, Estimate
from truant.assumptions.mar import Cells, weigh
from truant.assumptions.normal import pseudo_observations, shrinking, straight
from truant.compile import hot
from truant.counts import PULLS, Counts
from truant.setting import FloatArray, Setting, positive_number


@dataclass(frozen=True)
class MediatorMar(Assumption):
    """Outcome missing at random given the mediator, and the mediator itself missing at random."""

    needs = "pulls with the mediator seen, and among them an observed outcome at each level that occurs"
    kappa: float = 1.0  # pseudo-observations per cell at the centre, when choosing (fewer if noise is small)

    def __post_init__(self) -> None:
        positive_number("kappa", self.kappa)

    def check(self, setting: Setting) -> None:
        """Every setting will do."""

    def curve(self, setting: Setting) -> Curve:
        """The shrunk estimate of `mar` on the pulls with the mediator seen."""
        return Curve(fill=fill, parameters=shrinking(setting, self.kappa), memory=lambda knots: 2, shared=2)

    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """sum_m p_m mu_m, p_m the share among pulls with the mediator seen."""
        return Cells.of(counts.real(), arm, "mediator-mar", seen_mediators_only=True).plug_in()


@hot
def fill(
    row: FloatArray,
    memory: FloatArray,
    shared: FloatArray,
    parameters: FloatArray,
    knots: FloatArray,
    values: FloatArray,
) -> None:
    """As mar's, on the rows of seen mediators."""
    mean, error, between, pulls, variance = weigh(row, row.shape[0] - 1, memory, shared, parameters)
    seen = 0.0
    for m in range(row.shape[0] - 1):
        seen += row[m, PULLS]
    if seen == 0.0:  # as sure as a cell without outcomes, and of nothing else
        kappa = pseudo_observations(parameters, variance)
        straight(parameters[0], variance / kappa + variance / 2, knots, values)
        return
    between = (pulls * between + variance / 2) / (pulls + 2)
    straight(parameters[0] + mean, error + between / pulls, knots, values)


parts = {"mediator-mar": MediatorMar}

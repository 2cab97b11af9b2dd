"""`pessimist`: every missing outcome was as bad as can be."""

import numpy as np

from truant.assumptions import Assumption, Concern, Curve, Estimate, NoTest
from truant.assumptions.assumption import per_arm
from truant.assumptions.robust import straight
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SUM
from truant.errors import NotIdentified, NotSatisfied


@hot
def score_arm(row, memory, shared, parameters, z_grid, values):
    pulls = total = 0.0
    for m in range(row.shape[0]):
        pulls += row[m, PULLS]
        total += row[m, SUM] + (row[m, PULLS] - row[m, OBSERVED]) * parameters[1]
    straight(parameters[0] + total / max(pulls, 1.0), parameters[2] / max(pulls, 1.0), z_grid, values)


class Pessimist(Assumption):
    """Every missing outcome was the lowest possible."""

    needs = "outcomes that cannot be lower than the range says"

    def check(self, setting):
        pass

    def curve(self, setting):
        centre = setting.centre
        return Curve(
            score_arm=score_arm,
            parameters=per_arm(setting, centre, setting.low - centre, setting.outcome_scale**2),
        )

    def estimate(self, counts, arm, setting):
        row = counts.real().about(setting.low).table[arm].sum(axis=0)
        if row[PULLS] == 0:
            raise NotIdentified("{arm} was never pulled.", arm=arm)
        return Estimate.normal(setting.low + row[SUM] / row[PULLS], setting.outcome_scale**2 / row[PULLS])

    def tests(self, counts, setting):
        return [NoTest("missing outcomes are never seen")]

    def concerns(self, counts, arm, setting):
        missing = 1 - counts.observed[arm] / counts.pulls[arm]
        text = (
            "Under {assumption}, most outcomes of {arm} count as the lowest: its mean is only a lower limit."
        )
        return [Concern("mostly-missing", text, missing)] if missing > 0.5 else []

    def efficient_variance(self, tables):
        joint, levels = tables.discrete()
        if np.any((joint > 0) & (tables.observation < 1) & (levels > levels.min())):
            raise NotSatisfied("an outcome above the lowest can be missing.")
        return tables.variance


parts = {"pessimist": Pessimist}

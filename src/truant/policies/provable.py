"""`mar-provable`: a width for `mar` that holds at every arm and round with probability 1 - delta."""

from __future__ import annotations

import math

from truant.assumptions import Curve
from truant.assumptions.assumption import per_arm
from truant.assumptions.mar import Mar
from truant.compile import hot
from truant.counts import OBSERVED, PULLS, SUM
from truant.errors import InvalidValue
from truant.indices.ucb import Ucb
from truant.policies.policy import Policy
from truant.setting import FloatArray, Setting


def mar_provable(delta: float = 0.1) -> Policy:
    """`mar` with a confidence width that provably holds, for outcomes no wilder than the stated scale."""
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


parts = {"mar-provable": mar_provable}

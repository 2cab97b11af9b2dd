"""What is known of each arm and mediator level before missing outcomes are followed up.

Notation, for an arm and mediator level: N rows, n1 outcomes seen at once with mean r1, N0 missing at first, of which n0
were followed up and answered with mean r0. The variance of a missing outcome, s0^2, is taken from the answers if
there are any, and else from the outcomes that were seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions.cells import moments_within
from truant.counts import OBSERVED, PULLS, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting

LENT = 4.0  # outcomes that the variance of the outcomes seen counts for beside that of the answers
FEW = 4  # degrees of freedom of an arm, below which it borrows the variance of all arms
LEAST_SPREAD = 0.05  # standard deviation of a missing outcome, at least, as a share of that of all outcomes


@dataclass(frozen=True, eq=False)
class PlanCells:
    """Counts of all arms and levels, shape (arms, K+1), such that more is better; outcomes are about a centre."""

    rows: FloatArray
    seen: FloatArray
    seen_means: FloatArray  # of the arm, where the level has no outcome
    seen_squares: FloatArray  # about the mean
    seen_cubes: FloatArray
    missing: FloatArray  # at first
    asked: FloatArray  # follow-ups so far
    answered: FloatArray
    answer_means: FloatArray  # 0 without answers
    answer_squares: FloatArray
    mean_variances: FloatArray  # of `seen_means` as estimates of the means of such outcomes
    variances: FloatArray  # s0^2
    thirds: FloatArray  # third central moment of a missing outcome
    outcome_sd: float
    low: float  # of the range about the centre; -inf if it is not known
    high: float
    two_level: bool

    @property
    def available(self) -> FloatArray:
        """Missing outcomes that were not followed up yet."""
        return self.missing - self.asked

    @property
    def totals(self) -> FloatArray:
        """Rows of each arm, shape (arms, 1)."""
        totals: FloatArray = self.rows.sum(axis=1, keepdims=True)
        return totals


def plan_cells(counts: Counts, setting: Setting) -> PlanCells:
    """The cells of counts whose outcomes are such that more is better; or raises NotIdentified."""
    real = counts.real()
    blocks = [real.table, np.zeros_like(real.table) if real.followed_up is None else real.followed_up]
    seen, later = (
        [np.stack(part) for part in zip(*map(moments_within, block), strict=True)] for block in blocks
    )
    n1, n0 = seen[0], later[0]
    for arm in np.flatnonzero((n1 + n0).sum(axis=1) == 0):
        raise NotIdentified(
            "{arm} has no observed outcome, so the spread of its outcomes is unknown; leave it out (--filter) or "
            "follow up a few of its missing outcomes first.",
            arm=int(arm),
        )
    r1, r0 = (np.where(part[0] > 0, part[1], 0.0) for part in (seen, later))
    known = n1.sum(axis=1) > 0
    overall = np.where(known, _mean(n1, r1), _mean(n0, r0))[:, None]
    ends = (setting.low - real.centre, setting.high - real.centre)
    means = np.where(n1 > 0, r1, overall)
    variances, pooled, sd = _variances(
        n1, means, seen[2], n0, r0, later[2], ends if setting.outcomes == 2 else None
    )
    apart = np.where(n1 > 0, 0.0, pooled + _between(n1, r1))
    low, high = ends if setting.range_known or setting.outcomes == 2 else (-np.inf, np.inf)
    return PlanCells(
        rows=real.table[..., PULLS],
        seen=n1,
        seen_means=means,
        seen_squares=seen[2],
        seen_cubes=seen[3],
        missing=real.table[..., PULLS] - real.table[..., OBSERVED],
        asked=real.follow_ups_by_cell(),
        answered=n0,
        answer_means=r0,
        answer_squares=later[2],
        mean_variances=variances / np.maximum(n1, 1.0) + apart,
        variances=variances,
        thirds=_thirds(seen, later),
        outcome_sd=sd,
        low=low,
        high=high,
        two_level=setting.outcomes == 2,
    )


def _mean(n: FloatArray, means: FloatArray) -> FloatArray:
    mean: FloatArray = (n * means).sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    return mean


def _between(n: FloatArray, means: FloatArray) -> FloatArray:
    """Variance between the levels of an arm, shape (arms, 1): how far off a level without outcomes may be."""
    middle = _mean(n, means)[:, None]
    return _mean(n, (means - middle) ** 2)[:, None]


def _variances(
    n1: FloatArray,
    r1: FloatArray,
    squares1: FloatArray,
    n0: FloatArray,
    r0: FloatArray,
    squares0: FloatArray,
    ends: tuple[float, float] | None,
) -> tuple[FloatArray, FloatArray, float]:
    """s0^2 of each cell, the variance within levels of each arm, shape (arms, 1), and the sd of all outcomes."""
    freedom = np.maximum(n1 - 1, 0.0) + np.maximum(n0 - 1, 0.0)
    everyone = (squares1 + squares0).sum() / max(freedom.sum(), 1.0)
    sd = float(np.sqrt(everyone + (n1 * (r1 - _mean(n1, r1)[:, None]) ** 2).sum() / max(n1.sum(), 1.0)))
    own = (squares1 + squares0).sum(axis=1) / np.maximum(freedom.sum(axis=1), 1.0)
    pooled = np.where(freedom.sum(axis=1) >= FEW, own, everyone)[:, None]
    if ends is not None:
        low, high = ends
        # towards the arm by an outcome, and into the inside: other outcomes may still come
        total = _mean(n1 + n0, np.where(n0 > 0, (n1 * r1 + n0 * r0) / np.maximum(n1 + n0, 1.0), r1))[:, None]
        mean = (n1 * r1 + LENT * n0 * r0 + total + (low + high) / 2) / (n1 + LENT * n0 + 2)
        return (mean - low) * (high - mean), (total - low) * (high - total), max(sd, (high - low) / 10)
    before = (squares1 + pooled) / np.maximum(n1, 1.0)
    variances = np.where(n0 > 1, (squares0 + LENT * before) / np.maximum(n0 - 1 + LENT, 1.0), before)
    return np.maximum(variances, (LEAST_SPREAD * sd) ** 2), pooled, sd


def _thirds(seen: list[FloatArray], later: list[FloatArray]) -> FloatArray:
    """Third central moment within levels: of each level with enough outcomes, and else of its arm."""
    n, cubes = seen[0] + later[0], seen[3] + later[3]
    of_arm = cubes.sum(axis=1, keepdims=True) / np.maximum(n.sum(axis=1, keepdims=True), 1.0)
    return np.where(n >= 2 * FEW, cubes / np.maximum(n, 1.0), of_arm)

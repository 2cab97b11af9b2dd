"""How many more follow-ups until the leader under `follow-up` is clear, if its present estimates are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from truant.analysis.best import best_of, curves_of
from truant.analysis.direction import Direction
from truant.analysis.estimates import Belief
from truant.analysis.ranking import Ranking
from truant.assumptions import Estimate
from truant.assumptions.follow_up import FollowUp
from truant.assumptions.follow_up_cells import cells_of
from truant.counts import Counts
from truant.setting import FloatArray, Setting

STEPS = 12  # of the bisection: the number is a guess


def more_follow_ups(ranked: Ranking, counts: Counts, setting: Setting, level: float) -> int | None:
    """Follow-ups to add, at the present shares of arms and levels; None if following up all that is missing won't do.

    F times the answers of an arm, with the same means and variances, make the part of its variance that is due to
    missing outcomes 1/F as large. No arm has more follow-ups than missing outcomes.
    """
    asked = counts.follow_ups.astype(np.float64)
    most = np.maximum(counts.missing_by_cell().sum(axis=1) / np.maximum(asked, 1.0), 1.0)

    def reached(growth: float) -> bool:
        curves = curves_of(_grown(ranked.belief, counts, setting, np.minimum(growth, most)))
        return bool(best_of(curves)[0][ranked.leader] >= level)

    growth = _least(reached, float(most.max()))
    if growth is None:
        return None
    return max(1, math.ceil(float(asked @ (np.minimum(growth, most) - 1))))


def _grown(belief: Belief, counts: Counts, setting: Setting, growth: FloatArray) -> list[Estimate]:
    """The estimates with so many times the answers, such that more is better."""
    assert isinstance(belief.assumption, FollowUp)
    ignorable = belief.assumption.failures == "ignorable"
    estimates = []
    for arm, factor in enumerate(growth):
        cells = cells_of(counts, arm, setting, ignorable)
        times = np.where(
            np.arange(len(cells.pulls)) < counts.table.shape[1], 1.0, factor
        )  # seen at once, then others
        columns = {name: getattr(cells, name) * times for name in ("observed", "squares", "cubes")}
        estimates.append(replace(cells, **columns).plug_in())
    return list(Direction(setting.minimize).belief(replace(belief, estimates=tuple(estimates))).estimates)


def _least(reached: Callable[[float], bool], most: float) -> float | None:
    """The least growth that reaches it, to within a few per cent."""
    if not reached(most):
        return None
    low, high = 0.0, math.log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp(middle)) else (middle, high)
    return math.exp(high)

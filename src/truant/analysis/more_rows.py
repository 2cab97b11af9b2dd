"""How many more rows until the leader is clear, if the arms keep their shares and their present estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from truant.analysis.best import Z_GRID, best_of
from truant.analysis.ranking import Ranking
from truant.setting import FloatArray

MOST_GROWTH = 1e6  # times the rows that there are; what takes more is out of reach
MIDDLE = len(Z_GRID) // 2


@dataclass(frozen=True)
class MoreRows:
    """Rows to add, at the present shares, until the leader's probability of being best reaches the level.

    0: it has reached it already; None: no number of rows that anybody could collect will do it.
    """

    assumption: str
    arm: str  # the leader
    rows: int | None


def more_rows(ranked: Ranking, arms: Sequence[str], rows: int, level: float) -> MoreRows | None:
    """With F times the rows, every interval is 1/sqrt(F) as wide; None where an arm has no interval."""
    if ranked.curves is None:
        return None
    values, leader = ranked.curves, ranked.leader

    def reached(growth: float) -> bool:
        return bool(best_of(_narrowed(values, growth))[0][leader] >= level)

    return MoreRows(ranked.belief.name, arms[leader], _needed(reached, rows))


def _narrowed(values: FloatArray, growth: float) -> FloatArray:
    middle = values[:, MIDDLE, None]
    narrowed: FloatArray = middle + (values - middle) / np.sqrt(growth)
    return narrowed


def _needed(reached: Callable[[float], bool], rows: int) -> int | None:
    if reached(1.0):
        return 0
    if not reached(MOST_GROWTH):
        return None
    low, high = 0.0, math.log(MOST_GROWTH)
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp(middle)) else (middle, high)
    return max(1, round(rows * math.expm1(high)))

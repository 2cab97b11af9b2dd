"""Whether means change over time while the shares of the arms do: then arms are compared on different days.

An arm that has most of its decisions on good days looks better than it is (Simpson's paradox), whatever the intervals
are. So where both change, no winner is called clear.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truant.analysis import Analysis
from truant.analysis.diagnosis import Warning
from truant.counts import OBSERVED, SQUARES, SUM
from truant.live import counting
from truant.live.configuration import Configuration
from truant.setting import FloatArray

PERIODS = 8  # into which the days are put together
LEAST_OUTCOMES = 5  # of an arm and mediator level in a period
UNLIKELY = 0.001  # status is looked at often
LEAST_MOVE = 0.1  # of an arm's share between two periods
ENOUGH_ROWS = 20  # of a period, for its shares


@dataclass(frozen=True)
class Drift:
    """Means that change over time, and how far the share of an arm has moved meanwhile."""

    p_value: float
    moved: float

    @property
    def matters(self) -> bool:
        """Whether both change, so that arms are compared on different days."""
        return self.p_value < UNLIKELY and self.moved >= LEAST_MOVE

    @property
    def sentence(self) -> str:
        """What it means."""
        return (
            "Outcomes change over time within arm and mediator level, and so do the shares of the arms: arms are "
            "compared on different days, so that estimates and intervals may be wrong and no winner is called clear. "
            "Decisions with fixed shares (warm_up, holdout) can be compared."
        )


def find_drift(cells: counting.Cells, configuration: Configuration) -> Drift:
    """The test over periods of days: chi-square of the period means within arm and mediator level."""
    periods = _periods(cells, configuration)  # (periods, arms, K+1, columns)
    n, total, squares = (periods[..., column] for column in (OBSERVED, SUM, SQUARES))
    used = n >= LEAST_OUTCOMES
    n = np.where(used, n, 0.0)
    means = np.divide(total, n, out=np.zeros_like(total), where=used)
    within = np.where(used, np.maximum(squares - n * means**2, 0.0), 0.0).sum(axis=0)
    freedom = np.where(used, n - 1, 0.0).sum(axis=0)
    overall = np.divide(
        (n * means).sum(axis=0), n.sum(axis=0), out=np.zeros_like(within), where=n.sum(axis=0) > 0
    )
    between = (n * (means - overall) ** 2).sum(axis=0)
    steps = np.maximum(used.sum(axis=0) - 1, 0)
    variance = np.divide(within, freedom, out=np.zeros_like(within), where=freedom > 0)
    known = (variance > 0) & (steps > 0)
    statistic = float((between[known] / variance[known]).sum())
    return Drift(_tail(statistic, int(steps[known].sum())), _moved(periods))


def _periods(cells: counting.Cells, configuration: Configuration) -> FloatArray:
    days = sorted({day for kind, day in cells if kind == counting.SETTLED})
    found = []
    for some in np.array_split(np.array(days), min(PERIODS, max(len(days), 1))):
        own = {key: table for key, table in cells.items() if key[1] in set(some.tolist())}
        found.append(counting.total_counts(own, configuration).real().table)
    return np.array(found)


def _tail(statistic: float, freedom: int) -> float:
    if not freedom:
        return 1.0
    from scipy.stats import chi2

    return float(chi2.sf(statistic, freedom))


def _moved(periods: FloatArray) -> float:
    rows = periods[..., 0].sum(axis=2)  # (periods, arms)
    big = rows[rows.sum(axis=1) >= ENOUGH_ROWS]
    if len(big) < 2:
        return 0.0
    shares = big / big.sum(axis=1, keepdims=True)
    return float((shares.max(axis=0) - shares.min(axis=0)).max())


def without_clear_winner(analysis: Analysis, drift: Drift) -> Analysis:
    """The same analysis with a warning, and no winner that is clear."""
    warning = Warning("drift", drift.sentence, value=drift.p_value)
    verdict = analysis.verdict
    if verdict.kind == "clear":
        leading = tuple(arm.arm for arm in analysis.arms)
        verdict = replace(verdict, kind="unsettled", doubtful_arms=leading, by_follow_up=False)
    return replace(analysis, verdict=verdict, warnings=(warning, *analysis.warnings))

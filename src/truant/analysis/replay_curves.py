"""Curves at(z) of many replays at once: what `Cells` makes of one arm, as arrays over all replays and arms.

Estimates of single arms take a quarter of a millisecond each, which adds up where a live experiment asks for a thousand
of them. The formulas are those of `cells` and `tilted`; arms that need more (a level without an outcome, outcomes that
are all alike) are left to the assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from truant.analysis.calibration import FAR, LOOKED_AT, PRECISION, root_at
from truant.assumptions import Assumption
from truant.assumptions.cells import BORROWED, SAME, moments_within
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.assumptions.tilted import FARTHEST, SHORT_SIDE, TAIL_SIDE, UNSEEN_TAIL
from truant.counts import PULLS, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting

Flags = npt.NDArray[np.bool_]


def in_closed_form(assumption: Assumption) -> bool:
    """Whether its estimate is the plug-in of cell means, whose curve is written here as well."""
    if type(assumption) is Mar:
        return not assumption.known and assumption.estimator == "plug-in"
    return type(assumption) in (Mcar, MediatorMar)


def own_roots(
    assumption: Assumption, logs: Sequence[Counts], truths: FloatArray, setting: Setting
) -> FloatArray:
    """Where on the curves of each log its truths are, (logs, arms); NaN where an arm has no curve."""
    found, open_ = np.empty(truths.shape), np.ones(truths.shape, bool)
    if in_closed_form(assumption):
        curves = PlugIns.of(assumption, logs, setting)
        found, open_ = curves.roots(truths), ~curves.usable
    for log, arm in np.argwhere(open_):
        found[log, arm] = root_at(assumption, logs[log], int(arm), setting, float(truths[log, arm]))
    return found


def looked_at(assumption: Assumption, logs: Sequence[Counts], setting: Setting) -> FloatArray:
    """at(z) at LOOKED_AT, increasing, (logs, arms, LOOKED_AT); NaN for an arm without an interval."""
    shape = (len(logs), setting.arms)
    found, open_ = np.empty((*shape, len(LOOKED_AT))), np.ones(shape, bool)
    if in_closed_form(assumption):
        curves = PlugIns.of(assumption, logs, setting)
        found, open_ = np.stack([curves.at(np.full(shape, z)) for z in LOOKED_AT], axis=-1), ~curves.usable
    for log, arm in np.argwhere(open_):
        found[log, arm] = curve_of(assumption, logs[log], int(arm), setting)
    broken = ~np.isfinite(found).all(axis=-1)
    found[broken] = np.nan
    return np.maximum.accumulate(found, axis=-1)


def curve_of(assumption: Assumption, counts: Counts, arm: int, setting: Setting) -> FloatArray:
    """at(z) of one arm at LOOKED_AT, increasing; NaN for an arm without an estimate or an interval."""
    try:
        estimate = assumption.estimate(counts, arm, setting)
    except NotIdentified:
        return np.full(len(LOOKED_AT), np.nan)
    values = np.array([estimate.at(float(z)) for z in LOOKED_AT])
    return np.maximum.accumulate(values) if np.isfinite(values).all() else np.full(len(values), np.nan)


@dataclass(frozen=True, eq=False)
class PlugIns:
    """Moments of plug-in estimates, each of shape (logs, arms); those that are not `usable` mean nothing."""

    mean: FloatArray
    variance: FloatArray
    third: FloatArray
    freedom: FloatArray
    usable: Flags
    range: tuple[float, float] | None  # of an outcome that has two levels

    @classmethod
    def of(cls, assumption: Assumption, logs: Sequence[Counts], setting: Setting) -> PlugIns:
        """`Cells.moments` of all arms of all logs."""
        table = np.stack([log.real().table for log in logs])
        if isinstance(assumption, Mcar):
            table = table.sum(axis=2, keepdims=True)
        elif isinstance(assumption, MediatorMar):
            table = table[:, :, :-1]  # rows with the mediator seen
        n, mean, squares, _ = columns = _columns(table)
        rows, used = table[..., PULLS].sum(axis=2), n > 0
        ends = (setting.low, setting.high) if setting.outcomes == 2 else None
        columns = (n, mean + logs[0].centre, *columns[2:])
        p = table[..., PULLS] / np.maximum(rows, 1.0)[..., None]
        made, apart = _moments(p, rows, columns, ends)
        varied = (squares.sum(axis=2) > 0) | (apart > SAME * (setting.high - setting.low))
        usable = (rows > 0) & ~np.any((p > 0) & ~used, axis=2) & varied & (made[1] > 0)
        if ends is None:
            usable &= np.maximum(n - 1, 0.0).sum(axis=2) > 0
        return cls(*made, usable, ends)

    def at(self, z: FloatArray) -> FloatArray:
        """at(z), one z of each estimate."""
        with np.errstate(all="ignore"):
            slope = self.third / self.variance
            if self.range is not None:
                low, high = self.range
                effective = (self.mean - low) * (high - self.mean) / self.variance
                shift, bend = slope * z * z / 2, 1 + z * z / effective
                away = np.sqrt(shift * shift + z * z * self.variance * bend)
                return np.asarray(np.clip(self.mean + (shift + np.sign(z) * away) / bend, low, high))
            tail = np.where(slope * z > 0, TAIL_SIDE + UNSEEN_TAIL / self.freedom, SHORT_SIDE)
            shift = tail * slope * z * z
            away = np.hypot(shift, _student(np.abs(z), self.freedom) * np.sqrt(self.variance))
            return np.asarray(self.mean + shift + np.sign(z) * away)

    def roots(self, values: FloatArray) -> FloatArray:
        """The z with at(z) = value, within ±FAR."""
        low, high = np.full(values.shape, -FAR), np.full(values.shape, FAR)
        for _ in range(int(np.ceil(np.log2(2 * FAR / PRECISION)))):
            middle = (low + high) / 2
            above = self.at(middle) < values
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.asarray(np.where(np.isfinite(values), (low + high) / 2, np.nan))


def _columns(table: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """`moments_within` of all cells at once: outcomes, their mean (0 without any), squares and cubes about it."""
    n, mean, squares, cubes = moments_within(table.reshape(-1, table.shape[-1]))
    known = np.where(n > 0, mean, 0.0)
    n, known, squares, cubes = (part.reshape(table.shape[:3]) for part in (n, known, squares, cubes))
    return n, known, squares, cubes


def _moments(
    p: FloatArray,
    rows: FloatArray,
    columns: tuple[FloatArray, ...],
    ends: tuple[float, float] | None,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]:
    """Mean, variance, third cumulant and degrees of freedom; and how far apart the means of the levels are."""
    n, means = columns[:2]
    used = n > 0
    each, total = np.where(used, n, 1.0), np.maximum(rows, 1.0)[..., None]
    mu = (p * means).sum(axis=2)
    variances, thirds, pooled = _within(columns, ends)
    parts, usual = (np.where(used, p**2 * some / each, 0.0) for some in (variances, pooled[..., None]))
    third = np.where(used, p**3 * thirds / each**2, 0.0).sum(axis=2)
    away = np.where(used, means - mu[..., None], 0.0)
    levels = (
        np.where(used.sum(axis=2, keepdims=True) > 1, (p * away**2).sum(axis=2, keepdims=True), 0) / total
    )
    third += (3 * parts * away / total + p * away**3 / total**2).sum(axis=2)
    freedom = np.concatenate([np.maximum(n - 1, 1.0), np.maximum(total - 1, 1.0)], axis=2)
    degrees = [_welch(np.concatenate([some, levels], axis=2), freedom) for some in (parts, usual)]
    apart = np.where(used, means, -np.inf).max(axis=2) - np.where(used, means, np.inf).min(axis=2)
    return (mu, parts.sum(axis=2) + levels[..., 0], third, np.minimum(*degrees)), apart


def _within(
    columns: tuple[FloatArray, ...], ends: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Variance and third central moment within each level, and the arm's variance within levels."""
    n, means, squares, cubes = columns
    if ends is not None:
        low, high = ends
        everyone = (n * means).sum(axis=2) / np.maximum(n.sum(axis=2), 1.0)
        moved = (n * means + BORROWED * everyone[..., None]) / (n + BORROWED)
        variances = (moved - low) * (high - moved)
        return variances, variances * (low + high - 2 * moved), (everyone - low) * (high - everyone)
    pooled = squares.sum(axis=2) / np.maximum(np.maximum(n - 1, 0.0).sum(axis=2), 1.0)
    variances = (squares + BORROWED * pooled[..., None]) / np.maximum(n - 1 + BORROWED, 1.0)
    thirds = np.where(n > 2, n * cubes / np.maximum((n - 1) * (n - 2), 1.0), 0.0)
    return variances, thirds, pooled


def _welch(parts: FloatArray, freedom: FloatArray) -> FloatArray:
    """Degrees of freedom of sums of variances over the last axis (Satterthwaite)."""
    total = parts.sum(axis=2)
    share = parts / np.where(total > 0, total, 1.0)[..., None]
    sums = (share**2 / freedom).sum(axis=2)
    return np.where(total > 0, 1 / np.where(sums > 0, sums, 1.0), 1.0)


def _student(away: FloatArray, freedom: FloatArray) -> FloatArray:
    """`student` of many |z|."""
    from scipy.special import ndtr, stdtrit

    inside = np.minimum(away, FARTHEST)
    quantile: Any = -stdtrit(freedom, ndtr(-inside))
    return np.asarray(quantile * np.maximum(away / FARTHEST, 1.0))

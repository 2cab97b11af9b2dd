"""From replays to roots: how far from an estimate the truth is, where a policy chose the rows.

A replay knows its truth. z is where that truth lies on the curve of the real log (its root there), r where it lies on
the replay's own curve. With a fixed split r is standard normal whatever z is. The root that takes the place of z_0 > 0
is the greatest of three, so that an interval is never narrower than the plain one:

- z_0 itself;
- the Phi(z_0) quantile of r over plausible worlds, z ~ N(0, 1) for each arm;
- the z with P(r <= z | z) = Phi(z_0): the end of the confidence set {z: r = z is not extreme in worlds at z} (Neyman),
  by local regression over replays whose z is spread widely.

Below 0 it is the least of three.

Curves at(z) of many replays at once: what `Cells` makes of one arm, as arrays over all replays and arms.

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

from truant.assumptions import Estimate
from truant.assumptions.assumption import FARTHEST, SHORT_SIDE, TAIL_SIDE, UNSEEN_TAIL, Assumption
from truant.assumptions.by_likelihood import ByLikelihood
from truant.assumptions.cells import BORROWED, SAME, moments_within
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.assumptions.mediator_mar import MediatorMar
from truant.counts import PULLS, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting

LOOKED_AT = np.linspace(-5.0, 5.0, 21)  # roots at which a curve is looked at
TARGETS = np.arange(0.25, 4.01, 0.25)  # z_0 that get a root each
PLACES = np.linspace(-4.5, 4.5, 73)  # z at which P(r <= z | z) is estimated
BANDWIDTH = 1.0  # of z
SMOOTHING = 0.15  # of r
RIDGE = 0.05  # keeps the slope of r in z small where z hardly varies
FAR = 8.0  # roots are cut here
PRECISION = 0.005  # of a root
IN_TAIL = 5  # replays beyond a quantile that is taken from them
FEWEST = 50  # replays with a root


@dataclass(frozen=True)
class Roots:
    """Calibrated roots of one arm: at the targets below 0 and above, from near to far."""

    below: tuple[float, ...]
    above: tuple[float, ...]

    @classmethod
    def restored(cls, below: Sequence[float], above: Sequence[float]) -> Roots:
        """From a file; or raises ValueError."""
        if not len(below) == len(above) == len(TARGETS):
            raise ValueError("a side of another length")
        return cls(tuple(map(float, below)), tuple(map(float, above)))

    def root(self, z: float) -> float:
        """The root that takes the place of z."""
        if z == 0:
            return 0.0
        side = self.above if z > 0 else self.below
        size = min(abs(z), float(TARGETS[-1]))
        inside = float(np.interp(size, np.append(0.0, TARGETS), np.append(side[0] - np.sign(z) * 0.25, side)))
        stretch = max(abs(side[-1]) / float(TARGETS[-1]), 1.0)
        return inside + float(np.sign(z)) * (abs(z) - size) * stretch

    def estimate(self, old: Estimate) -> Estimate:
        """The estimate with these roots in its curve; its mean stays."""
        return Estimate(old.mean, lambda z: old.at(self.root(z)) if z else old.mean)


def roots_of(
    z: FloatArray, r: FloatArray, plausible: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Roots | None:
    """Calibrated roots from replays; `plausible` are those with z ~ N(0, 1). None if too few have a root."""
    from scipy.special import ndtr

    known = np.isfinite(z) & np.isfinite(r)
    near = np.clip(r[known & plausible], -FAR, FAR)
    if len(near) < FEWEST:
        return None
    places = share_below(z[known], np.clip(r[known], -FAR, FAR))
    trusted = trusted_size(len(near))
    sides = []
    for sign in (-1.0, 1.0):
        side = []
        for target in TARGETS:
            size = min(float(target), trusted)
            share = float(ndtr(sign * size))
            found = np.array([np.quantile(near, share), np.interp(share, places, PLACES)]) * sign
            side.append(max(float(found.max()) * target / size, float(target)))
        sides.append(tuple(float(sign * one) for one in np.maximum.accumulate(side)))
    return Roots(sides[0], sides[1])


def trusted_size(replays: float) -> float:
    """The root up to which a quantile of so many replays is more than chance."""
    from scipy.special import ndtri

    return min(float(-ndtri(IN_TAIL / replays)), float(TARGETS[-1]))


def share_below(z: FloatArray, r: FloatArray, places: FloatArray = PLACES) -> FloatArray:
    """P(r <= z | z) at these places, increasing: local linear in the location of r, smoothed."""
    from scipy.special import ndtr

    distance = places[:, None] - z
    weight = np.exp(-0.5 * (distance / BANDWIDTH) ** 2) + 1e-12
    total = weight.sum(axis=1)
    about_z, about_r = weight @ z / total, weight @ r / total
    spread = z - about_z[:, None]
    slope = (weight * spread * (r - about_r[:, None])).sum(axis=1)
    slope /= (weight * spread**2).sum(axis=1) + RIDGE * total
    moved = r + slope[:, None] * distance
    share = (weight * ndtr((places[:, None] - moved) / SMOOTHING)).sum(axis=1) / total
    return np.maximum.accumulate(share)


def root_at(assumption: Assumption, counts: Counts, arm: int, setting: Setting, truth: float) -> float:
    """The z at which the arm's curve meets the truth; NaN if it has no curve."""
    try:
        if isinstance(assumption, ByLikelihood):  # one profile instead of a search
            fit = assumption.fit(counts, arm)
            drop = max(fit.log_likelihood - fit.log_likelihood_at(truth), 0.0)
            return float(np.sign(truth - fit.mean) * np.sqrt(2 * drop))
        return inverse(assumption.estimate(counts, arm, setting), truth)
    except NotIdentified:
        return np.nan


def inverse(estimate: Estimate, value: float) -> float:
    """The z with at(z) = value, within ±FAR; NaN for an arm without an interval."""
    error = estimate.standard_error
    if not np.isfinite(error) or not np.isfinite(value):
        return np.nan
    if error <= 0:
        return float(np.sign(value - estimate.mean)) * FAR
    low, high = -FAR, FAR
    z = float(np.clip((value - estimate.mean) / error, -FAR, FAR))
    for _ in range(40):
        missed = value - estimate.at(z)
        low, high = (z, high) if missed > 0 else (low, z)
        step = z + missed / error
        step = step if low < step < high else (low + high) / 2
        if abs(step - z) < PRECISION:
            return step
        z = step
    return z


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

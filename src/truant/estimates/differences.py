"""What can be said with no assumption at all: every missing outcome as low, or as high, as an outcome can be.

Differences to a control arm, absolute and relative, with intervals and p-values that hold for all arms at once.

The interval of a difference of two independent values is put together from their own (the method of variance
estimates recovery): d - sqrt((a - a_low)^2 + (c_high - c)^2), which is the usual one where both are normal; that of a
ratio likewise (Donner and Zou, 2012). The width is that of Dunnett: all comparisons share the control, so that less
than Bonferroni's allowance will do. The p-value of a difference is the smallest 1 - level whose interval excludes zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from truant.assumptions import Estimate
from truant.assumptions.mcar import Mcar
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.envelope import FloatOrNaN
from truant.estimates.beliefs import FEW_ARMS, each_arm
from truant.estimates.clusters import Clusters
from truant.estimates.ranking import Z_GRID
from truant.setting import FloatArray, Setting


@dataclass(frozen=True)
class Bounds:
    """The worst and the best case of an arm, and how far each may be off by sampling."""

    low: FloatOrNaN  # the mean in the worst case
    high: FloatOrNaN  # the mean in the best case
    # lower end of an interval that contains the mean whatever the missing outcomes are
    low_limit: FloatOrNaN
    high_limit: FloatOrNaN  # upper end of this interval


def worst_case(
    counts: Counts, setting: Setting, arm: int, level: float, clusters: Clusters | None = None
) -> Bounds:
    """(S + (N-n) y)/N with y the lowest and the highest outcome; a filled-in outcome varies like any other.

    The limits hold the mean, wherever it lies between the bounds, with the stated confidence (Imbens and Manski,
    2004): at(-c) of the low end and at(c) of the high one, with Phi(c + width/error) - Phi(-c) = level, error the
    larger of the two standard errors. So c is two-sided where nothing is missing, one-sided where much is. The mean of
    an arm without rows may be anywhere in the range.
    """
    if counts.pulls[arm] == 0:
        return Bounds(setting.low, setting.high, setting.low, setting.high)
    ends = []
    for value in (setting.low, setting.high):
        estimate = Mcar().estimate(_filled(counts, arm, value), 0, setting)
        if clusters is not None:
            estimate = clusters.stretched(estimate, counts, arm, partial(_filled_mean, arm=arm, value=value))
        ends.append(estimate)
    low, high = ends
    c = two_ends(level, high.mean - low.mean, max(low.standard_error, high.standard_error))
    return Bounds(
        float(low.mean),
        float(high.mean),
        float(max(low.at(-c), setting.low)),
        float(min(high.at(c), setting.high)),
    )


def two_ends(level: float, width: float, error: float) -> float:
    """The c with Phi(c + width/error) - Phi(-c) = level; between the one-sided and the two-sided quantile."""
    normal = NormalDist()
    low, high = normal.inv_cdf(level), normal.inv_cdf((1 + level) / 2)
    apart = min(width / error, 40.0) if error > 0 else 40.0
    for _ in range(60):
        middle = (low + high) / 2
        if normal.cdf(middle + apart) - normal.cdf(-middle) < level:
            low = middle
        else:
            high = middle
    return high


def _filled(counts: Counts, arm: int, value: float) -> Counts:
    """The arm's counts with every missing outcome filled in, as one cell."""
    row = counts.real_row(arm).sum(axis=0)
    missing, about = row[PULLS] - row[OBSERVED], value - counts.centre
    row[OBSERVED] += missing
    for column, power in ((SUM, 1), (SQUARES, 2), (CUBES, 3)):
        row[column] += missing * about**power
    return Counts(row[None, None].repeat(2, axis=1) * [[[1.0], [0.0]]], None, counts.centre)


def _filled_mean(counts: Counts, arm: int, value: float) -> float:
    """The mean with every missing outcome filled in."""
    row = counts.real_row(arm).sum(axis=0)
    return float((row[SUM] + (row[PULLS] - row[OBSERVED]) * (value - counts.centre)) / row[PULLS])


def best_by_bounds(arms: Sequence[str], bounds: Sequence[Bounds | None], minimize: bool) -> str | None:
    """The arm whose worst case, with sampling error, beats the best case of every other; None if there is none."""
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(arms) or len(arms) < 2:
        return None
    worst = [-bound.high_limit if minimize else bound.low_limit for bound in known]
    best = [-bound.low_limit if minimize else bound.high_limit for bound in known]
    for a, name in enumerate(arms):
        if worst[a] > max((value for b, value in enumerate(best) if b != a), default=math.inf):
            return name
    return None


FARTHEST = 37.0  # a z whose two-sided probability is still a positive number


@dataclass(frozen=True)
class Lift:
    """An arm's difference to the control as a share of the control's value: 0.1 is 10% more."""

    mean: float  # the lift
    low: FloatOrNaN  # lower end of its confidence interval; NaN if there is none
    high: FloatOrNaN  # upper end of its confidence interval; NaN if there is none


@dataclass(frozen=True)
class Difference:
    """An arm's value minus the control's."""

    mean: float  # the difference
    low: FloatOrNaN  # lower end of its simultaneous confidence interval; NaN if there is none
    high: FloatOrNaN  # upper end of its simultaneous confidence interval; NaN if there is none
    # p-value of no difference, adjusted for several arms as the interval is; NaN if there is no interval
    p_value: FloatOrNaN
    # the difference as a share of the control's mean (0.1 is 10% more); None if the control's interval contains zero
    lift: Lift | None


def differences(estimates: Sequence[Estimate], control: int, level: float) -> list[Difference | None]:
    """For each arm but the control, with simultaneous intervals of the level."""
    errors = np.array([estimate.standard_error for estimate in estimates])
    family = _known(errors, control)
    z = family.width(level)
    # of many arms only what decides: a limit of a likelihood takes milliseconds
    looked_at = np.abs(Z_GRID) if len(estimates) <= FEW_ARMS else np.array([0.0, 1.0])
    grid = np.unique(np.append(looked_at, z))
    curves = each_arm(lambda estimate: _Curve.of(estimate, grid), estimates)
    own = curves[control]
    return [
        None if arm == control else _difference(curve, own, z, family.p_value)
        for arm, curve in enumerate(curves)
    ]


def _known(errors: FloatArray, control: int) -> Family:
    """The comparisons of arms that have an interval; without one for the control, nothing is shared."""
    others = np.delete(errors, control)
    return Family(others[np.isfinite(others)], float(np.nan_to_num(errors[control])))


@dataclass(frozen=True)
class _Curve:
    """An arm's at(-z) and at(z) at some z, and between them on straight lines."""

    mean: float
    grid: FloatArray  # of z, from 0
    below: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, estimate: Estimate, grid: FloatArray) -> _Curve:
        return cls(
            estimate.mean,
            grid,
            np.array([estimate.at(-float(z)) for z in grid]),
            np.array([estimate.at(float(z)) for z in grid]),
        )

    def at(self, z: float) -> float:
        """The value at z; beyond the grid its last piece goes on."""
        values, away = (self.above, z) if z >= 0 else (self.below, -z)
        if away <= self.grid[-1]:
            return float(np.interp(away, self.grid, values))
        slope = (values[-1] - values[-2]) / (self.grid[-1] - self.grid[-2])
        return float(values[-1] + slope * (away - self.grid[-1]))


def _difference(arm: _Curve, control: _Curve, z: float, p_value: Callable[[float], float]) -> Difference:
    mean = arm.mean - control.mean

    def below(z: float) -> float:
        return math.hypot(arm.mean - arm.at(-z), control.at(z) - control.mean)

    def above(z: float) -> float:
        return math.hypot(arm.at(z) - arm.mean, control.mean - control.at(-z))

    towards_zero = below if mean > 0 else above
    root = _reached(lambda z: towards_zero(z) - abs(mean))
    return Difference(mean, mean - below(z), mean + above(z), p_value(root), _lift(arm, control, z))


def _reached(distance: Callable[[float], float]) -> float:
    """The z at which a rising function is 0; nan if it is not a number, FARTHEST if it is reached nowhere."""
    if math.isnan(distance(1.0)):
        return math.nan
    low, high = 0.0, FARTHEST
    if distance(high) < 0:
        return FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if distance(middle) < 0 else (low, middle)
    return (low + high) / 2


def _lift(arm: _Curve, control: _Curve, z: float) -> Lift | None:
    """(a - c)/|c|, with the limits of the ratio a/c less 1; the reflected ratio where the control is negative."""
    sign = 1.0 if control.mean > 0 else -1.0
    a, c = sign * arm.mean, sign * control.mean
    a_low, a_high = sorted((sign * arm.at(-z), sign * arm.at(z)))
    c_low, c_high = sorted((sign * control.at(-z), sign * control.at(z)))
    if not 0 < c_low <= c_high < 2 * c or not all(map(math.isfinite, (a_low, a_high))):
        return None  # the control is not known well enough
    low = (a * c - _root((a * c) ** 2 - a_low * c_high * (2 * a - a_low) * (2 * c - c_high))) / (
        c_high * (2 * c - c_high)
    )
    high = (a * c + _root((a * c) ** 2 - a_high * c_low * (2 * a - a_high) * (2 * c - c_low))) / (
        c_low * (2 * c - c_low)
    )
    ends = sorted((sign * (low - 1), sign * (high - 1)))
    return Lift(sign * (a / c - 1), ends[0], ends[1])


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))


@dataclass(frozen=True, eq=False)
class Family:
    """Comparisons of several arms with one control, by the standard errors of their values."""

    errors: FloatArray  # of the other arms
    control: float

    def inside(self, z: float) -> float:
        """P(|V_a - V_c| <= z sd(V_a - V_c) for all a), by quadrature over the control's error."""
        from scipy.special import ndtr

        spread = np.hypot(self.errors, self.control)
        if len(self.errors) < 2 or np.any(spread == 0):
            return float(ndtr(z) - ndtr(-z))
        x = np.linspace(-8.0, 8.0, 401)
        weights = np.exp(-(x**2) / 2)
        scale = np.maximum(self.errors, 1e-12 * spread)[:, None]
        shift, reach = self.control * x / scale, z * spread[:, None] / scale
        held = ndtr(reach + shift) - ndtr(shift - reach)
        return float(weights @ held.prod(axis=0) / weights.sum())

    def width(self, level: float) -> float:
        """The z at which all comparisons hold together with probability `level`."""
        from scipy.optimize import brentq
        from scipy.special import ndtri

        alone = float(ndtri((1 + level) / 2))
        if len(self.errors) < 2 or np.any(np.hypot(self.errors, self.control) == 0):
            return alone
        share = (1 - level) / len(self.errors)
        return float(
            brentq(lambda z: self.inside(z) - level, alone * 0.99, -ndtri(share / 2) * 1.01, xtol=1e-6)
        )

    def p_value(self, z: float) -> float:
        """P(some |V_a - V_c| > z sd(V_a - V_c)), of arms that are all equal; nan for nan."""
        from scipy.special import ndtr

        if math.isnan(z):
            return math.nan
        alone = 2 * float(ndtr(-z))
        if len(self.errors) < 2:
            return alone
        # where it is tiny, the sum over the arms is as good, and does not lose its digits in 1 - p
        bonferroni = min(1.0, len(self.errors) * alone)
        if bonferroni < 1e-6:
            return bonferroni
        together = 1 - self.inside(z) if len(self.errors) <= FEW_ARMS else self._read_off(z)
        return min(max(together, alone), bonferroni)

    def _read_off(self, z: float) -> float:
        grid, logs = self._outside
        return float(np.exp(np.interp(z, grid, logs)))

    @functools.cached_property
    def _outside(self) -> tuple[FloatArray, FloatArray]:
        """A grid of z, and log P(some comparison is farther off), which is read off to 1.5% where arms are many."""
        grid = np.arange(0.0, 8.0, 0.25)
        return grid, np.log([max(1 - self.inside(float(z)), 1e-12) for z in grid])

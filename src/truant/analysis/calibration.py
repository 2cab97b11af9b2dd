"""From replays to roots: how far from an estimate the truth is, where a policy chose the rows.

A replay knows its truth. z is where that truth lies on the curve of the real log (its root there), r where it lies on
the replay's own curve. With a fixed split r is standard normal whatever z is. The root that takes the place of z_0 > 0
is the greatest of three, so that an interval is never narrower than the plain one:

- z_0 itself;
- the Phi(z_0) quantile of r over plausible worlds, z ~ N(0, 1) for each arm;
- the z with P(r <= z | z) = Phi(z_0): the end of the confidence set {z: r = z is not extreme in worlds at z} (Neyman),
  by local regression over replays whose z is spread widely.

Below 0 it is the least of three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truant.assumptions import Estimate
from truant.assumptions.assumption import Assumption
from truant.assumptions.by_likelihood import ByLikelihood
from truant.counts import Counts
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

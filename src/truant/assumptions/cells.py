"""One arm's counts by mediator level, and the estimates of `mcar`, `mar` and `mediator-mar` from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truant.assumptions.assumption import Estimate
from truant.assumptions.evidence import Concern
from truant.assumptions.tilted import Moments, all_alike, tilted, two_level, widened, without_interval
from truant.counts import CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting

BORROWED = 1.0  # outcomes that the arm's variance within cells counts for in each cell
ROUNDING = 1e-13  # squares about the mean below this share of those about the centre are rounding
SAME = 1e-12  # of the range, within which means of levels are equal
FEW = 4  # degrees of freedom within cells, below which an interval relies on outcomes that are nearly normal
ONE_DECIDES = 0.9  # skewness of the estimate from which on one outcome or two decide it


@dataclass(frozen=True)
class Cells:
    """One arm's real counts per mediator level, with outcomes in their own units.

    Notation: N_m rows and n_m observed outcomes of level m, p_m = N_m/N its share, y_m, s_m^2 and k_m the mean, the
    variance and the third central moment of its observed outcomes, d_m = y_m - mu.
    """

    name: str
    arm: int
    pulls: FloatArray
    observed: FloatArray
    means: FloatArray  # of the observed; NaN where there are none
    squares: FloatArray  # within the cell, about its mean
    cubes: FloatArray  # the same
    setting: Setting

    @classmethod
    def of(
        cls,
        counts: Counts,
        arm: int,
        setting: Setting,
        name: str = "mar",
        seen_mediators_only: bool = False,
        together: bool = False,
    ) -> Cells:
        """Cells of an arm: all rows, only those of seen mediators, or all together as one."""
        table = counts.real_row(arm)
        row = table[:-1] if seen_mediators_only else table.sum(axis=0, keepdims=True) if together else table
        n, mean, squares, cubes = moments_within(row)
        return cls(name, arm, row[:, PULLS], n, counts.centre + mean, squares, cubes, setting)

    def plug_in(self, known: FloatArray | None = None) -> Estimate:
        """Mu = sum p_m y_m, with the curve of its first three moments (`moments`)."""
        p = self._shares() if known is None else known
        empty = self._empty(p)
        if empty.any():
            return self._with_empty_levels(p, empty, known is None)
        moments = self.moments(p, known is None)
        if self._has_spread(moments):
            return (
                two_level(moments, self.setting.low, self.setting.high)
                if self._is_two_level
                else tilted(moments)
            )
        used = p > 0
        if not self.setting.range_known:
            return without_interval(moments.mean)
        effective = float(
            np.min(self.observed[used] / p[used])
        )  # the level that an unseen outcome would hide in
        return all_alike(moments.mean, effective, self.setting.low, self.setting.high)

    def moments(self, p: FloatArray, estimated: bool = True) -> Moments:
        """Of the plug-in estimate, by its influence function d_M + O (Y - y_M)/gamma_M.

        v = sum p_m^2 s_m^2/n_m + (1/N) sum p_m d_m^2,
        c = sum p_m^3 k_m/n_m^2 + (3/N) sum p_m^2 d_m s_m^2/n_m + (1/N^2) sum p_m d_m^3;
        terms with 1/N are absent if p is known. Degrees of freedom are Welch's (Satterthwaite), n_m - 1 for each
        level and at least one, and no more than they would be if all levels had one variance: a few outcomes that
        are alike by chance are no reason for confidence.
        """
        used = p > 0
        p, n, means = p[used], self.observed[used], self.means[used]
        mu = float(p @ means)
        variances, thirds, pooled = self._within(used)
        freedom = np.maximum(n - 1, 1.0)
        parts, usual = p**2 * variances / n, p**2 * pooled / n
        variance, third, levels = float(parts.sum()), float(np.sum(p**3 * thirds / n**2)), 0.0
        if estimated and len(p) > 1:
            away, rows = means - mu, float(self.pulls.sum())
            levels = float(p @ away**2) / rows
            third += float(3 * parts @ away / rows + p @ away**3 / rows**2)
        degrees = [
            _welch(np.append(some, levels), np.append(freedom, max(self.pulls.sum() - 1, 1.0)))
            for some in (parts, usual)
        ]
        return Moments(mu, variance + levels, third, min(degrees))

    def augmented(self, gamma: FloatArray | None, means: FloatArray | None) -> Estimate:
        """(1/N) sum [mu_M + O (Y - mu_M)/gamma_M]: Horvitz-Thompson with mu_M = 0, AIPW otherwise."""
        p = self._shares()
        used = p > 0
        if (gamma is None or means is None) and self._empty(p).any():
            return self.plug_in()
        total, pulls, n = self.pulls.sum(), self.pulls[used], self.observed[used]
        weight = pulls / n if gamma is None else 1 / gamma[used]
        centre = self.means[used] if means is None else means[used]
        # an observed outcome's score is centre + weight (Y - centre), a missing one's is centre
        distance = np.where(n > 0, np.where(n > 0, self.means[used], 0.0) - centre, 0.0)
        mu = float(np.sum(pulls * centre + n * weight * distance) / total)
        if gamma is None:  # estimated weights: the estimate is the plug-in, and so is its curve
            plain = self.plug_in()
            return Estimate(mu, lambda z: mu + (plain.at(z) - plain.mean) if z else mu)
        moments = self._scored(used, mu, weight, centre, distance)
        return tilted(moments) if moments.variance > 0 else without_interval(mu)

    def _scored(
        self,
        used: npt.NDArray[np.bool_],
        mu: float,
        weight: FloatArray,
        centre: FloatArray,
        distance: FloatArray,
    ) -> Moments:
        """Of a mean of scores with given weights, from the sums of their squares and cubes about it."""
        total, pulls, n = self.pulls.sum(), self.pulls[used], self.observed[used]
        seen, hidden = centre + weight * distance - mu, centre - mu
        squares = n * seen**2 + weight**2 * self.squares[used] + (pulls - n) * hidden**2
        cubes = n * seen**3 + 3 * seen * weight**2 * self.squares[used] + weight**3 * self.cubes[used]
        variance, third = np.sum(squares) / total**2, np.sum(cubes + (pulls - n) * hidden**3) / total**3
        return Moments(mu, float(variance), float(third), max(float(n.sum()) - 1, 1.0))

    def concerns(self, known: FloatArray | None = None) -> list[Concern]:
        """Reasons why the interval may not hold, or is wide."""
        p = self._shares() if known is None else known
        empty = self._empty(p)
        found = [self._empty_concern(int(m), float(p[m])) for m in np.flatnonzero(empty)]
        if empty.any():
            p = np.where(empty, 0.0, p / p[~empty].sum())
        moments = self.moments(p, known is None)
        if self._is_two_level or not self._has_spread(moments):
            return found
        if self._freedom < FEW:
            levels = int(np.count_nonzero(p))
            of = f" in {levels} mediator levels" if levels > 1 else ""
            text = (
                f"Under {{assumption}}, the interval of {{arm}} rests on {self.observed.sum():,.0f} observed "
                f"outcomes{of}: it is reliable only if outcomes are nearly normal; collect more or merge levels."
            )
            found.append(Concern("thin-cell", text, float(self.observed.sum())))
        elif abs(moments.skewness) > ONE_DECIDES:
            text = (
                "Under {assumption}, one or two extreme outcomes dominate the mean of {arm} and its interval (skewness "
                f"of the estimate: {moments.skewness:.1f}), which may be unreliable; collect more, or cut the outcome."
            )
            found.append(Concern("skewed", text, moments.skewness))
        return found

    def _has_spread(self, moments: Moments) -> bool:
        """Whether the outcomes seen say how much outcomes vary; means that differ by rounding do not."""
        means = self.means[self.observed > 0]
        apart = bool(np.ptp(means) > SAME * (self.setting.high - self.setting.low)) if len(means) else False
        varied = bool(self.squares.sum() > 0) or apart
        return varied and moments.variance > 0 and (self._is_two_level or self._freedom > 0)

    @property
    def _freedom(self) -> float:
        """Degrees of freedom within levels."""
        return float(np.maximum(self.observed - 1, 0).sum())

    def _with_empty_levels(self, p: FloatArray, empty: npt.NDArray[np.bool_], estimated: bool) -> Estimate:
        """The other levels' estimate; the empty ones have its mean, within the range, and may be anywhere in it."""
        self._need_range(p, empty)
        share = float(p[empty].sum())
        others = Cells(**(vars(self) | {"pulls": np.where(empty, 0.0, self.pulls)}))
        rest = others.plug_in(None if estimated else np.where(empty, 0.0, p / (1 - share)))
        low, high = self.setting.low, self.setting.high
        filled = min(max(rest.mean, low), high)
        mean = (1 - share) * rest.mean + share * filled

        def at(z: float) -> float:
            return mean + (1 - share) * (rest.at(z) - rest.mean) if z else mean

        return widened(Estimate(mean, at), share * (filled - low), share * (high - filled))

    def _within(self, used: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, float]:
        """s_m^2 and k_m of each level, and the arm's variance within levels, which counts as one outcome in each.

        s_m^2 = (SS_m + s^2)/n_m; with one level that is SS/(n - 1). An outcome with two levels has
        s_m^2 = (y_m - low)(high - y_m), with y_m moved towards the mean of all by one outcome.
        """
        n, squares, cubes = self.observed[used], self.squares[used], self.cubes[used]
        if self._is_two_level and squares.sum() + np.ptp(self.means[used]) > 0:
            low, high = self.setting.low, self.setting.high
            everyone = float(n @ self.means[used] / n.sum())
            means = (n * self.means[used] + BORROWED * everyone) / (n + BORROWED)
            variances = (means - low) * (high - means)
            return variances, variances * (low + high - 2 * means), (everyone - low) * (high - everyone)
        pooled = float(squares.sum() / max(self._freedom, 1.0))
        variances = (squares + BORROWED * pooled) / (n - 1 + BORROWED)
        thirds = np.where(n > 2, n * cubes / np.maximum((n - 1) * (n - 2), 1.0), 0.0)
        return variances, thirds, pooled

    @property
    def _is_two_level(self) -> bool:
        return self.setting.outcomes == 2

    def _shares(self) -> FloatArray:
        total = self.pulls.sum()
        if total == 0:
            seen = " with the mediator seen" if self.name == "mediator-mar" else ""
            raise NotIdentified(f"{{arm}} has no rows{seen}.", arm=self.arm, assumption=self.name)
        shares: FloatArray = self.pulls / total
        return shares

    def _empty(self, p: FloatArray) -> npt.NDArray[np.bool_]:
        """Levels that occur without an observed outcome."""
        empty: npt.NDArray[np.bool_] = (p > 0) & (self.observed == 0)
        return empty

    def _need_range(self, p: FloatArray, empty: npt.NDArray[np.bool_]) -> None:
        """What an empty level may be must be known, and another level must have an outcome; or raises NotIdentified."""
        others = bool(np.any(~empty & (p > 0)))
        if self.setting.range_known and others:
            return
        m = int(np.flatnonzero(empty)[0])
        first = "find out these mediators" if self._is_missing_level(m) else "merge mediator levels"
        advice = f"{first}, collect more, or give the range of the outcome"
        if self.setting.range_known or not others:
            advice = f"{first} or collect more"
        raise NotIdentified(
            f"{{arm}} has {self.pulls[m]:,.0f} rows with {self._level(m)} and none of their outcomes was observed; "
            f"{advice}.",
            arm=self.arm,
            mediator=m,
            assumption=self.name,
        )

    def _is_missing_level(self, m: int) -> bool:
        return m == len(self.pulls) - 1 and self.name == "mar"

    def _level(self, m: int) -> str:
        return "its missing mediators" if self._is_missing_level(m) else "{mediator}"

    def _empty_concern(self, m: int, share: float) -> Concern:
        # a missing mediator is no level that could be merged
        first = "find out these mediators" if self._is_missing_level(m) else "merge this level with another"
        text = (
            f"Under {{assumption}}, none of the {self.pulls[m]:,.0f} outcomes of {{arm}} with {self._level(m)} was "
            f"observed: their mean may be anywhere in the range of the outcome, which widens the interval by "
            f"{share:.1%} of that range; {first} or collect more."
        )
        return Concern("empty-cell", text, 0.0, mediator=m)


def moments_within(row: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of each row of real counts: outcomes, their mean (NaN without any), and squares and cubes about it."""
    n = row[:, OBSERVED]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = row[:, SUM] / n
    known = np.where(n > 0, mean, 0.0)
    squares = row[:, SQUARES] - row[:, SUM] * known
    squares = np.where(squares > ROUNDING * row[:, SQUARES], squares, 0.0)
    cubes = row[:, CUBES] - 3 * known * row[:, SQUARES] + 2 * n * known**3
    return n, mean, squares, np.where((n > 2) & (squares > 0), cubes, 0.0)


def _welch(parts: FloatArray, freedom: FloatArray) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite)."""
    total = parts.sum()
    return float(1 / np.sum((parts / total) ** 2 / freedom)) if total > 0 else 1.0

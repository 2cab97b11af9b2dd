"""One arm's counts by mediator level, and the estimates of `mcar`, `mar` and `mediator-mar` from them.

Tests of assumptions by follow-ups: does an assumption predict the missing outcomes that were obtained afterwards?

Notation, for an arm and mediator level m: n1 outcomes seen at once and n0 answers to follow-ups, together n, with mean
y_m, variance s_m^2 and third moment k_m about it. If the answers are distributed like the outcomes seen at once, they
are n0 of these n at random. So the moments of their sum are known exactly, whatever the distribution is, and no
correction for the degrees of freedom of a variance is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant.assumptions.assumption import (
    Estimate,
    Moments,
    all_alike,
    tilted,
    two_level,
    widened,
    without_interval,
)
from truant.assumptions.evidence import DRAWS, MOST_CELLS, SEED, ChiSquare, Concern
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


QUESTION = "Do follow-ups bring the outcomes that the assumption expects?"
FARTHEST = 37.0  # a normal score whose probability is still a positive number
FEW_ANSWERS = 100  # of an arm, below which the answers of a discrete outcome are drawn
SHORT = "It compares the mean of the {answered:,} answers with what {name} says of the missing outcomes"


class Contrast(NamedTuple):
    """How far the answers of one arm are from what was expected, with variance and third cumulant under the null."""

    away: float
    variance: float
    third: float

    @property
    def usable(self) -> bool:
        """Whether chance could move it."""
        return self.variance > 0

    def score(self) -> float:
        """As a standard normal variable, with its skewness allowed for."""
        z = self.away / math.sqrt(self.variance)
        return float(normal_scores(np.array([z]), self.third / self.variance**1.5)[0])


def same_within_levels(name: str, counts: Counts, seen_mediators_only: bool = False) -> list[ChiSquare]:
    """Answers and outcomes seen at once have one mean at each mediator level of an arm: one test, all arms together.

    Of each arm, the sum of the answers less n0 y_m over its levels, against all ways to choose the answers among the
    outcomes of their level (Mantel and Haenszel): variance sum n0 n1 s_m^2/n.
    """
    if counts.followed_up is None:
        return []
    rows = slice(None, -1) if seen_mediators_only else slice(None)
    usable, drawn = [], []
    for arm in range(len(counts.table)):
        contrast = _within_levels(counts.real_row(arm)[rows], counts.followed_up_row(arm)[rows])
        if contrast.usable:
            usable.append(contrast)
            drawn.append((arm, contrast))
    null = _drawn(counts, drawn, rows)
    return _together(name, counts, usable, null)


def same_in_arm(name: str, counts: Counts) -> list[ChiSquare]:
    """Outcomes missing at first and seen at once have one mean in each arm, levels together: one test, all arms.

    The answers of a level stand for all its missing outcomes, so that levels may be followed up at different rates.
    """
    if counts.followed_up is None:
        return []
    found = [_in_arm(counts.real_row(arm), counts.followed_up_row(arm)) for arm in range(len(counts.table))]
    return _together(name, counts, [contrast for contrast in found if contrast.usable], ())


def remark_on(name: str, counts: Counts, arm: int | None = None) -> str:
    """What a test by follow-ups of an arm, or of all, rests on, a sentence."""
    some = slice(None) if arm is None else slice(arm, arm + 1)
    answered, asked = int(counts.answered[some].sum()), int(counts.follow_ups[some].sum())
    text = SHORT.format(answered=answered, name=name)
    if answered == asked:
        return f"{text}."
    return (
        f"{text}; {asked - answered:,} follow-ups failed, and it takes their outcomes to be like the answers."
    )


def _together(
    name: str, counts: Counts, usable: Sequence[Contrast], null: tuple[float, ...]
) -> list[ChiSquare]:
    if not usable:
        return []
    statistic = sum(contrast.score() ** 2 for contrast in usable)
    return [ChiSquare(QUESTION, statistic, len(usable), null=null, remark=remark_on(name, counts))]


def _within_levels(table: FloatArray, block: FloatArray) -> Contrast:
    """The sum of an arm's answers less what is expected."""
    n, means, squares, cubes = moments_within(table + block)
    n1, n0 = table[:, OBSERVED], block[:, OBSERVED]
    both = (n1 > 0) & (n0 > 0)
    n, n1, n0 = n[both], n1[both], n0[both]
    away = float((block[both, SUM] - n0 * means[both]).sum())
    variance = float((n0 * n1 / n * squares[both] / (n - 1)).sum())
    many = np.maximum(n - 2, 1.0)
    third = float((n0 * n1 * (n1 - n0) / n * cubes[both] / ((n - 1) * many)).sum())
    return Contrast(away, variance, third)


def _in_arm(table: FloatArray, block: FloatArray) -> Contrast:
    """The mean of an arm's missing outcomes, by their answers, less that of the outcomes seen at once.

    q_m and f_m are the shares of level m among outcomes missing at first and seen at once. If both kinds are alike, the
    difference has variance sum s_m^2 (q_m^2/n0 + f_m^2/n1) + B (1/N0 + 1/N1), B the variance between levels. Levels
    with missing outcomes and no answer are left out, which changes nothing if both kinds are alike.
    """
    n1, n0 = table[:, OBSERVED], block[:, OBSERVED]
    missing = table[:, PULLS] - n1
    used = (n1 + n0 > 0) & ((n0 > 0) | (missing == 0))
    n1, n0, missing = n1[used], n0[used], missing[used]
    if n1.sum() == 0 or missing.sum() == 0:
        return Contrast(0.0, 0.0, 0.0)
    n, means, squares, cubes = moments_within((table + block)[used])
    own = np.where(n > 1, squares / np.maximum(n - 1, 1.0), squares.sum() / max(float((n - 1).sum()), 1.0))
    thirds = np.where(n > 2, n * cubes / np.maximum((n - 1) * (n - 2), 1.0), 0.0)
    middle = float(n @ means / n.sum())
    moments = np.zeros(3)
    for share, answers, sums, sign in (
        (missing / missing.sum(), n0, block[used, SUM], 1.0),
        (n1 / n1.sum(), n1, table[used, SUM], -1.0),
    ):
        size = float(missing.sum() if sign > 0 else n1.sum())
        there = answers > 0
        share, count = share[there], answers[there]
        level, apart = sums[there] / count, means[there] - middle
        part = share**2 * own[there] / count
        between = float(share @ apart**2) / size
        third = (
            share**3 * thirds[there] / count**2 + 3 * part * apart / size + share * apart**3 / size**2
        ).sum()
        moments += float(share @ level) * sign, float(part.sum()) + between, float(third) * sign
    return Contrast(*(float(moment) for moment in moments))


def _drawn(counts: Counts, arms: Sequence[tuple[int, Contrast]], rows: slice) -> tuple[float, ...]:
    """Statistics of answers drawn among the outcomes of their level, of a discrete outcome with few answers."""
    if counts.levels is None or counts.followed_up is None or not arms:
        return ()
    if min(counts.answered[arm] for arm, _ in arms) >= FEW_ANSWERS:
        return ()
    rng, levels = np.random.default_rng(SEED), np.asarray(counts.levels) - counts.centre
    cells = sum(counts.table[arm, rows].size for arm, _ in arms)
    draws = min(DRAWS, max(MOST_CELLS // cells, 1))
    total = np.zeros(draws)
    for arm, contrast in arms:
        away = np.zeros(draws)
        for seen, later in zip(counts.table[arm, rows, :-1], counts.followed_up[arm, rows, :-1], strict=True):
            pooled, answers = seen + later, later.sum()
            if seen.sum() == 0 or answers == 0:
                continue
            chosen = rng.multivariate_hypergeometric(
                pooled.astype(np.int64), int(answers), size=draws, method="marginals"
            )
            away += chosen @ levels - answers * (pooled @ levels) / pooled.sum()
        scores = normal_scores(away / math.sqrt(contrast.variance), contrast.third / contrast.variance**1.5)
        total += scores**2
    return tuple(total)


def normal_scores(z: FloatArray, skewness: float) -> FloatArray:
    """What a variable with mean 0, variance 1 and this skewness is on the scale of a standard normal one.

    On the side of the tail by the gamma distribution with these moments, on the other by z - skewness (z^2 - 1)/6.
    """
    from scipy.special import gammaincc, ndtri

    lam = abs(skewness)
    if lam < 1e-6:
        return np.asarray(np.clip(z, -FARTHEST, FARTHEST))
    tail = z if skewness > 0 else -z
    shape = 4 / lam**2
    above = gammaincc(shape, shape + np.maximum(tail, 0.0) * math.sqrt(shape))
    scores = np.where(tail > 0, -ndtri(above), tail - lam * (tail**2 - 1) / 6)
    scores = np.clip(scores, -FARTHEST, FARTHEST)
    return np.asarray(scores if skewness > 0 else -scores)

"""Tests of assumptions by follow-ups: does an assumption predict the missing outcomes that were obtained afterwards?

Notation, for an arm and mediator level m: n1 outcomes seen at once and n0 answers to follow-ups, together n, with mean
y_m, variance s_m^2 and third moment k_m about it. If the answers are distributed like the outcomes seen at once, they
are n0 of these n at random. So the moments of their sum are known exactly, whatever the distribution is, and no
correction for the degrees of freedom of a variance is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from truant.assumptions.cells import moments_within
from truant.assumptions.evidence import DRAWS, MOST_CELLS, SEED, ChiSquare
from truant.counts import OBSERVED, PULLS, SUM, Counts
from truant.setting import FloatArray

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

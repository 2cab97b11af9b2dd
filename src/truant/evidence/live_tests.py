"""Tests that only a running experiment allows: by outcomes that came late, and of the shares of the arms.

The late-arrival test: are outcomes that came after their window like those that came in time?

Late outcomes are missing to the estimates, but they were seen. An assumption that says what the missing outcomes are
like says it of them, too, if it also holds for the time of answering:

- `mcar`: in each arm, late outcomes have the mean of the others.
- `mar`, `mediator-mar`, `mediator-mnar`: the same at each mediator level of an arm.
- `mnar`, `both-mnar`: at each outcome level of an arm, the mediator of late outcomes is distributed as that of the
  others.

What a rejection means: whether an outcome comes late depends on what the assumption says it does not depend on, so the
assumption is in doubt. What it does not mean: that outcomes which never came are like the late ones. Late outcomes are
a self-selected part of the missing ones, so they are no follow-up and correct no estimate. No difference does not prove
the assumption: outcomes that never came may still differ.

All tests are conditional: given the outcomes of a cell, its late ones are a random choice among them. Means have the
exact first three moments of that choice (see `assumptions.cells`), or its drawn distribution where a discrete
outcome has few late ones, so that the test keeps its size with a single late outcome and with skewed ones. The p-value
is that of one look: testing every day until it is small rejects too often. Arms may be chosen by a policy: it leaves an
arm because of low outcomes in time, not of late ones, but the difference that this makes did not show in simulations.

The share test, for adaptive shares: were arms chosen as often as the stored probabilities say?

A decision draws arm a with a probability p_a that depends on what came before. Over the decisions, N_a - sum p_a is a
martingale with variance V_a = sum p_a (1 - p_a), and z_a = (N_a - sum p_a)/sqrt(V_a). A chi-square test against fixed
shares would not do here.

Two p-values, for all arms together:

- At one look, by the tail of a Poisson distribution with variance V_a in place of a normal one: no sum of choices with
  this variance is more skewed, and an arm whose probabilities are tiny is drawn once now and then. Bonferroni's
  correction over the arms that chance could move; two of them are one comparison, since one has what the other lacks.
- At any number of looks, whatever the allocation did: exp(l (N_a - sum p_a) - (e^l - 1 - l) V_a) is a supermartingale
  for every l (Bennett), so the mean E of these over arms, signs and a fixed set of l exceeds 1/p at any time with
  probability at most p (Ville). The p-value is 1/E. It needs larger deviations, about |z| = 3.5.

For an alarm that is looked at every day, use the second: the first falls below 5% at some of 40 looks in up to one
run of five.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant import registry
from truant.assumptions import ChiSquare, LateComparison
from truant.assumptions.cells import same_within_levels
from truant.assumptions.evidence import DRAWS, ENOUGH, LEAST_DRAWS, MOST_CELLS, SEED
from truant.counts import OBSERVED, SUM, Counts, needed_counts
from truant.envelope import FloatOrNaN, in_document
from truant.errors import InvalidValue, named, quoted
from truant.evidence.contradictions import p_value
from truant.setting import FloatArray, Setting, finite
from truant.shown import made_above


@dataclass(frozen=True)
class LateTest:
    """Late outcomes against those in time; a small p-value puts the assumption in doubt."""

    assumption: str  # name of the assumption
    question: str  # the question that the test answers
    statistic: float  # chi-square statistic
    freedom: int  # degrees of freedom
    p_value: float  # p-value at one look
    late: int  # late outcomes that were compared
    comparison: LateComparison = field(repr=False)  # which outcomes were compared
    difference: float = field(repr=False)  # of the mean of late ones; nan where mediators were compared

    @property
    @in_document
    def sentence(self) -> str:
        """The answer in a sentence, with what it means and what it does not."""
        return str(made_above("truant.documents.cautions:late_sentence", self))


def late_tests(counts: Counts, late: Counts, setting: Setting, assumption: str) -> list[LateTest]:
    """The late-arrival test of an assumption, all arms together; empty if nothing can be compared.

    Nothing can be compared if no cell has outcomes of both kinds that differ among each other, and under an assumption
    without a `late_comparison`, such as `follow-up`; for `mnar` and `both-mnar` outcomes must have levels.

    Parameters
    ----------
    counts : outcomes that came in their window; those of other decisions are missing.
    late : outcomes that came after it, with the mediator as it was in the window.
    setting : of both.
    assumption : its name.
    """
    needed_counts(counts).checked(setting)
    needed_counts(late).checked(setting)
    if not isinstance(assumption, str):
        raise InvalidValue(f"An assumption is a name such as 'mar', got {quoted(assumption)}.")
    if counts.levels != late.levels:
        raise InvalidValue(
            f"Late and other counts must have the same levels, got {late.levels} and {counts.levels}."
        )
    name = assumption.partition(":")[0]
    if name not in registry.names("assumption"):
        return []
    comparison = registry.find("assumption", name).build().late_comparison
    if comparison is None:
        return []
    compared = Compared.of(counts, late.about(counts.centre), comparison)
    test = compared.test()
    if test is None:
        return []
    return [
        LateTest(
            name,
            test.question,
            test.statistic,
            test.freedom,
            p_value(test),
            compared.late,
            comparison,
            math.nan if comparison.of_mediators else compared.difference,
        )
    ]


class Compared(NamedTuple):
    """Tables of outcomes in time and late, with the cells in which they are compared along the second axis."""

    in_time: Counts
    later: Counts
    comparison: LateComparison

    @classmethod
    def of(cls, counts: Counts, late: Counts, comparison: LateComparison) -> Compared:
        """The tables of both, without levels or rows that the comparison is not about."""

        def table(one: Counts) -> Counts:
            kept = one.table.copy()
            if comparison.across_levels:
                kept[:, 0] = kept.sum(axis=1)
                kept[:, 1:] = 0.0
            if comparison.seen_mediators_only:
                kept[:, -1] = 0.0
            return Counts(kept, one.levels, one.centre)

        return cls(table(counts), table(late), comparison)

    def test(self) -> ChiSquare | None:
        """The test; None without information."""
        if self.comparison.of_mediators:
            return (
                None if self.in_time.levels is None else _same_mediators(*self._by_level(), self.comparison)
            )
        both = Counts(
            self.in_time.table, self.in_time.levels, self.in_time.centre, followed_up=self.later.table
        )
        found = same_within_levels("", both)  # late outcomes take the place of answers to follow-ups
        return (
            ChiSquare(self.comparison.question, found[0].statistic, found[0].freedom, null=found[0].null)
            if found
            else None
        )

    @property
    def late(self) -> int:
        """Late outcomes in cells that have outcomes in time, too."""
        if self.comparison.of_mediators:
            first, then = (table.sum(axis=1) for table in self._by_level())
        else:
            first, then = (one.real().table[..., OBSERVED] for one in (self.in_time, self.later))
        return int(then[first > 0].sum())

    @property
    def difference(self) -> float:
        """How much higher late outcomes are, a mean over cells with weights n0 n1/n (Mantel and Haenszel)."""
        first, then = (one.real().table for one in (self.in_time, self.later))
        both = (first[..., OBSERVED] > 0) & (then[..., OBSERVED] > 0)
        n1, n0 = first[both, OBSERVED], then[both, OBSERVED]
        apart = then[both, SUM] / n0 - first[both, SUM] / n1
        return float(np.average(apart, weights=n0 * n1 / (n0 + n1)))

    def _by_level(self) -> tuple[FloatArray, FloatArray]:
        """Numbers by arm, mediator (the last: missing) and outcome level."""
        return self.in_time.table[..., :-1], self.later.table[..., :-1]


def _same_mediators(in_time: FloatArray, later: FloatArray, comparison: LateComparison) -> ChiSquare | None:
    """Mediators of late outcomes against those in time, within arm and outcome level (Cochran, Mantel and Haenszel).

    Of each arm, the late outcomes at each mediator level less what is expected, summed over outcome levels, as a
    quadratic form with the covariance of a random choice; a statistic of at most K - 1 degrees of freedom, or K if some
    mediators are missing. With few expected at a level, its distribution is drawn.
    """
    arms = [own for own in map(_Association.of, in_time, later) if own.freedom > 0]
    if not arms:
        return None
    statistic, freedom = sum(own.statistic for own in arms), sum(own.freedom for own in arms)
    null = _drawn(arms) if any(own.sparse for own in arms) else ()
    return ChiSquare(comparison.question, float(statistic), freedom, null=null)


class _Association(NamedTuple):
    """One arm: outcomes by mediator and outcome level, of outcome levels that have late ones and others."""

    pooled: FloatArray  # (mediators, levels), late and in time
    chosen: FloatArray  # (levels,), how many are late
    away: FloatArray  # (mediators,), late ones less what is expected
    weights: FloatArray  # inverse of their covariance
    freedom: int
    sparse: bool

    @classmethod
    def of(cls, in_time: FloatArray, later: FloatArray) -> _Association:
        n1, n0 = in_time.sum(axis=0), later.sum(axis=0)
        both = (n1 > 0) & (n0 > 0)
        n1, n0, pooled = n1[both], n0[both], (in_time + later)[:, both]
        n = n0 + n1
        expected = pooled * (n0 / n)
        scale = n0 * n1 / (n**2 * (n - 1))
        covariance = np.diag((pooled * (scale * n)).sum(axis=1)) - (pooled * scale) @ pooled.T
        used = pooled.sum(axis=1) > 0
        fewest = np.minimum(expected.sum(axis=1), (pooled - expected).sum(axis=1))[used]
        return cls(
            pooled,
            n0,
            (later[:, both] - expected).sum(axis=1),
            np.linalg.pinv(covariance, rcond=1e-9, hermitian=True),
            int(np.linalg.matrix_rank(covariance, rtol=1e-9, hermitian=True)),
            bool(np.any(fewest < ENOUGH)),
        )

    @property
    def statistic(self) -> float:
        return float(self.away @ self.weights @ self.away)

    def drawn(self, rng: np.random.Generator, draws: int) -> FloatArray:
        """Statistics of late outcomes that are chosen at random."""
        away = np.zeros((draws, len(self.pooled)))
        for column, number in zip(self.pooled.T, self.chosen, strict=True):
            some = rng.multivariate_hypergeometric(
                column.astype(np.int64), int(number), draws, method="marginals"
            )
            away += some - number * column / column.sum()
        found: FloatArray = np.einsum("di,ij,dj->d", away, self.weights, away)
        return found


def _drawn(arms: list[_Association]) -> tuple[float, ...]:
    draws = min(DRAWS, max(LEAST_DRAWS, MOST_CELLS // sum(own.pooled.size for own in arms)))
    rng = np.random.default_rng(SEED)
    return tuple(np.sum([own.drawn(rng, draws) for own in arms], axis=0))


ROUNDING = 1e-9  # of sums of probabilities, relative
RATES = 8.0 * 2.0 ** -np.arange(14)  # l: from single draws that should not be to a million decisions
UNLIKELY = 0.05
FARTHEST = 700.0  # exponent whose exponential is still a number


@dataclass(frozen=True)
class ShareTest:
    """How often arms were chosen against their probabilities; small p-values say that choices were made otherwise."""

    # standardized deviation of each arm; 0 where chance could not move it, None where it is infinite
    z: tuple[FloatOrNaN, ...]
    arm: int | None  # number of the arm that deviates most, from 0; None if chance could move none
    p_value: float  # p-value at one look, corrected for the number of arms (Bonferroni)
    p_value_any_time: float  # p-value that holds at any number of looks
    arm_name: str = field(repr=False)  # of that arm, in a sentence, and how often it was and should be chosen
    chosen: float = field(repr=False)
    expected: float = field(repr=False)

    @property
    @in_document
    def sentence(self) -> str:
        """The answer in a sentence: what it means, and what to do."""
        return str(made_above("truant.documents.cautions:shares_sentence", self))


def share_test(
    n: npt.ArrayLike, expected: npt.ArrayLike, variance: npt.ArrayLike, names: Sequence[str] = ()
) -> ShareTest:
    """Choices of each arm against the probabilities with which they were made.

    Parameters
    ----------
    n : choices of each arm.
    expected : the sum of its probabilities over all decisions.
    variance : the sum of p (1 - p) of them; 0 for an arm that was always or never chosen by design.
    names : of the arms, for the sentence; their numbers unless given.

    Examples
    --------
    >>> share_test([5200, 4800], [5000.0, 5000.0], [2500.0, 2500.0]).z
    (4.0, -4.0)
    """
    chosen, means, variances = _columns(n, expected, variance)
    away = chosen - means
    away[np.abs(away) <= ROUNDING * (1 + means)] = 0.0
    impossible = (variances == 0) & (away != 0)
    random = variances > 0
    z = np.where(impossible, np.copysign(np.inf, away), 0.0)
    z[random] = away[random] / np.sqrt(variances[random])
    p_values = np.where(impossible, 0.0, 1.0)
    p_values[random] = _poisson_tails(away[random], variances[random])
    comparisons = 1 if random.sum() == 2 else max(int(random.sum()), 1)
    once = min(1.0, comparisons * float(p_values.min()))
    any_time = 0.0 if impossible.any() else _any_time(away, variances)
    arm = int(np.argmin(p_values)) if random.any() or impossible.any() else None
    least = 0 if arm is None else arm
    name = named(names[least]) if names else str(least)
    return ShareTest(
        tuple(float(score) for score in z),
        arm,
        once,
        any_time,
        name,
        float(chosen[least]),
        float(means[least]),
    )


def _columns(
    n: npt.ArrayLike, expected: npt.ArrayLike, variance: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    columns = finite("n", n), finite("expected", expected), finite("variance", variance)
    if columns[0].ndim != 1 or not columns[0].size or len({column.shape for column in columns}) > 1:
        raise InvalidValue(
            "n, expected and variance must have one number for each arm, got shapes "
            f"{', '.join(str(column.shape) for column in columns)}."
        )
    for name, column in zip(("n", "expected", "variance"), columns, strict=True):
        if column.min() < 0:
            raise InvalidValue(f"{name} must be numbers of at least 0, got {column.min():g}.")
    if np.any(columns[2] > columns[1] * (1 + ROUNDING) + ROUNDING):
        raise InvalidValue(
            "variance, a sum of p (1 - p), must be at most expected, the sum of p, for each arm."
        )
    return columns


def _poisson_tails(away: FloatArray, variances: FloatArray) -> FloatArray:
    """Of both sides: twice the probability that a Poisson variable is as far above its mean; continuous in between."""
    from scipy.special import gammainc

    found: FloatArray = np.where(
        away == 0, 1.0, np.minimum(1.0, 2 * gammainc(variances + np.abs(away), variances))
    )
    return found


def _any_time(away: FloatArray, variances: FloatArray) -> float:
    """1/E, E the mean of the supermartingales of all arms, both signs and all rates."""
    rates = np.concatenate([RATES, -RATES])[:, None]
    size = np.abs(rates)
    exponents = rates * away - (np.expm1(size) - size) * variances
    return float(min(1.0, 1 / np.exp(np.clip(exponents, -FARTHEST, FARTHEST)).mean()))

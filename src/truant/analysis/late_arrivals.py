"""The late-arrival test: are outcomes that came after their window like those that came in time?

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
exact first three moments of that choice (see `assumptions.follow_up_tests`), or its drawn distribution where a discrete
outcome has few late ones, so that the test keeps its size with a single late outcome and with skewed ones. The p-value
is that of one look: testing every day until it is small rejects too often. Arms may be chosen by a policy: it leaves an
arm because of low outcomes in time, not of late ones, but the difference that this makes did not show in simulations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truant.analysis import shares
from truant.analysis.contradictions import DOUBTFUL, p_value
from truant.assumptions import ChiSquare
from truant.assumptions.evidence import DRAWS, ENOUGH, LEAST_DRAWS, MOST_CELLS, SEED
from truant.assumptions.follow_up_tests import same_within_levels
from truant.counts import OBSERVED, SUM, Counts, needed_counts
from truant.errors import InvalidValue
from truant.setting import FloatArray, Setting
from truant.text import quoted

IN_ARM = "Do late outcomes have the mean of those in time, in each arm?"
AT_LEVEL = "Do late outcomes have the mean of those in time, in each arm and mediator level?"
MEDIATOR = (
    "Is the mediator of late outcomes distributed as that of those in time, in each arm and outcome level?"
)
QUESTIONS = {
    "mcar": IN_ARM,
    "mar": AT_LEVEL,
    "mediator-mar": AT_LEVEL,
    "mediator-mnar": AT_LEVEL,
    "mnar": MEDIATOR,
    "both-mnar": MEDIATOR,
}
LIKE = {
    IN_ARM: "the same arm",
    AT_LEVEL: "the same arm and mediator level",
    MEDIATOR: "the same arm and value",
}
OF_SEEN_MEDIATORS = ("mediator-mar", "mediator-mnar")  # say nothing of outcomes whose mediator is missing


@dataclass(frozen=True)
class LateTest:
    """Late outcomes against those in time; a small p-value puts the assumption in doubt."""

    assumption: str
    question: str
    statistic: float
    freedom: int
    p_value: float
    late: int  # late outcomes that were compared
    sentence: str  # the answer, with what it means and what it does not


def late_tests(counts: Counts, late: Counts, setting: Setting, assumption: str) -> list[LateTest]:
    """The late-arrival test of an assumption, all arms together; empty if nothing can be compared.

    Nothing can be compared if no cell has outcomes of both kinds that differ among each other, and under an assumption
    that is not in `QUESTIONS`, such as `follow-up`; for `mnar` and `both-mnar` outcomes must have levels.

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
    if name not in QUESTIONS:
        return []
    compared = Compared.of(counts, late.about(counts.centre), QUESTIONS[name], name in OF_SEEN_MEDIATORS)
    test = compared.test()
    if test is None:
        return []
    p = p_value(test)
    sentence = _sentence(name, compared, p)
    return [LateTest(name, test.question, test.statistic, test.freedom, p, compared.late, sentence)]


class Compared(NamedTuple):
    """Tables of outcomes in time and late, with the cells in which they are compared along the second axis."""

    in_time: Counts
    later: Counts
    question: str

    @classmethod
    def of(cls, counts: Counts, late: Counts, question: str, seen_mediators_only: bool) -> Compared:
        """The tables of both, without levels or rows that the question is not about."""

        def table(one: Counts) -> Counts:
            kept = one.table.copy()
            if question == IN_ARM:
                kept[:, 0] = kept.sum(axis=1)
                kept[:, 1:] = 0.0
            if seen_mediators_only:
                kept[:, -1] = 0.0
            return Counts(kept, one.levels, one.centre)

        return cls(table(counts), table(late), question)

    def test(self) -> ChiSquare | None:
        """The test; None without information."""
        if self.question == MEDIATOR:
            return None if self.in_time.levels is None else _same_mediators(*self._by_level())
        both = Counts(
            self.in_time.table, self.in_time.levels, self.in_time.centre, followed_up=self.later.table
        )
        found = same_within_levels("", both)  # late outcomes take the place of answers to follow-ups
        return (
            ChiSquare(self.question, found[0].statistic, found[0].freedom, null=found[0].null)
            if found
            else None
        )

    @property
    def late(self) -> int:
        """Late outcomes in cells that have outcomes in time, too."""
        if self.question == MEDIATOR:
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


def _same_mediators(in_time: FloatArray, later: FloatArray) -> ChiSquare | None:
    """Mediators of late outcomes against those in time, within arm and outcome level (Cochran, Mantel and Haenszel).

    Of each arm, the late outcomes at each mediator level less what is expected, summed over outcome levels, as a
    quadratic form with the covariance of a random choice; a statistic of at most K - 1 degrees of freedom, or K if some
    mediators are missing. With few expected at a level, its distribution is drawn.
    """
    arms = [own for own in map(_Association.of, in_time, later) if own.freedom > 0]
    if not arms:
        return None
    statistic, freedom = sum(own.statistic for own in arms), sum(own.freedom for own in arms)
    return ChiSquare(
        MEDIATOR, float(statistic), freedom, null=_drawn(arms) if any(own.sparse for own in arms) else ()
    )


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


def _sentence(name: str, compared: Compared, p: float) -> str:
    """The answer, and what it means for the assumption."""
    text = shares.p_value(p)
    p_text = f"p {text}" if text.startswith("<") else f"p = {text}"
    late, like = f"Late outcomes ({compared.late:,})", LIKE[compared.question]
    if p >= DOUBTFUL:
        of = "the distribution of the mediator" if compared.question == MEDIATOR else "mean"
        return (
            f"{late} show no difference in {of} from outcomes in time of {like} ({p_text}). That does not prove "
            f"{name}: outcomes that never came may still differ."
        )
    if compared.question == MEDIATOR:
        found = f"have another distribution of the mediator than outcomes in time of {like} ({p_text})"
        related = "the mediator, even among equal outcomes"
    else:
        amount = compared.difference
        how = f"{abs(amount):.3g} {'higher' if amount > 0 else 'lower'} on average"
        found = f"are {how} than outcomes in time of {like} ({p_text})"
        related = "its value"
    return (
        f"{late} {found}: when an outcome comes is related to {related}, so {name} is in doubt. The test says nothing "
        "about outcomes that never came."
    )

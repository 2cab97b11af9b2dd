"""What data can say about an assumption: tests that it can fail, concerns about an arm, and what it repeats; and the
probabilities of one arm as plain tables, which an efficient variance is a function of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant.counts import OBSERVED, PULLS, Counts
from truant.errors import NotSatisfied
from truant.setting import FloatArray

ENOUGH = 5  # pulls expected in a cell, from which on chi-square will do
DRAWS, LEAST_DRAWS, MOST_CELLS = 999, 20, 2_000_000  # of tables under an assumption, and cells in all
SEED = 20260101


@dataclass(frozen=True)
class ChiSquare:
    """A statistic that is chi-square distributed if the assumption holds and counts are large."""

    question: str  # for reports; a small p-value answers it with no
    statistic: float
    freedom: int  # degrees of freedom; without any the test is left out
    arm: int | None = None  # None: about all arms together
    null: tuple[float, ...] = ()  # statistics of tables drawn under the assumption, where counts are small
    contradicts: bool = True  # whether a small p-value speaks against the assumption, or is only good to know
    remark: str = ""  # what else to know of the answer, a sentence


@dataclass(frozen=True)
class NoTest:
    """Why data of this kind cannot contradict the assumption."""

    reason: str  # a clause without a capital letter and a full stop


@dataclass(frozen=True)
class LateComparison:
    """How outcomes that came after their window are compared with those in time."""

    question: str
    like: str  # which outcomes in time they are compared with
    across_levels: bool = False  # all mediator levels of an arm together
    of_mediators: bool = False  # the mediators of equal outcomes, not the outcomes
    seen_mediators_only: bool = False  # says nothing of outcomes whose mediator is missing


LATE_IN_ARM = LateComparison(
    "Do late outcomes have the mean of those in time, in each arm?", "the same arm", across_levels=True
)
LATE_AT_LEVEL = LateComparison(
    "Do late outcomes have the mean of those in time, in each arm and mediator level?",
    "the same arm and mediator level",
)
LATE_AT_SEEN_LEVEL = replace(LATE_AT_LEVEL, seen_mediators_only=True)
LATE_MEDIATORS = LateComparison(
    "Is the mediator of late outcomes distributed as that of those in time, in each arm and outcome level?",
    "the same arm and value",
    of_mediators=True,
)


@dataclass(frozen=True)
class Concern:
    """What to know of an arm's counts before relying on the assumption's estimate."""

    code: str  # one for all concerns of its kind
    text: str  # a sentence with places {assumption}, {arm} and, if it is about one, {mediator}
    value: float | None = None
    rank: int = 0  # concerns of a lower rank are listed first
    mediator: int | None = None  # the number of the level


class SameAs(NamedTuple):
    """Another assumption that says the same on given counts."""

    assumption: str
    because: str  # a clause with a capital letter


def without_missing_mediators(counts: Counts, simpler: str) -> SameAs | None:
    """The simpler assumption says the same, if no mediator is missing."""
    rows = counts.table[:, -1] if counts.levels is not None else counts.table[:, -1, PULLS]
    if rows.sum() > 0:
        return None
    return SameAs(simpler, "No value of the mediator is missing")


def independence(table: FloatArray) -> tuple[float, int]:
    """The statistic 2 sum C log(C/E) of a contingency table, and its degrees of freedom (empty lines dropped)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return 0.0, 0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    return float(2 * np.sum(table * np.log(ratio))), (table.shape[0] - 1) * (table.shape[1] - 1)


def drawn_statistics(tables: Iterable[FloatArray]) -> tuple[float, ...]:
    """Sums of the statistics of tables with two columns, drawn with their margins as they are; none if cells are full.

    Conditional on the margins, a column of a table without dependence is multivariate hypergeometric. The draws have a
    fixed seed; there are fewer of them where tables are large.
    """
    kept = [table[table.sum(axis=1) > 0] for table in tables if np.all(table.sum(axis=0) > 0)]
    kept = [table for table in kept if len(table) > 1]
    if not any(_sparse(table) for table in kept):
        return ()
    draws = min(DRAWS, max(LEAST_DRAWS, MOST_CELLS // sum(len(table) for table in kept)))
    rng = np.random.default_rng(SEED)
    total = np.zeros(draws)
    for table in kept:
        rows, seen = table.sum(axis=1), table[:, 0].sum()
        first = rng.multivariate_hypergeometric(
            rows.astype(np.int64), int(seen), size=draws, method="marginals"
        )
        for column, size in ((first.astype(np.float64), seen), (rows - first, rows.sum() - seen)):
            expected = rows * size / rows.sum()
            total += 2 * xlogy(column, column / expected).sum(axis=1)
    return tuple(total)


def _sparse(table: FloatArray) -> bool:
    """Whether a cell is expected to have fewer than five pulls."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return bool(expected.min() < ENOUGH)


def xlogy(x: FloatArray, y: FloatArray) -> FloatArray:
    """X log y, which is 0 at x = 0."""
    found: FloatArray = x * np.log(np.where(x > 0, y, 1.0))
    return found


def observed_and_missing(counts: Counts) -> FloatArray:
    """Pulls with the outcome observed and missing, shape (arms, K+1, 2)."""
    table = counts.real().table
    return np.stack([table[..., OBSERVED], table[..., PULLS] - table[..., OBSERVED]], axis=-1)


ROUNDING = 1e-12  # chances that differ by less are equal


@dataclass(frozen=True, kw_only=True)
class ArmTables:
    """P(m), E[Y|m], Var(Y|m) and the chances to be seen; of a discrete outcome also P(m,y).

    The methods give what an assumption says there is, or raise NotSatisfied.
    """

    mediator_probabilities: FloatArray  # (K,) P(m)
    outcome_means: FloatArray  # (K,) E[Y|m]
    outcome_variances: FloatArray  # (K,) Var(Y|m)
    mediator_observation: FloatArray  # (K,) P(Q=1|m)
    observation: FloatArray  # real outcomes: (2, K) P(O=1|Q,m); discrete ones: (K, L) P(O=1|m,y)
    joint: FloatArray | None = None  # (K, L) P(m,y)
    levels: FloatArray | None = None  # (L,) the outcomes

    @classmethod
    def of_discrete(
        cls, joint: FloatArray, levels: FloatArray, observation: FloatArray, mediator_observation: FloatArray
    ) -> ArmTables:
        """The tables of a discrete outcome."""
        p = joint.sum(axis=1)
        given = joint / np.where(p > 0, p, 1)[:, None]
        means = given @ levels
        return cls(
            mediator_probabilities=p,
            outcome_means=means,
            outcome_variances=given @ levels**2 - means**2,
            mediator_observation=mediator_observation,
            observation=observation,
            joint=joint,
            levels=levels,
        )

    @property
    def mean(self) -> float:
        """E[Y]."""
        return float(self.mediator_probabilities @ self.outcome_means)

    @property
    def variance_between(self) -> float:
        """Var(E[Y|M])."""
        return float((self.mediator_probabilities * (self.outcome_means - self.mean) ** 2).sum())

    @property
    def variance(self) -> float:
        """Var(Y)."""
        squares = self.outcome_variances + (self.outcome_means - self.mean) ** 2
        return float((self.mediator_probabilities * squares).sum())

    def variance_within(self, gamma: FloatArray) -> float:
        """E[Var(Y|M) / gamma_M]: within mediator levels, of outcomes seen with the chances gamma, shape (K,)."""
        return float((self.mediator_probabilities * self.outcome_variances / gamma).sum())

    def discrete(self) -> tuple[FloatArray, FloatArray]:
        """P(m,y) and the outcome levels."""
        if self.joint is None or self.levels is None:
            raise NotSatisfied("its outcomes are not discrete.")
        return self.joint, self.levels

    def seen_and_missing(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares, E[Y] and Var(Y) of the cells (m, Q) where the outcome is seen, and where it is missing.

        Each has shape (2, cells); a missing mediator is one cell.
        """
        seen = self.mediator_observation[:, None]
        if self.joint is None:
            p = self.mediator_probabilities
            by_q = np.stack([1 - self.mediator_observation, self.mediator_observation], axis=1)  # (K, Q)
            chance = self.observation.T  # (K, Q)
            weights = [p[:, None] * by_q * part for part in (chance, 1 - chance)]
            first = [w * self.outcome_means[:, None] for w in weights]
            second = [w * (self.outcome_variances + self.outcome_means**2)[:, None] for w in weights]
            sums = [[_by_cell(part) for part in parts] for parts in (weights, first, second)]
        else:
            joint, levels = self.discrete()
            weights = [joint * part for part in (self.observation, 1 - self.observation)]
            sums = [
                [_by_cell(np.stack([((1 - seen) * w) @ power, (seen * w) @ power], axis=1)) for w in weights]
                for power in (np.ones_like(levels), levels, levels**2)
            ]
        share, total, squares = (np.stack(parts) for parts in sums)
        means = total / np.where(share > 0, share, 1.0)
        return share, means, np.maximum(squares / np.where(share > 0, share, 1.0) - means**2, 0.0)

    def need_mediators(self) -> None:
        """Refuse where mediators can be missing."""
        if np.any(self.mediator_observation[self.mediator_probabilities > 0] < 1):
            raise NotSatisfied("its mediators are not always seen.")

    def mediator_seen(self) -> float:
        """P(Q=1), where Q ⟂ M."""
        why = "whether a mediator is seen depends on its level"
        return float(_common(self.mediator_observation, self.mediator_probabilities > 0, 0, why))

    def gamma(self) -> float:
        """P(O=1), where O depends on nothing."""
        if self.joint is None:
            seen = np.stack([1 - self.mediator_observation, self.mediator_observation])
            possible = self.mediator_probabilities * seen > 0
        else:
            possible = self.joint > 0
        why = "an arm's outcomes are not all seen with one probability"
        return float(_common(self.observation, possible, (0, 1), why))

    def gamma_by_mediator(self) -> FloatArray:
        """P(O=1|m,Q=1), shape (K,), where O ⟂ Y given M."""
        if self.joint is None:
            with_mediator: FloatArray = self.observation[1]
            return with_mediator
        why = "whether an outcome is seen depends on the outcome itself, given the mediator"
        return _common(self.observation, self.joint > 0, 1, why)

    def gamma_by_outcome(self) -> FloatArray:
        """P(O=1|y), shape (L,), where O ⟂ M given Y."""
        joint, _ = self.discrete()
        why = "whether an outcome is seen depends on the mediator, given the outcome"
        return _common(self.observation, joint > 0, 0, why)


def _by_cell(values: FloatArray) -> FloatArray:
    """Of (K, Q): the seen mediators one by one, then all missing ones together."""
    return np.append(values[:, 1], values[:, 0].sum())


def _common(
    chance: FloatArray, possible: npt.NDArray[np.bool_], axis: int | tuple[int, int], why: str
) -> FloatArray:
    """The one value that a chance has along an axis, over what is possible (1 where nothing is)."""
    lowest = np.where(possible, chance, np.inf).min(axis=axis)
    highest = np.where(possible, chance, -np.inf).max(axis=axis)
    if np.any(highest - lowest > ROUNDING):
        raise NotSatisfied(f"{why}.")
    if np.any(lowest <= 0):
        raise NotSatisfied("something that happens is never seen.")
    return np.where(np.isfinite(highest), highest, 1.0)

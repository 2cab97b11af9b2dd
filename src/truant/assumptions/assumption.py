"""What every assumption offers: a check, a curve for choosing, an estimate for reporting, and what is known of it.

at(z) of a mean with skewed outcomes and an estimated variance: one formula for every estimate made of cell means.

With v the variance of the estimate, c its third cumulant, J = c/v, phi its degrees of freedom and t(z) the quantile of
Student's t with phi degrees of freedom that z is of the normal distribution,

    at(z) = mean + a J z^2 + sign(z) sqrt((a J z^2)^2 + t(z)^2 v).

J is how fast the variance changes with the mean if outcomes become larger by exponential tilting (k3/k2). A score
interval, (u - mean)^2 = z^2 (v + J (u - mean)), has a = 1/2 on both sides. To first order the right shift is a = 1/3
(Hall, 1992), which is taken on the short side. Samples show less skewness than there is, since the tail is seen last,
and small ones much less: on the side of the tail a = 1 + 15/phi. Without skewness this is Welch's interval.

Outcomes with two levels have a variance that follows from the mean. There the score interval is right on both sides,
with -(u - mean)^2/n added to the variance (n the effective number of outcomes); for a single cell it is Wilson's.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from truant.assumptions.evidence import ArmTables, ChiSquare, Concern, LateComparison, NoTest, SameAs
from truant.compile import hot
from truant.compile.marks import NOTHING, NUMBER, TABLE, VECTOR
from truant.counts import Counts
from truant.errors import InvalidValue, NotIdentified
from truant.setting import FloatArray, Setting


@dataclass(frozen=True)
class Estimate:
    """An arm's value: the best guess, and `at(z)`, the value z standard deviations away from it.

    at(0) is the mean, and at(z) never falls; where nobody can say how sure the mean is, it is NaN for all other z.
    """

    mean: float
    at: Callable[[float], float] = field(repr=False)

    @classmethod
    def normal(cls, mean: float, variance: float) -> Estimate:
        """An estimate that is nearly normal: at(z) = mean + z standard errors."""
        centre, error = float(mean), float(np.sqrt(variance))
        return cls(centre, lambda z: centre + z * error if z else centre)

    @functools.cached_property
    def standard_error(self) -> float:
        """Half the distance from at(-1) to at(1)."""
        return (self.at(1.0) - self.at(-1.0)) / 2

    @functools.cached_property
    def has_interval(self) -> bool:
        """Whether it can be said how sure the mean is."""
        return math.isfinite(self.standard_error)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval at(-z), at(z) of that level."""
        if not 0 < level < 1:
            raise InvalidValue(f"level must be between 0 and 1, got {level}.")
        z = NormalDist().inv_cdf((1 + level) / 2)
        return self.at(-z), self.at(z)


NO_INTERVAL = Concern(
    "no-interval",
    "Under {assumption}, the observed outcomes of {arm} are too few or all equal, so the error of its mean cannot be "
    "estimated: give the range or the levels of the outcome (--range, --levels), or collect more.",
    rank=-1,
)

# what compiled functions of a curve take, for those that are heavy
CONTRIBUTE = NOTHING(TABLE, VECTOR, VECTOR)
KNOWN = NUMBER(TABLE, VECTOR, VECTOR)
SCORE_ARM = NOTHING(TABLE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)


@hot
def note_nothing(row: FloatArray, memory: FloatArray, mediator: int, outcome: float) -> None:
    """Keeps nothing of a pull but its counts."""


@hot
def contribute_nothing(row: FloatArray, parameters: FloatArray, out: FloatArray) -> None:
    """Shares nothing with the other arms."""


@hot
def cannot_say(row: FloatArray, shared: FloatArray, parameters: FloatArray) -> float:
    """How many outcomes the estimate is worth: not known."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How compiled code turns the counts into at(z) of an arm: a pure function of all arms' counts.

    What arms tell each other is a sum over arms: `contribute(row, parameters, out)` writes an arm's `pooled` numbers
    (all 0 for an arm without pulls), and the sums stand at the front of `shared`.
    `known(row, shared, parameters)` says how many outcomes the arm's estimate is worth (its variance is that of one
    outcome divided by this number), or 0 if that is not known: indices look at a lower z where more is known.
    `score_arm(row, memory, shared, parameters, z_grid, values)` writes at(z) for each z of `z_grid` into `values`.

    `row` is the arm's counts, `parameters` its own; behind the sums `shared` has scratch space. `memory` is what the
    arm keeps from its last call (zeros at first): it may save time, and must not change the result beyond the
    tolerance of a fit. Where none of them makes arrays and all are marked `lean` or `hot`, the loop is several times
    as fast.

    `note_pull(row, memory, mediator, outcome)`, if given, is called after each pull of the arm, with the counts it
    has entered: it brings the memory up to date, so that `score_arm` need not go over all cells. `score_arm`
    must be able to do without it (memory all zeros). The outcome is about the centre (NaN if missing), or its level;
    mediator K and level L mean missing.
    """

    score_arm: Callable[..., None]
    note_pull: Callable[..., None] = note_nothing
    contribute: Callable[..., None] = contribute_nothing
    known: Callable[..., float] = cannot_say
    parameters: FloatArray  # (arms, any number)
    discrete: bool = False  # wants the discrete layout of counts, not the real one
    linear: bool = True  # at(z) is a straight line, so two points say all
    first_pulls: int = 1  # of each arm, before any choice
    growth: float = 0.0  # recompute when the arm's pulls grew by this share
    memory: Callable[[int], int] = lambda points: 0  # numbers kept per arm, given the number of z
    pooled: int = 0  # numbers that each arm contributes to the sums over all arms
    scratch: int = 0  # numbers of scratch space behind these sums
    follows_up: bool = False  # `row` has a second half: the counts of follow-ups, below those of the pulls

    def __post_init__(self) -> None:
        # compiled code would write beyond its arrays
        if self.contribute is not contribute_nothing and self.pooled < 1:
            raise InvalidValue(
                f"A curve with `contribute` must have `pooled` numbers of each arm, at least 1, got {self.pooled}."
            )

    def table(self, counts: Counts) -> FloatArray:
        """The counts as `score_arm` reads them, by arm: discrete or real, with follow-ups below or not."""
        counts = counts if self.discrete else counts.real()
        if not self.follows_up:
            return counts.table
        block = np.zeros_like(counts.table) if counts.followed_up is None else counts.followed_up
        return np.concatenate([counts.table, block], axis=1)


@dataclass(frozen=True)
class Reading:
    """What an assumption makes of one arm's counts; what they share is computed once."""

    estimate: Estimate
    tests: Sequence[ChiSquare | NoTest] = ()  # that need the estimate
    concerns: Callable[[], Sequence[Concern]] = field(default=tuple, repr=False)  # found when asked for


@dataclass(frozen=True)
class Advice:
    """What an assumption says, an everyday example, what the data must have, and how it can be checked."""

    says: str
    example: str
    needs: str
    check: str


BY_FOLLOW_UPS = "Follow up some missing outcomes: the follow-ups test it."


@dataclass(frozen=True)
class Inquiry:
    """How `truant which` comes to an assumption: by answers to its own questions, or by one more question.

    Parameters
    ----------
    ways : answers in the order of the questions, such as "no,yes,no,yes".
    question : yes leads to the assumption; asked where no built-in assumption fits.
    explanation : of the question, for those who ask.
    """

    ways: tuple[str, ...] = ()
    question: str = ""
    explanation: str = ""


class Assumption(ABC):
    """A belief about why outcomes are missing, what follows from it, and the words for it.

    An assumption must have `check`, `curve` and `estimate`; all else has a default.
    """

    needs: str = ""  # one line, for listings
    meaning: str = ""  # in a few words, where columns of estimates are explained
    advice: Advice | None = None  # for those who choose an assumption
    inquiry: Inquiry = Inquiry()  # how `truant which` leads to it
    is_naive_without_mediator: bool = False  # its estimate is then the mean of the observed outcomes
    late_comparison: LateComparison | None = None  # what it says of outcomes that came after their window
    listing_order: float = math.inf  # place in listings, from mild to severe; last unless given
    # arrows that it forbids, such as ("Y", "O"), between A arm, M mediator, Y outcome, O outcome seen, Q mediator seen
    forbids: tuple[tuple[str, str], ...] = ()

    @property
    def needs_more_than_counts(self) -> bool:
        """Whether it is used only when asked for by name, since counts do not have all it needs."""
        return False

    def applies(self, counts: Counts) -> bool:
        """Whether it is used where nobody asked for it by name."""
        return not self.needs_more_than_counts

    @abstractmethod
    def check(self, setting: Setting) -> None:
        """Raise NotIdentified if the setting cannot meet the assumption."""

    @abstractmethod
    def curve(self, setting: Setting) -> Curve:
        """For choosing: how the loop estimates an arm (shrunk, so that thin cells do no harm)."""

    @abstractmethod
    def estimate(self, counts: Counts, arm: int, setting: Setting) -> Estimate:
        """For reporting: the arm's value without shrinkage; NotIdentified where the counts do not allow it."""

    def tests(self, counts: Counts, setting: Setting) -> Sequence[ChiSquare | NoTest]:
        """How these counts could contradict it, without an estimate; or why they cannot."""
        return (NoTest("it states no test of the data"),)

    def concerns(self, counts: Counts, arm: int, setting: Setting) -> Sequence[Concern]:
        """What to know of the arm's counts before relying on the estimate."""
        return ()

    def same_as(self, counts: Counts) -> SameAs | None:
        """The simpler assumption that it cannot be told apart from on these counts; None if there is none."""
        return None

    def weighted_cells(self, sums: FloatArray) -> FloatArray | None:
        """Which weighted sums of an arm (mediator levels + 1, any) make its mean; None: it has no weighted estimate.

        The mean of each cell counts with the weight of the cell's rows.
        """
        return None

    def efficient_variance(self, tables: ArmTables) -> float:
        """V: N pulls give the arm's mean with a variance of V/N at best; NotSatisfied where the tables differ."""
        raise NotIdentified(
            "{assumption} states no efficient variance; define `efficient_variance` in its class."
        )

    def read(self, counts: Counts, arm: int, setting: Setting) -> Reading:
        """The estimate with tests and concerns; to be overridden where these share what takes long."""
        estimate = self.estimate(counts, arm, setting)

        def concerns() -> list[Concern]:
            found = list(self.concerns(counts, arm, setting))
            return found if estimate.has_interval else [NO_INTERVAL, *found]

        return Reading(estimate, concerns=concerns)


def per_arm(setting: Setting, *values: Any) -> FloatArray:
    """The same parameters for every arm."""
    flat = np.concatenate([np.ravel(np.asarray(value, np.float64)) for value in values])
    return np.tile(flat, (setting.arms, 1))


SHORT_SIDE = 1 / 3
TAIL_SIDE = 1.0
UNSEEN_TAIL = 15.0  # over the degrees of freedom, what is added on the side of the tail
FARTHEST = 10.0  # z beyond which quantiles are a straight line: the probability is below 1e-23


class Moments(NamedTuple):
    """Of an estimate: mean, variance, third cumulant, and the degrees of freedom of the variance."""

    mean: float
    variance: float
    third: float
    freedom: float

    @property
    def skewness(self) -> float:
        """Of the estimate itself; with one cell, that of an outcome over sqrt(n)."""
        return self.third / self.variance**1.5 if self.variance > 0 else 0.0


def tilted(moments: Moments) -> Estimate:
    """The estimate of any real outcome."""
    mean, variance, third, freedom = (float(number) for number in moments)
    slope = third / variance if variance > 0 else 0.0
    error, tail = math.sqrt(variance), TAIL_SIDE + UNSEEN_TAIL / freedom

    def at(z: float) -> float:
        if z == 0:
            return mean
        shift = (tail if slope * z > 0 else SHORT_SIDE) * slope * z * z
        away = math.hypot(shift, student(z, freedom) * error)
        return mean + shift + math.copysign(away, z)

    return Estimate(mean, at)


def two_level(moments: Moments, low: float, high: float) -> Estimate:
    """The estimate of an outcome that is `low` or `high`, never beyond them."""
    mean, variance, third, _ = (float(number) for number in moments)
    slope = third / variance
    effective = (mean - low) * (high - mean) / variance

    def at(z: float) -> float:
        if z == 0:
            return mean
        shift, bend = slope * z * z / 2, 1 + z * z / effective
        away = math.sqrt(shift * shift + z * z * variance * bend)
        return min(max(mean + (shift + math.copysign(away, z)) / bend, low), high)

    return Estimate(mean, at)


def all_alike(mean: float, effective: float, low: float, high: float) -> Estimate:
    """Outcomes that were all the same, in a range where others may still come: Wilson's limits of their share.

    They are taken to be at the ends of the range; where the mean is an end, nothing can come beyond it.
    """

    def at(z: float) -> float:
        share = z * z / (effective + z * z)
        return mean + share * ((high if z > 0 else low) - mean) if z else mean

    return Estimate(mean, at)


def widened(estimate: Estimate, below: float, above: float) -> Estimate:
    """The estimate with so much added below and above, at any z but 0."""

    def at(z: float) -> float:
        return estimate.at(z) + (above if z > 0 else -below if z < 0 else 0.0)

    return Estimate(estimate.mean, at)


def without_interval(mean: float) -> Estimate:
    """A mean of which nobody can say how sure it is."""
    return Estimate(mean, lambda z: math.nan if z else mean)


def student(z: float, freedom: float) -> float:
    """The quantile of Student's t that z is of the normal distribution."""
    from scipy.special import ndtr, stdtrit

    away = min(abs(z), FARTHEST)
    quantile = -float(stdtrit(freedom, float(ndtr(-away))))
    return math.copysign(quantile * max(abs(z) / FARTHEST, 1.0), z)

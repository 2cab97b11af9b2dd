"""What every assumption offers: a check, a curve for choosing, an estimate for reporting, and what is known of it."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from truant.assumptions.arm_tables import ArmTables
from truant.assumptions.evidence import ChiSquare, Concern, NoTest, SameAs
from truant.compile import hot
from truant.compile.kinds import NOTHING, NUMBER, TABLE, VECTOR
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


class Assumption(ABC):
    """A belief about why outcomes are missing, and what follows from it.

    An assumption must have `check`, `curve` and `estimate`; all else has a default.
    """

    needs: str = ""  # one line, for listings
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

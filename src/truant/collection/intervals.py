"""Confidence sequences: intervals that hold whenever a policy that is not known stopped looking at an arm.

The normal mixture of Robbins: after N rows, the root z of an arm's true value exceeds sqrt(2 beta_N) at any time with
probability alpha at most, beta_N = (1 + 1/(N r)) log(sqrt(N r + 1)/alpha), and r = RATE/N_0 makes it tightest at N_0
rows. Nobody knows beforehand how many rows an arm will have, and an N_0 that is read off the data would void the
guarantee. So all powers of ten from 10 to 10^8 stand for N_0, with equal weights: a mixture of mixtures, which is again
a martingale. It costs 15 to 20% of width beside the best N_0, which nobody knows. The estimate is taken as normal, as
everywhere.

How the rows came about: a fixed split, or a policy that chose each arm by what it had seen.

Intervals for a fixed split are too narrow after a policy, and estimates of arms that it left are too low. What is known
of the policy decides what can be done: see `sequences` (nothing), `replay` (the policy itself), `weighted` (the
probability of each choice).
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Annotated, Literal

import numpy as np

from truant.assumptions import Estimate
from truant.counts import Counts
from truant.estimates.beliefs import Belief
from truant.setting import FloatArray, Setting

ORDERS = 10.0 ** np.arange(1, 9)  # N_0
_SURPRISE = math.log(1 / 0.05**2)
RATE = _SURPRISE + math.log(1 + _SURPRISE)  # N_0 r: tightest for 95%
FARTHEST = 1e6  # a root that no level needs


@functools.lru_cache(maxsize=100_000)
def sequence_root(z: float, rows: float) -> float:
    """The root that is exceeded at any number of rows no more often than z by one normal variable."""
    if z == 0 or rows <= 0:
        return 0.0
    # log 2 P(Z > |z|); far out from the series of Mills' ratio, where erfc is rounded to 0
    size = abs(z)
    log_alpha = math.log(math.erfc(size / math.sqrt(2))) if size < 30 else -size * size / 2 - math.log(size)
    spent: FloatArray = np.asarray(rows * RATE / ORDERS)
    low, high = 0.0, 2.0
    while _log_martingale(high, spent) < -log_alpha and high < FARTHEST:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _log_martingale(middle, spent) < -log_alpha:
            low = middle
        else:
            high = middle
    return math.copysign(high, z)


def in_sequence(estimate: Estimate, rows: float) -> Estimate:
    """The estimate with the limits of a confidence sequence; its mean stays."""
    if not math.isfinite(estimate.at(1.0)):  # an arm without an interval
        return estimate
    return Estimate(estimate.mean, lambda z: estimate.at(sequence_root(z, rows)) if z else estimate.mean)


def sequence_level(level: float, rows: float) -> float:
    """The level whose fixed-sample interval is as wide as the confidence sequence of `level`."""
    normal = NormalDist()
    return min(2 * normal.cdf(sequence_root(normal.inv_cdf((1 + level) / 2), rows)) - 1, 1 - 1e-15)


def _log_martingale(root: float, spent: FloatArray) -> float:
    """Log of the mixture over N_0 of (1 + N r)^(-1/2) exp(root^2 N r / (2 (1 + N r)))."""
    terms = root * root * spent / (2 * (1 + spent)) - np.log1p(spent) / 2
    top = float(terms.max())
    return top + math.log(float(np.mean(np.exp(terms - top))))


Kind = Literal["fixed", "adaptive", "replayed", "weighted"]
FIXED, SEQUENCE, REPLAYED, WEIGHTED = "fixed", "confidence-sequence", "replayed", "weighted"


@dataclass(frozen=True)
class IntervalMethod:
    """How the intervals of one assumption were made."""

    method: Annotated[str, Literal["fixed", "confidence-sequence", "replayed", "weighted"]]  # the method
    # coverage of the calibrated intervals in replays, where the true mean is known; None for other methods
    check: float | None = None
    reason: str | None = None  # why it is not the method that was asked for; None if it is


@dataclass(frozen=True)
class Collection:
    """How the rows came about, as stated, and what became of the intervals of each assumption."""

    # `fixed`: a fixed split; `adaptive`: some policy chose the arms; `replayed`: a known policy, which was replayed;
    # `weighted`: the probability of each choice is known
    kind: Kind
    policy: str | None = None  # the policy that chose the arms; None if it is not known or there was none
    horizon: int | None = None  # the number of rows that the policy was told; None if it was not replayed
    replays: int | None = None  # how often the policy was replayed; None if it was not
    # how the intervals were made under each assumption, under `naive` and for `bounds`
    intervals: dict[str, IntervalMethod] = field(default_factory=dict)

    @classmethod
    def fixed(cls, names: Sequence[str]) -> Collection:
        """As many rows of each arm as were planned, whatever they showed."""
        return cls("fixed", intervals={name: IntervalMethod(FIXED) for name in (*names, "naive", "bounds")})


class Collected(ABC):
    """Mends intervals of rows that a policy chose."""

    @abstractmethod
    def beliefs(self, found: Sequence[Belief], counts: Counts, setting: Setting) -> list[Belief]:
        """What the assumptions make of all arms, with intervals that allow for the policy."""

    @abstractmethod
    def naive(self, estimate: Estimate, counts: Counts, arm: int) -> Estimate:
        """The mean of an arm's observed outcomes, with such an interval."""

    @abstractmethod
    def collection(self) -> Collection:
        """What was done, once `beliefs` has been called."""

    def value_estimates(self, belief: Belief) -> tuple[Sequence[Estimate], str]:
        """What the value of a mix is made from, and by which method: the mended estimates, unless overridden."""
        return belief.estimates, self.collection().intervals[belief.name].method

    def limit_level(self, level: float, counts: Counts, arm: int) -> float:
        """The level at which worst-case bounds are taken: as wide as a confidence sequence."""
        return sequence_level(level, float(counts.pulls[arm]))


def sequence_belief(belief: Belief, counts: Counts) -> Belief:
    """What an assumption makes of all arms, with confidence sequences."""
    rows = counts.pulls
    estimates = tuple(in_sequence(one, float(rows[arm])) for arm, one in enumerate(belief.estimates))
    return replace(belief, estimates=estimates)


class ByUnknownPolicy(Collected):
    """Rows that some policy chose: confidence sequences, whatever it was."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def beliefs(self, found: Sequence[Belief], counts: Counts, setting: Setting) -> list[Belief]:
        """Confidence sequences for all."""
        self._names = [belief.name for belief in found]
        return [sequence_belief(belief, counts) for belief in found]

    def naive(self, estimate: Estimate, counts: Counts, arm: int) -> Estimate:
        """The same for the naive mean."""
        return in_sequence(estimate, float(counts.pulls[arm]))

    def collection(self) -> Collection:
        """One method for all."""
        names = (*self._names, "naive", "bounds")
        return Collection("adaptive", intervals={name: IntervalMethod(SEQUENCE) for name in names})

"""How the rows came about: a fixed split, or a policy that chose each arm by what it had seen.

Intervals for a fixed split are too narrow after a policy, and estimates of arms that it left are too low. What is known
of the policy decides what can be done: see `sequences` (nothing), `replay` (the policy itself), `weighted` (the
probability of each choice).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from truant.analysis.estimates import Belief
from truant.analysis.sequences import in_sequence, sequence_level
from truant.assumptions import Estimate
from truant.counts import Counts
from truant.setting import Setting

Kind = Literal["fixed", "adaptive", "replayed", "weighted"]
FIXED, SEQUENCE, REPLAYED, WEIGHTED = "fixed", "confidence-sequence", "replayed", "weighted"


@dataclass(frozen=True)
class IntervalMethod:
    """How the intervals of one assumption were made."""

    method: str  # fixed, confidence-sequence, replayed or weighted
    check: float | None = None  # of replays: coverage of calibrated intervals where the truth is known
    reason: str | None = None  # why it is not the method that was asked for


@dataclass(frozen=True)
class Collection:
    """How the rows came about, as stated, and what became of the intervals of each assumption."""

    kind: Kind
    policy: str | None = None
    horizon: int | None = None
    replays: int | None = None
    intervals: dict[str, IntervalMethod] = field(default_factory=dict)  # naive and bounds among them

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

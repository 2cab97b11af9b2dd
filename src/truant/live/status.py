"""What is known of an experiment now: the analysis of its settled decisions, and whether it runs well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from truant.analysis import Analysis
from truant.documents.lists import pending_text
from truant.documents.status import status_sentences, waiting_sentence
from truant.documents.verdict import verdict_sentence
from truant.envelope import document, plain
from truant.errors import counted, named
from truant.evidence.live_tests import LateTest, ShareTest
from truant.live.course import AllocationPoint
from truant.shown import Shown


@dataclass(frozen=True)
class ArmStatus:
    """An arm as it stands."""

    arm: str
    active: bool  # may be chosen
    share: float  # probability in the next decision
    asked: int
    pending: int
    settled: int
    observed: int
    missing: int
    withdrawn: int
    late: int  # outcomes that came after their window
    mean: float | None  # under the experiment's assumption
    low: float | None
    high: float | None
    probability_best: float | None


@dataclass(frozen=True)
class Stopping:
    """Whether the stop rule that was set is met."""

    rule: str
    met: bool
    sentence: str


@dataclass(frozen=True)
class Holdout:
    """The decisions of the fixed split, beside those that were learned from; means under the assumption."""

    decisions: int
    observed: int
    mean: float | None
    adaptive_mean: float | None


@dataclass(frozen=True, eq=False)
class Status(Shown):
    """What is known of an experiment at one moment; prints itself, and writes a page."""

    _views: ClassVar = {"document": "truant.documents.status:status_document"}

    experiment: str
    status: str
    at: str
    revision: int
    counts_version: int
    configuration: dict[str, Any]
    decisions: int
    pending: int
    pending_with_outcome: int  # of these: their outcome was told, and is counted when the window closes
    settled: int
    observed: int
    reasons: dict[str, int]  # why outcomes are missing, or that they were taken as absent
    late: int
    told_late: int  # of these: happened in their window, and were told after it was closed
    next_close: str | None  # when the next window is over
    learning: str  # when learning starts, in a sentence
    arms: tuple[ArmStatus, ...]
    follow_ups: dict[str, int]  # picked, answered, failed, without an answer yet
    holdout: Holdout | None
    share_tests: dict[str, ShareTest]
    late_tests: tuple[LateTest, ...]
    arrivals: tuple[int, ...]  # outcomes by part of the window in which they arrived
    last_arrivals: float | None  # share of them in the last tenth
    allocations: tuple[AllocationPoint, ...]
    stopping: Stopping | None
    analysis: Analysis = field(repr=False)

    @property
    def verdict(self) -> str:
        """Which arm is best, whether that is clear, and if not, why not; while nothing is counted, why that is."""
        return verdict_sentence(self.analysis) if self.settled else waiting_sentence(self)

    @property
    def sentences(self) -> list[str]:
        """The verdict, alarms and notes as sentences, the most important first."""
        return status_sentences(self)

    def summary(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        own = plain(self) | {
            "verdict": self.verdict,
            "sentences": self.sentences,
            "analysis": self.analysis.summary(),
        }
        return document("status", 1, own)

    def __repr__(self) -> str:
        decisions = counted(self.decisions, "decision")
        counts = f"{pending_text(self.pending, self.pending_with_outcome)}, {self.observed:,} observed"
        return f"<Status of {named(self.experiment)} ({self.status}): {decisions}, {counts}; {self.verdict}>"

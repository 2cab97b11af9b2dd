"""What is known of an experiment now: the analysis of its settled decisions, and whether it runs well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypedDict

from truant.analysis import Analysis
from truant.documents.lists import pending_text
from truant.documents.status import status_sentences, waiting_sentence
from truant.documents.verdict import verdict_sentence
from truant.envelope import Time, in_document, plain
from truant.errors import counted, named
from truant.evidence.live_tests import LateTest, ShareTest
from truant.live.course import AllocationPoint
from truant.live.store.statements import ExperimentStatus
from truant.shown import Shown


@dataclass(frozen=True)
class ArmStatus:
    """An arm as it stands."""

    arm: str  # name of the arm
    active: bool  # whether it can be chosen
    share: float  # its probability in the next decision
    asked: int  # decisions with this arm
    pending: int  # decisions whose window is open
    settled: int  # decisions that are counted
    observed: int  # settled decisions with an outcome
    missing: int  # settled decisions whose outcome is missing
    withdrawn: int  # decisions that were withdrawn
    late: int  # outcomes that came late
    mean: float | None  # mean under the assumption of the experiment; None if there is no estimate
    low: float | None  # lower end of its confidence interval; None if there is none
    high: float | None  # upper end of its confidence interval; None if there is none
    probability_best: float | None  # probability that the arm is the best; None if it is not known


@dataclass(frozen=True)
class Stopping:
    """Whether the stop rule that was set is met."""

    rule: str  # the rule in words
    met: bool  # whether it is met
    sentence: str  # the answer in a sentence


@dataclass(frozen=True)
class Holdout:
    """The decisions of the fixed split, beside those that were learned from; means under the assumption."""

    decisions: int  # settled decisions of the holdout
    observed: int  # those with an outcome
    # mean outcome of the holdout under the assumption of the experiment; None if there is no estimate
    mean: float | None
    adaptive_mean: float | None  # the same of all other decisions; None if there is no estimate


class FollowUpCounts(TypedDict):
    """Follow-ups of an experiment."""

    picked: int  # decisions that were picked
    answered: int  # follow-ups that obtained an outcome
    failed: int  # follow-ups that failed
    outstanding: int  # follow-ups without an answer yet
    rounds: int  # how often decisions were picked


@dataclass(frozen=True, eq=False)
class Status(Shown):
    """What is known of an experiment at one moment."""

    _views: ClassVar = {"document": "truant.documents.status:status_document"}

    schema: ClassVar = "truant/status/1"
    experiment: str  # name of the experiment
    status: ExperimentStatus  # whether it makes new decisions
    at: Time  # the moment
    revision: int  # number of the configuration
    counts_version: int  # how often the counts were updated
    # the settings of the experiment
    configuration: Annotated[dict[str, Any], "experiment-1.json#/properties/configuration"]
    decisions: int  # decisions that were made
    pending: int  # decisions whose window is open
    # pending decisions whose outcome was told; it is counted when their window closes
    pending_with_outcome: int
    settled: int  # decisions whose window is over and that are counted
    observed: int  # settled decisions with an outcome
    # why the other settled decisions have no outcome of their own, by reason (`expired`, `reported`, `withdrawn`,
    # `absent`): their number
    reasons: dict[str, int]
    late: int  # outcomes that were kept but not counted because they came late
    told_late: int  # late outcomes that happened in their window and were told after it was closed
    next_close: Time | None  # when the next window is over; None if none is open
    learning: str  # when learning starts, in a sentence
    arms: tuple[ArmStatus, ...]  # one entry for each arm
    follow_ups: Annotated[dict[str, int], FollowUpCounts]  # follow-ups of missing outcomes
    holdout: Holdout | None  # the decisions of the fixed split; None if there is no holdout
    # whether arms were chosen as often as their probabilities say, by the decisions that were tested
    share_tests: dict[str, ShareTest]
    # whether late outcomes are like those that came in time; empty if nothing can be compared
    late_tests: tuple[LateTest, ...]
    arrivals: tuple[int, ...]  # outcomes by the tenth of the window in which they arrived
    # share of the outcomes that arrived in the last tenth; None if there are too few outcomes
    last_arrivals: float | None
    allocations: tuple[AllocationPoint, ...]  # the shares of the arms over time; at most about 200 of them
    stopping: Stopping | None  # whether the stop rule is met; None if there is no rule
    # a sentence for each two clocks (of experiment, store and machine) that differ by more than five minutes
    clocks: tuple[str, ...]
    analysis: Analysis  # the analysis of the settled decisions, without the fields about a file

    @property
    @in_document
    def verdict(self) -> str:
        """Which arm is best, whether that is clear, and if not, why not; while nothing is counted, why that is."""
        return verdict_sentence(self.analysis) if self.settled else waiting_sentence(self)

    @property
    @in_document
    def sentences(self) -> list[str]:
        """The verdict, alarms and notes as sentences, the most important first."""
        return status_sentences(self)

    def summary(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return dict(plain(self))

    def __repr__(self) -> str:
        decisions = counted(self.decisions, "decision")
        counts = f"{pending_text(self.pending, self.pending_with_outcome)}, {self.observed:,} observed"
        return f"<Status of {named(self.experiment)} ({self.status}): {decisions}, {counts}; {self.verdict}>"

"""What is known of an experiment now: the analysis of its settled decisions, and whether it runs well."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from truant.analysis import Analysis
from truant.analysis.late_arrivals import LateTest
from truant.analysis.share_test import ShareTest
from truant.analysis.words import verdict_sentence
from truant.documents import document
from truant.live.course import AllocationPoint
from truant.live.status_words import status_sentences, waiting_sentence
from truant.live.times import in_minutes, moment
from truant.terminal.decisions import pending_words
from truant.text import counted, named


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
class Status:
    """What is known of an experiment at one moment; prints itself, and writes a page."""

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
        plain = {name: value for name, value in vars(self).items() if name != "analysis"}
        plain |= {
            "arms": [asdict(arm) for arm in self.arms],
            "holdout": None if self.holdout is None else asdict(self.holdout),
            "share_tests": {name: asdict(test) for name, test in self.share_tests.items()},
            "late_tests": [asdict(test) for test in self.late_tests],
            "arrivals": list(self.arrivals),
            "allocations": [asdict(point) for point in self.allocations],
            "stopping": None if self.stopping is None else asdict(self.stopping),
            "verdict": self.verdict,
            "sentences": self.sentences,
            "analysis": self.analysis.summary(),
        }
        return document("status", 1, _finite(plain))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write an HTML page with the state of the experiment and the analysis of its settled decisions."""
        from truant.live.status_page import running_of
        from truant.report.live import save_live_page

        about = [f"{self.status} at {in_minutes(moment('at', self.at))}: {shown_words(self)}"]
        return save_live_page(self.analysis, running_of(self), path, title=self.experiment, about=about)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.terminal.live import StatusDisplay

        yield StatusDisplay(self)

    def __repr__(self) -> str:
        decisions = counted(self.decisions, "decision")
        counts = f"{pending_words(self.pending, self.pending_with_outcome)}, {self.observed:,} observed"
        return f"<Status of {named(self.experiment)} ({self.status}): {decisions}, {counts}; {self.verdict}>"

    def __str__(self) -> str:
        console = Console(width=200, no_color=True)
        with console.capture() as captured:
            console.print(self)
        return captured.get()


def shown_words(status: Status) -> str:
    """How many decisions there are, in words."""
    return (
        f"{counted(status.decisions, 'decision')}, {status.settled:,} settled ({status.observed:,} with an outcome), "
        f"{pending_words(status.pending, status.pending_with_outcome)}"
    )


def _finite(value: Any) -> Any:
    """Plain values for JSON, without infinities and NaN."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

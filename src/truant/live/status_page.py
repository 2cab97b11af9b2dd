"""What the page of an experiment shows of how it runs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from truant.analysis.shares import UNKNOWN, chance, percent
from truant.analysis.words import Figures
from truant.report.document import Cell, Table
from truant.report.live import Running

if TYPE_CHECKING:
    from truant.live.status import Status

COLUMNS = ("arm", "share", "asked", "pending", "observed", "missing", "late", "mean", "P(best)")


def running_of(status: Status) -> Running:
    """The figures, sentences, arms and charts of a status; the verdict stands with the analysis."""
    facts = [
        ("decisions", f"{status.decisions:,}"),
        ("pending", f"{status.pending:,}"),
        *(
            [("pending, with an outcome", f"{status.pending_with_outcome:,}")]
            if status.pending_with_outcome
            else []
        ),
        ("observed", f"{status.observed:,}"),
        ("missing", f"{status.settled - status.observed:,}"),
        ("late outcomes", f"{status.late:,}"),
        ("window", str(status.configuration["window"])),
    ]
    return Running(
        facts=facts,
        waiting=None if status.settled else status.verdict,
        notes=[sentence for sentence in status.sentences if sentence != status.verdict],
        arms=_arms(status),
        allocations=[
            (datetime.fromisoformat(point.at), arm, share)
            for point in status.allocations
            for arm, share in point.probabilities.items()
        ],
        arrivals=status.arrivals,
    )


def _arms(status: Status) -> Table:
    figures = Figures.of(status.analysis)
    rows = []
    for arm in status.arms:
        mean = Cell(UNKNOWN)
        if arm.mean is not None and arm.low is not None and arm.high is not None:
            mean = Cell(figures.number(arm.mean), f"[{figures.number(arm.low)}, {figures.number(arm.high)}]")
        best = UNKNOWN if arm.probability_best is None else chance(arm.probability_best)
        counts = (arm.asked, arm.pending, arm.observed, arm.missing, arm.late)
        rows.append(
            [
                Cell(arm.arm if arm.active else f"{arm.arm} (retired)"),
                Cell(percent(arm.share)),
                *(Cell(f"{count:,}") for count in counts),
                mean,
                Cell(best),
            ]
        )
    assume, level = status.configuration["assume"], 100 * status.analysis.level
    caption = (
        f"Arms now; share: probability that a new decision gets the arm; mean: under {assume}, with {level:.4g}% "
        "interval; P(best): probability of being the best"
    )
    return Table(caption, list(COLUMNS), rows)

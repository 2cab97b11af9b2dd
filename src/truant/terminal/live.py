"""The status of a live experiment in the terminal: its arms, the verdict, what to know, and the analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from truant.analysis.words import UNKNOWN, Figures, percent
from truant.terminal.analysis import MOST_ARMS, TONES, below_verdict, bullets, legend, values_grid
from truant.terminal.decisions import in_seconds, pending_words
from truant.terminal.plain import plain
from truant.text import label

# on a narrow terminal these go first; --json has them all
_DROPPED_FIRST = ("late", "withdrawn", "settled", "asked", "interval", "pending", "P(best)")
_ONLY_IF_ANY = ("withdrawn", "late")


@dataclass(frozen=True)
class StatusDisplay:
    """A heading, the arms, the verdict, what to know; then the analysis under every assumption."""

    status: Any  # of live experiments, which this room does not know
    details: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        status, analysis = self.status, self.status.analysis
        figures = Figures.of(analysis)
        yield Text.assemble(
            plain(f"Experiment {status.experiment}", "bold"), "  ", plain(status.status, "dim")
        )
        yield plain(_facts(status), "dim")
        yield plain("")
        yield _fitting(status.arms, figures, console, options)
        if (left_out := len(status.arms) - MOST_ARMS) > 0:
            more = "1 more arm is" if left_out == 1 else f"{left_out:,} more arms are"
            yield plain(f"{more} not shown; --json has all of them.", "dim")
        yield plain(
            f"share: probability that a new decision gets the arm; mean: under {status.configuration['assume']}, with "
            f"{100 * analysis.level:.4g}% interval; P(best): probability of being the best.",
            "dim",
        )
        yield plain("")
        yield from _words(status)
        if self.details and status.observed:
            yield plain("")
            yield plain(
                f"Settled decisions (window closed) under every assumption; {100 * analysis.level:.4g}% intervals",
                "bold",
            )
            yield values_grid(analysis, figures)
            yield plain(legend(analysis), "dim")
            yield from below_verdict(analysis, figures)


def _facts(status: Any) -> str:
    configuration = status.configuration
    decisions = "1 decision" if status.decisions == 1 else f"{status.decisions:,} decisions"
    facts = f"{decisions}: {pending_words(status.pending, status.pending_with_outcome)}, {status.observed:,} observed, "
    facts += f"{status.settled - status.observed:,} missing; {configuration['policy']}"
    facts += f", window {configuration['window']}"
    return (
        facts if status.next_close is None else f"{facts}; the next closes at {in_seconds(status.next_close)}"
    )


def _words(status: Any) -> Iterator[RenderableType]:
    first, *others = status.sentences
    yield plain(first, TONES[status.analysis.verdict.kind] if status.settled else "")
    yield from bullets("Notes", others)


def _fitting(arms: Sequence[Any], figures: Figures, console: Console, options: ConsoleOptions) -> Table:
    """The arms with as many columns as there is room for."""
    unneeded = [name for name in _ONLY_IF_ANY if not any(getattr(arm, name) for arm in arms)]
    unlimited = options.update(max_width=10_000)
    for dropped in range(len(_DROPPED_FIRST) + 1):
        drawn = _arms(arms[:MOST_ARMS], figures, {*_DROPPED_FIRST[:dropped], *unneeded})
        if Measurement.get(console, unlimited, drawn).maximum <= options.max_width:
            break
    return drawn


def _arms(arms: Sequence[Any], figures: Figures, dropped: set[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    rows = [
        {name: cell for name, cell in _cells(arm, figures).items() if name not in dropped} for arm in arms
    ]
    for head in rows[0]:
        table.add_column(head, justify="left" if head == "arm" else "right", no_wrap=True)
    for arm, row in zip(arms, rows, strict=True):
        table.add_row(*map(Text, row.values()), style="" if arm.active else "dim")
    return table


def _cells(arm: Any, figures: Figures) -> dict[str, str]:
    return {
        "arm": label(arm.arm) + ("" if arm.active else " (retired)"),
        "share": percent(arm.share),
        **{
            name: f"{getattr(arm, name):,}"
            for name in ("asked", "pending", "settled", "observed", "missing", "withdrawn", "late")
        },
        "mean": figures.number(arm.mean),
        "interval": UNKNOWN
        if arm.mean is None
        else f"[{figures.number(arm.low)}, {figures.number(arm.high)}]",
        "P(best)": percent(arm.probability_best),
    }


@dataclass(frozen=True)
class WatchDisplay:
    """The status of an experiment without its analysis, and what happened last."""

    status: Any
    events: Sequence[Mapping[str, Any]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield StatusDisplay(self.status, details=False)
        yield plain("")
        yield plain("Last events", "bold")
        for event in self.events:
            who = f" by {event['actor']}" if event["actor"] else ""
            why = f": {event['why']}" if event["why"] else ""
            yield plain(f"{in_seconds(event['at'])}  {event['kind']}{who}{why}", "dim")

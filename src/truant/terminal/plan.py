"""A plan of follow-ups in the terminal: the sentence, the probabilities, how many from where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from truant.analysis.follow_up_plan import FollowUpPlan
from truant.analysis.plan_words import chance, plan_notes, plan_sentence, scenario_sentences
from truant.terminal.analysis import bullets
from truant.terminal.plain import plain
from truant.text import label

MOST_CELLS = 24  # arms and levels in the table; files have them all


@dataclass(frozen=True)
class PlanDisplay:
    """A heading, the table of arms and levels, the sentence, the scenarios, and what to know before calling."""

    plan: FollowUpPlan
    title: str = "Follow-ups"
    about: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain(self.title, "bold")
        for line in self.about:
            yield plain(line, "dim")
        yield plain("")
        yield _cells(self.plan)
        if (left_out := len(self.plan.cells) - MOST_CELLS) > 0:
            yield plain(f"{left_out:,} more rows are not shown; --html and --json have all of them.", "dim")
        yield plain("")
        tone = {"settled": "bold green", "not-reached": "bold yellow"}.get(self.plan.kind, "bold")
        yield plain(plan_sentence(self.plan), tone)
        if self.plan.kind != "settled":
            words = scenario_sentences(self.plan)
            yield from bullets(
                "Probability that the best arm becomes the clear winner",
                [f"{chance(value)} if {words[name]}" for name, value in self.plan.point.chances.items()],
            )
        yield from bullets("Before you call", plan_notes(self.plan))


def _cells(plan: FollowUpPlan) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    mediated = len(plan.labels.mediators) > 1
    before = plan.followed_up > 0
    heads = [
        "arm",
        *(["mediator"] if mediated else []),
        "rows",
        "missing",
        *(["followed up"] if before else []),
    ]
    for head in (*heads, "follow up"):
        table.add_column(head, justify="left" if head in ("arm", "mediator") else "right", no_wrap=True)
    for cell in plan.cells[:MOST_CELLS]:
        figures = [cell.rows, cell.missing, *([cell.followed_up] if before else [])]
        names = [cell.arm, *([cell.mediator] if mediated else [])]
        table.add_row(
            *(Text(label(name)) for name in names),
            *(Text(f"{figure:,}") for figure in figures),
            Text(f"{cell.follow_ups:,}", "bold"),
        )
    return table

"""An analysis in the terminal: arms as rows, assumptions as columns, then its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from truant.analysis import Analysis
from truant.analysis.analysis import Arm
from truant.analysis.verdict import Kind
from truant.analysis.words import (
    UNKNOWN,
    Figures,
    answer_sentences,
    by_code,
    follow_up_text,
    follow_ups_fact,
    leading_arms,
    lift_text,
    listed,
    meanings_sentence,
    missing_share,
    p_value,
    percent,
    settling_sentences,
    tipping_sentence,
    verdict_sentence,
)
from truant.terminal.grid import STAR, Grid, Value
from truant.terminal.plain import plain
from truant.text import label, named

SHOWN = 2  # warnings of one kind; the others are counted
SHOWN_ARMS = 8  # names of arms in a warning that stands for several
MOST_ARMS = 12  # in a table; files have them all
# green means clear, and nothing else
TONES: dict[Kind, str] = {
    "clear": "bold green",
    "equal": "bold",
    "unsettled": "bold",
    "depends": "bold yellow",
    "no-mediator": "bold yellow",
    "not-identified": "bold yellow",
    "one-arm": "bold",
}


@dataclass(frozen=True)
class AnalysisDisplay:
    """A heading, the table, the verdict, warnings, what would change the winner, and what could not be used."""

    analysis: Analysis
    title: str = "Analysis"
    about: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        figures = Figures.of(self.analysis)
        yield plain(self.title, "bold")
        for line in (*self.about, _facts(self.analysis)):
            yield plain(line, "dim")
        yield plain("")
        yield values_grid(self.analysis, figures)
        if (left_out := len(self.analysis.arms) - MOST_ARMS) > 0:
            yield plain(_left_out(left_out), "dim")
        yield plain(legend(self.analysis), "dim")
        yield plain("")
        yield from _below(self.analysis, figures)


def _facts(analysis: Analysis) -> str:
    pulls = sum(arm.pulls for arm in analysis.arms)
    arms = "1 arm" if len(analysis.arms) == 1 else f"{len(analysis.arms):,} arms"
    rows = "1 row" if pulls == 1 else f"{pulls:,} rows"
    missing = percent(missing_share(analysis))
    asked = f"; {follow_ups_fact(analysis)}" if analysis.has_follow_ups else ""
    return f"{rows}, {arms}, {missing} of the outcomes missing{asked}; {100 * analysis.level:.4g}% intervals"


def _left_out(arms: int) -> str:
    more = "1 more arm is" if arms == 1 else f"{arms:,} more arms are"
    return f"{more} not shown; --out, --html and --json have all of them."


def values_grid(analysis: Analysis, figures: Figures) -> Grid:
    """The leading arms under every assumption, best first, the winner of each marked."""
    rows = []
    for arm in leading_arms(analysis, MOST_ARMS):
        values = {}
        for name, value in (("naive", arm.naive), *arm.estimates.items()):
            best = len(analysis.arms) > 1 and analysis.winner.get(name) == arm.arm
            clear = analysis.verdict.kind == "clear" and arm.arm == analysis.verdict.arm
            tone = "green" if clear else "default"
            values[name] = (
                Value(figures.number(value.mean), figures.limits(value), best, tone)
                if value
                else Value(UNKNOWN)
            )
        if arm.bounds:
            low, high = figures.number(arm.bounds.low), figures.number(arm.bounds.high)
            values["worst case"] = Value(f"{low} to {high}")
        followed_up = [follow_up_text(arm)] if analysis.has_follow_ups else []
        rows.append(([arm.arm, f"{arm.pulls:,}", percent(arm.missing_share), *followed_up], values))
    return Grid(["arm", "rows", "missing", *(["followed up"] if analysis.has_follow_ups else [])], rows)


def legend(analysis: Analysis) -> str:
    """What the columns and the star of the table mean."""
    star = f"{STAR} best of its column; " if len(analysis.arms) > 1 else ""
    worst = "; worst case: all missing outcomes as low or as high as possible"
    bounded = any(arm.bounds for arm in analysis.arms)
    return f"{star}{meanings_sentence(analysis)}{worst if bounded else ''}."


def _below(analysis: Analysis, figures: Figures) -> Iterator[RenderableType]:
    yield plain(verdict_sentence(analysis), TONES[analysis.verdict.kind])
    yield from below_verdict(analysis, figures)


def below_verdict(analysis: Analysis, figures: Figures) -> Iterator[RenderableType]:
    """What each assumption says, what would settle it, differences, warnings, and what would change the winner."""
    for answer in answer_sentences(analysis, figures):
        yield plain(f"  {answer}")
    yield from bullets("What would settle it", settling_sentences(analysis))
    if analysis.control is not None and len(analysis.arms) > 1 and analysis.assumptions:
        yield plain("")
        yield plain(f"Difference to {named(analysis.control)}", "bold")
        yield plain(
            f"simultaneous intervals and p-values (Dunnett); {STAR} interval excludes zero; "
            "lift: difference as a share of the control's mean",
            "dim",
        )
        yield _changes(analysis, figures)
    yield from bullets("Warnings", _warnings(analysis), "yellow")
    tips = [f"{tip.assumption}: {tipping_sentence(tip, figures)}" for tip in analysis.sensitivity]
    yield from bullets("Would the winner change? (sd: standard deviations of an outcome)", tips)
    unused = [f"{item.assumption}: {item.reason_alone}" for item in analysis.infeasible]
    yield from bullets("Assumptions that could not be used", unused, "dim")


def _changes(analysis: Analysis, figures: Figures) -> Table:
    """The leading arms' differences to the control, absolute and relative, with p-values."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", collapse_padding=True
    )
    for head in ("arm", "assumption", "difference", "lift", "p"):
        table.add_column(head, justify="left" if head in ("arm", "assumption") else "right", overflow="fold")
    for arm in leading_arms(analysis, MOST_ARMS):
        cells = list(_change_rows(arm, figures))
        for number, row in enumerate(cells):
            first = label(arm.arm) if number == 0 else ""
            table.add_row(Text(first), *row, end_section=number == len(cells) - 1)
    return table


def _change_rows(arm: Arm, figures: Figures) -> Iterator[list[Text]]:
    for name, estimate in arm.estimates.items():
        if change := estimate.difference:
            excluded = change.low > 0 or change.high < 0
            shown = f"{figures.with_limits(change, sign=True)} {STAR if excluded else ' '}"
            yield [
                Text(label(name), "dim"),
                Text(shown, "bold" if excluded else ""),
                Text(lift_text(change.lift)),
                Text(p_value(change.p_value)),
            ]


def _warnings(analysis: Analysis) -> list[str]:
    lines = []
    for code, several in by_code(analysis.warnings).items():
        lines += [f"{warning.message} [{code}]" for warning in several[:SHOWN]]
        if len(several) > SHOWN:
            arms = list(dict.fromkeys(warning.arm for warning in several[SHOWN:] if warning.arm))
            where = f", in {listed(map(named, arms[:SHOWN_ARMS]))}" if arms else ""
            where += f" and {len(arms) - SHOWN_ARMS} more arms" if len(arms) > SHOWN_ARMS else ""
            lines.append(f"{len(several) - SHOWN} more like this{where} [{code}]")
    return lines


def bullets(heading: str, lines: Sequence[str], style: str = "") -> Iterator[RenderableType]:
    """A heading and its lines, wrapped with a hanging indent; nothing if there are none."""
    if not lines:
        return
    yield plain("")
    yield plain(heading, "bold")
    for line in lines:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row(plain("•", style), plain(line, style))
        yield Padding(grid, (0, 0, 0, 1), expand=False)

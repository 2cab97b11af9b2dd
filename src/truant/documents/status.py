"""The document of a live experiment: its verdict, what to know, its arms, and the analysis of what is settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from truant.documents.analysis import analysis_blocks, methods_section, verdict_block
from truant.documents.analysis_words import better_of, collection_sentences
from truant.documents.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    ChartValue,
    Column,
    Document,
    Facts,
    Finding,
    On,
    Panels,
    Section,
    Sentence,
    Table,
    figures_table,
)
from truant.documents.lists import in_seconds, pending_text
from truant.documents.words import (
    MOST_ARMS,
    UNKNOWN,
    Figures,
    chance,
    in_minutes,
    in_words,
    left_out_sentence,
    level_text,
    p_value,
    percent,
)
from truant.durations import duration_text
from truant.errors import counted

if TYPE_CHECKING:
    import altair as alt

Status = Any  # of live experiments, which this room does not know
ON_ARRIVAL = "on_arrival"  # outcomes are counted when they are told
ALARMING = ("drift", "never-told")  # warnings of the analysis that are about how the experiment runs
UNLIKELY = 0.01  # p-value from which a test is worth a sentence
TOO_MANY_LATE = 0.04  # share of outcomes in the last tenth of the window, from which it looks too short


def status_document(status: Status, details: bool = True) -> Document:
    """The state of an experiment; `details`: with the analysis of its settled decisions."""
    analysis, notes = status.analysis, status.sentences[1:]
    verdict = Finding("waiting", "Nothing is counted yet", status.verdict, "", on=On.HTML)
    if status.settled:
        verdict = verdict_block(analysis)
    arms, charts = arms_table(status), [*allocation_charts(status), *arrival_charts(status)]
    blocks: list[Block] = [
        verdict,
        replace(arms, on=On.TERMINAL | On.NOTEBOOK),
        replace(verdict, title="", blocks=(), on=On.TERMINAL),
        Bullets("Notes", notes, on=On.TERMINAL | On.NOTEBOOK),
        Section(
            "State of the experiment",
            [Facts(_facts(status)), Bullets("", notes), arms, Panels(charts)],
            on=On.PAGE,
        ),
    ]
    lines = [_running_sentence(status)]
    if status.settled:
        lines += collection_sentences(analysis.collection)
        own = analysis_blocks(analysis, None)
        heading = f"Settled decisions (window closed) under every assumption; {level_text(analysis.level)} intervals"
        blocks += [replace(block, on=block.on & On.PAGE) for block in own]
        if details and status.observed:
            inner = [replace(block, on=block.on & On.TERMINAL) for block in own]
            blocks.append(Section(heading, inner, on=On.TERMINAL))
        blocks.append(methods_section(analysis, lines))
    state = f"{status.status} at {in_minutes(status.at)}"
    better = better_of(analysis) if status.settled else None
    return Document(f"Experiment {status.experiment}", lines, blocks, state, better)


def watch_document(status: Status, events: Sequence[Mapping[str, Any]]) -> Document:
    """The state of an experiment without its analysis, and what happened last."""
    lines = []
    for event in events:
        who = f" by {event['actor']}" if event["actor"] else ""
        why = f": {event['why']}" if event["why"] else ""
        lines.append(Sentence(f"{in_seconds(event['at'])}  {event['kind']}{who}{why}", "faint"))
    state = status_document(status, details=False)
    return replace(state, blocks=[*state.blocks, Section("Last events", lines)])


def _running_sentence(status: Status) -> str:
    """Decisions and how the experiment runs, in one line."""
    configuration = status.configuration
    pending = pending_text(status.pending, status.pending_with_outcome)
    text = f"{counted(status.decisions, 'decision')}: {pending}, {status.observed:,} observed, "
    text += f"{status.settled - status.observed:,} missing; {configuration['policy']}"
    text += f", window {configuration['window']}"
    return (
        text if status.next_close is None else f"{text}; the next closes at {in_seconds(status.next_close)}"
    )


def _facts(status: Status) -> list[tuple[str, str]]:
    known = status.pending_with_outcome
    return [
        ("decisions", f"{status.decisions:,}"),
        ("pending", f"{status.pending:,}"),
        *([("pending, with an outcome", f"{known:,}")] if known else []),
        ("observed", f"{status.observed:,}"),
        ("missing", f"{status.settled - status.observed:,}"),
        ("late outcomes", f"{status.late:,}"),
        ("window", str(status.configuration["window"])),
    ]


ARM_COLUMNS = {"asked": 4, "pending": 6, "settled": 3, "observed": 0, "missing": 0, "withdrawn": 2, "late": 1}
"""Counts of an arm, with their turn to leave a narrow terminal, where --json has them."""


def arms_table(status: Status) -> Table:
    """Shares, counts and estimate of each arm."""
    figures = Figures.of(status.analysis)
    unneeded = [name for name in ("withdrawn", "late") if not any(getattr(arm, name) for arm in status.arms)]
    counts = {name: turn for name, turn in ARM_COLUMNS.items() if name not in unneeded}
    rows = []
    for arm in status.arms:
        mean = Cell(UNKNOWN)
        if arm.mean is not None and arm.low is not None and arm.high is not None:
            mean = Cell(figures.number(arm.mean), f"[{figures.number(arm.low)}, {figures.number(arm.high)}]")
        best = UNKNOWN if arm.probability_best is None else chance(arm.probability_best)
        cells = [Cell(arm.arm if arm.active else f"{arm.arm} (retired)"), Cell(percent(arm.share))]
        cells += [Cell(f"{getattr(arm, name):,}") for name in counts]
        rows.append([*cells, mean, Cell(best)])
    columns = [Column("arm", words=True), Column("share")]
    columns += [Column(name, leaves=turn) for name, turn in counts.items()]
    columns += [Column("mean", brief=5), Column("P(best)", leaves=7)]
    assume, level = status.configuration["assume"], level_text(status.analysis.level)
    legend = (
        f"share: probability that a new decision gets the arm; mean: under {assume}, with {level} interval; "
        "P(best): probability of being the best"
    )
    return Table(
        f"Arms now; {legend}",
        columns,
        rows,
        legend=f"{legend}.",
        shown=range(min(len(rows), MOST_ARMS)),
        left_out=left_out_sentence(len(rows), MOST_ARMS, "--json has all of them"),
        tones={number: "faint" for number, arm in enumerate(status.arms) if not arm.active},
    )


def allocation_charts(status: Status) -> list[Chart]:
    """The probability of each arm over time; none before the first change."""
    points = status.allocations
    if len({point.at for point in points}) < 2:
        return []
    shares = [(point.at, arm, share) for point in points for arm, share in point.probabilities.items()]

    def draw() -> alt.TopLevelMixin:
        import pyarrow as pa

        from truant.charts.over_time import course_chart

        rows = [
            {"arm": arm, "when": datetime.fromisoformat(at).timestamp(), "share": share}
            for at, arm, share in shares
        ]
        return course_chart(pa.Table.from_pylist(rows), label="probability", steps=True, width="container")

    figures = [
        ChartValue(f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M}", arm, f"{share:.1%}")
        for at, arm, share in shares
    ]
    heading = "Probability of each arm in a new decision"
    return [
        Chart(
            "allocations",
            draw,
            "Line chart of the probability of each arm over time.",
            heading,
            "Shares change when windows close, and not before the first one does.",
            "panel",
            partial(figures_table, heading, "from", figures),
        )
    ]


def arrival_charts(status: Status) -> list[Chart]:
    """When outcomes arrive in their window; none before the first one."""
    arrivals, total = status.arrivals, sum(status.arrivals)
    if not total:
        return []
    last = sum(arrivals[-max(len(arrivals) // 10, 1) :]) / total

    def draw() -> alt.TopLevelMixin:
        from truant.charts.over_time import arrivals_chart

        return arrivals_chart(arrivals, width="container")

    return [
        Chart(
            "arrivals",
            draw,
            f"Bar chart of when outcomes arrive in their window; {last:.1%} come in its last tenth.",
            "When outcomes arrive",
            f"{last:.1%} of the outcomes arrive in the last tenth of the window. A large share means that more "
            "outcomes may come too late.",
            "panel",
            partial(arrivals_table, arrivals),
        )
    ]


def arrivals_table(arrivals: Sequence[int]) -> Table:
    """Outcomes by the part of the window in which they arrived."""
    figures = []
    for number, count in enumerate(arrivals):
        part = f"{number / len(arrivals):.0%} to {(number + 1) / len(arrivals):.0%}"
        figures.append(ChartValue(part, "outcomes", f"{count:,}"))
        figures.append(ChartValue(part, "share", f"{count / sum(arrivals):.1%}"))
    caption = "Outcomes by the part of the window in which they arrived"
    return figures_table(caption, "part of the window", figures)


def status_sentences(status: Status) -> list[str]:
    """The verdict, what is wrong, and what is pending."""
    return [
        status.verdict,
        *([] if status.settled or not _says_more(status) else [status.learning]),
        *([status.stopping.sentence] if status.stopping else []),
        *_alarms(status),
        *_notes(status),
    ]


def waiting_sentence(status: Status) -> str:
    """What is waited for while no decision is settled."""
    if not status.decisions:
        return "No decision has been made yet."
    if status.configuration["settle"] == ON_ARRIVAL or status.next_close is None:
        return "No outcome has been told yet."
    first = in_words(status.next_close)
    return f"No window has closed yet; the first closes on {first}. Until then nothing is counted."


def _says_more(status: Status) -> bool:
    """Whether the sentence on learning says more than when the first window closes."""
    configuration = status.configuration
    return (
        not status.decisions
        or configuration["settle"] == ON_ARRIVAL
        or configuration["warm_up"] != duration_text(0)
    )


def _alarms(status: Status) -> list[str]:
    found = [*status.clocks, *(one.message for one in status.analysis.warnings if one.code in ALARMING)]
    asked = status.share_tests.get("asked")
    if asked is not None and asked.p_value_any_time < UNLIKELY:
        found.append(asked.sentence)
    withdrawn = status.share_tests.get("withdrawn")
    if withdrawn is not None and withdrawn.p_value_any_time < UNLIKELY:
        found.append(
            f"Withdrawals depend on the arm (p = {p_value(withdrawn.p_value_any_time)}): the arms differ in which "
            "decisions remain, so that comparisons may be biased."
        )
    found += [test.sentence for test in status.late_tests if test.p_value < UNLIKELY]
    if status.last_arrivals is not None and status.last_arrivals >= TOO_MANY_LATE:
        found.append(
            f"{percent(status.last_arrivals)} of the outcomes arrive in the last tenth of the window, so that more may "
            "come after it: the window may be too short."
        )
    return found


def _notes(status: Status) -> list[str]:
    found = []
    if status.late:
        found.append(
            f"{status.late:,} outcomes were told after their window; they are stored but not counted."
        )
        found += [_quiet(test.p_value) for test in status.late_tests if test.p_value >= UNLIKELY]
    if status.told_late:
        found.append(
            f"{status.told_late:,} of them happened in their window but were told after it closed: set grace to "
            "the time that a report may take."
        )
    if status.configuration["settle"] == ON_ARRIVAL and status.pending:
        found.append(
            "Outcomes are counted as they arrive: while decisions are pending, estimates are biased if fast outcomes "
            "differ from slow ones."
        )
    outstanding = status.follow_ups.get("outstanding", 0)
    if outstanding:
        found.append(
            f"{outstanding:,} of {status.follow_ups['picked']:,} decisions that were picked for follow-up have no "
            "answer yet; tell outcome=None with followed_up for those that failed: the answered ones alone are "
            "not a random sample."
        )
    if status.follow_ups.get("rounds", 0) > 1:
        found.append(
            f"Follow-ups were picked in {status.follow_ups['rounds']:,} rounds; the estimate assumes that the missing "
            "outcomes of an arm and mediator level are alike in all rounds."
        )
    holdout = status.holdout
    if holdout is not None and holdout.mean is not None and holdout.adaptive_mean is not None:
        assume, decisions = status.configuration["assume"], counted(holdout.decisions, "decision")
        found.append(
            f"Holdout ({decisions}): mean {holdout.mean:.4g} under {assume}, compared with "
            f"{holdout.adaptive_mean:.4g} where the policy chooses the arms."
        )
    return found


def _quiet(p: float) -> str:
    return (
        f"Late outcomes do not differ from those in time by more than chance (p = {p_value(p)}), which does not prove "
        "the assumption."
    )

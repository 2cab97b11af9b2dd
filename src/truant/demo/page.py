"""The one page of the demo: its three parts with their charts and tables, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from truant.demo.charts import means_chart, regret_lines, shares_chart
from truant.demo.learning import DROPS, LEARNS, LearningResult
from truant.demo.live import LiveResult
from truant.demo.mails import HIGH
from truant.demo.means import Means, dropped_means, estimated_means
from truant.demo.table import CALLS, TableResult
from truant.demo.tables import arms_table, means_table, sent_table
from truant.demo.words import (
    calls_sentence,
    harmless_sentence,
    headline,
    learning_sentences,
    live_sentences,
    named_by,
)
from truant.report.document import PageChart, rendered, spec_of

TITLE = "What to do with missing outcomes: a demo of truant"
TOP = 42.0  # end of the axis of spending


@dataclass(frozen=True)
class Way:
    """A way to treat missing outcomes: its chart, the mail that it names, and whether that is the best one."""

    chart: PageChart
    named: str | None
    tone: str  # good, bad, or mixed where no mail is named


def demo_page(
    table: TableResult,
    learning: LearningResult,
    live: LiveResult,
    commands: Sequence[tuple[str, str]],
    about: str,
) -> str:
    """The whole page, which loads nothing from elsewhere."""
    ways, calls = [_dropping(table), _zeros(table), _truant(table)], [_without(table), _followed(table)]
    lost, running = _lost(learning), _running(live, table)
    return rendered(
        "demo.html",
        [*(way.chart for way in (*ways, *calls)), lost, *running],
        title=TITLE,
        about=[about],
        headline=headline(table),
        facts=_facts(table),
        ways=ways,
        calls=calls,
        harmless=harmless_sentence(table),
        promised=calls_sentence(table),
        means=means_table(table),
        lost=lost,
        learning=learning_sentences(learning),
        sent=sent_table(learning),
        running=running,
        live=live_sentences(live),
        arms=arms_table(live, table.true_means),
        commands=commands,
    )


def _facts(result: TableResult) -> list[tuple[str, str]]:
    customers = result.customers
    return [
        ("customers", f"{len(customers.mail):,}"),
        ("outcomes missing", f"{1 - customers.known.mean():.0%}"),
    ] + [(f"true mean of {mail}", f"{mean:.1f}") for mail, mean in result.true_means.items()]


def _dropping(result: TableResult) -> Way:
    said = "Means of the rows with an outcome, with 95% intervals. Nothing in them shows that one is far too high."
    return _way("dropped", "Rows dropped", dropped_means(result), result, said)


def _zeros(result: TableResult) -> Way:
    shown = Means(result.with_zeros, {}, result.zeros_name)
    said = "Means with 0 for each missing outcome: the lower, the more outcomes of a mail are missing."
    return _way("zeros", "Missing outcomes set to 0", shown, result, said)


def _truant(result: TableResult) -> Way:
    said = (
        "Estimates under mar with 95% intervals: among customers of one mail who all opened it, or all did not, "
        "outcomes are missing by chance. The data cannot test this."
    )
    return _way(
        "mar", "truant, with the column 'opened'", estimated_means(result.by_mediator, "mar"), result, said
    )


def _without(result: TableResult) -> Way:
    known = [(arm.arm, arm.bounds) for arm in result.no_mediator.arms if arm.bounds is not None]
    shown = Means({}, {arm: (bounds.low, bounds.high) for arm, bounds in known}, named_by(result.no_mediator))
    said = (
        f"From the mean if all missing outcomes were 0 to the mean if all were {HIGH:.0f}: without a mediator, "
        "the table alone does not tell more."
    )
    return _way("without", "truant, without the column 'opened'", shown, result, said, HIGH)


def _followed(result: TableResult) -> Way:
    said = f"Estimates after {CALLS} follow-ups with 95% intervals: they hold whatever the reason for missingness."
    shown = estimated_means(result.followed, "follow-up")
    return _way("followed", f"truant, after {CALLS} follow-ups", shown, result, said, HIGH)


def _way(name: str, heading: str, shown: Means, result: TableResult, sentence: str, top: float = TOP) -> Way:
    tone = "mixed" if shown.named is None else "good" if shown.named == result.best else "bad"
    chart = means_chart(shown, result.true_means, top=top)
    figures = ", ".join(f"{mail} {mean:.1f}" for mail, mean in shown.means.items())
    alternative = f"{heading}: {figures or 'only bounds'}; beside the true means."
    return Way(PageChart(name, spec_of(chart), alternative, heading, sentence), shown.named, tone)


def _lost(result: LearningResult) -> PageChart:
    lost = {policy: f"{result.lost(policy):,.0f}" for policy in (DROPS, LEARNS)}
    alternative = f"Line chart of spending lost: {DROPS} {lost[DROPS]}, {LEARNS} {lost[LEARNS]}."
    return PageChart("lost", spec_of(regret_lines(result, height=280)), alternative)


def _running(result: LiveResult, table: TableResult) -> list[PageChart]:
    from truant.charts.live import arrivals_chart

    status = result.status
    return [
        PageChart(
            "shares",
            spec_of(shares_chart(status, best=table.best, wrong=table.dropping_names)),
            "Stacked areas of the probability of each mail over four weeks.",
            "Probability of each mail for a new customer",
            "Shares stay equal until the first windows close after 7 days. Then the policy sends the mail that has the "
            "highest mean or may still have it.",
        ),
        PageChart(
            "arrivals",
            spec_of(arrivals_chart(status.arrivals, width="container", height=220)),
            "Bar chart of when outcomes arrive in their window.",
            "When outcomes arrive",
            f"{status.late:,} outcomes came after their window. They are kept, and are not counted.",
        ),
    ]

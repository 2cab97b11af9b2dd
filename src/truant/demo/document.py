"""The document of the demo: its three parts with charts, tables and sentences, and what to try next."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import altair as alt

from truant.charts.columns import chart_data
from truant.charts.regret import NAIVE, RegretPanel, panel_chart, regret_range
from truant.charts.style import INK, NEUTRAL, RULE, Look, Width, darker, framed, styled_axis, styled_letters
from truant.demo.parts import CALLS, DROPS, LEARNS, Played, TableResult, Way, named_by
from truant.documents import blocks
from truant.documents.blocks import Block, Cell, Column, Section, Sentence
from truant.documents.status import allocation_charts, arms_table, arrival_charts
from truant.documents.words import chance, percent

if TYPE_CHECKING:
    from truant.demo.run import Demo
    from truant.live.status import Status

WRONG, RIGHT = "#D55E00", "#0072B2"  # as in other charts: naive policies, mar
LITTLE_LATE, LIKE_A_LINE = 0.1, 0.45  # shares of the loss in the second half
# tables with seeds 1 to 100: python examples/demo.py 100
SETTLED_BY_CALLS, TABLES = 100, 100


def demo_document(made: Demo) -> blocks.Document:
    """Everything as blocks; made from the results, whatever they are."""
    table, customers = made.table, made.table.customers
    known = (
        "True means are known here because the mails are simulated. In a table of your own nobody knows them."
    )
    facts = [
        ("customers", f"{len(customers.mail):,}"),
        ("outcomes missing", f"{1 - customers.known.mean():.0%}"),
        *((f"true mean of {mail}", f"{mean:.1f}") for mail, mean in table.true_means.items()),
    ]
    commands = [
        part
        for what, command in made.commands
        for part in (Sentence(what), blocks.Code(command, on=blocks.On.ALL))
    ]
    return blocks.Document(
        "What to do with missing outcomes: a demo of truant",
        [f"Computed on this machine in {made.seconds:.0f} s, without drawing this page, with fixed seeds."],
        [
            blocks.Finding("held", "", headline(table), blocks=[Sentence(known, "faint")]),
            blocks.Facts(facts),
            Section("1. A table with missing outcomes", _table_blocks(table)),
            Section("2. A policy that learns although outcomes are missing", _learning_blocks(made)),
            Section("3. A live experiment with late and missing outcomes", _live_blocks(made.status)),
            Section("Next: three commands to try", commands),
        ],
    )


def headline(result: TableResult) -> str:
    """What the table shows, in one sentence."""
    dropped, zeros, mar = (result.ways[name].named for name in ("rows_dropped", "set_to_zero", "mar"))
    return (
        f"The best of three mails is '{result.best}'. Dropping the rows with a missing outcome names '{dropped}', "
        f"setting missing outcomes to 0 names '{zeros}', and truant names {_quoted(mar)}."
    )


def _table_blocks(result: TableResult) -> list[Block]:
    panels = [_panel(name, way, result) for name, way in result.ways.items()]
    return [
        Sentence(
            "Each customer got one of three mails. The table mails.csv has whether the mail was opened and, where it "
            "is known, what the customer spent. Of customers who did not open 'classic', spending is seldom known, "
            "and they spend less: the known outcomes of this mail are too high on average."
        ),
        Sentence(
            "Dots: means by each method, with 95% intervals; the mail with the highest mean is coloured. Vertical "
            "lines: true means.",
            "faint",
            on=blocks.On.PAGE,
        ),
        blocks.Panels(panels[:3]),
        Sentence(harmless_sentence(result), on=blocks.On.PAGE),
        Section(
            "If nobody noted who opened the mail",
            [
                Sentence(
                    "Without a mediator, truant names no mail and proposes to find out some of the missing outcomes, "
                    "for example by calling the customers. It draws at random whom to call; here the simulation "
                    "answers."
                ),
                blocks.Panels(panels[3:]),
                Sentence(calls_sentence(result)),
            ],
            on=blocks.On.PAGE,
        ),
        _means_table(result),
    ]


def _panel(name: str, way: Way, result: TableResult) -> Section:
    tone: blocks.Tone = "doubt" if way.named is None else "good" if way.named == result.best else "bad"
    words = {"good": ": the right mail", "bad": ": the wrong mail"}.get(tone, "")
    means = [f"{mail} {value.mean:.1f}" for mail, value in way.values.items() if value.mean is not None]
    alternative = f"{way.heading}: {', '.join(means) or 'only bounds'}; beside the true means."
    draw = partial(means_chart, way, result)
    chart = blocks.Chart(name, draw, alternative, "", way.sentence, "panel")
    return Section(way.heading, [Sentence(f"names {_quoted(way.named)}{words}"), chart], tone=tone)


def means_chart(
    way: Way,
    result: TableResult,
    width: Width = "container",
    row: int = 46,
    title: alt.TitleParams | None = None,
) -> alt.LayerChart:
    """A dot with an interval for each mail, orange if the named one is not the best, and its true mean as a line."""
    rows = []
    for number, (mail, true) in enumerate(result.true_means.items()):
        mean, low, high = way.values[mail]
        end = true if mean is None else mean
        side = -1 if mean is not None and mean < true - 1 else 1  # of the label: away from the true mean
        data = {"mail": mail, "true": true, "mean": mean, "first": number == 0, "side": side}
        data |= {"low": end if low is None else low, "high": end if high is None else high}
        rows.append(data | {"label": "" if mean is None else f"{mean:.1f}", "named": int(mail == way.named)})
    colour = RIGHT if way.named == result.best else WRONG
    tone, letters = (
        alt.Color("named:N", legend=None, scale=alt.Scale(domain=[0, 1], range=colours))
        for colours in ([RULE, colour], [NEUTRAL, darker(colour)])
    )
    x = alt.X("true:Q", title="mean spent", scale=alt.Scale(domain=[0, way.top], nice=False))
    x = x.axis(styled_axis(tickCount=5, domain=False))
    axis = styled_axis(domain=False, ticks=False, labelExpr="datum.value", labelFontSize=13, labelColor=INK)
    y = alt.Y("mail:N", title=None, sort=None, scale=alt.Scale(padding=0.2)).axis(axis)
    base = alt.Chart(chart_data({name: [one[name] for one in rows] for name in rows[0]})).encode(y=y)
    dots, first = base.transform_filter("isValid(datum.mean)"), base.transform_filter("datum.first")
    layers = [
        dots.mark_rule(strokeWidth=1.5, strokeDash=[3, 3]).encode(x=x, x2="mean:Q", color=tone),
        base.mark_rule(strokeWidth=7, opacity=0.4, strokeCap="round").encode(
            x="low:Q", x2="high:Q", color=tone
        ),
        base.mark_tick(thickness=3, size=24, color=INK, opacity=1).encode(x=x),
        first.mark_text(**styled_letters(align="center", dy=-19)).encode(x=x, text=alt.value("true mean")),
        dots.mark_point(filled=True, size=150, opacity=1).encode(x="mean:Q", color=tone),
    ]
    for side, end_field, align in ((-1, "low:Q", "right"), (1, "high:Q", "left")):
        own = dots.transform_filter(f"datum.side == {side}")
        text = own.mark_text(**styled_letters(align=align, dx=13 * side, fontSize=13, fontWeight=600))
        layers.append(text.encode(x=end_field, text="label:N", color=letters))
    independent = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))  # letters are darker
    more = {} if title is None else {"title": title}
    return framed(layers, width=width, height=row * len(rows), resolve=independent, **more)


def harmless_sentence(result: TableResult) -> str:
    """Where dropping rows does no harm, and what the table shows there."""
    mails = " and ".join(f"'{arm.arm}'" for arm in result.harmless.arms)
    dropping, named = result.harmless.winner["naive"], named_by(result.harmless)
    same = "the same mail" if dropping == named else "different mails"
    return (
        "Dropping rows does no harm where all customers of a mail have the same chance that their outcome is known. "
        f"That is so for {mails}: of these two, dropping rows names '{dropping}' and truant names "
        f"{_quoted(named)}, {same}."
    )


def calls_sentence(result: TableResult) -> str:
    """What the plan promised before the calls."""
    alike, differ = (f"{100 * chance:.0f}%" for chance in result.plan.chances.values())
    return (
        f"Before the calls, truant gives a probability of {alike} that {CALLS} of them make a winner clear if missing "
        f"outcomes are like the observed ones, and of {differ} if they differ by a typical amount. The plan cannot "
        f"know that the missing outcomes of '{result.ways['rows_dropped'].named}' differ by more than that. With these "
        f"mails the probability is higher: '{result.best}' was the clear winner after {CALLS} calls in "
        f"{SETTLED_BY_CALLS} of {TABLES} tables, this one and others that were simulated before this demo."
    )


def _means_table(result: TableResult) -> blocks.Table:
    names = {"rows dropped": "rows_dropped", "set to 0": "set_to_zero", "truant, mar": "mar"}
    names["after follow-ups"] = "follow_up"
    rows = []
    for number, (mail, true) in enumerate(result.true_means.items()):
        own = result.customers.mail == number
        cells = [Cell(mail), Cell(f"{own.sum():,}"), Cell(f"{1 - result.customers.known[own].mean():.0%}")]
        for way in (result.ways[name] for name in names.values()):
            mean, low, high = way.values[mail]
            ends = "" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"
            cells.append(Cell(f"{mean:.1f}", ends, star=mail == way.named))
        rows.append([*cells, Cell(f"{true:.1f}", star=mail == result.best)])
    turns = {"rows": 1, "missing": 2, "set to 0": 3}  # to leave a narrow terminal
    heads = ("rows", "missing", *names, "true mean")
    columns = [Column("mail", words=True), *(Column(head, leaves=turns.get(head, 0)) for head in heads)]
    caption = "Mean spent by mail, with 95% intervals; ★ the mail that is named"
    return blocks.Table(caption, columns, rows, legend=f"{caption}.")


def _learning_blocks(made: Demo) -> list[Block]:
    lost = ", ".join(f"{played.policy} {played.regret_mean:,.0f}" for played in made.policies)
    panel = RegretPanel("", made.simulation.curves(), {DROPS: NAIVE, LEARNS: Look(RIGHT, (1, 0))})
    extent = regret_range(panel.curves, log=False)
    draw = partial(panel_chart, panel, extent, width=720, height=280, quantity="spending lost")
    return [
        Sentence(
            "A policy chooses the mail of each customer by the outcomes so far. Both policies meet the same three "
            "mails."
        ),
        blocks.Chart("lost", draw, f"Line chart of spending lost: {lost}.", place="scroll"),
        blocks.Bullets("", learning_sentences(*made.policies)),
        *made.simulation.document().blocks[:1],
    ]


def learning_sentences(drops: Played, learns: Played) -> list[str]:
    """What each policy lost."""
    return [
        f"{DROPS} drops missing outcomes. {_policy_sentence(drops)}",
        f"{LEARNS} uses whether a mail was opened. {_policy_sentence(learns)}",
        f"Loss: spending that the best mail would have brought in addition; mean of {drops.runs} runs of "
        f"{drops.horizon:,} customers.",
    ]


def _policy_sentence(played: Played) -> str:
    (mail, share), late = max(played.shares.items(), key=lambda item: item[1]), played.second_half_share
    learned = "it learns"
    if late < LITTLE_LATE or late > LIKE_A_LINE:
        learned = "it has learned" if late < LITTLE_LATE else "it does not learn"
    return (
        f"It sends '{mail}' to {percent(share)} of the customers and loses {played.regret_mean:,.0f}, "
        f"{chance(late)} of it in the second half: {learned}."
    )


def _live_blocks(status: Status) -> list[Block]:
    equal = (
        "Shares stay equal until the first windows close after 7 days. Then the policy sends the mail that has the "
        "highest mean or may still have it."
    )
    late = f"{status.late:,} outcomes came after their window. They are kept, and are not counted."
    charts = [replace(chart, sentence=equal) for chart in allocation_charts(status)]
    charts += [replace(chart, sentence=late) for chart in arrival_charts(status)]
    return [
        Sentence(
            "The experiment is kept in the SQLite file mails.db. It draws a mail for each customer and waits 7 days "
            "for the outcome; what has not come by then counts as missing, not as 0. Four weeks were simulated with a "
            "clock of their own."
        ),
        blocks.Bullets("", live_sentences(status)),
        blocks.Panels(charts),
        arms_table(status),
    ]


def live_sentences(status: Status) -> list[str]:
    """What came in, what is missing, and what is known."""
    shares = ", ".join(f"{arm.arm} {arm.share:.0%}" for arm in status.arms)
    return [
        f"{status.decisions:,} customers in four weeks: {status.observed:,} outcomes in time, "
        f"{status.settled - status.observed:,} missing ({status.late:,} of these came after the window of 7 days), "
        f"{status.pending:,} pending.",
        f"Shares for the next customer: {shares}.",
        status.verdict,
    ]


def _quoted(mail: str | None) -> str:
    return "no mail" if mail is None else f"'{mail}'"

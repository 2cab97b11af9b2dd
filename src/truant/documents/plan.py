"""The document of a plan of follow-ups: how many, from where, and what they bring."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
    Section,
    Sentence,
    Table,
    Template,
    Tone,
    figures_table,
)
from truant.documents.words import level_text
from truant.errors import named
from truant.follow_up.plan import ALIKE, DIFFER
from truant.follow_up.result import WORST_CASE, Plan

if TYPE_CHECKING:
    import altair as alt

    from truant.charts.style import Width

CLASSES = {"settled": "clear", "reached": "planned", "not-reached": "depends"}  # in page.css
TONES: dict[str, Tone] = {"settled": "good", "reached": "strong", "not-reached": "doubt"}
MOST_CELLS = 24  # arms and levels in the terminal's table
BECOMES = "Probability that the best arm becomes the clear winner"
KIND_TITLES = {
    "reached": "Follow-ups can settle it",
    "not-reached": "Follow-ups may not settle it",
    "settled": "Clear already",
}
MOST_NAMED = 6  # arms in a sentence


def plan_document(plan: Plan) -> Document:
    """A plan: its sentence, its scenarios, its chart, and what to know before calling."""
    words = scenario_sentences(plan)
    open_ = plan.kind != "settled"
    lines = [f"{chance(value)} if {words[name]}." for name, value in plan.point.chances.items() if open_]
    facts = {"level": level_text(plan.options.level), "differ": f"{plan.options.differ:.3g}"}
    table, kind, notes = _cells(plan), plan.kind, plan_notes(plan)
    verdict = [Bullets(BECOMES, lines, on=On.TERMINAL | On.PAGE)]
    text = (
        "Within an arm and mediator level, rows are drawn at random. More rows are drawn where more outcomes are "
        "missing and where outcomes vary more."
    )
    blocks: list[Block] = [
        Finding(CLASSES[kind], plan_title(plan), plan_sentence(plan), TONES[kind], verdict, on=On.HTML),
        Facts(_facts(plan)),
        Section("Whom to follow up", [Sentence(text), table], on=On.PAGE),
        replace(table, on=On.TERMINAL | On.NOTEBOOK),
        Finding(CLASSES[kind], "", plan_sentence(plan), TONES[kind], verdict, on=On.TERMINAL),
        *_chart(plan),
        Bullets("Before you call", notes, on=On.TERMINAL | On.PAGE),
        Section("How this was computed", [Template("plan.html", dict(facts))], folded=True, on=On.PAGE),
    ]
    return Document(plan.title, plan.about, blocks)


def plan_chart(plan: Plan, width: Width = "container") -> alt.LayerChart:
    """The probability that the best arm becomes the clear winner, along the number of follow-ups."""
    import pyarrow as pa

    from truant.charts.plan import plan_chart

    titles = scenario_titles(plan)
    rows = [
        {"scenario": titles[name], "follow_ups": point.follow_ups, "probability": point.chances[name]}
        for name in titles
        for point in plan.curve
    ]
    marks = {"needed": plan.needed, "budget": plan.options.budget}
    known = {name: number for name, number in marks.items() if number or (name == "budget" and number == 0)}
    return plan_chart(
        pa.Table.from_pylist(rows),
        label="probability of a clear winner",
        chance=plan.options.chance,
        marks=known,
        width=width,
    )


def _chart(plan: Plan) -> list[Chart]:
    if len(plan.curve) < 2:
        return []
    ends = plan.curve[0], plan.curve[-1]
    alternative = (
        f"Line chart of the {BECOMES[0].lower()}{BECOMES[1:]}: "
        + ", ".join(f"{chance(one.lowest)} with {one.follow_ups:,} follow-ups" for one in ends)
        + f" in the worse scenario. {plan_sentence(plan)}"
    )
    sentence = (
        f"The dashed horizontal line is the requested probability, {level_text(plan.options.chance)}. "
        "A plan must reach it in both scenarios."
    )
    titles = scenario_titles(plan)
    figures = [
        ChartValue(f"{point.follow_ups:,}", f"if missing outcomes are {titles[name]}", chance(share))
        for point in plan.curve
        for name, share in point.chances.items()
    ]
    return [
        Chart(
            "plan",
            partial(plan_chart, plan),
            alternative,
            "What more follow-ups would bring",
            sentence,
            figures=partial(figures_table, BECOMES, "follow-ups", figures),
        )
    ]


def _cells(plan: Plan) -> Table:
    """How many from which arm and mediator level."""
    mediated, before = len(plan.labels.mediators) > 1, plan.followed_up > 0
    columns = [Column("arm", words=True), *([Column("mediator", words=True)] if mediated else [])]
    columns += [Column("follow up"), Column("missing")]
    columns += [*([Column("followed up before", leaves=1)] if before else []), Column("rows", leaves=2)]
    rows = []
    for cell in plan.cells:
        cells = [Cell(cell.arm), *([Cell(cell.mediator)] if mediated else [])]
        tone: Tone = "strong" if cell.follow_ups else ""
        cells += [Cell(f"{cell.follow_ups:,}", tone=tone), Cell(f"{cell.missing:,}")]
        cells += [Cell(f"{cell.followed_up:,}")] if before else []
        rows.append([*cells, Cell(f"{cell.rows:,}")])
    more = len(rows) - MOST_CELLS
    return Table(
        f"Follow-ups by arm{' and mediator level' if mediated else ''}",
        columns,
        rows,
        shown=range(min(len(rows), MOST_CELLS)),
        left_out=f"{more:,} more rows are not shown; --html and --json have all of them." if more > 0 else "",
    )


def _facts(plan: Plan) -> list[tuple[str, str]]:
    facts = [("missing outcomes", f"{plan.missing:,}")]
    if plan.followed_up:
        facts.append(("followed up before", f"{plan.followed_up:,}"))
    facts.append(("planned follow-ups", f"{plan.follow_ups:,}"))
    if plan.kind != "settled":
        needed = "–" if plan.needed is None else f"{plan.needed:,}"
        facts.append((f"needed for {level_text(plan.options.chance)}", needed))
        facts.append(("probability in the worse scenario", chance(plan.point.lowest)))
    return facts


def chance(probability: float) -> str:
    """A probability that was simulated: whole percents, and never certainty."""
    return ">99%" if probability > 0.99 else "<1%" if probability < 0.01 else f"{probability:.0%}"


def plan_title(plan: Plan) -> str:
    """The kind of the plan in a few words."""
    budget, needed = plan.options.budget, plan.needed
    if plan.kind == "reached" and budget is not None and needed is not None and budget < needed:
        return "More follow-ups are needed"
    return KIND_TITLES[plan.kind]


def plan_sentence(plan: Plan) -> str:
    """How many follow-ups, of which arms, and what they bring."""
    options = plan.options
    least = f"{100 * options.chance:.4g}%"
    if plan.kind == "settled":
        return (
            f"No follow-up is needed: {named(str(plan.leader))} is the best arm whatever the reason for missingness, "
            f"with a probability of at least {100 * options.level:.4g}%."
        )
    of = f"{plan.missing:,} missing outcomes" + (" that are left" if plan.followed_up else "")
    if options.budget is not None:
        first = f"{_follow_ups(plan.follow_ups)} of the {of} ({_by_arm(plan)}). {_promise(plan)}"
        if plan.needed is None:
            return f"{first} No number of follow-ups reaches {least} in both cases, not even all of them."
        few = plan.needed > plan.follow_ups
        enough = (
            f"For {least} in both cases, {plan.needed:,} are needed"
            if few
            else f"{plan.needed:,} are enough for {least} in both cases"
        )
        return f"{first} {enough}."
    if plan.kind == "not-reached":
        return (
            f"Even all {of} together may not settle it. {_promise(plan)} {least} was asked for: {_open(plan)}the arms "
            "hardly differ, or the table has too few rows; collect more rows, too."
        )
    return (
        f"Follow up {plan.follow_ups:,} of the {of} ({_by_arm(plan)}): the estimates are then right whatever the "
        f"reason for missingness, {_condition(plan)}. {_promise(plan)}"
    )


def _condition(plan: Plan) -> str:
    """What must hold of failed follow-ups for the estimates to be right."""
    if not _some_fail(plan):
        return "if all calls are answered"
    if plan.options.failures == WORST_CASE:
        return "and their intervals allow for any outcome of a failed call"
    return "if outcomes of failed calls are like those of answered ones"


def _some_fail(plan: Plan) -> bool:
    return plan.options.success < 1 or plan.failed > 0


def _open(plan: Plan) -> str:
    """That failed follow-ups leave a difference open; empty if they do not."""
    if not plan.left_open > 0:
        return ""
    return (
        f"outcomes of failed calls may have any value in the range, so that a difference of up to {plan.left_open:.3g} "
        "between the two leading arms stays open however many others are answered, "
    )


def _promise(plan: Plan) -> str:
    """How likely the best arm becomes the clear winner, in each scenario."""
    alike, differ = (chance(plan.point.chances[name]) for name in (ALIKE, DIFFER))
    return (
        f"The best arm becomes the clear winner with a probability of {alike} if missing outcomes are "
        f"{_like(plan)}, and of {differ} if the mean of each arm's missing outcomes differs from that by about "
        f"{plan.options.differ:.3g} standard deviations."
    )


def _in_deviations(plan: Plan) -> str:
    if not plan.outcome_sd > 0 or plan.smallest_difference is None:
        return ""
    return f" ({plan.smallest_difference / plan.outcome_sd:.2g} standard deviations of an outcome)"


def _follow_ups(number: int) -> str:
    return "Follow up 1" if number == 1 else f"Follow up {number:,}"


def _by_arm(plan: Plan) -> str:
    parts = [f"{number:,} of {named(arm)}" for arm, number in plan.by_arm().items() if number]
    more = len(parts) - MOST_NAMED
    return ", ".join(parts[:MOST_NAMED]) + (f" and others of {more} more arms" if more > 0 else "")


def _like(plan: Plan) -> str:
    return "like the answers so far" if plan.followed_up else "like the observed ones"


def scenario_titles(plan: Plan) -> dict[str, str]:
    """Each scenario in a few words."""
    return {ALIKE: f"{_like(plan)}", DIFFER: "different from the observed ones"}


def scenario_sentences(plan: Plan) -> dict[str, str]:
    """What each scenario takes for the missing outcomes."""
    mediator = " and mediator level" if len(plan.labels.mediators) > 1 else ""
    alike = (
        "the mean of the missing outcomes of an arm differs from that of its observed ones as the answers so far do"
        if plan.followed_up
        else f"missing outcomes have the mean of the observed ones of the same arm{mediator}"
    )
    return {
        ALIKE: f"{alike}, up to its sampling error",
        DIFFER: "the means of missing and observed outcomes of an arm differ by a random amount with mean 0 and a "
        f"standard deviation of {plan.options.differ:.3g} times that of an outcome",
    }


def _failures_note(plan: Plan) -> str:
    """How many calls fail, and what the probabilities take of them."""
    facts = [f"{plan.failed:,} earlier follow-ups brought no outcome"] if plan.failed else []
    if plan.options.success < 1:
        facts.append(f"{100 * plan.options.success:.4g}% of the calls are expected to be answered")
    if plan.options.failures != WORST_CASE:
        return (
            f"{'; '.join(facts)}. The probabilities hold if a failed call has nothing to do with the outcome; analyze "
            "then with --failed-follow-ups ignorable."
        )
    open_ = (
        f": a difference of up to {plan.left_open:.3g} between the two leading arms stays open however many others "
        "are answered"
        if plan.left_open > 0
        else ""
    )
    return (
        f"{'; '.join(facts)}. Outcomes of failed calls may have any value in the range{open_}. If calls fail for "
        "reasons unrelated to the outcome, plan and analyze with --failed-follow-ups ignorable."
    )


def plan_notes(plan: Plan) -> list[str]:
    """What to know before calling."""
    options = plan.options
    notes = []
    if plan.follow_ups:
        notes.append(
            "Call in the order of the list and do not replace a row by another: whom you call must not depend on the "
            "outcome. You may stop early: the first calls of the list are a fair sample, too."
        )
    if _some_fail(plan):
        notes.append(_failures_note(plan))
    if plan.smallest_difference is not None:
        notes.append(
            f"A difference of {plan.smallest_difference:.3g} between the two leading arms{_in_deviations(plan)} "
            f"makes the better one the clear winner with a probability of {100 * options.chance:.4g}%."
        )
    if plan.kind != "settled":
        notes.append(
            "The probabilities hold in these two scenarios. If missing outcomes differ by more, and the lead among the "
            "observed outcomes comes from that, the best arm becomes the clear winner less often; the estimate stays "
            "right."
        )
    return notes

"""The page of a plan of follow-ups, and a fragment of it for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from truant.analysis.follow_up_plan import FollowUpPlan
from truant.analysis.plan_words import (
    chance,
    plan_notes,
    plan_sentence,
    plan_title,
    scenario_sentences,
    scenario_titles,
)
from truant.charts.plan import plan_chart
from truant.charts.style import Width
from truant.report.document import Cell, PageChart, Table, fragment, rendered, spec_of

if TYPE_CHECKING:
    import altair as alt

VERDICT_CLASSES = {"settled": "clear", "reached": "planned", "not-reached": "depends"}


def plan_page(plan: FollowUpPlan, *, title: str, about: Sequence[str] = ()) -> str:
    """The whole page, with its chart and the scripts that draw it; it loads nothing from elsewhere."""
    chart = _page_chart(plan)
    return rendered(
        "plan.html",
        [chart],
        title=title,
        about=about,
        kind=VERDICT_CLASSES[plan.kind],
        kind_title=plan_title(plan),
        sentence=plan_sentence(plan),
        facts=_facts(plan),
        scenarios=_scenarios(plan),
        chart=chart,
        table=cells_table(plan),
        notes=plan_notes(plan),
        settled=plan.kind == "settled",
        differ=f"{plan.options.differ:.3g}",
        level=f"{100 * plan.options.level:.4g}%",
    )


def plan_html(plan: FollowUpPlan) -> str:
    """The sentence and the table, without scripts, for notebooks."""
    return fragment("plan_fragment.html", sentence=plan_sentence(plan), table=cells_table(plan))


def plan_chart_of(plan: FollowUpPlan, width: Width = "container") -> alt.LayerChart:
    """The chart of a plan."""
    titles = scenario_titles(plan)
    rows = [
        {"scenario": titles[name], "follow_ups": point.follow_ups, "probability": share}
        for name in titles
        for point in plan.curve
        for share in [point.chances[name]]
    ]
    marks = {}
    if plan.needed:
        marks["needed"] = plan.needed
    if plan.options.budget is not None:
        marks["budget"] = plan.options.budget
    return plan_chart(pa.Table.from_pylist(rows), chance=plan.options.chance, marks=marks, width=width)


def cells_table(plan: FollowUpPlan) -> Table:
    """How many from which arm and mediator level."""
    mediated, before = len(plan.labels.mediators) > 1, plan.followed_up > 0
    columns = ["arm", *(["mediator"] if mediated else []), "follow up", "missing"]
    columns += [*(["followed up before"] if before else []), "rows"]
    rows = []
    for cell in plan.cells:
        cells = [Cell(cell.arm), *([Cell(cell.mediator)] if mediated else [])]
        cells += [Cell(f"{cell.follow_ups:,}", clear=cell.follow_ups > 0), Cell(f"{cell.missing:,}")]
        cells += [Cell(f"{cell.followed_up:,}")] if before else []
        rows.append([*cells, Cell(f"{cell.rows:,}")])
    return Table(
        "Follow-ups by arm" + (" and mediator level" if mediated else ""), columns, rows, words=1 + mediated
    )


def _facts(plan: FollowUpPlan) -> list[tuple[str, str]]:
    facts = [("missing outcomes", f"{plan.missing:,}")]
    if plan.followed_up:
        facts.append(("followed up before", f"{plan.followed_up:,}"))
    facts.append(("planned follow-ups", f"{plan.follow_ups:,}"))
    if plan.kind != "settled":
        facts.append(
            (
                f"needed for {100 * plan.options.chance:.4g}%",
                "–" if plan.needed is None else f"{plan.needed:,}",
            )
        )
        facts.append(("probability in the worse scenario", chance(plan.point.lowest)))
    return facts


def _scenarios(plan: FollowUpPlan) -> list[tuple[str, str]]:
    words = scenario_sentences(plan)
    return [(chance(value), words[name]) for name, value in plan.point.chances.items()]


def _page_chart(plan: FollowUpPlan) -> PageChart:
    if len(plan.curve) < 2:
        return PageChart("plan", None, "")
    ends = plan.curve[0], plan.curve[-1]
    alternative = (
        "Line chart of the probability that the best arm becomes the clear winner: "
        + ", ".join(f"{chance(one.lowest)} with {one.follow_ups:,} follow-ups" for one in ends)
        + f" in the worse scenario. {plan_sentence(plan)}"
    )
    sentence = (
        f"The dashed horizontal line is the requested probability, {100 * plan.options.chance:.4g}%. "
        "A plan must reach it in both scenarios."
    )
    return PageChart("plan", spec_of(plan_chart_of(plan)), alternative, sentence=sentence)

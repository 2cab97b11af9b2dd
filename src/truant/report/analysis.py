"""The page of an analysis: its words, tables and charts; and a fragment of it for notebooks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truant.analysis import Analysis
from truant.analysis.collection_words import collection_sentences, value_sentences
from truant.analysis.words import (
    CHANCES_NOTE,
    KIND_TITLES,
    Figures,
    by_code,
    course_sentence,
    direction_sentence,
    direction_with_option,
    meanings_sentence,
    missing_sentence,
    missing_share,
    percent,
    settling_sentences,
    verdict_sentence,
)
from truant.files import PAGES, output_path
from truant.report.analysis_charts import (
    course_page_charts,
    estimates_page_chart,
    missing_page_chart,
    tipping_page_charts,
)
from truant.report.analysis_tables import (
    answers_table,
    chances_table,
    differences_table,
    tests_table,
    values_table,
)
from truant.report.document import PageChart, fragment, rendered, write_page
from truant.report.graphs import assumption_graphs

SHOWN = 3  # warnings of one kind before the others are folded away


def analysis_page(analysis: Analysis, *, title: str, about: Sequence[str] = ()) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    analysis : what to show.
    title : heading of the page.
    about : lines below it, such as the file that was read.
    """
    shown, charts = shown_analysis(analysis)
    return rendered(
        "analysis.html", charts, title=title, a=shown, **heading(analysis, about), **methods_context(analysis)
    )


def heading(analysis: Analysis, about: Sequence[str]) -> dict[str, Any]:
    """Which way is better, by itself, and the lines below the title, with how the rows were collected among them."""
    ways = [direction_sentence(analysis), direction_with_option(analysis)]
    direction = next((line for line in about if line in ways), ways[0])
    lines = [line for line in about if line not in ways]
    own = [*collection_sentences(analysis.collection), *value_sentences(analysis)]
    lines += [line for line in own if line not in lines]
    return {"direction": direction, "minimize": analysis.minimize, "about": lines}


def shown_analysis(analysis: Analysis, prefix: str = "") -> tuple[dict[str, Any], list[PageChart]]:
    """What the template of one analysis shows, and its charts; the prefix tells apart the charts of several."""
    figures = Figures.of(analysis)
    charts = AnalysisCharts(
        estimates_page_chart(analysis, figures),
        missing_page_chart(analysis),
        tipping_page_charts(analysis, figures),
        course_page_charts(analysis),
    ).prefixed(prefix)
    shown = {
        "verdict": verdict_sentence(analysis),
        "kind": analysis.verdict.kind,
        "kind_title": KIND_TITLES[analysis.verdict.kind],
        "answers": answers_table(analysis, figures),
        "settling": settling_sentences(analysis),
        "facts": _facts(analysis),
        "graphs": assumption_graphs(analysis),
        "meanings": f"{meanings_sentence(analysis)}.",
        "means": values_table(analysis, figures),
        "chances": chances_table(analysis),
        "chances_note": CHANCES_NOTE,
        "flat_prior": [one.message for one in analysis.warnings if one.code == "flat-prior"],
        "differences": differences_table(analysis, figures),
        "missing": missing_sentence(analysis),
        "course": course_sentence(analysis),
        "charts": charts,
        "warnings": by_code(analysis.warnings),
        "shown": SHOWN,
        "infeasible": [(item.assumption, item.reason_alone) for item in analysis.infeasible],
        "untestable": analysis.untestable,
        "tests": tests_table(analysis),
        "level_percent": f"{100 * analysis.level:.4g}%",
    }
    return shown, charts.all()


def methods_context(analysis: Analysis) -> dict[str, Any]:
    """What the description of the methods depends on."""
    return {
        "level": f"{analysis.level:.4g}",
        "level_percent": f"{100 * analysis.level:.4g}%",
        "control": analysis.control,
        "adaptive": analysis.collection.kind != "fixed",
        "follow_ups": analysis.has_follow_ups,
    }


def save_page(
    analysis: Analysis, path: str | os.PathLike[str], *, title: str, about: Sequence[str] = ()
) -> Path:
    """Write the page to an .html file, whole or not at all."""
    output_path(path, PAGES)  # refused before the work
    return write_page(analysis_page(analysis, title=title, about=about), path)


def analysis_html(analysis: Analysis) -> str:
    """The verdict and the table of values, without scripts, for notebooks."""
    figures = Figures.of(analysis)
    return fragment(
        "analysis_fragment.html",
        direction=direction_sentence(analysis),
        kind=KIND_TITLES[analysis.verdict.kind],
        verdict=verdict_sentence(analysis),
        answers=answers_table(analysis, figures),
        settling=settling_sentences(analysis),
        values=values_table(analysis, figures),
        warnings=len(analysis.warnings),
    )


@dataclass(frozen=True)
class AnalysisCharts:
    """The charts of the page, each with an id of its own."""

    estimates: PageChart
    missing: PageChart
    tipping: Sequence[PageChart]
    course: Sequence[PageChart]

    def prefixed(self, prefix: str) -> AnalysisCharts:
        """The same charts with another id each."""
        return AnalysisCharts(
            replace(self.estimates, id=prefix + self.estimates.id),
            replace(self.missing, id=prefix + self.missing.id),
            [replace(chart, id=prefix + chart.id) for chart in self.tipping],
            [replace(chart, id=prefix + chart.id) for chart in self.course],
        )

    def all(self) -> list[PageChart]:
        """All of them."""
        return [self.estimates, self.missing, *self.tipping, *self.course]


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    missing_mediators = int(analysis.counts.real().table[:, -1, 0].sum())
    pulls = sum(arm.pulls for arm in analysis.arms)
    facts = [
        ("rows", f"{pulls:,}"),
        ("arms", f"{len(analysis.arms):,}"),
        ("outcomes missing", percent(missing_share(analysis))),
    ]
    if analysis.has_follow_ups:
        asked, answered = (
            sum(getattr(arm, name) for arm in analysis.arms) for name in ("follow_ups", "answered")
        )
        all_answered = asked == answered
        facts.append(
            ("followed up", f"{asked:,}")
            if all_answered
            else ("follow-ups answered", f"{answered:,} of {asked:,}")
        )
    if missing_mediators:
        facts.append(("mediators missing", percent(missing_mediators / pulls)))
    return [*facts, ("assumptions compared", f"{len(analysis.assumptions)}")]

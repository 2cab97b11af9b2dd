"""The page of an analysis by the values of a column: a table of all groups, and each analysis folded below it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from truant.analysis import Analysis
from truant.analysis.words import chances_sentence, group_rows
from truant.files import PAGES, output_path
from truant.report.analysis import heading, methods_context, shown_analysis
from truant.report.document import Cell, Table, fragment, rendered, write_page

LeftOut = Sequence[tuple[str, int, str]]  # value, rows, reason


def by_page(
    analyses: Mapping[str, Analysis], left_out: LeftOut, *, by: str, title: str, about: Sequence[str] = ()
) -> str:
    """The whole page; it loads nothing from elsewhere.

    Parameters
    ----------
    analyses : by the value of the column.
    left_out : values that cannot be analysed, with their rows and the reason.
    by : name of the column.
    title : heading of the page.
    about : lines below it.
    """
    groups, charts = [], []
    for number, (label, analysis) in enumerate(analyses.items()):
        shown, own = shown_analysis(analysis, f"group-{number}-")
        groups.append({"id": f"group-{number}", "label": label, "a": shown})
        charts += own
    return rendered(
        "analysis_by.html",
        charts,
        title=title,
        by=by,
        overview=overview_table(analyses, by),
        left_out=left_out,
        groups=groups,
        **heading(_fullest(analyses), about),
        **methods_context(_fullest(analyses)),
    )


def save_page_by(
    analyses: Mapping[str, Analysis],
    left_out: LeftOut,
    path: str | os.PathLike[str],
    *,
    by: str,
    title: str,
    about: Sequence[str] = (),
) -> Path:
    """Write the page to an .html file, whole or not at all."""
    output_path(path, PAGES)  # refused before the work
    return write_page(by_page(analyses, left_out, by=by, title=title, about=about), path)


def by_html(analyses: Mapping[str, Analysis], left_out: LeftOut, *, by: str) -> str:
    """The table of all groups, without scripts, for notebooks."""
    return fragment(
        "analysis_by_fragment.html",
        sentence=chances_sentence(len(analyses)),
        overview=overview_table(analyses, by),
        left_out=left_out,
    )


def overview_table(analyses: Mapping[str, Analysis], by: str) -> Table:
    """Of each group its rows, its missing share, the winner of each assumption and the kind of verdict."""
    heads, rows = group_rows(analyses)
    cells = [[Cell(text, detail) for text, detail in row] for row in rows]
    return Table(
        "The best arm of each group by assumption, with its probability of being the best",
        [by, *heads],
        cells,
    )


def _fullest(analyses: Mapping[str, Analysis]) -> Analysis:
    """The analysis with the most assumptions: its methods are those of all."""
    return max(analyses.values(), key=lambda analysis: len(analysis.assumptions))

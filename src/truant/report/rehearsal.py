"""The page of a rehearsal, and a fragment of it for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truant.charts.columns import chart_data
from truant.charts.rehearsal import windows_chart
from truant.charts.style import short
from truant.report.document import Cell, PageChart, Table, fragment, rendered, spec_of

if TYPE_CHECKING:
    import altair as alt

Row = Mapping[str, Any]
Cells = Sequence[Mapping[str, tuple[str, str]]]  # a figure and its standard error, by column
WORDS = ("window", "assumption", "counted")


def rehearsal_page(
    summary: Mapping[str, Any],
    cells: Cells,
    least: int,
    *,
    title: str,
    about: Sequence[str],
    sentences: Sequence[str],
    settled: bool,
) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    summary : of the rehearsal.
    cells, least : the texts of each variant's figures, and the number of the variant with the least regret.
    title, about : the heading, and lines below it.
    sentences : the verdict.
    settled : nothing is wrong with any variant.
    """
    rows = summary["rows"]
    charts = [
        _page_chart("regret", "Regret of a run", rows, "regret", "regret_se", False),
        _page_chart("bias", "Bias of the estimates", rows, "bias", "bias_se", True),
    ]
    return rendered(
        "rehearsal.html",
        charts,
        title=title,
        about=about,
        kind="planned" if settled else "depends",
        kind_title="No problems found" if settled else "Problems found",
        sentence=sentences[0],
        more=sentences[1:],
        facts=_facts(summary),
        table=variants_table(cells, least, summary["runs"]),
        charts=charts,
        level=f"{100 * summary['level']:.4g}%",
        null=summary["null"],
        step=summary["step"],
    )


def rehearsal_html(cells: Cells, least: int, *, title: str, sentences: Sequence[str], runs: int) -> str:
    """The verdict and the table, without scripts, for notebooks."""
    table = variants_table(cells, least, runs)
    return fragment("rehearsal_fragment.html", title=title, sentences=sentences, table=table)


def variants_table(cells: Cells, least: int, runs: int) -> Table:
    """The figures of every variant."""
    names = list(cells[0])
    found = [
        [Cell(*own[name], best=i == least and len(cells) > 1 and name == "regret") for name in names]
        for i, own in enumerate(cells)
    ]
    words = min(sum(name in WORDS for name in names), 2)  # a third would make the second wide
    caption = f"Variants of the experiment; {runs:,} runs of each"
    return Table(caption, names, found, words=words)


def _facts(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("decisions in a run", f"{summary['decisions']:,}"),
        ("days", f"{summary['days']:.4g}"),
        ("variants", f"{len(summary['rows']):,}"),
        ("runs of each", f"{summary['runs']:,}"),
    ]


def series_of(row: Row, rows: Sequence[Row]) -> str:
    """What a line of a chart is called: by what differs between the variants, the window aside."""
    names = [row[name] for name in ("assume", "settle") if len({one[name] for one in rows}) > 1]
    return (
        ", ".join(names).replace("at_close", "at the close").replace("on_arrival", "on arrival")
        or row["policy"]
    )


def rehearsal_chart(
    rows: Sequence[Row], figure: str, value: str, error: str, zero: bool
) -> alt.LayerChart | None:
    """A figure by window; None if there is nothing to draw."""
    known = [row for row in rows if row[value] is not None]
    if not known:
        return None
    table = chart_data(
        {
            "window": [row["window"] for row in known],
            "series": [series_of(row, rows) for row in known],
            "value": [row[value] for row in known],
            "error": [row[error] for row in known],
        }
    )
    return windows_chart(table, figure=figure, zero_line=zero, width="container")


def _page_chart(id: str, heading: str, rows: Sequence[Row], value: str, error: str, zero: bool) -> PageChart:
    chart = rehearsal_chart(rows, value, value, error, zero)
    figures = ", ".join(
        f"{short(row[value])} with a window of {row['window']}"
        + (f" ({series_of(row, rows)})" if len({series_of(one, rows) for one in rows}) > 1 else "")
        for row in rows
        if row[value] is not None
    )
    sentence = "Bars: ± 2 standard errors."
    if value == "bias":
        sentence = (
            "Mean error of the estimates of the arms' means, arms weighted by their counted decisions. "
            + sentence
        )
    spec = None if chart is None else spec_of(chart)
    return PageChart(id, spec, f"{heading} by window: {figures}.", heading, sentence)

"""The page of a sweep: where each policy wins, and how regret depends on what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truant.charts.style import value_text
from truant.charts.sweep_sections import sweep_charts
from truant.charts.swept import NamedChart, SweptBlock, Varied, one_point_each
from truant.report.document import Cell, PageChart, Table, fragment, rendered, spec_of

MOST_ROWS = 200  # of the table on the page
MOST_NOTEBOOK_ROWS = 20
MOST_LISTED = 6  # values of what varies; of more, the first and the last


def sweep_page(
    summary: Mapping[str, Any],
    blocks: Sequence[SweptBlock],
    *,
    description: str,
    points: int,
    verdict: str,
    source: str,
) -> str:
    """The whole page, with its charts and the scripts that draw them; it loads nothing from elsewhere.

    Parameters
    ----------
    summary : as in summary.json: title, runs, seed, minimize, seconds, kernel_seconds, versions, rows.
    blocks : the worlds of the study, with what varies in them.
    description : a line below the heading.
    points : how many points the study has.
    verdict : which policies win how often, in a sentence.
    source : the text of the study's file.
    """
    rows, runs = summary["rows"], summary["runs"]
    sections: list[dict[str, Any]] = [
        {"heading": heading, "about": about, "charts": [_page_chart(chart) for chart in charts]}
        for (heading, about), charts in zip(_headings(blocks, runs), sweep_charts(blocks), strict=True)
    ]
    versions = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    return rendered(
        "sweep.html",
        [chart for section in sections for chart in section["charts"]],
        title=summary["title"],
        about=[*filter(None, [description]), *(["Lower is better."] if summary["minimize"] else [])],
        facts=[
            ("points", f"{points:,}"),
            ("policies", f"{len({row['policy'] for row in rows}):,}"),
            ("runs of each", f"{runs:,}"),
            ("rounds played", _large(sum(row["horizon"] * row["runs"] for row in rows))),
        ],
        verdict=verdict,
        sections=sections,
        table=_table(rows[:MOST_ROWS], blocks),
        left_out=max(0, len(rows) - MOST_ROWS),
        made=f"Seed {summary['seed']}; {versions}. The last call took {summary['seconds']:,.0f} s; "
        f"the simulation of all runs took {summary['kernel_seconds']:,.0f} s.",
        source=source,
    )


def sweep_html(heading: str, rows: Sequence[Mapping[str, Any]], blocks: Sequence[SweptBlock]) -> str:
    """A heading and the first rows, without scripts, for notebooks."""
    table = _table(rows[:MOST_NOTEBOOK_ROWS], blocks)
    left_out = max(0, len(rows) - MOST_NOTEBOOK_ROWS)
    return fragment("sweep_fragment.html", heading=heading, table=table, left_out=left_out)


def _headings(blocks: Sequence[SweptBlock], runs: int) -> list[tuple[str, str]]:
    """Heading and first line of each section."""
    if one_point_each(blocks):
        horizons, delays = (
            {row[key] for block in blocks for row in block.rows} for key in ("horizon", "delay")
        )
        late = f", outcomes {_one_or_more(delays)} rounds late" if delays != {0} else ""
        return [("All worlds", f"{runs:,} runs of {_one_or_more(horizons)} rounds{late}.")]
    found = []
    for block in blocks:
        varied = "; ".join(f"{varied.label}: {_listed(varied)}" for varied in block.varied)
        words = [f"World {block.world}", *block.conditions, *([f"varied: {varied}"] if varied else [])]
        found.append((block.title, ". ".join(words) + "."))
    return found


def _table(rows: Sequence[Mapping[str, Any]], blocks: Sequence[SweptBlock]) -> Table:
    """A row for each policy at each point, with what varies."""
    labels = {varied.column: varied.label for block in blocks for varied in block.varied}
    columns = ["policy", "world", *labels.values(), "regret", "se", "median", "best arm", "behind the best"]
    return Table(
        "Mean regret of each policy at each point (a world with one value of each parameter); se: its standard error; "
        "best arm: share of rounds with the best arm; ★ lowest of its point, oracles excluded; behind the best: mean "
        "difference to ★, paired by run, ± its standard error",
        columns,
        [_cells(row, list(labels)) for row in rows],
        words=2,
    )


def _cells(row: Mapping[str, Any], varied: Sequence[str]) -> list[Cell]:
    behind, error = row["behind_mean"], row["behind_se"]
    words = "" if row["best"] or behind is None else f"+{_number(behind)}"
    return [
        Cell(row["policy"]),
        Cell(row["world"]),
        *(Cell("–" if row[column] is None else value_text(row[column])) for column in varied),
        Cell(_number(row["regret_mean"]), best=row["best"]),
        Cell(_number(row["regret_se"])),
        Cell(_number(row["regret_median"])),
        Cell(f"{row['best_arm_share']:.1%}"),
        Cell(words, f"± {_number(error)}" if words and error is not None else ""),
    ]


def _page_chart(chart: NamedChart) -> PageChart:
    return PageChart(
        chart.name,
        spec_of(chart.chart),
        f"{chart.heading}. {chart.sentence}",
        chart.heading,
        chart.sentence,
        fluid=False,
    )


def _listed(varied: Varied) -> str:
    texts = [value_text(value) for value in varied.values]
    return (
        ", ".join(texts) if len(texts) <= MOST_LISTED else f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    )


def _one_or_more(numbers: set[int]) -> str:
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _large(value: float) -> str:
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.3g} {word}"
    return f"{value:,.0f}"

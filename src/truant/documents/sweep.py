"""The document of a sweep: who wins how often, regret in each world, and a row for each policy at each point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truant.charts.style import value_text
from truant.charts.sweep import SweptBlock, Varied, sweep_charts
from truant.documents import blocks
from truant.documents.blocks import Block, Cell, Column, On, Section, Sentence
from truant.documents.words import number
from truant.errors import counted

SweepResult = Any  # of the lab, which this room does not know
NAMED = 3  # policies in the verdict
MOST_ROWS = 200  # of the table on the page
MOST_NOTEBOOK_ROWS = 20
MOST_LISTED = 6  # values of what varies; of more, the first and the last


def sweep_document(
    result: SweepResult, worlds: Sequence[SweptBlock], summary: Mapping[str, Any], points: int
) -> blocks.Document:
    """Everything as blocks, from a result, what varies in its worlds, its summary and the number of its points."""
    study, rows = result.study, result.rows
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    made = (
        f"Seed {study.seed}; {versions}. The last call took {result.seconds:,.0f} s; the simulation of all runs took "
        f"{result.kernel_seconds:,.0f} s. All policies of a run face the same instance of the world."
    )
    source = (
        [Section("The study's file", [blocks.Code(study.source, command=False)], folded=True)]
        if study.source
        else []
    )
    files = "Every run is in results.parquet, these figures in summary.json."
    if len(rows) > MOST_ROWS:
        files = f"{len(rows) - MOST_ROWS:,} more rows are in summary.json; every run is in results.parquet."
    parts: list[Block] = [
        blocks.Finding("one", "", verdict(rows), ""),
        blocks.Facts(
            [
                ("points", f"{points:,}"),
                ("policies", f"{len({row['policy'] for row in rows}):,}"),
                ("runs of each", f"{study.runs:,}"),
                ("rounds played", _large(sum(row["horizon"] * row["runs"] for row in rows))),
            ]
        ),
        *_chart_sections(worlds, study.runs),
        Section(
            "All results",
            [_table(rows[:MOST_ROWS], worlds, On.PAGE), Sentence(files, "faint")],
            on=On.PAGE,
        ),
        Section("How it was made", [Sentence(made), *source], on=On.PAGE),
        _table(rows[:MOST_NOTEBOOK_ROWS], worlds, On.NOTEBOOK),
        Sentence(f"Every run: {summary['results']}", on=On.TERMINAL),
        Sentence(f"Page: {summary['page']}", on=On.TERMINAL),
    ]
    if len(rows) > MOST_NOTEBOOK_ROWS:
        more = f"{len(rows) - MOST_NOTEBOOK_ROWS:,} more rows: see .table()."
        parts.append(Sentence(more, on=On.NOTEBOOK))
    about = [*filter(None, [study.description]), *(["Lower is better."] if study.minimize else [])]
    state = f"{counted(points, 'point')}, {counted(study.runs, 'run')} of each policy"
    return blocks.Document(study.title, about, parts, state)


def verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Which policies win how often, in a sentence."""
    contest = [row for row in rows if row["behind_mean"] is not None]
    wins = Counter(row["policy"] for row in contest if row["best"])
    if not wins:
        return "No policy of this study can be compared with another."
    good = Counter(row["policy"] for row in contest if row["as_good"])
    parts = [
        f"{policy} has the lowest mean regret at {count:,} of {wins.total():,} points"
        f" (at {good[policy]:,} no policy is better by more than two standard errors)"
        for policy, count in wins.most_common(NAMED)
    ]
    return "; ".join(parts) + "."


def _chart_sections(worlds: Sequence[SweptBlock], runs: int) -> list[Section]:
    """A section for each world with its chart, if something varies there; one for all if nothing varies in any."""
    charts = {
        chart.number: blocks.Chart(
            chart.name,
            chart.draw,
            f"{chart.heading}. {chart.sentence}",
            chart.heading,
            chart.sentence,
            "scroll",
        )
        for chart in sweep_charts(worlds)
    }
    headings = []
    if all(block.is_point for block in worlds):
        horizons, delays = (
            {row[key] for block in worlds for row in block.rows} for key in ("horizon", "delay")
        )
        late = f", outcomes {_one_or_more(delays)} rounds late" if delays != {0} else ""
        headings.append((0, "All worlds", f"{runs:,} runs of {_one_or_more(horizons)} rounds{late}."))
    else:
        for block in worlds:
            varied = "; ".join(f"{varied.label}: {_listed(varied)}" for varied in block.varied)
            words = [f"World {block.world}", *block.conditions, *([f"varied: {varied}"] if varied else [])]
            headings.append((block.number, block.title, ". ".join(words) + "."))
    return [
        Section(heading, [Sentence(about, "faint"), *([charts[at]] if at in charts else [])], on=On.PAGE)
        for at, heading, about in headings
    ]


def _table(rows: Sequence[Mapping[str, Any]], worlds: Sequence[SweptBlock], on: On) -> blocks.Table:
    """A row for each policy at each point, with what varies."""
    labels = {varied.column: varied.label for block in worlds for varied in block.varied}
    figures = ("regret", "se", "median", "best arm", "behind the best")
    columns = [Column("policy", words=True), Column("world", words=True)]
    columns += [Column(name) for name in (*labels.values(), *figures)]
    return blocks.Table(
        "Mean regret of each policy at each point (a world with one value of each parameter); se: its standard error; "
        "best arm: share of rounds with the best arm; ★ lowest of its point, oracles excluded; behind the best: mean "
        "difference to ★, paired by run, ± its standard error",
        columns,
        [_cells(row, list(labels)) for row in rows],
        on=on,
    )


def _cells(row: Mapping[str, Any], varied: Sequence[str]) -> list[Cell]:
    behind, error = row["behind_mean"], row["behind_se"]
    words = "" if row["best"] or behind is None else f"+{number(behind)}"
    return [
        Cell(row["policy"]),
        Cell(row["world"]),
        *(Cell("–" if row[column] is None else value_text(row[column])) for column in varied),
        Cell(number(row["regret_mean"]), star=row["best"]),
        Cell(number(row["regret_se"])),
        Cell(number(row["regret_median"])),
        Cell(f"{row['best_arm_share']:.1%}"),
        Cell(words, f"± {number(error)}" if words and error is not None else ""),
    ]


def _listed(varied: Varied) -> str:
    texts = [value_text(value) for value in varied.values]
    if len(texts) <= MOST_LISTED:
        return ", ".join(texts)
    return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"


def _one_or_more(numbers: set[int]) -> str:
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def _large(value: float) -> str:
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.3g} {word}"
    return f"{value:,.0f}"

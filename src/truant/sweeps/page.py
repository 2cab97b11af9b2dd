"""The summary page of a sweep: where does each policy win, and how does regret move with what varies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.lab.result import circumstances
from truant.report.document import Cell, Figure, Table, rendered, spec_of, write_page
from truant.sweeps.charts import NamedChart, one_point_each, sweep_charts, ways_of
from truant.sweeps.study import shown

if TYPE_CHECKING:
    from truant.sweeps.result import SweepResult

MOST_ROWS = 200  # of the table on the page


def write(result: SweepResult) -> Path:
    """Write index.html."""
    study = result.study
    sections: list[dict[str, Any]] = [
        {"heading": heading, "about": about, "charts": [_figure(chart) for chart in several]}
        for heading, about, several in zip(
            *_headings(result), sweep_charts(study, result.table()), strict=True
        )
    ]
    figures = [figure for section in sections for figure in section["charts"]]
    rows = len(result.rows)
    versions = ", ".join(f"{name} {number}" for name, number in result.summary()["versions"].items())
    page = rendered(
        "sweep.html",
        figures,
        title=study.title,
        about=[*filter(None, [study.description]), *(["Lower is better."] if study.minimize else [])],
        facts=[
            ("points", f"{sum(1 for _ in study.points()):,}"),
            ("policies", f"{len({row['policy'] for row in result.rows}):,}"),
            ("runs of each", f"{study.runs:,}"),
            ("rounds played", _large(sum(row["horizon"] * row["runs"] for row in result.rows))),
        ],
        verdict=verdict(result),
        sections=sections,
        table=_table(result),
        left_out=max(0, rows - MOST_ROWS),
        made=f"Seed {study.seed}; {versions}. The last call took {result.seconds:,.0f} s; "
        f"all runs together {result.kernel_seconds:,.0f} s in the compiled loop.",
        source=study.source,
    )
    return write_page(page, result.page)


def verdict(result: SweepResult) -> str:
    """Who wins how often, in a sentence."""
    table = result.table()
    contest = table[table["behind_mean"].notna()]
    points = int(contest["best"].sum())
    if not points:
        return "No policy of this study can be compared with another."
    wins = contest[contest["best"]]["policy"].value_counts()
    good = contest[contest["as_good"]]["policy"].value_counts().reindex(wins.index)
    parts = [
        f"{policy} has the lowest mean regret at {wins[policy]:,} of {points:,} points"
        f" (at {good[policy]:,} nothing is clearly better)"
        for policy in wins.index[:3]
    ]
    return "; ".join(parts) + "."


def _headings(result: SweepResult) -> tuple[list[str], list[str]]:
    if one_point_each(result.study):
        horizons, delays = ({row[key] for row in result.rows} for key in ("horizon", "delay"))
        late = f", outcomes {_one_or_more(delays)} rounds late" if delays != {0} else ""
        return ["All worlds"], [f"{result.study.runs:,} runs of {_one_or_more(horizons)} rounds{late}."]
    about = []
    for block in result.study.blocks:
        fixed = ", ".join(f"{key} = {shown(value)}" for key, value in block.fixed.items())
        varied = "; ".join(f"{way.label}: {_words(way.values)}" for way in ways_of(block))
        horizon = "" if len(block.horizons) > 1 else f"{block.horizons[0]:,} rounds"
        late = ", ".join(circumstances(block.delays[0], False)) if len(block.delays) == 1 else ""
        words = [f"World {block.world}", fixed, horizon, late, f"varied: {varied}" if varied else ""]
        about.append(". ".join(word for word in words if word) + ".")
    return [block.title for block in result.study.blocks], about


def _table(result: SweepResult) -> Table:
    """The first rows of the summary, with what varies."""
    ways = {way.column: way.label for block in result.study.blocks for way in ways_of(block)}
    columns = ["policy", "world", *ways.values(), "regret", "se", "median", "best arm", "behind the best"]
    rows = []
    for row in result.rows[:MOST_ROWS]:
        cells = [Cell(row["policy"]), Cell(row["world"])]
        cells += [Cell("–" if row[column] is None else shown(row[column])) for column in ways]
        cells += [Cell(_number(row["regret_mean"]), best=row["best"]), Cell(_number(row["regret_se"]))]
        cells += [Cell(_number(row["regret_median"])), Cell(f"{row['best_arm_share']:.1%}")]
        behind, error = row["behind_mean"], row["behind_se"]
        words = "" if row["best"] or behind is None else f"+{_number(behind)}"
        cells.append(Cell(words, f"± {_number(error)}" if words and error is not None else ""))
        rows.append(cells)
    return Table("Regret of each policy at each point; ★ is the lowest of its point", columns, rows, words=2)


def _figure(chart: NamedChart) -> Figure:
    return Figure(
        chart.name,
        spec_of(chart.chart),
        f"{chart.heading}. {chart.sentence}",
        chart.heading,
        chart.sentence,
        False,
    )


def _words(values: Sequence[Any]) -> str:
    if len(values) <= 6:
        return ", ".join(shown(value) for value in values)
    return f"{shown(values[0])} to {shown(values[-1])} ({len(values)} values)"


def _one_or_more(horizons: set[int]) -> str:
    return " or ".join(f"{horizon:,}" for horizon in sorted(horizons))


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _large(value: float) -> str:
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:.3g} {word}"
    return f"{value:,.0f}"

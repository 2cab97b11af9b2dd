"""The summary page of a sweep: where does each policy win, and how does regret move with what varies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from truant.charts.sweep import joined, parameter_chart, regret_heatmap, regret_span, winner_map
from truant.lab.study import Block, shown
from truant.report.document import Cell, Figure, Table, rendered, spec_of, write_page

if TYPE_CHECKING:
    import pandas as pd

    from truant.lab.sweep_result import SweepResult

PANELS = 6  # of one chart; results.parquet has them all
MOST_ROWS = 200  # of the table on the page


@dataclass(frozen=True)
class NamedChart:
    """A chart, and what it says."""

    name: str
    heading: str
    chart: alt.TopLevelMixin
    sentence: str


@dataclass(frozen=True)
class Way:
    """Something that varies in a block: its column, how it is called, and its values in order."""

    column: str
    label: str
    values: tuple[Any, ...]


def write(result: SweepResult) -> Path:
    """Write index.html."""
    study = result.study
    sections: list[dict[str, Any]] = [
        {"heading": heading, "about": about, "charts": [_figure(chart) for chart in several]}
        for heading, about, several in zip(*_headings(result), charts(result), strict=True)
    ]
    figures = [figure for section in sections for figure in section["charts"]]
    rows = len(result.rows)
    versions = ", ".join(f"{name} {number}" for name, number in result.summary()["versions"].items())
    page = rendered(
        "sweep.html",
        figures,
        title=study.title,
        about=[study.description] if study.description else [],
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


def charts(result: SweepResult) -> list[list[NamedChart]]:
    """The charts of each section: all blocks beside one another if each is one point, then block by block."""
    table = result.table()
    sections = []
    if _overview(result):
        sections.append([_overview_chart(result, table)])
        return sections
    for block in result.study.blocks:
        sections.append(_block_charts(block, table[table["block"] == block.number + 1]))
    return sections


def _headings(result: SweepResult) -> tuple[list[str], list[str]]:
    if _overview(result):
        horizons = {row["horizon"] for row in result.rows}
        return ["All worlds"], [f"{result.study.runs:,} runs of {_one_or_more(horizons)} rounds."]
    about = []
    for block in result.study.blocks:
        fixed = ", ".join(f"{key} = {shown(value)}" for key, value in block.fixed.items())
        varied = "; ".join(f"{way.label}: {_words(way.values)}" for way in _ways(block))
        horizon = "" if len(block.horizons) > 1 else f"{block.horizons[0]:,} rounds"
        words = [f"World {block.world}", fixed, horizon, f"varied: {varied}" if varied else ""]
        about.append(". ".join(word for word in words if word) + ".")
    return [block.title for block in result.study.blocks], about


def _overview(result: SweepResult) -> bool:
    """Whether each block is a single point: then they are the columns of one map."""
    blocks = result.study.blocks
    single = all(not _ways(block) for block in blocks)
    return single and not any(choice.varied for block in blocks for choice in block.choices)


def _overview_chart(result: SweepResult, table: pd.DataFrame) -> NamedChart:
    titles = {block.number + 1: block.title for block in result.study.blocks}
    cells = table.assign(x=table["block"].map(titles), y=table["policy"], mean=table["regret_mean"])
    if len(titles) == 1:
        cells = cells.assign(x=cells["policy"], y="")
    chart = regret_heatmap(cells, x="" if len(titles) == 1 else "world", y="", widest=900)
    sentence = (
        "Mean regret, pale is low; ★ is the lowest of its world among those that do not see what is missing."
    )
    return NamedChart("overview", "Regret of each policy in each world", chart, sentence)


def _block_charts(block: Block, table: pd.DataFrame) -> list[NamedChart]:
    ways = sorted(_ways(block), key=lambda way: -len(way.values))
    found = []
    own = _policy_ways(block)
    if own:
        found.append(_policy_chart(block, table, own, ways))
    if ways and not own:
        found.append(_curves(block, table, ways))
    if ways and table["behind_mean"].notna().groupby(table["policy"]).any().sum() > 1:
        found.append(_winners(block, table, ways))
    if len(ways) > 1:
        found.append(_maps(block, table, ways))
    if not ways and not own:
        cells = table.assign(x=table["policy"], y="", mean=table["regret_mean"])
        chart = regret_heatmap(cells, x="", y="", widest=900)
        found.append(NamedChart(_id(block, "policies"), "Mean regret", chart, "Mean regret, pale is low."))
    return found


def _ways(block: Block) -> list[Way]:
    """What varies in the world: its parameters, and the horizon."""
    from truant.lab.sweep_result import world_column

    ways = [
        Way(world_column(axis.name.split(",")[0]), axis.name.replace(",", " = "), axis.values)
        for axis in block.axes
        if len(axis.values) > 1
    ]
    if len(block.horizons) > 1:
        ways.append(Way("horizon", "horizon", block.horizons))
    return ways


def _policy_ways(block: Block) -> list[Way]:
    """What varies in the policies."""
    from truant.lab.sweep_result import policy_column

    values: dict[str, dict[Any, None]] = {}
    for choice in block.choices:
        for key, value in choice.varied.items():
            values.setdefault(key, {})[value] = None
    return [Way(policy_column(key), key, tuple(several)) for key, several in values.items()]


def _policy_chart(block: Block, table: pd.DataFrame, own: list[Way], ways: list[Way]) -> NamedChart:
    """Regret along a parameter of the policies; those without it are level lines."""
    way = max(own, key=lambda each: len(each.values))
    panels, left_out = _panels(table, ways)
    drawn = []
    for title, part in panels:
        lines = part[part[way.column].notna()]
        ends = [way.values[0], way.values[-1]]
        flat = [
            row | {way.column: end, "family": row["policy"]}
            for row in part[part[way.column].isna()].to_dict("records")
            for end in ends
        ]
        import pandas as pd

        whole = pd.concat([lines, pd.DataFrame(flat)]) if flat else lines
        drawn.append((title, _line_table(whole, way, "family")))
    chart = _drawn(drawn, way.label)
    sentence = f"Mean regret along {way.label}, ± 2 standard errors." + left_out
    return NamedChart(_id(block, way.label), f"Regret along {way.label}", chart, sentence)


def _curves(block: Block, table: pd.DataFrame, ways: list[Way]) -> NamedChart:
    """Regret along the way with the most values, a panel for each value of the others."""
    way = ways[0]
    panels, left_out = _panels(table, ways[1:])
    chart = _drawn([(title, _line_table(part, way, "policy")) for title, part in panels], way.label)
    sentence = f"Mean regret along {way.label}, ± 2 standard errors." + left_out
    return NamedChart(_id(block, "curves"), f"Regret along {way.label}", chart, sentence)


def _drawn(panels: Sequence[tuple[str, pd.DataFrame]], label: str) -> alt.TopLevelMixin:
    import pandas as pd

    span = regret_span(pd.concat([part for _, part in panels]))
    wide = len(panels) == 1
    drawn = [
        parameter_chart(
            part,
            parameter=label,
            title=title,
            span=span,
            width=560 if wide else 300,
            height=340 if wide else 230,
        )
        for title, part in panels
    ]
    return drawn[0] if wide else joined(drawn, columns=2)


def _line_table(part: pd.DataFrame, way: Way, line: str) -> pd.DataFrame:
    """Rows of lines; what is not a number is taken as text."""
    error = 2 * part["regret_se"].fillna(0.0)
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in way.values)
    xs = part[way.column].astype(float) if numeric else part[way.column].astype(str)
    order = {value if numeric else shown(value): i for i, value in enumerate(way.values)}
    return part.assign(
        policy=part[line],
        x=xs,
        mean=part["regret_mean"],
        low=part["regret_mean"] - error,
        high=part["regret_mean"] + error,
        order=xs.map(order),
    ).sort_values("order", kind="stable")[["policy", "x", "mean", "low", "high"]]


def _winners(block: Block, table: pd.DataFrame, ways: list[Way]) -> NamedChart:
    """The map of who wins, over the two ways with the most values."""
    import pandas as pd

    policies = list(dict.fromkeys(table[table["behind_mean"].notna()]["policy"]))
    across, down = ways[0], ways[1] if len(ways) > 1 else None
    panels, left_out = _panels(table, ways[2:])
    drawn = []
    for title, part in panels:
        cells = []
        for _, point in part.groupby(["horizon", *(way.column for way in ways)], sort=False):
            contest = point[point["behind_mean"].notna()]
            winner = contest[contest["best"]].iloc[0]
            rest = contest[~contest["best"]]
            ratio = (
                rest["regret_mean"].min() / winner["regret_mean"]
                if len(rest) and winner["regret_mean"]
                else None
            )
            cells.append(
                {
                    "x": _text(across, winner[across.column]),
                    "y": _text(down, winner[down.column]) if down else "",
                    "winner": winner["policy"],
                    "as_good": list(rest[rest["as_good"]]["policy"]),
                    "ratio": ratio,
                }
            )
        drawn.append(
            winner_map(
                pd.DataFrame(cells),
                x=across.label,
                y=down.label if down else "",
                policies=policies,
                title=title,
                widest=900 if len(panels) == 1 else 420,
            )
        )
    chart = drawn[0] if len(drawn) == 1 else joined(drawn, columns=2)
    sentence = (
        "The policy with the lowest mean regret, and how many times as much the next best loses; pale, and with ≈, "
        "where others are within two standard errors of it (paired, run by run)." + left_out
    )
    return NamedChart(_id(block, "winners"), "Where does each policy win?", chart, sentence)


def _maps(block: Block, table: pd.DataFrame, ways: list[Way]) -> NamedChart:
    """A heat map for each policy, in the same colours."""
    across, down = ways[0], ways[1]
    panels, left_out = _panels(table, ways[2:])
    title, part = panels[0]
    span = (float(part["regret_mean"].min()), float(part["regret_mean"].max()))
    drawn = []
    for policy, rows in part.groupby("policy", sort=False):
        cells = rows.assign(
            x=[_text(across, value) for value in rows[across.column]],
            y=[_text(down, value) for value in rows[down.column]],
            mean=rows["regret_mean"],
        ).drop(columns="best")
        drawn.append(
            regret_heatmap(cells, x=across.label, y=down.label, title=str(policy), span=span, widest=380)
        )
    sentence = (
        f"Mean regret of each policy, pale is low, all in the same colours{'; ' + title if title else ''}."
    )
    if len(panels) > 1:
        sentence += " Drawn is the first of the panels above." + left_out
    return NamedChart(_id(block, "maps"), "Regret of each policy", joined(drawn, columns=2), sentence)


def _panels(table: pd.DataFrame, ways: Sequence[Way]) -> tuple[list[tuple[str, pd.DataFrame]], str]:
    """A part of the table for each combination of these ways, and a sentence about those left out."""
    if not ways:
        return [("", table)], ""
    panels = []
    for values in itertools.product(*(way.values for way in ways)):
        part = table
        for way, value in zip(ways, values, strict=True):
            part = part[part[way.column].map(shown) == shown(value)]
        title = ", ".join(
            f"{way.label} = {_text(way, value)}" for way, value in zip(ways, values, strict=True)
        )
        panels.append((title, part))
    left_out = f" Drawn are {PANELS} of {len(panels)} combinations." if len(panels) > PANELS else ""
    # the ends and some between: all would be too many to look at
    kept = [panels[round(i * (len(panels) - 1) / (PANELS - 1))] for i in range(PANELS)]
    return (kept if left_out else panels), left_out


def _text(way: Way, value: Any) -> str:
    return f"{value:,}" if way.column == "horizon" else shown(value)


def _table(result: SweepResult) -> Table:
    """The first rows of the summary, with what varies."""
    ways = {way.column: way.label for block in result.study.blocks for way in _ways(block)}
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


def _id(block: Block, name: str) -> str:
    plain = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
    return f"world-{block.number + 1}-{plain}"


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

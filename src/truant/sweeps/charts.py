"""The charts of a sweep: regret along what varies, who wins where, and heat maps; section by section."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd

from truant.charts import Look, in_rows
from truant.charts.lines import policy_looks
from truant.charts.sweep import parameter_chart, regret_heatmap, regret_span, winner_map
from truant.sweeps.study import Block, Study, shown
from truant.sweeps.table import policy_column, world_column

PANELS = 6  # of one chart, and
MOST_VALUES = 60  # along one axis: more are too many to look at; results.parquet has them all


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


@dataclass(frozen=True)
class Section:
    """A block's rows, what varies in its world (the longest way first), and how its policies look."""

    block: Block
    table: pd.DataFrame
    ways: list[Way]
    looks: Mapping[str, Look]
    left_out: str  # a sentence about values that are not drawn


def sweep_charts(study: Study, table: pd.DataFrame) -> list[list[NamedChart]]:
    """The charts of each section: all blocks beside one another if each is one point, then block by block."""
    sections = []
    if one_point_each(study):
        sections.append([_overview_chart(study, table)])
        return sections
    choices = [choice for block in study.blocks for choice in block.choices]
    looks = policy_looks(
        list(dict.fromkeys(name for choice in choices for name in (choice.family, choice.name)))
    )
    for block in study.blocks:
        ways = sorted(ways_of(block), key=lambda way: -len(way.values))
        ways, own, left_out = _thinned(ways, table[table["block"] == block.number + 1])
        sections.append(_section_charts(Section(block, own, ways, looks, left_out)))
    return sections


def one_point_each(study: Study) -> bool:
    """Whether each block is a single point: then they are the columns of one map."""
    blocks = study.blocks
    single = all(not ways_of(block) for block in blocks)
    return single and not any(choice.varied for block in blocks for choice in block.choices)


def _overview_chart(study: Study, table: pd.DataFrame) -> NamedChart:
    titles = {block.number + 1: _in_two_lines(block.title) for block in study.blocks}
    longest = max(
        study.blocks, key=lambda block: len(block.choices)
    )  # its order, and then what others have besides
    order = list(dict.fromkeys([choice.name for choice in longest.choices] + list(table["policy"])))
    cells = table.assign(x=table["block"].map(titles), y=table["policy"], mean=table["regret_mean"])
    cells = cells.assign(rank=cells["policy"].map(order.index)).sort_values(["rank", "block"], kind="stable")
    if len(titles) == 1:
        cells = cells.assign(x=cells["policy"], y="")
    chart = regret_heatmap(
        cells,
        x="" if len(titles) == 1 else "world",
        y="",
        columns=list(dict.fromkeys(cells["x"])) if len(titles) == 1 else list(titles.values()),
        widest=900,
    )
    sentence = (
        "Mean regret, the stronger the colour the higher; ★ is the lowest of its world among those that do not see "
        "what is missing."
    )
    return NamedChart("overview", "Regret of each policy in each world", chart, sentence)


def _in_two_lines(name: str) -> str:
    """A long name, broken at the hyphen or space nearest to its middle."""
    breaks = [i for i, letter in enumerate(name) if letter in "- "]
    if len(name) <= 16 or not breaks:
        return name
    middle = min(breaks, key=lambda i: abs(i - len(name) / 2))
    return f"{name[: middle + 1].rstrip()}\n{name[middle + 1 :]}"


def _section_charts(section: Section) -> list[NamedChart]:
    block, table, ways = section.block, section.table, section.ways
    own = _policy_ways(block)
    if not ways and not own:
        cells = table.assign(x=table["policy"], y="", mean=table["regret_mean"])
        chart = regret_heatmap(cells, x="", y="", widest=900)
        return [
            NamedChart(
                _id(block, "policies"),
                "Mean regret",
                chart,
                "Mean regret, the stronger the colour the higher.",
            )
        ]
    found = [_policy_chart(section, own) if own else _curves(section)]
    if ways and table[table["behind_mean"].notna()]["policy"].nunique() > 1:
        found.append(_winners(section))
    if len(ways) > 1:
        found.append(_maps(section))
    return [replace(chart, sentence=chart.sentence + section.left_out) for chart in found]


def _thinned(ways: Sequence[Way], table: pd.DataFrame) -> tuple[list[Way], pd.DataFrame, str]:
    """The ways with as many values as can be told apart, their rows, and a sentence about those left out."""
    kept, left_out = [], ""
    for way in ways:
        values = way.values
        if len(values) > MOST_VALUES:
            values = tuple(_spread(values, MOST_VALUES))
            words = {shown(value) for value in values}
            table = table[table[way.column].map(shown).isin(words)]
            left_out += f" Drawn are {MOST_VALUES} of {len(way.values):,} values of {way.label}."
        kept.append(replace(way, values=values))
    return kept, table, left_out


def _spread(values: Sequence[Any], count: int) -> list[Any]:
    """The ends, and some between."""
    return [values[round(i * (len(values) - 1) / (count - 1))] for i in range(count)]


def ways_of(block: Block) -> list[Way]:
    """What varies in the world: its parameters, the horizon and the delay."""
    ways = [
        Way(world_column(axis.name.split(",")[0]), axis.name.replace(",", " = "), axis.values)
        for axis in block.axes
        if len(axis.values) > 1
    ]
    if len(block.horizons) > 1:
        ways.append(Way("horizon", "horizon", block.horizons))
    if len(block.delays) > 1:
        ways.append(Way("delay", "delay", block.delays))
    return ways


def _policy_ways(block: Block) -> list[Way]:
    """What varies in the policies."""
    values: dict[str, dict[Any, None]] = {}
    for choice in block.choices:
        for key, value in choice.varied.items():
            values.setdefault(key, {})[value] = None
    return [Way(policy_column(key), key, tuple(several)) for key, several in values.items()]


def _policy_chart(section: Section, own: list[Way]) -> NamedChart:
    """Regret along a parameter of the policies; those without it are level lines."""
    way = max(own, key=lambda each: len(each.values))
    others = [each for each in own if each is not way]
    panels, left_out = _panels(section.table, section.ways)
    drawn = []
    for title, part in panels:
        lines = part[part[way.column].notna()]
        lines = lines.assign(family=[_line_name(row, others) for row in lines.to_dict("records")])
        ends = [way.values[0], way.values[-1]]
        flat = [
            row | {way.column: end, "family": row["policy"]}
            for row in part[part[way.column].isna()].to_dict("records")
            for end in ends
        ]
        whole = pd.concat([lines, pd.DataFrame(flat)]) if flat else lines
        drawn.append((title, _line_table(whole, way, "family")))
    chart = _drawn(drawn, way.label, section.looks)
    sentence = f"Mean regret along {way.label}, ± 2 standard errors." + left_out
    return NamedChart(_id(section.block, way.label), f"Regret along {way.label}", chart, sentence)


def _line_name(row: Mapping[Any, Any], others: Sequence[Way]) -> str:
    """The policy without what the line is drawn along, with what else varies in it."""
    settings = [f"{way.label}={shown(row[way.column])}" for way in others if not pd.isna(row[way.column])]
    family = str(row["family"])
    return f"{family}{',' if ':' in family else ':'}{','.join(settings)}" if settings else family


def _curves(section: Section) -> NamedChart:
    """Regret along the way with the most values, a panel for each value of the others."""
    way = section.ways[0]
    panels, left_out = _panels(section.table, section.ways[1:])
    lines = [(title, _line_table(part, way, "policy")) for title, part in panels]
    chart = _drawn(lines, way.label, section.looks)
    sentence = f"Mean regret along {way.label}, ± 2 standard errors." + left_out
    return NamedChart(_id(section.block, "curves"), f"Regret along {way.label}", chart, sentence)


def _drawn(
    panels: Sequence[tuple[str, pd.DataFrame]], label: str, looks: Mapping[str, Look]
) -> alt.TopLevelMixin:
    span = regret_span(pd.concat([part for _, part in panels]))
    wide = len(panels) == 1
    drawn = [
        parameter_chart(
            part,
            parameter=label,
            title=title,
            span=span,
            looks=looks,
            width=560 if wide else 300,
            height=340 if wide else 230,
        )
        for title, part in panels
    ]
    return drawn[0] if wide else in_rows(drawn, columns=2)


def _line_table(part: pd.DataFrame, way: Way, line: str) -> pd.DataFrame:
    """Rows of lines; what is not a number is taken as text."""
    error = 2 * part["regret_se"].astype(float).fillna(0.0)
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


def _winners(section: Section) -> NamedChart:
    """The map of who wins, over the two ways with the most values."""
    table, ways = section.table, section.ways
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
                looks=section.looks,
                title=title,
                widest=900 if len(panels) == 1 else 420,
            )
        )
    chart = drawn[0] if len(drawn) == 1 else in_rows(drawn, columns=2)
    sentence = (
        "The policy with the lowest mean regret, and how many times as much the next best loses; pale, and with ≈, "
        "where others are within two standard errors of it (paired, run by run)." + left_out
    )
    return NamedChart(_id(section.block, "winners"), "Where does each policy win?", chart, sentence)


def _maps(section: Section) -> NamedChart:
    """A heat map for each policy, in the same colours."""
    across, down = section.ways[:2]
    panels, left_out = _panels(section.table, section.ways[2:])
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
    place = f"; {title}" if title else ""
    sentence = f"Mean regret of each policy, the stronger the colour the higher, on one scale{place}."
    if len(panels) > 1:
        sentence += " Drawn is the first of the panels above." + left_out
    return NamedChart(
        _id(section.block, "maps"), "Regret of each policy", in_rows(drawn, columns=2), sentence
    )


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
    return (_spread(panels, PANELS) if left_out else panels), left_out


def _text(way: Way, value: Any) -> str:
    return f"{value:,}" if way.column in ("horizon", "delay") else shown(value)


def _id(block: Block, name: str) -> str:
    plain = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
    return f"world-{block.number + 1}-{plain}"

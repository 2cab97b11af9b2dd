"""Regret of a sweep as maps: which policy wins where, a heat map for each policy, and all worlds on one map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from truant.charts.style import Look, in_rows
from truant.charts.sweep import regret_heatmap, winner_map
from truant.charts.swept import NamedChart, Row, SweptBlock, panels_by


def overview_map(blocks: Sequence[SweptBlock]) -> NamedChart:
    """Every policy in every world, where each world is a single point."""
    longest = max(blocks, key=lambda block: len(block.policies))
    # the order of the longest list, then what others have besides
    order = list(
        dict.fromkeys([*longest.policies, *(policy for block in blocks for policy in block.policies)])
    )
    titles = {block.number: _in_two_lines(block.title) for block in blocks}
    alone = len(blocks) == 1
    cells = [
        _cell(row["policy"], "", row) if alone else _cell(titles[block.number], row["policy"], row)
        for policy in order
        for block in blocks
        for row in block.rows
        if row["policy"] == policy
    ]
    chart = regret_heatmap(
        pa.Table.from_pylist(cells),
        x="" if alone else "world",
        y="",
        columns=list(dict.fromkeys(cell["x"] for cell in cells)) if alone else list(titles.values()),
        widest=900,
    )
    sentence = (
        "Mean regret; a stronger colour means higher regret; ★ is the lowest of its world, oracles excluded."
    )
    return NamedChart("overview", "Regret of each policy in each world", chart, sentence)


def policies_map(block: SweptBlock) -> NamedChart:
    """Every policy at the one point of a block."""
    cells = [_cell(row["policy"], "", row) for row in block.rows]
    chart = regret_heatmap(pa.Table.from_pylist(cells), x="", y="", widest=900)
    sentence = "Mean regret; a stronger colour means higher regret."
    return NamedChart(block.chart_name("policies"), "Mean regret", chart, sentence)


def winner_maps(block: SweptBlock, looks: Mapping[str, Look]) -> NamedChart:
    """Who wins, over the first two of the varied; a map for each combination of the others."""
    across, down = block.varied[0], block.varied[1] if len(block.varied) > 1 else None
    policies = list(dict.fromkeys(row["policy"] for row in _in_contest(block.rows)))
    panels, left_out = panels_by(block.rows, block.varied[2:])
    maps = [
        winner_map(
            pa.Table.from_pylist(_winner_cells(block, rows)),
            x=across.label,
            y=down.label if down else "",
            policies=policies,
            looks=looks,
            title=title,
            widest=900 if len(panels) == 1 else 420,
        )
        for title, rows in panels
    ]
    chart = maps[0] if len(maps) == 1 else in_rows(maps, columns=2)
    sentence = (
        "Each cell has the policy with the lowest mean regret, oracles excluded, and the regret of the next best as a "
        "multiple of it. In pale cells with ≈, others are within two standard errors (paired by run)."
        + left_out
    )
    return NamedChart(block.chart_name("winners"), "Where does each policy win?", chart, sentence)


def regret_maps(block: SweptBlock) -> NamedChart:
    """A heat map for each policy over the first two of the varied, in the same colours."""
    across, down = block.varied[:2]
    panels, left_out = panels_by(block.rows, block.varied[2:])
    title, rows = panels[0]
    means = [row["regret_mean"] for row in rows]
    maps = []
    for policy in dict.fromkeys(row["policy"] for row in rows):
        cells = [
            {
                "x": across.text(row[across.column]),
                "y": down.text(row[down.column]),
                "mean": row["regret_mean"],
            }
            for row in rows
            if row["policy"] == policy
        ]
        maps.append(
            regret_heatmap(
                pa.Table.from_pylist(cells),
                x=across.label,
                y=down.label,
                title=str(policy),
                span=(min(means), max(means)),
                widest=380,
            )
        )
    place = f"; {title}" if title else ""
    sentence = f"Mean regret of each policy; a stronger colour means higher regret, on one scale{place}."
    if len(panels) > 1:
        sentence += " Only the first of the panels above is drawn." + left_out
    return NamedChart(block.chart_name("maps"), "Regret of each policy", in_rows(maps, columns=2), sentence)


def has_contest(block: SweptBlock) -> bool:
    """Whether two or more policies are compared; an oracle takes no part."""
    return len({row["policy"] for row in _in_contest(block.rows)}) > 1


def _in_contest(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["behind_mean"] is not None]


def _winner_cells(block: SweptBlock, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each point its winner, who may be as good, and the next best's regret over the winner's."""
    points: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        place = (row["horizon"], *(row[varied.column] for varied in block.varied))
        points.setdefault(place, []).append(row)
    across, down = block.varied[0], block.varied[1] if len(block.varied) > 1 else None
    cells = []
    for point in points.values():
        contest = _in_contest(point)
        winner = next(row for row in contest if row["best"])
        rest = [row for row in contest if not row["best"]]
        least = min((row["regret_mean"] for row in rest), default=None)
        cells.append(
            {
                "x": across.text(winner[across.column]),
                "y": down.text(winner[down.column]) if down else "",
                "winner": winner["policy"],
                "as_good": [row["policy"] for row in rest if row["as_good"]],
                "ratio": least / winner["regret_mean"] if rest and winner["regret_mean"] else None,
            }
        )
    return cells


def _cell(x: str, y: str, row: Row) -> dict[str, Any]:
    return {"x": x, "y": y, "mean": row["regret_mean"], "best": row["best"]}


def _in_two_lines(name: str) -> str:
    """A long name, broken at the hyphen or space nearest to its middle."""
    breaks = [i for i, letter in enumerate(name) if letter in "- "]
    if len(name) <= 16 or not breaks:
        return name
    middle = min(breaks, key=lambda i: abs(i - len(name) / 2))
    return f"{name[: middle + 1].rstrip()}\n{name[middle + 1 :]}"

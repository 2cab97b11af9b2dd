"""Tables of a sweep's figures: a row per policy, a column per value of what varies, or per world."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from research.figures import Figure, Table, plus_minus, table

if TYPE_CHECKING:
    from truant.charts.sweep import SweptBlock
    from truant.lab.sweep_result import SweepResult


def table_of(block: SweptBlock) -> Table:
    """A row per policy (without what varies in it), a column per value of what varies most."""
    in_world = sorted(block.varied, key=lambda varied: -len(varied.values))
    ways = [(varied.column, varied.label) for varied in (*block.varied_in_policies[:1], *in_world)]
    (column, label), *others = ways
    values = list(dict.fromkeys(row[column] for row in block.rows if row[column] is not None))
    lines: dict[str, dict[Any, Figure]] = {}
    for row in block.rows:
        words = [row["family"], *(f"{name} = {row[other]:g}" for other, name in others)]
        lines.setdefault(", ".join(words), {})[row[column]] = figure(row)
    return table(
        [f"policy, by {label}", *(in_words(value) for value in values)],
        # a policy in which this does not vary has one figure for all columns
        [
            [f"`{line}`", *(cells[value] if value in cells else cells[None] for value in values)]
            for line, cells in lines.items()
        ],
        title=f"{block.title}, by {label}",  # begins with the world: its rows share instances
    )


def overview(result: SweepResult) -> Table:
    """A row per policy, a column per world."""
    titles = {block.number + 1: block.title for block in result.study.blocks}
    lines: dict[str, dict[int, Figure]] = {}
    for row in result.rows:
        cell = figure(row)
        lines.setdefault(row["policy"], {})[row["block"]] = (
            cell.with_text(f"{cell} ★") if row["best"] else cell
        )
    return table(
        ["policy", *(f"`{title}`" for title in titles.values())],
        [[f"`{policy}`", *(cells.get(number, "") for number in titles)] for policy, cells in lines.items()],
        title="same instances, policy",  # of all rows, as the first part of their names says
    )


def in_words(value: Any) -> str:
    """A value of a parameter."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def figure(row: Mapping[str, Any]) -> Figure:
    """The mean regret of a row and its standard error."""
    mean, error = row["regret_mean"], row["regret_se"]

    def number(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    if error is None:  # of a single run
        return plus_minus(mean, math.nan, size=row["runs"], text=number(mean))
    return plus_minus(mean, error, size=row["runs"], text=f"{number(mean)} ({number(error)})")

"""Tables of a sweep's figures: a row per policy, a column per value of what varies, or per world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from research.markdown import table

if TYPE_CHECKING:
    from truant.charts.swept import SweptBlock
    from truant.sweeps.result import SweepResult


def table_of(block: SweptBlock) -> str:
    """A row per policy (without what varies in it), a column per value of what varies most."""
    in_world = sorted(block.varied, key=lambda varied: -len(varied.values))
    ways = [(varied.column, varied.label) for varied in (*block.varied_in_policies[:1], *in_world)]
    (column, label), *others = ways
    values = list(dict.fromkeys(row[column] for row in block.rows if row[column] is not None))
    lines: dict[str, dict[Any, str]] = {}
    for row in block.rows:
        words = [row["family"], *(f"{name} = {row[other]:g}" for other, name in others)]
        lines.setdefault(", ".join(words), {})[row[column]] = figure(row["regret_mean"], row["regret_se"])
    return table(
        [f"policy, by {label}", *(in_words(value) for value in values)],
        # a policy in which this does not vary has one figure for all columns
        [
            [f"`{line}`", *(cells[value] if value in cells else cells[None] for value in values)]
            for line, cells in lines.items()
        ],
    )


def overview(result: SweepResult) -> str:
    """A row per policy, a column per world."""
    titles = {block.number + 1: block.title for block in result.study.blocks}
    lines: dict[str, dict[int, str]] = {}
    for row in result.rows:
        star = " ★" if row["best"] else ""
        lines.setdefault(row["policy"], {})[row["block"]] = (
            figure(row["regret_mean"], row["regret_se"]) + star
        )
    return table(
        ["policy", *(f"`{title}`" for title in titles.values())],
        [[f"`{policy}`", *(cells.get(number, "") for number in titles)] for policy, cells in lines.items()],
    )


def in_words(value: Any) -> str:
    """A value of a parameter."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def figure(mean: float, error: float | None) -> str:
    """A mean and its standard error."""

    def number(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    return f"{number(mean)} ({number(error)})" if error is not None else number(mean)

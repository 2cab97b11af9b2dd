"""A study and its rows as charts and pages take them: what holds and what varies in each block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truant.charts.swept import SweptBlock, Varied
from truant.lab.result import circumstances
from truant.sweeps.study import Block, Study, shown
from truant.sweeps.table import policy_column, world_column


def swept_blocks(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[SweptBlock]:
    """The blocks of a study, each with its own rows."""
    return [
        _swept(block, [row for row in rows if row["block"] == block.number + 1]) for block in study.blocks
    ]


def _swept(block: Block, rows: Sequence[Mapping[str, Any]]) -> SweptBlock:
    varied = _varied_in_world(block)
    in_policies = _varied_in_policies(block)
    for each in (*varied, *in_policies):
        rows = _with_own_values(rows, each)
    return SweptBlock(
        number=block.number + 1,
        title=block.title,
        world=block.world,
        conditions=_conditions(block),
        varied=varied,
        varied_in_policies=in_policies,
        rows=rows,
    )


def _conditions(block: Block) -> list[str]:
    """What is set in a block, its horizon and its delay, where they do not vary."""
    words = [", ".join(f"{key} = {shown(value)}" for key, value in block.fixed.items())]
    words += [f"{horizon:,} rounds" for horizon in block.horizons if len(block.horizons) == 1]
    words += [", ".join(circumstances(delay, False)) for delay in block.delays if len(block.delays) == 1]
    return [word for word in words if word]


def _varied_in_world(block: Block) -> list[Varied]:
    """The parameters of the world that vary, then the horizon and the delay."""
    several = [
        _varied(world_column(axis.name.split(",")[0]), axis.name.replace(",", " = "), axis.values)
        for axis in block.axes
    ]
    several += [_varied("horizon", "horizon", block.horizons), _varied("delay", "delay", block.delays)]
    return [varied for varied in several if len(varied.values) > 1]


def _varied_in_policies(block: Block) -> list[Varied]:
    """The parameters of the policies that vary."""
    values: dict[str, dict[Any, None]] = {}
    for choice in block.choices:
        for key, value in choice.varied.items():
            values.setdefault(key, {})[value] = None
    return [_varied(policy_column(key), key, tuple(several)) for key, several in values.items()]


def _varied(column: str, label: str, values: Sequence[Any]) -> Varied:
    """Values stay numbers if all of them are; else they are texts."""
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return Varied(column, label, tuple(value if numeric else shown(value) for value in values))


def _with_own_values(rows: Sequence[Mapping[str, Any]], varied: Varied) -> list[dict[str, Any]]:
    """Rows whose cells are values of this block: the column, which all blocks share, may hold texts for numbers."""
    values = {shown(value): value for value in varied.values} if varied.numeric else {}

    def own(cell: Any) -> Any:
        if cell is None:
            return None
        return values.get(cell, cell) if varied.numeric else shown(cell)

    return [{**row, varied.column: own(row[varied.column])} for row in rows]

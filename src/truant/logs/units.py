"""Units of which a log has several rows: puts them into groups that one more key of the aggregate tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truant.analysis.clusters import ArmUnits, Clusters
from truant.counts import COLUMNS, OBSERVED, PULLS, SUM
from truant.errors import InvalidValue
from truant.logs.filter import column_name
from truant.logs.log import Log
from truant.logs.source import Source
from truant.logs.spellings import blanks_note
from truant.logs.values import Rules
from truant.setting import Setting
from truant.tables.request import Request

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_CLUSTERS = 500  # groups of units: an error of 3% in a standard error; with fewer units each is its own
MOST_CLUSTERS_BY = 100  # of each value of `by`


@dataclass(frozen=True)
class Units:
    """The rows with the number of their cluster, and how many units there are: by value of `by` (None: all), by arm."""

    table: ir.Table
    column: str
    sizes: Mapping[Any, Mapping[str, Any]]  # units, in_several, rows and squares by value
    in_arms: Mapping[tuple[Any, Any], int]  # by value and arm
    notes: tuple[str, ...] = ()  # how units were read

    def clusters(self, log: Log, cells: Iterable[dict[str, Any]], pivot: float, value: Any = ...) -> Clusters:
        """The clusters of these cells of the aggregate: all, or those of one value of `by`."""
        entries: list[list[tuple[int, int, float]]] = [[] for _ in log.arms]
        labels: list[Any] = [None] * len(log.arms)
        for cell in cells:
            if cell["arm"] is not None:
                arm, row = cell["place"]
                labels[arm] = cell["arm"]
                entries[arm] += [
                    (cell["cluster"], *entry) for entry in _entries(cell, row, log.setting, pivot)
                ]
        about = self.sizes[value]
        arms = tuple(
            _arm_units(self.in_arms.get((value, label), 0), own)
            for label, own in zip(labels, entries, strict=True)
        )
        alike = float(about["squares"]) / max(float(about["rows"]), 1.0)
        return Clusters(self.column, int(about["units"]), int(about["in_several"] or 0), alike, arms)


def find_units(source: Source, request: Request, picked: ir.Table, rules: Rules) -> Units:
    """The units of a log, each in a cluster; or raises InvalidValue where a row has none."""
    assert request.unit is not None
    table = picked.mutate(unit=rules.known(picked.unit))
    arms = rules.known(picked.arm)
    keys = {"known_arm": arms, "unit": rules.known(picked.unit)}
    if request.by is not None:
        keys["group"] = rules.known(picked.by)
    if picked.unit.type().is_string():
        keys["blank"] = (picked.unit != picked.unit.strip()).ifelse(1, 0)
    rows = picked.select(**keys).filter(lambda t: t.known_arm.notnull())
    blanks = _check_units(source, rows, request.unit)
    sizes, in_arms = _sizes(source, rows, [])
    if request.by is not None:
        by_value = _sizes(source, rows, ["group"])
        sizes, in_arms = sizes | by_value[0], in_arms | by_value[1]
    most = MOST_CLUSTERS if request.by is None else MOST_CLUSTERS_BY
    numbered = _numbered(table, min(int(sizes[...]["units"]), most))
    return Units(numbered, request.unit, sizes, in_arms, (blanks_note(request.unit),) if blanks else ())


def _numbered(table: ir.Table, clusters: int) -> ir.Table:
    """The table with a column `cluster`: units in the order of their names go round the clusters.

    Only the names are sorted and numbered, not the rows.
    """
    import ibis

    names = table.filter(table.unit.notnull()).select(name=table.unit).distinct()
    number = ibis.row_number().over(order_by=names.name) % max(clusters, 1)
    names = names.select("name", cluster=number.cast("int64"))
    return table.left_join(names, table.unit == names.name).drop("name")


def _check_units(source: Source, rows: ir.Table, unit: str) -> bool:
    """Every row has a unit; returns whether some had blanks around."""
    about = {"rows": rows.count(), "known": rows.unit.count()}
    about |= {"blank": rows.blank.sum()} if "blank" in rows.columns else {}
    found = source.run(rows.aggregate(**about))[0]
    without = found["rows"] - found["known"]
    if without:
        raise InvalidValue(
            f"{without:,} of {found['rows']:,} rows have no unit, column {unit!r} is missing there; leave them out "
            f"with filter: {column_name(unit)} is not missing."
        )
    return bool(found.get("blank"))


def _sizes(
    source: Source, rows: ir.Table, group: list[str]
) -> tuple[dict[Any, dict[str, Any]], dict[tuple[Any, Any], int]]:
    """Units by value of `by`, and by value and arm; ... stands for all."""
    per_arm = rows.group_by(*group, "unit", "known_arm").aggregate(n=rows.count())
    per_unit = per_arm.group_by(*group, "unit").aggregate(arms=per_arm.count(), n=per_arm.n.sum())
    about = {
        "units": per_unit.count(),
        "in_several": (per_unit.arms > 1).ifelse(1, 0).sum(),
        "rows": per_unit.n.sum(),
        "squares": (per_unit.n.cast("float64") * per_unit.n.cast("float64")).sum(),
    }
    found = source.run(per_unit.group_by(*group).aggregate(**about) if group else per_unit.aggregate(**about))
    by_arm = source.run(per_arm.group_by(*group, "known_arm").aggregate(units=per_arm.count()))

    def value(row: dict[str, Any]) -> Any:
        return row["group"] if group else ...

    return (
        {value(row): row for row in found},
        {(value(row), row["known_arm"]): int(row["units"]) for row in by_arm},
    )


def _entries(cell: dict[str, Any], row: int, setting: Setting, pivot: float) -> list[tuple[int, float]]:
    """Which entries of the arm's flattened table a cell adds how much to, with sums about the setting's centre."""
    if setting.levels is not None:
        width = setting.outcomes + 1
        column = setting.levels.index(cell["outcome"]) if cell["outcome"] is not None else width - 1
        return [(row * width + column, float(cell["pulls"]))]
    found = [(row * COLUMNS + PULLS, float(cell["pulls"]))]
    if cell["observed"]:
        total = cell["sum"] + cell["observed"] * (pivot - setting.centre)
        found += [(row * COLUMNS + OBSERVED, float(cell["observed"])), (row * COLUMNS + SUM, float(total))]
    return found


def _arm_units(units: int, entries: list[tuple[int, int, float]]) -> ArmUnits:
    columns = list(zip(*entries, strict=True)) or [(), (), ()]
    return ArmUnits(
        units,
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.float64),
    )

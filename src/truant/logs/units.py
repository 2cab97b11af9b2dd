"""Units of which a log has several rows: puts them into groups that one more key of the aggregate tells apart.

Sums that are weighted by the probability of each choice are further columns of the same aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from truant.collection.weighted import ALL, POWERS, SEEN, SQUARES, TOTAL, WeightedSums
from truant.counts import COLUMNS, OBSERVED, PULLS, SUM
from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.estimates.clusters import ArmUnits, Clusters
from truant.logs import statement as sql
from truant.logs.log import Log
from truant.logs.source import Source
from truant.logs.statement import Column, Kind, Rows, Sql
from truant.logs.values import FOLLOWED_UP, Rules, blanks_note
from truant.logs.where import column_name
from truant.setting import Setting
from truant.tables.request import Request

MOST_CLUSTERS = 500  # groups of units: an error of 3% in a standard error; with fewer units each is its own
MOST_CLUSTERS_BY = 100  # of each value of `by`


@dataclass(frozen=True)
class Units:
    """The rows with the number of their cluster, and how many units there are: by value of `by` (None: all), by arm."""

    table: Rows
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


def find_units(source: Source, request: Request, picked: Rows, rules: Rules) -> Units:
    """The units of a log, each in a cluster; or raises InvalidValue where a row has none."""
    assert request.unit is not None
    unit = picked.columns["unit"]
    table = picked.adding({"unit": rules.known(unit)})
    keys: dict[str, Column | Sql] = {
        "known_arm": rules.known(picked.columns["arm"]),
        "unit": rules.known(unit),
    }
    if request.by is not None:
        keys["group"] = rules.known(picked.columns["by"])
    if unit.kind is Kind.TEXT:
        keys["blank"] = sql.flag(unit.sql.neq(sql.trimmed(unit.sql)))
    rows = picked.taking(keys)
    rows = rows.where(sql.known(rows["known_arm"]))
    blanks = _check_units(source, rows, request.unit)
    sizes, in_arms = _sizes(source, rows, [])
    if request.by is not None:
        by_value = _sizes(source, rows, ["group"])
        sizes, in_arms = sizes | by_value[0], in_arms | by_value[1]
    most = MOST_CLUSTERS if request.by is None else MOST_CLUSTERS_BY
    numbered = _numbered(table, min(int(sizes[...]["units"]), most))
    return Units(numbered, request.unit, sizes, in_arms, (blanks_note(request.unit),) if blanks else ())


def _numbered(table: Rows, clusters: int) -> Rows:
    """The table with a column `cluster`: units in the order of their names go round the clusters.

    Only the names are sorted and numbered, not the rows.
    """
    names = table.where(sql.known(table["unit"])).taking({"name": table.columns["unit"]}).distinct()
    number = exp.Mod(
        this=exp.paren(sql.minus(sql.row_number(names["name"]), sql.whole(1))),
        expression=sql.whole(max(clusters, 1)),
    )
    names = names.taking({"name": names.columns["name"], "cluster": number})
    return table.joined(names, "unit", "name", "cluster")


def _check_units(source: Source, rows: Rows, unit: str) -> bool:
    """Every row has a unit; returns whether some had blanks around."""
    about = {"rows": sql.count(), "known": sql.count(rows["unit"])}
    about |= {"blank": sql.count_where(rows["blank"].eq(1))} if "blank" in rows else {}
    found = source.run(rows.grouped({}, about))[0]
    without = found["rows"] - found["known"]
    if without:
        raise InvalidValue(
            f"{without:,} of {found['rows']:,} rows have no unit, column {unit!r} is missing there; leave them out "
            f"with where: {column_name(unit)} is not null."
        )
    return bool(found.get("blank"))


def _sizes(
    source: Source, rows: Rows, group: list[str]
) -> tuple[dict[Any, dict[str, Any]], dict[tuple[Any, Any], int]]:
    """Units by value of `by`, and by value and arm; ... stands for all."""
    per_arm = rows.regrouped((*group, "unit", "known_arm"), {"n": sql.count()})
    per_unit = per_arm.regrouped(
        (*group, "unit"), {"arms": sql.count(), "n": exp.Sum(this=sql.double(per_arm["n"]))}
    )
    about = {
        "units": sql.count(),
        "in_several": sql.count_where(per_unit["arms"] > 1),
        "rows": exp.Sum(this=per_unit["n"]),
        "squares": exp.Sum(this=sql.times(per_unit["n"], per_unit["n"])),
    }
    found = source.run(per_unit.grouped(per_unit.by(*group), about))
    by_arm = source.run(per_arm.grouped(per_arm.by(*group, "known_arm"), {"units": sql.count()}))

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


FAR_OFF = 5.0  # standard errors beyond which probabilities do not fit the rows
LEAST_OFF = 0.05  # of the rows, below which it does not matter


def weight_sums(rows: Rows) -> dict[str, Sql]:
    """Of all rows of a cell: sums of e^-power, and how many have no probability; nothing if none was named."""
    if "probability" not in rows:
        return {}
    found: dict[str, Sql] = {f"weight_{i}": exp.Sum(this=weight) for i, weight in enumerate(_weights(rows))}
    return found | {"no_probability": sql.minus(sql.count(), sql.count_where(_valid(rows)))}


def weighted_outcome_sums(rows: Rows, about: Sql) -> dict[str, Sql]:
    """Of the observed rows of a cell: sums of e^-power times 1, the outcome, and its square."""
    if "probability" not in rows:
        return {}
    found: dict[str, Sql] = {}
    for i, weight in enumerate(_weights(rows)):
        found[f"seen_weight_{i}"] = exp.Sum(this=sql.if_else(sql.known(about), weight))
        found[f"weighted_{i}"] = exp.Sum(this=sql.times(weight, about))
        found[f"weighted_squares_{i}"] = exp.Sum(this=sql.times(weight, about, about))
    return found


def weighted_sums(
    request: Request, cells: Iterable[dict[str, Any]], setting: Setting, pivot: float
) -> WeightedSums | None:
    """The sums of these cells by arm and mediator level; or raises InvalidValue where a row has no probability."""
    if request.probability is None:
        return None
    kept = [cell for cell in cells if cell["arm"] is not None]
    _check(request.probability, kept)
    table = np.zeros((setting.arms, setting.mediators + 1, len(POWERS), 4))
    for cell in kept:
        arm, row = cell["place"]
        for i in range(len(POWERS)):
            table[arm, row, i] += _cell(cell, i, setting)
    rows = sum(int(cell["pulls"]) for cell in kept)
    centre = setting.centre if setting.levels is not None else pivot
    return WeightedSums(request.probability, table, centre, rows)


def share_warnings(sums: WeightedSums | None, arms: Sequence[Any]) -> list[Caution]:
    """Probabilities that cannot be those of the choices: over an arm's rows, 1/e adds up to about all rows."""
    if sums is None:
        return []
    power, squared = POWERS.index(1.0), POWERS.index(2.0)
    expected = sums.table[:, :, power, ALL].sum(axis=1)
    rows = sums.rows
    error = np.sqrt(np.maximum(sums.table[:, :, squared, ALL].sum(axis=1) - expected, 0.0))
    found = []
    for arm, inverse, own in zip(arms, expected, error, strict=True):
        if abs(inverse - rows) > FAR_OFF * own + LEAST_OFF * rows:
            facts = {"column": sums.column, "inverse": float(inverse), "rows": rows}
            found.append(Caution("probabilities-off", str(arm), float(inverse / rows), facts))
    return found


def _cell(cell: dict[str, Any], power: int, setting: Setting) -> list[float]:
    whole = float(cell[f"weight_{power}"] or 0.0)
    if cell.get(FOLLOWED_UP):  # missing at first, which is what the weighted estimates are about
        found = dict.fromkeys((SEEN, TOTAL, SQUARES), 0.0)
    elif setting.levels is None:
        names = {SEEN: "seen_weight", TOTAL: "weighted", SQUARES: "weighted_squares"}
        found = {place: float(cell[f"{name}_{power}"] or 0.0) for place, name in names.items()}
    else:
        seen = 0.0 if cell["outcome"] is None else whole
        about = 0.0 if cell["outcome"] is None else cell["outcome"] - setting.centre
        found = {SEEN: seen, TOTAL: seen * about, SQUARES: seen * about**2}
    found[ALL] = whole
    return [found[place] for place in (ALL, SEEN, TOTAL, SQUARES)]


def _check(column: str, kept: list[dict[str, Any]]) -> None:
    wrong = sum(int(cell["no_probability"]) for cell in kept)
    if wrong:
        rows = sum(cell["pulls"] for cell in kept)
        name = column_name(column)
        raise InvalidValue(
            f"The probability of a choice must be in (0, 1]; in {wrong:,} of {rows:,} rows, column {column!r} holds "
            f"something else or nothing; leave them out with where: {name} > 0 and {name} <= 1."
        )


def _valid(rows: Rows) -> Sql:
    probability = rows["probability"]
    return exp.and_(probability > 0, probability <= 1)


def _weights(rows: Rows) -> list[Sql]:
    """e^-power of each row, NULL where there is no probability."""
    inverse = sql.if_else(_valid(rows), sql.over(sql.real(1), rows["probability"]))
    return [exp.Sqrt(this=inverse), inverse, sql.times(inverse, inverse)]

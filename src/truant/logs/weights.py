"""Sums that are weighted by the probability of each choice: further columns of the one aggregate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from truant.analysis.diagnosis import Warning
from truant.analysis.weighted import ALL, POWERS, SEEN, SQUARES, TOTAL, WeightedSums
from truant.errors import InvalidValue
from truant.logs.filter import column_name
from truant.logs.follow_ups import FOLLOWED_UP
from truant.setting import Setting
from truant.tables.request import Request
from truant.text import named

FAR_OFF = 5.0  # standard errors beyond which probabilities do not fit the rows
LEAST_OFF = 0.05  # of the rows, below which it does not matter


def sums(table: Any) -> dict[str, Any]:
    """Of all rows of a cell: sums of e^-power, and how many have no probability; nothing if none was named."""
    import ibis

    if "probability" not in table.columns:
        return {}
    found = {f"weight_{i}": weight.sum() for i, weight in enumerate(_weights(table))}
    valid = (table.probability > 0) & (table.probability <= 1)
    return found | {"no_probability": ibis.ifelse(valid, 0, 1).sum()}


def outcome_sums(table: Any, about: Any) -> dict[str, Any]:
    """Of the observed rows of a cell: sums of e^-power times 1, the outcome, and its square."""
    import ibis

    if "probability" not in table.columns:
        return {}
    found = {}
    for i, weight in enumerate(_weights(table)):
        found[f"seen_weight_{i}"] = ibis.ifelse(about.notnull(), weight, None).sum()
        found[f"weighted_{i}"] = (weight * about).sum()
        found[f"weighted_squares_{i}"] = (weight * about * about).sum()
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


def share_warnings(sums: WeightedSums | None, arms: Sequence[Any]) -> list[Warning]:
    """Probabilities that cannot be those of the choices: over an arm's rows, 1/e adds up to about all rows."""
    if sums is None:
        return []
    power, squared = POWERS.index(1.0), POWERS.index(2.0)
    expected = sums.table[:, :, power, ALL].sum(axis=1)
    rows = sums.rows
    error = np.sqrt(np.maximum(sums.table[:, :, squared, ALL].sum(axis=1) - expected, 0.0))
    found = []
    for arm, total, own in zip(arms, expected, error, strict=True):
        if abs(total - rows) > FAR_OFF * own + LEAST_OFF * rows:
            text = (
                f"The probabilities in {named(sums.column)} do not fit the rows: over the rows of arm {named(arm)}, "
                f"1/probability adds up to {total:,.0f}, and should be near {rows:,} (all rows). Check that the column "
                "holds the probability with which the row's own arm was chosen."
            )
            found.append(Warning("probabilities-off", text, str(arm), float(total / rows)))
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
            f"something else or nothing; leave them out with filter: {name} > 0 and {name} <= 1."
        )


def _weights(table: Any) -> list[Any]:
    """e^-power of each row, NULL where there is no probability."""
    import ibis

    valid = (table.probability > 0) & (table.probability <= 1)
    inverse = ibis.ifelse(valid, 1.0 / table.probability, None)
    return [inverse.sqrt(), inverse, inverse * inverse]

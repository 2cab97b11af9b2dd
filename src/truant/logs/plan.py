"""Plan: how many missing outcomes of a table to follow up, and which rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from truant.analysis.follow_up_plan import WORST_CASE, PlanOptions, plan_counts
from truant.analysis.labels import Labels
from truant.defaults import LEVEL
from truant.errors import InvalidValue, NotIdentified
from truant.logs.databases import is_url
from truant.logs.inputs import inputs_of
from truant.logs.log_plan import LogPlan
from truant.logs.plan_rows import RowsAsked, check_id, missing_rows
from truant.logs.read import read
from truant.logs.servers import without_password
from truant.setting import whole_number
from truant.tables.request import named_mediators


def plan(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] | None = (),
    id: str | None = None,
    budget: int | None = None,
    chance: float = 0.8,
    level: float = LEVEL,
    differ: float = 0.5,
    success: float = 1.0,
    seed: int = 0,
    followed_up: str | None = None,
    failed_follow_ups: str | None = None,
    observed: str | None = None,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    minimize: bool = False,
    missing_values: Sequence[object] = (),
    only_missing_values: Sequence[object] | None = None,
    decimal: str = ".",
    filter: str | Sequence[str] = (),
    encoding: str | None = None,
    partitioned: bool = False,
) -> LogPlan:
    """Compute how many missing outcomes to follow up for a clear winner, and draw the rows at random.

    Parameters
    ----------
    data : a CSV or Parquet file (or glob), a pandas, polars or Arrow table, an Ibis table, or a database URL.
    arm, outcome : names of columns.
    mediator : a column known before the outcome, or several; "cd420:3" cuts a continuous one at its tertiles.
    id : column that names each row; without it rows are listed by number, counted from 1 below the header.
    budget : number of follow-ups that can be made; found unless given.
    chance : probability with which the best arm must become the clear winner.
    level : probability of being the best from which on an arm is clear.
    differ : in the second scenario, the standard deviation of the difference between missing and observed outcomes of
        an arm, as a share of that of an outcome.
    success : share of follow-ups that are expected to bring an outcome.
    seed : the same seed draws the same rows.
    followed_up : a column that is true where the outcome was missing and then followed up; only others are planned.
    failed_follow_ups : "worst-case" (the default): outcomes that follow-ups failed to obtain, or will fail to, may be
        anywhere in the range of the outcome; "ignorable": they are like the obtained ones. As in `truant.analyze`.
    observed : a column that says whether the outcome was observed.
    range, levels, minimize, missing_values, only_missing_values, decimal, filter, encoding, partitioned : as in
        `truant.analyze`.
    """
    options = PlanOptions(
        level,
        chance,
        differ,
        success,
        budget,
        WORST_CASE if failed_follow_ups is None else failed_follow_ups,
    )
    whole_number("seed", seed, at_least=0)
    mediators = named_mediators(mediator)
    columns = {
        "arm": arm,
        "outcome": outcome,
        "mediator": mediators,
        "observed": observed,
        "followed_up": followed_up,
        "id": id,
    }
    reading: dict[str, Any] = {
        "missing_values": missing_values,
        "only_missing_values": only_missing_values,
        "decimal": decimal,
        "filter": filter,
        "encoding": encoding,
        "partitioned": partitioned,
    }
    asked = RowsAsked(data, columns, id, **reading)
    if id is not None and id in (arm, outcome):
        raise InvalidValue(f"id must be another column than arm and outcome, got {id!r}.")
    check_id(asked)
    log = read(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediators,
        observed=observed,
        followed_up=followed_up,
        levels=levels,
        range=range,
        minimize=minimize,
        **reading,
    )
    labels = Labels.of(log.arms, log.mediators, outcome, log.mediator_column)
    try:
        found = plan_counts(log.counts, log.setting, labels, options)
    except NotIdentified as error:
        raise InvalidValue(labels.sentence(error)) from None
    return LogPlan(
        plan=found,
        source=_source(data),
        columns=columns,
        rows_read=log.rows,
        filters=log.filters,
        filtered_out=log.filtered_out,
        skipped=log.skipped,
        notes=log.notes,
        minimize=minimize,
        seed=int(seed),
        inputs=inputs_of(data),
        missing_rows=missing_rows(asked, log),
    )


def _source(data: Any) -> str:
    """What to call the data: a file's name without its folders (and a database's without its password)."""
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        return Path(without_password(text) if is_url(text) else text).name
    return f"{type(data).__module__.split('.')[0]} {type(data).__name__}"

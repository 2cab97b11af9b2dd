"""Analyze: a table with holes, read where it lies, and what it says under each assumption."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from truant.analysis import Labels, analyze_counts
from truant.errors import InvalidValue
from truant.logs.log_analysis import LogAnalysis
from truant.logs.read import read


def analyze(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] = (),
    control: Any = None,
    assume: str | Sequence[str] = (),
    level: float = 0.95,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    missing_values: Sequence[object] = (),
    observed: str | None = None,
    expected_split: Sequence[float] | None = None,
    minimize: bool = False,
    filter: str | Sequence[str] = (),
) -> LogAnalysis:
    """What each arm of a table with holes is worth under each assumption, and how far to believe it.

    Parameters
    ----------
    data : a CSV or Parquet file (or glob), a pandas, polars or Arrow table, an Ibis table, or a database URL.
    arm, outcome : names of columns; an outcome is missing where it is NULL, NaN or empty.
    mediator : what was known in between, a column or several; "cd420:3" cuts a continuous one at its tertiles.
    control : the arm that others are compared with.
    assume : names of assumptions, see `truant assumptions`; all that are possible unless given.
    level : of confidence intervals.
    range : the lowest and the highest possible outcome, for worst-case bounds; levels bring their own.
    levels : the values of a discrete outcome; found out unless given.
    missing_values : further values that mean missing, e.g. -99.
    observed : a column that says whether the outcome was observed.
    expected_split : the share of units that each arm should have, in the order of the arms.
    minimize : the best arm is the one with the lowest mean: costs, churn, deaths.
    filter : which rows to keep, as in "country = 'DE' and age >= 18"; of several, all must be true.
    """
    mediators = [mediator] if isinstance(mediator, str) else list(mediator)
    log = read(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediators,
        observed=observed,
        levels=levels,
        range=range,
        missing_values=missing_values,
        minimize=minimize,
        filter=filter,
    )
    found = analyze_counts(
        log.counts,
        log.setting,
        Labels.of(log.arms, log.mediators),
        assume=[assume] if isinstance(assume, str) else _names(assume),
        level=level,
        control=None if control is None else str(control),
        expected_split=expected_split,
        range_known=log.setting.levels is not None or log.outcome_range_given,
        found_before=log.warnings,
    )
    columns = {"arm": arm, "outcome": outcome, "mediator": mediators, "observed": observed}
    return LogAnalysis(
        analysis=found,
        source=_source(data),
        rows=log.rows,
        skipped=log.skipped,
        columns=columns,
        filters=log.filters,
        filtered_out=log.filtered_out,
        notes=log.notes,
    )


def _names(assume: object) -> list[str]:
    if isinstance(assume, Sequence) and all(isinstance(name, str) for name in assume):
        return list(assume)
    raise InvalidValue(f"assume must be names of assumptions, got {assume!r}.")


def _source(data: Any) -> str:
    """What to call the data: a file's name without its folders (and a database's without its password)."""
    if isinstance(data, str | os.PathLike):
        return Path(os.fspath(data).split("?")[0]).name
    return f"{type(data).__module__.split('.')[0]} {type(data).__name__}"

"""Analyze: a table with holes, read where it lies, and what it says under each assumption."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truant.analysis import Labels, analyze_counts
from truant.analysis.analysis import assumption_names, check_options
from truant.assumptions.follow_up import FAILURES
from truant.defaults import LEVEL
from truant.errors import InvalidValue, unknown
from truant.logs.analysis_by import AnalysisBy, LeftOut
from truant.logs.collected import Statement
from truant.logs.databases import is_url
from truant.logs.inputs import inputs_of
from truant.logs.log import Log
from truant.logs.log_analysis import LogAnalysis
from truant.logs.read import read
from truant.logs.servers import without_password
from truant.policies import Policy
from truant.tables.request import named_mediators
from truant.terminal.progress import progress_bar
from truant.text import quoted

WORST_CASE = FAILURES[0]


def analyze(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] | None = (),
    control: Any = None,
    assume: str | Sequence[str] = (),
    level: float = LEVEL,
    tolerance: float | None = None,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    cut_outcome: int | Sequence[float] | None = None,
    missing_values: Sequence[object] = (),
    only_missing_values: Sequence[object] | None = None,
    decimal: str = ".",
    observed: str | None = None,
    expected_split: Sequence[float] | None = None,
    minimize: bool = False,
    filter: str | Sequence[str] = (),
    by: str | None = None,
    unit: str | None = None,
    time: str | None = None,
    collected: str = "fixed",
    collected_by: str | Policy | None = None,
    horizon: int | None = None,
    replays: int | None = None,
    probability: str | None = None,
    value: str | Mapping[str, float] | None = None,
    encoding: str | None = None,
    partitioned: bool = False,
    followed_up: str | None = None,
    failed_follow_ups: str | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> LogAnalysis | AnalysisBy:
    """Compare the arms of a table with missing outcomes, under each assumption about why they are missing.

    Parameters
    ----------
    data : a CSV or Parquet file (or glob), a pandas, polars or Arrow table, an Ibis table, or a database URL.
    arm, outcome : names of columns; words such as yes and no are read as 1 and 0.
    mediator : a column known before the outcome, or several; "cd420:3" cuts a continuous one at its tertiles.
    control : the arm that others are compared with.
    assume : names of assumptions, see `truant assumptions`; all that are possible unless given.
    level : of confidence intervals, and the probability of being best from which a winner is clear.
    tolerance : the expected loss, in units of the outcome, up to which arms count as equal; never unless given.
    range : the lowest and the highest possible outcome, for worst-case bounds; levels bring their own.
    levels : the values of a discrete outcome; found out unless given.
    cut_outcome : cuts a real outcome into levels for mnar: 3 at its tertiles, [10, 50] at these points (a value equal
        to a point belongs below it); the value of a level is the mean of the observed outcomes in it.
    missing_values : further values that mean missing, e.g. -99, beside NULL, NaN, blank, and in any case NA, N/A, NaN,
        null and None.
    only_missing_values : values that mean missing instead, beside NULL, NaN and blank.
    decimal : the decimal sign of numbers that are text, "." or ",".
    observed : a column that says whether the outcome was observed.
    expected_split : the share of units that each arm should have, in the order of the arms.
    minimize : the best arm is the one with the lowest mean: costs, churn, deaths.
    filter : which rows to keep, as in "country = 'DE' and age >= 18"; of several, all must be true.
    by : a column; the analysis is made for each of its values, at most 50, and the result has them as `groups`.
    unit : a column that tells units (customers, patients) apart; errors are clustered by it.
    time : a column that says when a row was; the result has the course `over_time`, and warnings about it.
    collected : "fixed", or "adaptive" if a policy chose the arms by what it had seen: confidence sequences.
    collected_by : the policy that did, if it is one of truant's, as in "mar-ucb": it is replayed in worlds that are
        fitted to the log, and intervals are calibrated by that; kept on disk.
    horizon : number of rows that this policy was told; the log may have fewer.
    replays : how often it is replayed; 800 unless given.
    probability : a column with the probability with which the row's arm was chosen: adaptively weighted estimates.
    value : shares of arms, as in "a=0.5,b=0.5" or as a dict: the mean outcome if arms were chosen like that.
    encoding : of CSV files, such as latin-1, cp1252 or utf-16; UTF-8 unless given.
    partitioned : folder names such as `day=3` are columns, too; they are not unless asked for.
    followed_up : a column that says yes where the outcome was missing at first and then followed up: the outcome
        column holds the answer, and is empty if the follow-up failed. Adds `follow-up`, and tests of the assumptions.
    failed_follow_ups : "worst-case" (the default): outcomes that follow-ups failed to obtain may be anywhere in the
        range of the outcome; "ignorable": they are like those that were obtained, of the same arm and level.
    progress : show a progress bar while a policy is replayed; by default if standard error is a terminal. Or a
        function, which is told the share that is done.
    """
    stated = Statement.checked(
        collected,
        collected_by,
        horizon,
        replays,
        probability,
        value,
        unit=unit,
        by=by,
        cut_outcome=cut_outcome,
    )
    failures = _failures(followed_up, failed_follow_ups, unit)
    mediators = named_mediators(mediator)
    inputs = inputs_of(data)
    control = None if control is None else _label(control)
    log = read(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediators,
        observed=observed,
        levels=levels,
        cut_outcome=cut_outcome,
        range=range,
        missing_values=missing_values,
        only_missing_values=only_missing_values,
        decimal=decimal,
        minimize=minimize,
        filter=filter,
        by=by,
        unit=unit,
        time=time,
        probability=probability,
        encoding=encoding,
        partitioned=partitioned,
        followed_up=followed_up,
    )
    columns = {"arm": arm, "outcome": outcome, "mediator": mediators, "observed": observed}
    columns |= {"by": by, "unit": unit, "time": time, "probability": probability}
    asked = Asked(
        source=_source(data),
        columns=columns if followed_up is None else columns | {"followed_up": followed_up},
        assume=assumption_names(assume),
        level=level,
        tolerance=tolerance,
        control=control,
        expected_split=expected_split,
        stated=stated,
        progress=progress,
        inputs=inputs,
        failures=failures,
    )
    return asked.analyzed(log) if by is None else asked.analyzed_by(log, by)


@dataclass(frozen=True)
class Asked:
    """What was asked of a log, beside the counts that it was reduced to."""

    source: str
    columns: dict[str, Any]
    assume: Sequence[str]
    level: float
    tolerance: float | None
    control: str | None
    expected_split: Sequence[float] | None
    stated: Statement
    progress: bool | Callable[[float], None] | None
    inputs: tuple[str, ...]
    failures: str = WORST_CASE  # what is taken of follow-ups that failed

    def analyzed(self, log: Log) -> LogAnalysis:
        """The analysis of a log, whole or the group of one value."""
        # a bar for replays only: all else takes no time
        wanted = self.progress if self.stated.policy is not None else False
        with progress_bar("replaying", wanted) as show:
            found = analyze_counts(
                log.counts,
                log.setting,
                Labels.of(log.arms, log.mediators, self.columns["outcome"], log.mediator_column),
                assume=self.assume,
                level=self.level,
                tolerance=self.tolerance,
                control=self.control,
                expected_split=self.expected_split,
                found_before=log.warnings,
                clusters=log.clusters,
                over_time=log.over_time,
                uncut=log.uncut,
                collected=self.stated.of(log, self.level, show),
                value=self.stated.value,
                failed_follow_ups=self.failures,
            )
        return LogAnalysis(
            analysis=found,
            source=self.source,
            rows=log.rows,
            skipped=log.skipped,
            columns=self.columns,
            units=log.units,
            filters=log.filters,
            filtered_out=log.filtered_out,
            missing_markers=log.missing_markers,
            cut_outcome=log.cut_outcome,
            notes=log.notes,
            inputs=self.inputs,
        )

    def analyzed_by(self, log: Log, by: str) -> AnalysisBy:
        """The analysis of each group; one that cannot be analysed is listed with the reason."""
        check_options(Labels.of(log.arms, log.mediators), self.level, self.control, self.expected_split)
        groups, left_out = {}, []
        for group in log.groups:
            reason = group.reason
            if group.log is not None and self.control not in (None, *map(str, group.log.arms)):
                reason = f"The control {self.control!r} has no rows here."
            if reason or group.log is None:
                left_out.append(LeftOut(group.label, group.rows, reason))
                continue
            split = self.expected_split
            if split is not None:
                split = [share for share, arm in zip(split, log.arms, strict=True) if arm in group.log.arms]
            groups[group.label] = replace(self, expected_split=split).analyzed(group.log)
        if not groups:
            raise InvalidValue(f"None of the groups of {by!r} can be analysed: {left_out[0].reason}")
        return AnalysisBy(
            by=by,
            groups=groups,
            left_out=tuple(left_out),
            log=log,
            source=self.source,
            columns=self.columns,
            inputs=self.inputs,
        )


def _label(control: object) -> str:
    """The label of an arm: a text, or what is written as one, such as a number."""
    try:
        return str(control)
    except Exception:  # an object of a user whose own text fails
        raise InvalidValue(f"control must be the label of an arm, got {quoted(control)}.") from None


def _failures(followed_up: str | None, failures: object, unit: str | None) -> str:
    """What is taken of follow-ups that failed, if the options fit each other; or raises InvalidValue."""
    if failures is not None and followed_up is None:
        raise InvalidValue(
            "failed_follow_ups is about rows that were followed up; name their column with followed_up."
        )
    if failures is not None and failures not in FAILURES:
        raise unknown("way to take failed follow-ups", failures, FAILURES)
    if followed_up is not None and unit is not None:
        raise InvalidValue(
            "unit cannot be used with followed_up: follow-ups are taken as independent rows; leave out one of them."
        )
    return WORST_CASE if failures is None else str(failures)


def _source(data: Any) -> str:
    """What to call the data: a file's name without its folders (and a database's without its password)."""
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        return Path(without_password(text) if is_url(text) else text).name
    return f"{type(data).__module__.split('.')[0]} {type(data).__name__}"

"""Reads a log into counts: one aggregate query where the data is, and what its codes mean."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from truant.errors import UnknownName
from truant.logs import query
from truant.logs.aggregate import Aggregate, assemble, check_types, collect, sentinel_warnings, stray_texts
from truant.logs.forms import NUMBER, Form
from truant.logs.groups import divided
from truant.logs.keep import Kept, condition_columns, keep, selected_on_outcome
from truant.logs.labels import (
    Merged,
    merge,
    set_aside_warnings,
    spelling_warnings,
    thin_arms,
    values_of,
    without_arms,
)
from truant.logs.log import Log
from truant.logs.periods import Periods, arm_labels, find_periods, with_course
from truant.logs.query import find_forms
from truant.logs.question import PlanQuestion, Question
from truant.logs.source import Source, find
from truant.logs.statement import Kind, Rows
from truant.logs.units import Units, find_units, share_warnings, weighted_sums
from truant.logs.values import Rules, marker_doubts, marker_notes, marker_warnings
from truant.logs.where import condition_of, parse
from truant.tables.request import DIVIDING, Request, understand


def read(data: Any, question: Question | PlanQuestion | None = None, **asked: Any) -> Log:
    """Reduce a log of any size to counts, in one scan where it lives.

    Parameters
    ----------
    data : path, folder or pattern of CSV or Parquet files; `URL::table` of a database; a pandas, polars or Arrow
        table; a Spark DataFrame; a dict of columns; or a connection.
    question : what is asked of it; rows without an arm are skipped, and counted.
    asked : the fields of a question, if none is given.
    """
    question = question or Question.of(asked, what="read")
    with closing(found(data, question)) as source:
        request = requested(source, question)
        way = _Way(rules_of(source, question), question.decimal, question.minimize, question.merge_labels)
        return _reduced(source, request, condition_of(question.where), way)


def found(data: Any, question: Question | PlanQuestion) -> Source:
    """Where the data are."""
    return find(data, table=question.table, encoding=question.encoding, partitioned=question.partitioned)


def rules_of(source: Source, question: Question | PlanQuestion) -> Rules:
    """Which values of its columns mean missing."""
    return Rules.of(question.missing_values, source.dialect, question.only_missing_values)


def requested(source: Source, question: Question | PlanQuestion) -> Request:
    """The columns by their roles, if the source has them."""
    try:
        return understand(
            source.columns,
            question.arm,
            question.outcome,
            question.mediators,
            question.observed,
            question.levels,
            question.range,
            question.cut_outcome,
            **{role: getattr(question, role) for role in DIVIDING},
        )
    except UnknownName as error:
        raise advising(error, source) from None


def advising(error: UnknownName, source: Source) -> UnknownName:
    """The error with a hint where the header seems to be a row."""
    odd = [name for name in source.columns if re.fullmatch(NUMBER, name.strip()) or len(source.columns) == 1]
    if not source.has_header or not odd:
        return error
    return error.advising(f"The first line must name the columns; here it holds {odd[0]!r}.")


@dataclass(frozen=True)
class _Way:
    """How values are read."""

    rules: Rules
    decimal: str
    minimize: bool
    merge_labels: bool


@dataclass(frozen=True)
class _Counted:
    """Rows that were counted, and how."""

    periods: Periods | None
    units: Units | None
    forms: dict[str, Form]
    cuts: query.Cuts
    columns: query.QueryColumns
    aggregate: Aggregate
    fields: dict[str, Any]  # of a Log

    @property
    def notes(self) -> list[str]:
        """How times and units were read, and labels."""
        parts = (self.periods, self.units, self.aggregate)
        return [note for part in parts if part is not None for note in part.notes]


def _reduced(source: Source, request: Request, where: str | None, way: _Way) -> Log:
    tree, rules = parse(where, source.columns), way.rules
    names = request.names() | condition_columns(tree)
    picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
    check_types(request, picked, source.durations)
    settled = request.levels is not None or request.range is not None or request.cut_outcome is not None
    if not settled and picked.columns["outcome"].kind is Kind.BOOLEAN:
        request = replace(request, levels=(0.0, 1.0))
    rows_kept = Kept(picked)
    if tree is not None and where is not None:
        rows_kept = keep(source, picked, tree, where, rules, way.decimal)
    merged = Merged(rows_kept.table)
    if way.merge_labels:
        merged = merge(source, request, rows_kept.table, rules)
    counted = all_arms = _counted(source, request, merged.table, way)
    thin = thin_arms(all_arms.fields["counts"])
    left = values_of(all_arms.aggregate.rows, thin)
    if left:  # levels, range and cut points are then those of the other arms, too
        counted = _counted(source, request, without_arms(merged.table, rules, left), way)
    found, aggregate, units = counted.fields, counted.aggregate, counted.units
    rows, asked_arms = all_arms.fields["rows"], all_arms.fields["arms"]
    found["setting"] = replace(found["setting"], minimize=way.minimize)
    if "uncut" in found:
        found["uncut"] = found["uncut"].with_direction(way.minimize)
    missing = found["missing_markers"]
    warnings = [*selected_on_outcome(tree, request.outcome), *marker_warnings(request, missing, rules)]
    warnings += set_aside_warnings(all_arms.fields["counts"], asked_arms, thin)
    warnings += [form.doubt for form in counted.forms.values() if form.doubt is not None]
    warnings += sentinel_warnings(source, request, counted.columns, counted.cuts, aggregate)
    notes = [
        *(form.note for form in counted.forms.values() if form.note),
        *dict.fromkeys([*rows_kept.notes, *merged.notes, *counted.notes]),
        *marker_notes(missing),
        *marker_doubts(request, aggregate.rows),
    ]
    log = Log(
        **found | {"rows": rows},
        where=where,
        filtered_out=rows_kept.left_out,
        notes=tuple(notes),
        warnings=tuple(warnings),
        set_aside=tuple(left),
        asked_arms=asked_arms,
    )
    log = replace(log, weighted=weighted_sums(request, aggregate.rows, log.setting, aggregate.pivot))
    log = replace(log, warnings=(*log.warnings, *share_warnings(log.weighted, log.arms)))
    if units is not None:
        log = replace(log, clusters=units.clusters(log, aggregate.rows, aggregate.pivot))
        if log.uncut is not None:
            real = replace(log, setting=log.uncut.setting)
            uncut = replace(log.uncut, clusters=units.clusters(real, aggregate.rows, aggregate.pivot))
            log = replace(log, uncut=uncut)
    groups = () if request.by is None else divided(request, log, aggregate, units, source.untyped)
    alike = spelling_warnings(
        request,
        dict(zip(log.arms, log.counts.pulls, strict=True)),
        log.mediators,
        [group.label for group in groups],
    )
    log = replace(
        log,
        groups=tuple(group.with_warnings(alike) for group in groups),
        warnings=(*log.warnings, *alike),
    )
    if counted.periods is None:
        return log
    return with_course(
        log, counted.periods.over_time(source, counted.columns, arm_labels(log, aggregate.rows))
    )


def _counted(source: Source, request: Request, picked: Rows, way: _Way) -> _Counted:
    rules = way.rules
    periods = None if request.time is None else find_periods(source, picked, rules, request.time)
    picked = picked if periods is None else periods.table
    units = None if request.unit is None else find_units(source, request, picked, rules)
    for all_rows in (False, True):  # again if the first rows misled
        forms = find_forms(source, request, picked, rules, way.decimal, all_rows)
        cuts = query.find_cuts(source, request, picked, rules, forms)
        columns = query.tidy(request, picked if units is None else units.table, rules, forms, cuts)
        aggregate = collect(source, request, columns)
        if not forms or not stray_texts(request, aggregate.rows, rules):
            break
    fields = assemble(request, cuts, aggregate, rules, source.untyped)
    return _Counted(periods, units, forms, cuts, columns, aggregate, fields)

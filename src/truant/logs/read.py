"""Reads a log into counts: one aggregate query where the data is, and what its codes mean; whole, and by groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

from truant.analysis import Labels
from truant.errors import InvalidValue, UnknownName
from truant.estimates.clusters import Uncut, counts_of_arms
from truant.logs import query
from truant.logs import statement as sql
from truant.logs.aggregate import (
    Aggregate,
    assemble,
    check_groups,
    check_seen,
    check_types,
    collect,
    counts_of,
    sentinel_warnings,
    stray_texts,
)
from truant.logs.cut_outcome import cut_of, level_means
from truant.logs.forms import NUMBER, Form
from truant.logs.log import Group, Log
from truant.logs.periods import Periods, arm_labels, find_periods, with_course
from truant.logs.query import find_forms
from truant.logs.question import PlanQuestion, Question
from truant.logs.rows import (
    Kept,
    condition_columns,
    keep,
    merge,
    selected_on_outcome,
    set_aside_warnings,
    spelling_warnings,
    thin_arms,
    values_of,
    without_arms,
)
from truant.logs.source import Source, find
from truant.logs.statement import Kind, Rows
from truant.logs.units import Units, find_units, share_warnings, weighted_sums
from truant.logs.values import Rules, count_markers, marker_doubts, marker_notes, marker_warnings
from truant.logs.where import condition_of, parse
from truant.tables.request import DIVIDING, Request, check_arms, group_labels, understand


def read(data: Any, question: Question | PlanQuestion | None = None, **asked: Any) -> Log:
    """Reduce a log of any size to counts, in one scan where it lives.

    Parameters
    ----------
    data : path, folder or pattern of CSV or Parquet files; `URL::table` of a database; a pandas, polars or Arrow
        table; a Spark DataFrame; a dict of columns; or a connection.
    question : what is asked of it; rows without an arm are skipped, and counted.
    asked : the fields of a question, if none is given.
    """
    with OpenTable.of(data, question or Question.of(asked, what="read")) as table:
        return table.reduced().log


@dataclass(frozen=True)
class Reduced:
    """A log, and the rows that it was made of."""

    log: Log
    columns: query.QueryColumns
    aggregate: Aggregate
    cuts: query.Cuts
    periods: Periods | None
    units: Units | None
    forms: Mapping[str, Form]

    @property
    def notes(self) -> list[str]:
        """How times and units were read, and labels."""
        parts = (self.periods, self.units, self.aggregate)
        return [note for part in parts if part is not None for note in part.notes]


@dataclass(frozen=True)
class OpenTable:
    """A table that is open, and what is asked of it."""

    source: Source
    request: Request
    question: Question | PlanQuestion
    rules: Rules

    @classmethod
    @contextmanager
    def of(cls, data: Any, question: Question | PlanQuestion) -> Iterator[Self]:
        """Open the table, if it has the columns."""
        places = {name: getattr(question, name) for name in ("table", "encoding", "partitioned")}
        with closing(find(data, **places)) as source:
            rules = Rules.of(question.missing_values, source.dialect, question.only_missing_values)
            yield cls(source, _requested(source, question), question, rules)

    def reduced(self, named: bool = False) -> Reduced:
        """The counts; if rows are `named`, by their numbers or a column, what they were made of has `id`."""
        source, rules, question = self.source, self.rules, self.question
        where = condition_of(question.where)
        tree = parse(where, source.columns)
        names = self.request.names() | condition_columns(tree)
        picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
        check_types(self.request, picked, source.durations)
        if named and question.id is None:
            picked = picked.adding({"id": sql.row_number()})
        request, kept, merges = self.request, Kept(picked), list[str]()
        settled = request.levels is not None or request.range is not None or request.cut_outcome is not None
        if not settled and picked.columns["outcome"].kind is Kind.BOOLEAN:
            request = replace(request, levels=(0.0, 1.0))
        if tree is not None and where is not None:
            kept = keep(source, picked, tree, where, rules, question.decimal)
        table = kept.table
        if question.merge_labels:
            table, merges = merge(source, request, table, rules)
        counted = whole = self._counted(request, table)
        thin = thin_arms(whole.log.counts)
        left = values_of(whole.aggregate.rows, thin)
        if left:  # levels, range and cut points are then those of the other arms, too
            counted = self._counted(request, without_arms(table, rules, left))
        log = replace(
            counted.log,
            rows=whole.log.rows,
            where=where,
            filtered_out=kept.left_out,
            set_aside=tuple(left),
            asked_arms=whole.log.arms,
            warnings=(
                *selected_on_outcome(tree, request.outcome),
                *marker_warnings(request, counted.log.missing_markers, rules),
                *set_aside_warnings(whole.log.counts, whole.log.arms, thin),
                *(form.doubt for form in counted.forms.values() if form.doubt is not None),
                *sentinel_warnings(source, request, counted.columns, counted.cuts, counted.aggregate),
            ),
            notes=(
                *(form.note for form in counted.forms.values() if form.note),
                *dict.fromkeys([*kept.notes, *merges, *counted.notes]),
                *marker_notes(counted.log.missing_markers),
                *marker_doubts(request, counted.aggregate.rows),
            ),
        )
        log = _with_units(request, log, counted)
        log = _with_groups(request, log, counted, source.untyped)
        if counted.periods is not None:
            labels = arm_labels(log, counted.aggregate.rows)
            log = with_course(log, counted.periods.over_time(source, counted.columns, labels))
        return replace(counted, log=log)

    def _counted(self, request: Request, picked: Rows) -> Reduced:
        source, rules, minimize = self.source, self.rules, self.question.minimize
        periods = None if request.time is None else find_periods(source, picked, rules, request.time)
        picked = picked if periods is None else periods.table
        units = None if request.unit is None else find_units(source, request, picked, rules)
        for all_rows in (False, True):  # again if the first rows misled
            forms = find_forms(source, request, picked, rules, self.question.decimal, all_rows)
            cuts = query.find_cuts(source, request, picked, rules, forms)
            columns = query.tidy(request, picked if units is None else units.table, rules, forms, cuts)
            aggregate = collect(source, request, columns)
            if not forms or not stray_texts(request, aggregate.rows, rules):
                break
        log = assemble(request, cuts, aggregate, rules, source.untyped)
        uncut = None if log.uncut is None else log.uncut.with_direction(minimize)
        log = replace(log, setting=replace(log.setting, minimize=minimize), uncut=uncut)
        return Reduced(log, columns, aggregate, cuts, periods, units, forms)


def _requested(source: Source, question: Question | PlanQuestion) -> Request:
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
        odd = [
            name for name in source.columns if re.fullmatch(NUMBER, name.strip()) or len(source.columns) == 1
        ]
        if not source.has_header or not odd:
            raise
        raise error.advising(f"The first line must name the columns; here it holds {odd[0]!r}.") from None


def _with_units(request: Request, log: Log, counted: Reduced) -> Log:
    """The log with its sums by unit and weighted by the probability of each choice, if these were asked for."""
    cells, pivot = counted.aggregate.rows, counted.aggregate.pivot
    weighted = weighted_sums(request, cells, log.setting, pivot)
    log = replace(log, weighted=weighted, warnings=(*log.warnings, *share_warnings(weighted, log.arms)))
    if counted.units is None:
        return log
    log = replace(log, clusters=counted.units.clusters(log, cells, pivot))
    if log.uncut is None:
        return log
    real = replace(log, setting=log.uncut.setting)
    return replace(log, uncut=replace(log.uncut, clusters=counted.units.clusters(real, cells, pivot)))


def _with_groups(request: Request, log: Log, counted: Reduced, untyped: bool) -> Log:
    """The log with its groups, if these were asked for, and warnings of labels that look alike."""
    groups = () if request.by is None else _divided(request, log, counted, untyped)
    rows = dict(zip(log.arms, log.counts.pulls, strict=True))
    alike = spelling_warnings(request, rows, log.mediators, [group.label for group in groups])
    groups = tuple(group.with_warnings(alike) for group in groups)
    return replace(log, groups=groups, warnings=(*log.warnings, *alike))


def _divided(request: Request, log: Log, counted: Reduced, untyped: bool) -> tuple[Group, ...]:
    """The log of each value of the column, with the labels and the setting of the whole; or why it has none."""
    cells: dict[Any, list[dict[str, Any]]] = {}
    for cell in counted.aggregate.rows:
        cells.setdefault(cell["group"], []).append(cell)
    check_groups(request, len(cells))
    labels = group_labels(cells, untyped)
    return tuple(_group(request, log, counted, label, cells[value]) for value, label in labels.items())


def _group(
    request: Request, log: Log, counted: Reduced, label: str, cells: Sequence[dict[str, Any]]
) -> Group:
    value, pivot, units = cells[0]["group"], counted.aggregate.pivot, counted.units
    rows = sum(cell["pulls"] for cell in cells)
    counts = counts_of((cell for cell in cells if cell["arm"] is not None), log.setting, pivot)
    thin = thin_arms(counts)
    there = [arm for arm, pulls in enumerate(counts.pulls) if pulls and arm not in thin]
    skipped, aside = rows - int(counts.pulls.sum()), set_aside_warnings(counts, log.arms, thin)
    left = values_of(cells, thin)
    cells = [cell for cell in cells if cell["arm"] is None or cell["place"][0] not in thin]
    arms = tuple(log.arms[arm] for arm in there)
    clusters = None
    try:
        check_arms(request, arms, rows)
        check_seen(request, counts.observed.sum(), counts.pulls.sum())
        if units is not None:
            clusters = units.clusters(log, cells, pivot, value).of_arms(there)
            clusters.check(Labels.of(arms, ()))
    except InvalidValue as refused:
        return Group(label, value, rows, reason=str(refused))
    missing = count_markers(cells)
    whole = marker_notes(log.missing_markers)
    notes = [*(note for note in log.notes if note not in whole), *marker_notes(missing)]
    counts = counts_of_arms(counts, there)
    uncut, cut = log.uncut, log.cut_outcome
    if uncut is not None and cut is not None:
        uncut = _uncut(log, uncut, counted, cells, there)
        cut = cut_of(cut.outcome, cut.points, arms, counts, uncut.counts)
    sums = weighted_sums(request, cells, log.setting, pivot)
    part = replace(
        log,
        weighted=None if sums is None else replace(sums, table=sums.table[there]),
        counts=counts,
        setting=replace(log.setting, arms=len(there)),
        arms=arms,
        clusters=clusters,
        cut_outcome=cut,
        uncut=uncut,
        rows=rows,
        skipped=skipped,
        set_aside=(*log.set_aside, *left),
        warnings=(*log.warnings, *aside),
        missing_markers=missing,
        notes=tuple(notes),
    )
    return Group(label, value, rows, part)


def _uncut(
    log: Log, uncut: Uncut, counted: Reduced, cells: Sequence[dict[str, Any]], arms: Sequence[int]
) -> Uncut:
    """The counts of a group before its outcome was cut."""
    known = [cell for cell in cells if cell["arm"] is not None]
    pivot, levels = counted.aggregate.pivot, log.setting.levels or ()
    means = level_means(known, log.setting.arms, levels, pivot)
    part = replace(uncut, counts=counts_of(known, uncut.setting, pivot), level_means=means).of_arms(arms)
    if counted.units is None:
        return part
    real = replace(log, setting=uncut.setting)
    return replace(part, clusters=counted.units.clusters(real, cells, pivot, cells[0]["group"]).of_arms(arms))

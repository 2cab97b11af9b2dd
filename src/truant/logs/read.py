"""Reads a log into counts: one aggregate query where the data is, and what its codes mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from truant.analysis.diagnosis import Warning
from truant.errors import InvalidValue, UnknownName
from truant.logs import markers, query, sentinels, spellings
from truant.logs.aggregate import assemble, collect
from truant.logs.checks import check_types, stray_texts
from truant.logs.filter import filters_of, parse
from truant.logs.forms import NUMBER
from truant.logs.groups import divided
from truant.logs.keep import Kept, filter_columns, keep, selected_on_outcome
from truant.logs.log import Log
from truant.logs.periods import arm_labels, find_periods, with_course
from truant.logs.source import Source, find
from truant.logs.text_columns import find_forms
from truant.logs.units import find_units
from truant.logs.values import Rules
from truant.logs.weights import share_warnings, weighted_sums
from truant.setting import switch
from truant.tables.request import Request, understand


def read(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] = (),
    observed: str | None = None,
    levels: Sequence[float] | None = None,
    cut_outcome: int | Sequence[float] | None = None,
    range: tuple[float, float] | None = None,
    missing_values: Sequence[object] = (),
    only_missing_values: Sequence[object] | None = None,
    decimal: str = ".",
    minimize: bool = False,
    filter: str | Sequence[str] = (),
    by: str | None = None,
    unit: str | None = None,
    time: str | None = None,
    encoding: str | None = None,
    probability: str | None = None,
    partitioned: bool = False,
    followed_up: str | None = None,
) -> Log:
    """Reduce a log of any size to counts, in one scan where it lives.

    Parameters
    ----------
    data : path, folder or pattern of CSV or Parquet files; `URL::table` of a database; a pandas, polars, Arrow
        or Ibis table; a dict of columns.
    arm, outcome : columns. Rows without an arm are skipped, and counted.
    mediator : column or columns; several combine into one; `NAME:3` cuts a number into thirds over all arms.
    observed : column that is false (or 0) where the outcome is missing, whatever it holds.
    levels : all values of a discrete outcome; () for a real one; found from the data unless given.
    cut_outcome : number of classes into which a real outcome is cut at its quantiles, or the points where it is cut.
    range : lowest and highest outcome that can be; those seen unless given.
    missing_values : what else means missing in any of these columns, beside NULL, NaN, blank, and in any case NA, N/A,
        NaN, null and None.
    only_missing_values : what means missing instead, beside NULL, NaN and blank.
    decimal : the decimal sign of numbers that are text, "." or ",".
    minimize : the best arm is the one with the lowest mean.
    filter : which rows to keep, as in "country = 'DE' and age >= 18"; of several, all must be true.
    by : column whose values divide the log into groups, at most 50.
    encoding : of CSV files, such as latin-1 or utf-16; UTF-8 unless given.
    partitioned : folder names such as `day=3` are columns, too.
    unit : column whose values tell units (customers, patients) apart, of which there may be several rows.
    time : column that says when a row was: dates, moments, ISO texts or numbers.
    probability : column with the probability with which the row's arm was chosen.
    followed_up : column that is true (or 1) where the outcome was missing at first and then followed up; the outcome
        is then the answer, missing if that failed.
    """
    switch("minimize", minimize)
    if not isinstance(decimal, str) or decimal not in (".", ","):
        raise InvalidValue(f"decimal must be '.' or ',', got {decimal!r}.")
    with closing(find(data, encoding=encoding, partitioned=partitioned)) as source:
        try:
            request = understand(
                source.columns,
                arm,
                outcome,
                mediator,
                observed,
                levels,
                range,
                cut_outcome,
                by=by,
                unit=unit,
                time=time,
                probability=probability,
                followed_up=followed_up,
            )
        except UnknownName as error:
            raise _advising(error, source) from None
        rules = Rules.of(missing_values, source.backend.name, only_missing_values)
        return _reduced(source, request, rules, decimal, filters_of(filter), minimize)


def _advising(error: UnknownName, source: Source) -> UnknownName:
    """With a hint where the header seems to be a row."""
    odd = [name for name in source.columns if re.fullmatch(NUMBER, name.strip()) or len(source.columns) == 1]
    if not source.has_header or not odd:
        return error
    return error.advising(f"The first line must name the columns; here it holds {odd[0]!r}.")


def _reduced(
    source: Source, request: Request, rules: Rules, decimal: str, filters: tuple[str, ...], minimize: bool
) -> Log:
    tree = parse(filters, source.columns)
    names = request.names() | filter_columns(tree)
    picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
    check_types(request, picked, source.durations)
    settled = request.levels is not None or request.range is not None or request.cut_outcome is not None
    if not settled and picked.outcome.type().is_boolean():
        request = replace(request, levels=(0.0, 1.0))
    rows_kept = Kept(picked) if tree is None else keep(source, picked, tree, filters, rules, decimal)
    picked = rows_kept.table
    periods = None if request.time is None else find_periods(source, picked, rules, request.time)
    picked = picked if periods is None else periods.table
    units = None if request.unit is None else find_units(source, request, picked, rules)
    for all_rows in (False, True):  # again if the first rows misled
        forms = find_forms(source, request, picked, rules, decimal, all_rows)
        cuts = query.find_cuts(source, request, picked, rules, forms)
        columns = query.tidy(request, picked if units is None else units.table, rules, forms, cuts)
        aggregate = collect(source, request, columns)
        if not forms or not stray_texts(request, aggregate.rows, rules):
            break
    found = assemble(request, cuts, aggregate, rules, source.untyped)
    found["setting"] = replace(found["setting"], minimize=minimize)
    if "uncut" in found:
        found["uncut"] = found["uncut"].with_direction(minimize)
    missing = found["missing_markers"]
    warnings = [*selected_on_outcome(tree, request.outcome), *markers.warnings(request, missing, rules)]
    warnings += [Warning("thousands", form.doubt) for form in forms.values() if form.doubt]
    warnings += sentinels.warnings(source, request, columns, cuts, aggregate)
    blanks = [*rows_kept.notes, *(() if units is None else units.notes), *aggregate.notes]
    notes = [
        *(form.note for form in forms.values() if form.note),
        *dict.fromkeys(blanks),
        *markers.notes(missing),
        *markers.doubts(request, aggregate.rows),
    ]
    log = Log(
        **found,
        filters=filters,
        filtered_out=rows_kept.left_out,
        notes=tuple(notes),
        warnings=tuple(warnings),
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
    alike = spellings.warnings(
        request,
        dict(zip(log.arms, log.counts.pulls, strict=True)),
        log.mediators,
        [group.label for group in groups],
    )
    log = replace(log, groups=groups, warnings=(*log.warnings, *alike))
    if periods is None:
        return log
    return with_course(log, periods.over_time(source, columns, arm_labels(log, aggregate.rows)))

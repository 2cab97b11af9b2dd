"""Reads a log into counts: one aggregate query where the data is, and what its codes mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from truant.errors import UnknownName
from truant.logs import query
from truant.logs.aggregate import assemble, collect
from truant.logs.checks import check_types
from truant.logs.filter import filters_of, parse
from truant.logs.groups import divided
from truant.logs.keep import filter_columns, keep, selected_on_outcome
from truant.logs.log import Log
from truant.logs.source import Source, find
from truant.logs.units import find_units
from truant.logs.values import NUMBER, Rules
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
    range: tuple[float, float] | None = None,
    missing_values: Sequence[object] = (),
    minimize: bool = False,
    filter: str | Sequence[str] = (),
    by: str | None = None,
    unit: str | None = None,
    encoding: str | None = None,
    partitioned: bool = False,
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
    range : lowest and highest outcome that can be; those seen unless given.
    missing_values : what else means missing, beside NULL, NaN and blank, in any of these columns.
    minimize : the best arm is the one with the lowest mean.
    filter : which rows to keep, as in "country = 'DE' and age >= 18"; of several, all must be true.
    by : column whose values divide the log into groups, at most 50.
    encoding : of CSV files, such as latin-1 or utf-16; UTF-8 unless given.
    partitioned : folder names such as `day=3` are columns, too.
    unit : column whose values tell units (customers, patients) apart, of which there may be several rows.
    """
    switch("minimize", minimize)
    with closing(find(data, encoding=encoding, partitioned=partitioned)) as source:
        try:
            request = understand(
                source.columns, arm, outcome, mediator, observed, levels, range, by=by, unit=unit
            )
        except UnknownName as error:
            raise _advising(error, source) from None
        filters = filters_of(filter)
        return _reduced(source, request, missing_values, filters, minimize)


def _advising(error: UnknownName, source: Source) -> UnknownName:
    """With a hint where the header seems to be a row."""
    numbers = [name for name in source.columns if source.untyped and re.fullmatch(NUMBER, name.strip())]
    if not numbers:
        return error
    return error.advising(f"The first line must name the columns; here it holds {numbers[0]!r}.")


def _reduced(
    source: Source,
    request: Request,
    missing_values: Iterable[object],
    filters: tuple[str, ...],
    minimize: bool,
) -> Log:
    rules = Rules.of(missing_values, source.backend.name)
    tree = parse(filters, source.columns)
    names = request.names() | filter_columns(tree)
    picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
    check_types(request, picked)
    picked, filtered_out = (picked, 0) if tree is None else keep(source, picked, tree, filters, rules)
    cuts = tuple(
        query.cut_points(source, picked, rules, part.classes, f"mediator_{i}") if part.classes else ()
        for i, part in enumerate(request.mediators)
    )
    units = None if request.unit is None else find_units(source, request, picked, rules)
    columns = query.tidy(request, picked if units is None else units.table, rules, cuts)
    if request.levels is None and request.range is None and picked.outcome.type().is_boolean():
        request = replace(request, levels=(0.0, 1.0))
    aggregate = collect(source, request, columns)
    found = assemble(request, cuts, aggregate, source.untyped)
    found["setting"] = replace(found["setting"], minimize=minimize)
    log = Log(
        **found,
        filters=filters,
        filtered_out=filtered_out,
        warnings=selected_on_outcome(tree, request.outcome),
    )
    if units is not None:
        log = replace(log, clusters=units.clusters(log, aggregate.rows, aggregate.pivot))
    if request.by is None:
        return log
    return replace(log, groups=divided(request, log, aggregate, units, source.untyped))

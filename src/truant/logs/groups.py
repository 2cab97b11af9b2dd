"""A log divided by the values of a column: the cells of one aggregate, with the labels and the setting of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from truant.analysis import Labels
from truant.errors import InvalidValue
from truant.estimates.clusters import Uncut, counts_of_arms
from truant.logs.aggregate import Aggregate, check_groups, check_seen, counts_of
from truant.logs.cut_outcome import cut_of, level_means
from truant.logs.labels import set_aside_warnings, thin_arms, values_of
from truant.logs.log import Group, Log
from truant.logs.units import Units, weighted_sums
from truant.logs.values import count_markers, marker_notes
from truant.tables.request import Request, check_arms, group_labels


def divided(
    request: Request, log: Log, aggregate: Aggregate, units: Units | None, untyped: bool
) -> tuple[Group, ...]:
    """The log of each value of the column, or why it cannot be analysed."""
    cells: dict[Any, list[dict[str, Any]]] = {}
    for cell in aggregate.rows:
        cells.setdefault(cell["group"], []).append(cell)
    check_groups(request, len(cells))
    return tuple(
        _group(request, log, aggregate, units, value, label, cells[value])
        for value, label in group_labels(cells, untyped).items()
    )


def _group(
    request: Request,
    log: Log,
    aggregate: Aggregate,
    units: Units | None,
    value: Any,
    label: str,
    cells: Sequence[dict[str, Any]],
) -> Group:
    rows = sum(cell["pulls"] for cell in cells)
    counts = counts_of((cell for cell in cells if cell["arm"] is not None), log.setting, aggregate.pivot)
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
            clusters = units.clusters(log, cells, aggregate.pivot, value).of_arms(there)
            clusters.check(Labels.of(arms, ()))
    except InvalidValue as refused:
        return Group(label, value, rows, reason=str(refused))
    missing = count_markers(cells)
    whole = marker_notes(log.missing_markers)
    notes = [*(note for note in log.notes if note not in whole), *marker_notes(missing)]
    counts = counts_of_arms(counts, there)
    uncut, cut = log.uncut, log.cut_outcome
    if uncut is not None and cut is not None:
        uncut = _uncut(log, uncut, aggregate, units, value, cells, there)
        cut = cut_of(cut.outcome, cut.points, arms, counts, uncut.counts)
    sums = weighted_sums(request, cells, log.setting, aggregate.pivot)
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
    log: Log,
    uncut: Uncut,
    aggregate: Aggregate,
    units: Units | None,
    value: Any,
    cells: Sequence[dict[str, Any]],
    arms: Sequence[int],
) -> Uncut:
    """The counts of a group before its outcome was cut."""
    known = [cell for cell in cells if cell["arm"] is not None]
    pivot, levels = aggregate.pivot, log.setting.levels or ()
    means = level_means(known, log.setting.arms, levels, pivot)
    part = replace(uncut, counts=counts_of(known, uncut.setting, pivot), level_means=means).of_arms(arms)
    if units is None:
        return part
    real = replace(log, setting=uncut.setting)
    return replace(part, clusters=units.clusters(real, cells, pivot, value).of_arms(arms))

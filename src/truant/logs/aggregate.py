"""From the rows of the aggregate query to counts: codes, labels, setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.analysis.uncut import Uncut
from truant.counts import COLUMNS, CUBES, OBSERVED, PULLS, SQUARES, SUM, Counts
from truant.errors import InvalidValue
from truant.logs import checks, cut_outcome, markers, query, spellings
from truant.logs.follow_ups import check_follow_ups, split
from truant.logs.source import Source
from truant.logs.values import Rules
from truant.setting import FloatArray, Setting
from truant.tables.labels import in_order, mediator_levels
from truant.tables.limits import (
    MOST_ARMS,
    MOST_LEVELS,
    MOST_MEDIATORS,
    check_arms,
    check_distinct,
    check_identifiers,
)
from truant.tables.request import Request


@dataclass(frozen=True)
class Aggregate:
    """The rows of the aggregate, and how they were made."""

    rows: list[dict[str, Any]]
    by_outcome: bool
    pivot: float  # what the sums are about
    outcome_points: tuple[float, ...] = ()  # where a real outcome was cut
    notes: tuple[str, ...] = ()  # how labels were read


def collect(source: Source, request: Request, columns: query.QueryColumns) -> Aggregate:
    """Run the aggregate; by outcome if that is discrete, as was said or as the first rows look.

    An outcome that is to be cut has sums for each of its classes.
    """
    look = query.first_look(source, columns)
    distinct = [look[key] for key in columns.keys]
    if distinct[0] > MOST_ARMS or max(distinct[1:], default=0) > MOST_MEDIATORS:
        check_identifiers(request, distinct, look["rows"])
    check_distinct(request, *distinct)
    checks.check_groups(request, look.get("group", 0))
    low, high = (0.0, 0.0) if look["low"] is None else (look["low"], look["high"])
    checks.check_finite(request.outcome, low, high)
    pivot = sum(request.range or (low, high)) / 2
    by_outcome = bool(request.levels)
    columns, outcome_points = cut_outcome.find_outcome_cut(source, request, columns)
    if request.levels is None and request.cut_outcome is None:
        # a range that the values do not span by themselves means a real outcome
        by_outcome = look["clean"] <= MOST_LEVELS and request.range in (None, (low, high))
    with_nan = look["nan"] > 0 or request.cut_outcome is not None
    rows = query.reduce(source, columns, by_outcome, pivot, with_nan)
    if by_outcome and not request.levels and len({row["outcome"] for row in rows} - {None}) > MOST_LEVELS:
        by_outcome = False  # the first rows misled
        rows = query.reduce(source, columns, by_outcome, pivot, look["nan"] > 0)
    if len(rows) > query.MOST_CELLS:
        checks.check_strays(request, rows, columns.rules)
        raise InvalidValue(
            f"The columns have more than {query.MOST_CELLS:,} combinations; "
            "name columns with fewer values, or cut mediators, as in 'NAME:3'."
        )
    return Aggregate(rows, by_outcome, pivot, outcome_points, tuple(spellings.strip_labels(request, rows)))


def assemble(
    request: Request, cuts: query.Cuts, aggregate: Aggregate, rules: Rules, untyped: bool
) -> dict[str, Any]:
    """The fields of a Log."""
    checks.check_strays(request, aggregate.rows, rules)
    rows = sum(cell["pulls"] for cell in aggregate.rows)
    markers.mark(request, aggregate.rows, rules)
    found = markers.count(aggregate.rows)
    kept = [cell for cell in aggregate.rows if cell["arm"] is not None]
    arms = in_order({cell["arm"] for cell in kept}, untyped)
    markers.check_arms_read(request, list(arms.values()), found)
    check_arms(request, list(arms.values()), rows, at_least=1)
    mediators = _mediators(request, cuts, kept, untyped)
    check_distinct(request, len(arms), len(mediators))
    check_identifiers(request, [len(arms), *_distinct(request, kept)], sum(cell["pulls"] for cell in kept))
    arm_code = {value: code for code, value in enumerate(arms)}
    level_code = {level: code for code, level in enumerate(mediators)}
    levels = _levels(request, kept)
    for cell, level in zip(kept, levels, strict=True):
        # its place in the counts; the last row of an arm is "mediator missing"
        cell["place"] = arm_code[cell["arm"]], level_code.get(level, len(mediators))
    check_follow_ups(request, kept)
    make = _discrete if aggregate.by_outcome else _real
    counts, setting = make(request, aggregate, kept, (len(arms), len(mediators) + 1))
    cut: dict[str, Any] = {}
    if request.cut_outcome is not None:
        uncut, counts, setting = _cut(request, aggregate, kept, counts, setting)
        points = aggregate.outcome_points
        found_cut = cut_outcome.cut_of(request.outcome, points, arms.values(), counts, uncut.counts)
        cut = {"uncut": uncut, "cut_outcome": found_cut}
    return cut | {
        "counts": counts,
        "setting": setting,
        "arms": tuple(arms.values()),
        "mediators": tuple(mediators.values()),
        "rows": rows,
        "skipped": rows - sum(cell["pulls"] for cell in kept),
        "mediator_column": _mediator_column(request),
        "missing_markers": found,
    }


def _levels(request: Request, kept: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The mediator level of each cell."""
    if not request.mediators:
        return [()] * len(kept)
    columns = [[cell[f"mediator_{i}"] for cell in kept] for i in range(len(request.mediators))]
    return list(zip(*columns, strict=True))


def _mediator_column(request: Request) -> str:
    parts = request.mediators
    return parts[0].column if len(parts) == 1 and not parts[0].classes else ""


def _mediators(
    request: Request, cuts: query.Cuts, kept: list[dict[str, Any]], untyped: bool
) -> dict[tuple[Any, ...], str]:
    if not request.mediators:
        return {(): "all"}
    levels = {level for level in set(_levels(request, kept)) if None not in level}
    if not levels:
        names = " or ".join(repr(part.column) for part in request.mediators)
        raise InvalidValue(
            f"The mediator is missing in every row: {names}; check the columns, or leave it out."
        )
    return mediator_levels(levels, request.mediators, [cut.points for cut in cuts], untyped)


def _distinct(request: Request, kept: list[dict[str, Any]]) -> list[int]:
    return [len({cell[f"mediator_{i}"] for cell in kept} - {None}) for i, _ in enumerate(request.mediators)]


def counts_of(cells: Iterable[dict[str, Any]], setting: Setting, pivot: float) -> Counts:
    """The counts of these cells of an aggregate, by their places."""
    shape = setting.arms, setting.mediators + 1
    if setting.levels is None:
        return _real_counts(cells, shape, pivot).about(setting.centre)
    kept, asked = split(cells)
    counts = Counts.empty(setting)
    _add_levels(counts.table, kept, setting.levels)
    if asked:
        counts.followed_up = np.zeros_like(counts.table)
        _add_levels(counts.followed_up, asked, setting.levels)
    return counts


def _real_counts(cells: Iterable[dict[str, Any]], shape: tuple[int, int], pivot: float) -> Counts:
    """Sums about the pivot."""
    kept, asked = split(cells)
    return Counts(_real_table(kept, shape), None, pivot, _real_table(asked, shape) if asked else None)


def _add_levels(table: FloatArray, cells: Iterable[dict[str, Any]], levels: Sequence[float]) -> None:
    column = {level: code for code, level in enumerate(levels)}
    kept = [(*cell["place"], column.get(cell["outcome"], len(column)), cell["pulls"]) for cell in cells]
    arms, rows, places, pulls = np.array(kept, np.int64).reshape(-1, 4).T
    np.add.at(table, (arms, rows, places), pulls)


def _real_table(cells: Sequence[dict[str, Any]], shape: tuple[int, int]) -> FloatArray:
    table = np.zeros((*shape, COLUMNS))
    arms, rows = (np.array([cell["place"][i] for cell in cells], np.int64) for i in (0, 1))
    names = {PULLS: "pulls", OBSERVED: "observed", SUM: "sum", SQUARES: "squares", CUBES: "cubes"}
    for column, name in names.items():  # sums of none are NULL
        values = np.array([cell[name] or 0.0 for cell in cells], np.float64)
        np.add.at(table[..., column], (arms, rows), values)
    return table


def _discrete(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], shape: tuple[int, int]
) -> tuple[Counts, Setting]:
    seen = sorted({cell["outcome"] for cell in kept} - {None})
    _check_seen(request, seen, kept)
    if request.levels:
        checks.check_levels(request, seen)
    else:
        checks.check_range(request, seen[0], seen[-1])
    setting = Setting(
        arms=shape[0],
        mediators=shape[1] - 1,
        levels=request.levels or tuple(seen),
        range_known=bool(request.levels) or request.range is not None or _is_scale(seen),
    )
    return counts_of(kept, setting, aggregate.pivot), setting


def _is_scale(levels: Sequence[float]) -> bool:
    """Whether levels that were found look like all there are: 0 and 1, whole numbers from 0 or 1 on, or equal shares.

    A few amounts of money, or the two best of five marks, do not: others may not have come up yet.
    """
    values = np.asarray(levels)
    if len(values) == 2 or values[-1] <= 1:
        return bool(values[0] == 0 and values[-1] == 1 and np.allclose(np.diff(values), values[1], rtol=1e-6))
    return bool(values[0] in (0, 1) and np.all(np.diff(values) == 1))


def _real(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], shape: tuple[int, int]
) -> tuple[Counts, Setting]:
    seen = [cell for cell in kept if cell["observed"]]
    low, high = (min((c["low"] for c in seen), default=0.0), max((c["high"] for c in seen), default=0.0))
    _check_seen(request, [low, high] if seen else [], kept)
    checks.check_range(request, low, high)
    if any(cell["sum"] is None for cell in seen):
        raise InvalidValue(
            f"Column {request.outcome!r} holds NaN, which the database treats as a number; write NULL instead."
        )
    counts = _real_counts(kept, shape, aggregate.pivot)
    low, high = request.range or (low, high)
    setting = Setting(
        arms=shape[0],
        mediators=shape[1] - 1,
        low=low,
        high=high,
        range_known=request.range is not None,
        scale=_spread(counts.table, (high - low) / 2),
    )
    return counts.about(setting.centre), setting


def _cut(
    request: Request, aggregate: Aggregate, kept: list[dict[str, Any]], real: Counts, setting: Setting
) -> tuple[Uncut, Counts, Setting]:
    """What the outcome was, and the counts and the setting of its classes."""
    points, pivot = aggregate.outcome_points, aggregate.pivot
    levels, within = cut_outcome.give_levels(request, points, kept, pivot, setting.mediators)
    cut = Setting(arms=setting.arms, mediators=setting.mediators, levels=levels)
    means = cut_outcome.level_means(kept, cut.arms, levels, pivot)
    return Uncut(real, setting, within=within, level_means=means), counts_of(kept, cut, pivot), cut


def check_seen(request: Request, observed: float, pulls: float) -> None:
    """At least one outcome."""
    if not observed:
        raise InvalidValue(
            f"All {pulls:.0f} outcomes in column {request.outcome!r} are missing; at least one must be observed."
        )


def _check_seen(request: Request, seen: Sequence[float], kept: list[dict[str, Any]]) -> None:
    check_seen(request, len(seen), sum(cell["pulls"] for cell in kept))
    checks.check_finite(request.outcome, seen[0], seen[-1])


def _spread(table: FloatArray, otherwise: float) -> float:
    """The standard deviation of outcomes within arms, pooled."""
    n, total, squares = (table[..., column].sum(axis=1) for column in (OBSERVED, SUM, SQUARES))
    within = squares - total**2 / np.maximum(n, 1)
    spread = float(np.sqrt(max(within.sum(), 0.0) / n.sum()))
    return spread if spread > 0 else otherwise

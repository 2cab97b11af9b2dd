"""The queries: a look at the first rows, the cut points, and the one aggregate that makes a log into counts.

They are written once, in Ibis, and run where the data is; only their few result rows come to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.logs.source import Source
from truant.logs.values import Rules
from truant.tables.request import Request

if TYPE_CHECKING:
    import ibis.expr.types as ir

FIRST_ROWS = 100_000  # a look that costs next to nothing
MOST_CELLS = 1_000_000  # result rows that Python is willing to see

Cuts = tuple[tuple[float, ...], ...]  # per mediator part; () where it is not cut


@dataclass(frozen=True)
class QueryColumns:
    """The wanted columns with missing as NULL, classes instead of cut values, and the outcome as a number.

    The outcome comes twice: `outcome` may hold NaN where the column did, in `clean` that is NULL.
    For each column that must be numbers, `stray_...` holds what is not one, for the message that refuses it.
    """

    table: ir.Table
    keys: tuple[str, ...]  # arm, mediator_0, ...
    strays: tuple[str, ...]
    dividing: tuple[str, ...] = ()  # further keys: group, cluster


def tidy(request: Request, picked: ir.Table, rules: Rules, cuts: Cuts) -> QueryColumns:
    """The picked columns as the queries want them."""
    import ibis

    keys = {"arm": rules.known(picked.arm)}
    strays = {}
    for i, part in enumerate(request.mediators):
        column = picked[f"mediator_{i}"]
        keys[f"mediator_{i}"] = (
            _class_of(rules.number(column), cuts[i]) if part.classes else rules.known(column)
        )
        if part.classes:
            strays[f"stray_mediator_{i}"] = rules.stray(column)
    outcomes = {
        "outcome": rules.number(picked.outcome, but_for_nan=True),
        "clean": rules.number(picked.outcome),
    }
    strays["stray_outcome"] = rules.stray(picked.outcome)
    if request.observed is not None:
        seen = rules.number(picked.observed)
        outcomes = {name: ibis.ifelse(seen == 1, outcome, None) for name, outcome in outcomes.items()}
        if strays["stray_outcome"] is not None:  # whatever it holds while not observed
            strays["stray_outcome"] = ibis.ifelse(seen == 1, strays["stray_outcome"], None)
        strays["stray_observed"] = rules.stray(picked.observed, allowed=(0.0, 1.0))
    strays = {name: stray for name, stray in strays.items() if stray is not None}
    dividing = {} if request.by is None else {"group": rules.known(picked.by)}
    dividing |= {} if request.unit is None else {"cluster": picked.cluster}  # see units.py
    table = picked.select(**keys, **dividing, **strays, **outcomes)
    return QueryColumns(table, tuple(keys), tuple(strays), tuple(dividing))


def cut_points(
    source: Source, picked: ir.Table, rules: Rules, classes: int, mediator: str
) -> tuple[float, ...]:
    """For j = 1 .. classes-1 the smallest value x with F(x) >= j / classes, over all rows that have an arm.

    A value equal to a cut point belongs below it, so ties go to the lower class; equal cut points are one.
    """
    value = rules.number(picked[mediator])
    column = picked.select(arm=rules.known(picked.arm), x=value).filter(
        lambda t: t.arm.notnull() & t.x.notnull()
    )
    if source.backend.name == "duckdb":
        points = source.run(column.aggregate(points=_quantile_disc(column.x, classes)))[0]["points"] or []
    else:  # sorts, and so is slower, but every database can do it
        points = [row["x"] for row in source.run(_at_ranks(column, classes))]
    return tuple(sorted({float(point) for point in points}))


def first_look(source: Source, columns: QueryColumns, seen: str = "outcome") -> dict[str, Any]:
    """Of the first rows whose outcome was observed: its range, distinct values, and how many were NaN."""
    table = columns.table
    rows = table.filter(table.arm.notnull() & table[seen].notnull()).limit(FIRST_ROWS)
    about = {key: rows[key].nunique() for key in (*columns.keys, *columns.dividing, "clean")}
    about |= {"low": rows.clean.min(), "high": rows.clean.max(), "nan": rows.count() - rows.clean.count()}
    look = source.run(rows.aggregate(**about))[0]
    if look["nan"] and look["low"] is None and seen != "clean":
        return first_look(source, columns, "clean") | {"nan": look["nan"]}
    return look


def reduce(
    source: Source, columns: QueryColumns, by_outcome: bool, pivot: float, with_nan: bool
) -> list[dict[str, Any]]:
    """THE aggregate: one row per arm, mediator (and outcome, if discrete), with the sums of real outcomes.

    Sums are of y - pivot, with the pivot amid the outcomes, so that outcomes far from zero cost no digits.
    To look at each value for NaN costs a fifth of the query; where none was seen, a NaN shows in the sums.
    """
    table = columns.table
    keys = (*columns.keys, *columns.dividing)
    sums = {"pulls": table.count()}
    for stray in columns.strays:
        sums |= {f"{stray}_first": table[stray].min(), f"{stray}_last": table[stray].max()}
    if by_outcome:
        return source.run(table.group_by(*keys, "outcome").aggregate(**sums).limit(MOST_CELLS + 1))
    outcome = table.clean if with_nan else table.outcome
    about = outcome - pivot
    sums |= {"observed": outcome.count(), "sum": about.sum(), "squares": (about * about).sum()}
    sums |= {"cubes": (about * about * about).sum()}
    sums |= {"low": outcome.min(), "high": outcome.max()}
    rows = source.run(table.group_by(*keys).aggregate(**sums).limit(MOST_CELLS + 1))
    if not with_nan and any(row["observed"] and row["sum"] is None for row in rows):
        return reduce(source, columns, by_outcome, pivot, with_nan=True)
    return rows


def _class_of(value: Any, points: Sequence[float]) -> Any:
    import ibis

    below = [(value <= point, code) for code, point in enumerate(points)]
    return ibis.cases((value.isnull(), ibis.null("int64")), *below, else_=len(points))


def _quantile_disc(column: Any, classes: int) -> Any:
    import ibis

    @ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
    def quantile_disc(x: float, shares: list[float]) -> list[float]:  # type: ignore[empty-body]
        ...

    return quantile_disc(column, [j / classes for j in range(1, classes)])


def _at_ranks(column: ir.Table, classes: int) -> ir.Table:
    """The values of rank ceil(n j / classes)."""
    import ibis

    ranked = column.select("x", rank=ibis.row_number().over(order_by=column.x) + 1, n=column.count().over())
    reached, before = ranked.rank * classes, (ranked.rank - 1) * classes
    wanted = [(reached >= ranked.n * j) & (before < ranked.n * j) for j in range(1, classes)]
    return ranked.filter(ibis.or_(*wanted)).select("x")

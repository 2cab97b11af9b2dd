"""The queries: a look at the first rows, the cut points, and the one aggregate that makes a log into counts.

They are written once, in Ibis, and run where the data is; only their few result rows come to Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.logs import weights
from truant.logs.follow_ups import FOLLOWED_UP, outcome_known
from truant.logs.forms import PLAIN, Form
from truant.logs.source import Source
from truant.logs.values import Rules
from truant.tables.request import Request

if TYPE_CHECKING:
    import ibis.expr.types as ir

FIRST_ROWS = 100_000  # a look that costs next to nothing
MOST_CELLS = 1_000_000  # result rows that Python is willing to see


@dataclass(frozen=True)
class Cut:
    """Where a mediator is cut, and its lowest and highest value; nothing where it is not cut."""

    points: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()


Cuts = tuple[Cut, ...]  # per mediator part


@dataclass(frozen=True)
class QueryColumns:
    """The wanted columns: keys, classes instead of cut values, and the outcome as a number.

    Keys that are not cut are as they came, missing markers among them: of the few that are left, Python tells which
    are missing. The outcome comes twice: `outcome` may hold NaN where the column did, in `clean` that is NULL.
    Of a column that must be numbers, `unread_...` holds the text that was not read as one: a marker, or a stray.
    """

    table: ir.Table
    keys: tuple[str, ...]  # arm, mediator_0, ...
    cut: frozenset[str]  # those that are classes; `number_...` holds what was cut
    details: tuple[str, ...]  # further keys of the aggregate: seen, unread_...
    rules: Rules
    dividing: tuple[str, ...] = ()  # further keys: group, cluster

    def known(self, table: ir.Table, key: str) -> Any:
        """A key with NULL wherever it is missing."""
        return table[key] if key in self.cut else self.rules.known(table[key])


def tidy(
    request: Request, picked: ir.Table, rules: Rules, forms: Mapping[str, Form], cuts: Cuts
) -> QueryColumns:
    """The picked columns as the queries want them."""
    import ibis

    cut = [f"mediator_{i}" for i, part in enumerate(request.mediators) if part.classes]
    marks = [role for role in ("observed", "followed_up") if role in request.names()]
    needed = ["outcome", *cut, *marks]
    numbers = {f"number_{role}": rules.number(picked[role], form=forms.get(role, PLAIN)) for role in needed}
    picked = picked.mutate(
        **numbers
    )  # a step of its own: texts are read once, however often the number is used

    def unread(role: str, read: Any) -> Any | None:
        """What was not read as a number; numbers that mean missing are written plainly, so that Python knows them."""
        text, listed = (
            rules.unread(picked[role], read),
            rules.listed(picked[role], forms.get(role, PLAIN)),
        )
        return text if listed is None else ibis.coalesce(listed, text)

    keys = {"arm": picked.arm}
    details = {}
    for i, part in enumerate(request.mediators):
        role = f"mediator_{i}"
        keys[role] = class_of(picked[f"number_{role}"], cuts[i].points) if part.classes else picked[role]
        if part.classes:
            details[f"unread_{role}"] = unread(role, picked[f"number_{role}"].notnull())
    clean = picked.number_outcome
    is_text = picked.outcome.type().is_string()
    outcomes = {
        "outcome": clean if is_text else rules.number(picked.outcome, but_for_nan=True),
        "clean": clean,
    }
    details["unread_outcome"] = unread("outcome", clean.notnull())
    if request.observed is not None:
        seen = picked.number_observed
        known = outcome_known(request, seen, picked)
        outcomes = {name: ibis.ifelse(known, outcome, None) for name, outcome in outcomes.items()}
        if details["unread_outcome"] is not None:  # whatever it holds while not observed
            details["unread_outcome"] = ibis.ifelse(known, details["unread_outcome"], None)
        details["seen"] = ibis.cases((seen == 1, 1), (seen == 0, 0))
        details["unread_observed"] = rules.unread(picked.observed, seen.isin([0.0, 1.0]), always=True)
    if request.followed_up is not None:  # where it is missing, nothing was followed up
        asked = picked.number_followed_up
        details[FOLLOWED_UP] = ibis.ifelse(asked == 1, 1, 0)
        details["unread_followed_up"] = rules.unread(picked.followed_up, asked.isin([0.0, 1.0]), always=True)
    if request.by is not None and picked.by.type().is_string():
        details["blank_group"] = picked.by != picked.by.strip()
    details = {name: detail for name, detail in details.items() if detail is not None}
    dividing = {} if request.by is None else {"group": rules.known(picked.by)}
    dividing |= {} if request.unit is None else {"cluster": picked.cluster}  # see units.py
    when = {} if request.time is None else {"period": picked.period}  # see periods.py
    when |= {} if request.probability is None else {"probability": rules.number(picked.probability)}
    of_cut = {f"number_{role}": picked[f"number_{role}"] for role in cut}
    table = picked.select(**keys, **of_cut, **dividing, **when, **details, **outcomes)
    return QueryColumns(table, tuple(keys), frozenset(cut), tuple(details), rules, tuple(dividing))


def find_cuts(
    source: Source, request: Request, picked: ir.Table, rules: Rules, forms: Mapping[str, Form]
) -> Cuts:
    """Where each mediator is cut."""
    cuts = []
    for i, part in enumerate(request.mediators):
        if not part.classes:
            cuts.append(Cut())
            continue
        number = rules.number(picked[f"mediator_{i}"], form=forms.get(f"mediator_{i}", PLAIN))
        column = picked.select(arm=rules.known(picked.arm), x=number)
        cuts.append(cut_points(source, column, part.classes))
    return tuple(cuts)


def cut_points(source: Source, column: ir.Table, classes: int) -> Cut:
    """For j = 1 .. classes-1 the smallest value x with F(x) >= j / classes, over all rows that have an arm.

    A value equal to a cut point belongs below it, so ties go to the lower class; equal cut points are one.
    """
    column = column.filter(column.arm.notnull() & column.x.notnull())
    if source.backend.name == "duckdb":
        found = source.run(
            column.aggregate(
                points=_quantile_disc(column.x, classes), low=column.x.min(), high=column.x.max()
            )
        )[0]
        points, ends = found["points"] or [], (found["low"], found["high"])
    else:  # sorts, and so is slower, but every database can do it
        rows = source.run(_at_ranks(column, classes))
        points = [row["x"] for row in rows if row["cut"]]
        ends = tuple(row["x"] for row in rows)
    ordered = sorted(float(end) for end in ends if end is not None)
    return Cut(tuple(sorted({float(point) for point in points})), tuple(ordered[:1] + ordered[-1:]))


def first_look(source: Source, columns: QueryColumns, seen: str = "outcome") -> dict[str, Any]:
    """Of the first rows whose outcome was observed: its range, distinct values, and how many were NaN."""
    table = columns.table
    rows = table.filter(columns.known(table, "arm").notnull() & table[seen].notnull()).limit(FIRST_ROWS)
    about = {key: columns.known(rows, key).nunique() for key in columns.keys}
    about |= {key: rows[key].nunique() for key in (*columns.dividing, "clean")}
    about |= {"low": rows.clean.min(), "high": rows.clean.max()}
    about |= {"rows": rows.count(), "nan": rows.count() - rows.clean.count()}
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
    keys = (*columns.keys, *columns.dividing, *columns.details)
    sums = {"pulls": table.count(), **weights.sums(table)}
    if by_outcome:
        return source.run(table.group_by(*keys, "outcome").aggregate(**sums).limit(MOST_CELLS + 1))
    outcome = table.clean if with_nan else table.outcome
    about = outcome - pivot
    sums |= {"observed": outcome.count(), "sum": about.sum(), "squares": (about * about).sum()}
    sums |= {"cubes": (about * about * about).sum(), **weights.outcome_sums(table, about)}
    sums |= {"low": outcome.min(), "high": outcome.max()}
    rows = source.run(table.group_by(*keys).aggregate(**sums).limit(MOST_CELLS + 1))
    if not with_nan and any(row["observed"] and row["sum"] is None for row in rows):
        return reduce(source, columns, by_outcome, pivot, with_nan=True)
    return rows


def class_of(value: Any, points: Sequence[float]) -> Any:
    """The number of the class that a value is in; a value equal to a point belongs below it, NULL to no class."""
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
    """The values of rank ceil(n j / classes), which are cut points, and the first and the last."""
    import ibis

    ranked = column.select("x", rank=ibis.row_number().over(order_by=column.x) + 1, n=column.count().over())
    reached, before = ranked.rank * classes, (ranked.rank - 1) * classes
    wanted = [(reached >= ranked.n * j) & (before < ranked.n * j) for j in range(1, classes)]
    found = ranked.select(
        "x", cut=ibis.or_(*wanted), end=(ranked["rank"] == 1) | (ranked["rank"] == ranked.n)
    )
    return found.filter(found.cut | found.end).select("x", "cut")

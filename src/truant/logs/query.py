"""The queries: a look at the first rows, the cut points, and the one aggregate that makes a log into counts.

They are written once and run where the data is; only their few result rows come to Python. Texts of columns that must
be numbers are looked at, too: how they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from truant.errors import InvalidValue
from truant.logs import statement as sql
from truant.logs.cut_outcome import CLASS
from truant.logs.forms import PLAIN, Form, Shape, decide
from truant.logs.source import Source
from truant.logs.statement import Column, Kind, Rows, Sql
from truant.logs.units import weight_sums, weighted_outcome_sums
from truant.logs.values import FOLLOWED_UP, Rules, outcome_known
from truant.tables.request import Request

FIRST_ROWS = 100_000  # a look that costs next to nothing
MOST_CELLS = 1_000_000  # result rows that Python is willing to see
MOST_SHAPES = 5_000  # more are no numbers
YES_OR_NO = ("observed", "followed_up")  # columns that must be true or false


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

    table: Rows
    keys: tuple[str, ...]  # arm, mediator_0, ...
    cut: frozenset[str]  # those that are classes; `number_...` holds what was cut
    details: tuple[str, ...]  # further keys of the aggregate: seen, unread_...
    rules: Rules
    dividing: tuple[str, ...] = ()  # further keys: group, cluster

    def known(self, key: str, rows: Rows | None = None) -> Sql:
        """A key with NULL wherever it is missing, of all rows or of some."""
        column = (self.table if rows is None else rows).columns[key]
        return column.sql if key in self.cut else self.rules.known(column).sql


def tidy(request: Request, picked: Rows, rules: Rules, forms: Mapping[str, Form], cuts: Cuts) -> QueryColumns:
    """The picked columns as the queries want them."""
    cut = request.cut_roles
    needed = ["outcome", *cut, *(mark for mark in YES_OR_NO if mark in request.names())]
    numbers = {
        f"number_{role}": rules.number(picked.columns[role], form=forms.get(role, PLAIN)) for role in needed
    }
    # a step of its own: texts are read once, however often the number is used
    picked = picked.adding(numbers, fenced=any(picked.columns[role].kind is Kind.TEXT for role in needed))
    raw = picked.columns
    keys: dict[str, Column | Sql] = {"arm": raw["arm"]}
    for i, part in enumerate(request.mediators):
        role = f"mediator_{i}"
        keys[role] = class_of(picked[f"number_{role}"], cuts[i].points) if part.classes else raw[role]
    outcomes = _outcomes(request, picked, rules, forms)
    details = {f"unread_{role}": _unread(role, picked, rules, forms) for role in cut}
    details |= _marks(request, picked, rules) | {"unread_outcome": outcomes.pop("unread")}
    if request.by is not None and raw["by"].kind is Kind.TEXT:
        details["blank_group"] = sql.flag(picked["by"].neq(sql.trimmed(picked["by"])))
    found = {name: detail for name, detail in details.items() if detail is not None}
    dividing: dict[str, Column | Sql] = {} if request.by is None else {"group": rules.known(raw["by"])}
    dividing |= {} if request.unit is None else {"cluster": raw["cluster"]}  # see units.py
    columns = {**keys, **{f"number_{role}": picked[f"number_{role}"] for role in cut}, **dividing}
    columns |= {"id": raw["id"]} if "id" in raw else {}
    columns |= {} if request.time is None else {"period": picked["period"]}  # see periods.py
    columns |= {} if request.probability is None else {"probability": rules.number(raw["probability"])}
    table = picked.taking(
        {**columns, **found, **{name: one for name, one in outcomes.items() if one is not None}}
    )
    return QueryColumns(table, tuple(keys), frozenset(cut), tuple(found), rules, tuple(dividing))


def _unread(role: str, picked: Rows, rules: Rules, forms: Mapping[str, Form]) -> Sql | None:
    """What was not read as a number; numbers that mean missing are written plainly, so that Python knows them."""
    text = rules.unread(picked.columns[role], sql.known(picked[f"number_{role}"]))
    listed = rules.listed(picked.columns[role], forms.get(role, PLAIN))
    return text if listed is None else exp.Coalesce(this=listed, expressions=[text])


def _outcomes(
    request: Request, picked: Rows, rules: Rules, forms: Mapping[str, Form]
) -> dict[str, Sql | None]:
    """The outcome with NaN and without, and what was not read of it."""
    column, clean = picked.columns["outcome"], picked["number_outcome"]
    found = {
        "outcome": clean if column.kind is Kind.TEXT else rules.number(column, but_for_nan=True),
        "clean": clean,
        "unread": _unread("outcome", picked, rules, forms),
    }
    if request.observed is None:
        return found
    was_known = outcome_known(request, picked)  # whatever it holds while not observed
    return {name: None if one is None else sql.if_else(was_known, one) for name, one in found.items()}


def _marks(request: Request, picked: Rows, rules: Rules) -> dict[str, Sql | None]:
    """Whether the outcome was observed, and followed up, where columns say so; where that is missing, it was not."""
    found: dict[str, Sql | None] = {}
    for role in (role for role in YES_OR_NO if role in request.names()):
        mark = picked[f"number_{role}"]
        found[f"unread_{role}"] = rules.unread(picked.columns[role], sql.is_in(mark, [0.0, 1.0]), always=True)
        if role == "observed":
            found["seen"] = sql.cases((mark.eq(1), sql.whole(1)), (mark.eq(0), sql.whole(0)))
        else:
            found[FOLLOWED_UP] = sql.flag(mark.eq(1))
    return found


def find_cuts(
    source: Source, request: Request, picked: Rows, rules: Rules, forms: Mapping[str, Form]
) -> Cuts:
    """Where each mediator is cut."""
    cuts = []
    for i, part in enumerate(request.mediators):
        if not part.classes:
            cuts.append(Cut())
            continue
        role = f"mediator_{i}"
        number = rules.number(picked.columns[role], form=forms.get(role, PLAIN))
        column = picked.taking({"arm": rules.known(picked.columns["arm"]), "x": number})
        cuts.append(cut_points(source, column, part.classes))
    return tuple(cuts)


def cut_points(source: Source, column: Rows, classes: int) -> Cut:
    """For j = 1 .. classes-1 the smallest value x with F(x) >= j / classes, over all rows that have an arm.

    A value equal to a cut point belongs below it, so ties go to the lower class; equal cut points are one.
    """
    column = column.where(sql.known(column["arm"]), sql.known(column["x"]))
    if source.dialect == "duckdb":
        shares = exp.Array(expressions=[exp.Literal.number(repr(j / classes)) for j in range(1, classes)])
        about: dict[str, Sql] = {
            "points": exp.Anonymous(this="QUANTILE_DISC", expressions=[column["x"], shares])
        }
        about |= {"low": exp.Min(this=column["x"]), "high": exp.Max(this=column["x"])}
        found = source.run(column.grouped({}, about))[0]
        points, ends = found["points"] or [], (found["low"], found["high"])
    else:  # sorts, and so is slower, but every database can do it
        rows = source.run(_at_ranks(column, classes))
        points = [row["x"] for row in rows if row["cut"]]
        ends = tuple(row["x"] for row in rows)
    ordered = sorted(float(end) for end in ends if end is not None)
    return Cut(tuple(sorted({float(point) for point in points})), tuple(ordered[:1] + ordered[-1:]))


def find_outcome_cut(
    source: Source, request: Request, columns: QueryColumns
) -> tuple[QueryColumns, tuple[float, ...]]:
    """The columns with the outcome's class as a further key, and where the outcome is cut; or as they are."""
    if request.cut_outcome is None:
        return columns, ()
    table = columns.table
    points = request.cut_outcome.points
    if request.cut_outcome.classes:
        column = table.taking({"arm": columns.known("arm"), "x": table["clean"]})
        points = cut_points(source, column, request.cut_outcome.classes).points
    cut = table.adding({CLASS: class_of(table["clean"], points)})
    return replace(columns, table=cut, details=(*columns.details, CLASS)), points


def first_look(source: Source, columns: QueryColumns, seen: str = "outcome") -> dict[str, Any]:
    """Of the first rows whose outcome was observed: its range, distinct values, and how many were NaN."""
    table = columns.table
    rows = table.where(sql.known(columns.known("arm")), sql.known(table[seen])).first(FIRST_ROWS)
    about = {key: sql.distinct(columns.known(key, rows)) for key in columns.keys}
    about |= {key: sql.distinct(rows[key]) for key in (*columns.dividing, "clean")}
    about |= {"low": exp.Min(this=rows["clean"]), "high": exp.Max(this=rows["clean"])}
    about |= {"rows": sql.count(), "numbers": sql.count(rows["clean"])}
    look = source.run(rows.grouped({}, about))[0]
    look["nan"] = look["rows"] - look["numbers"]
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
    rows = source.run(reduction(columns, by_outcome, pivot, with_nan))
    if not by_outcome and not with_nan and any(row["observed"] and row["sum"] is None for row in rows):
        return reduce(source, columns, by_outcome, pivot, with_nan=True)
    return rows


def reduction(columns: QueryColumns, by_outcome: bool, pivot: float, with_nan: bool) -> exp.Select:
    """Its statement."""
    table = columns.table
    keys = table.by(*columns.keys, *columns.dividing, *columns.details)
    sums = {"pulls": sql.count(), **weight_sums(table)}
    if by_outcome:
        return table.grouped(keys | table.by("outcome"), sums).limit(MOST_CELLS + 1)
    outcome = table["clean" if with_nan else "outcome"]
    about = sql.minus(outcome, sql.real(pivot))
    sums |= {
        "observed": sql.count(outcome),
        "sum": exp.Sum(this=about),
        "squares": exp.Sum(this=sql.times(about, about)),
    }
    sums |= {"cubes": exp.Sum(this=sql.times(about, about, about)), **weighted_outcome_sums(table, about)}
    sums |= {"low": exp.Min(this=outcome), "high": exp.Max(this=outcome)}
    return table.grouped(keys, sums).limit(MOST_CELLS + 1)


def class_of(value: Sql, points: Sequence[float]) -> Sql:
    """The number of the class that a value is in; a value equal to a point belongs below it, NULL to no class."""
    below = [(value <= sql.real(point), sql.whole(code)) for code, point in enumerate(points)]
    return sql.cases(
        (sql.is_null(value), exp.cast(exp.null(), "bigint")), *below, otherwise=sql.whole(len(points))
    )


def _at_ranks(column: Rows, classes: int) -> exp.Select:
    """The values of rank ceil(n j / classes), which are cut points, and the first and the last."""
    x = column["x"]
    ranked = column.taking({"x": x, "place": sql.row_number(x), "n": exp.Window(this=sql.count())})
    place, n = ranked["place"], ranked["n"]
    reached, before = sql.times(place, sql.whole(classes)), sql.times(place - 1, sql.whole(classes))
    shares = [sql.times(n, sql.whole(j)) for j in range(1, classes)]
    cut = exp.or_(*(exp.and_(reached >= share, before < share) for share in shares))
    is_end = exp.or_(place.eq(1), place.eq(n))
    found = ranked.taking({"x": ranked["x"], "cut": sql.flag(cut), "is_end": sql.flag(is_end)})
    return found.where(exp.or_(found["cut"].eq(1), found["is_end"].eq(1))).select


def find_forms(
    source: Source, request: Request, picked: Rows, rules: Rules, decimal: str, all_rows: bool
) -> dict[str, Form]:
    """The form of each text column that must be numbers, by role.

    The first rows are enough where later texts of another form would be noticed by the aggregate.
    """
    forms: dict[str, Form] = {}
    names = request.names()
    for role in (*YES_OR_NO, "outcome", *request.cut_roles):
        if role not in names or picked.columns[role].kind is not Kind.TEXT:
            continue
        rows = picked
        if role == "outcome" and request.observed is not None:  # whatever it holds while not observed
            marks = [mark for mark in YES_OR_NO if mark in names]
            read = {f"number_{m}": rules.number(picked.columns[m], form=forms.get(m, PLAIN)) for m in marks}
            rows = picked.adding(read)
            rows = rows.where(outcome_known(request, rows))
        forms[role] = form_of(source, rows, role, names[role], rules, decimal, all_rows)
    return forms


def form_of(
    source: Source, rows: Rows, role: str, name: str, rules: Rules, decimal: str, all_rows: bool
) -> Form:
    """The form of one text column; or raises InvalidValue.

    Parameters
    ----------
    role, name : what the queries and the user call it.
    decimal : the decimal sign.
    all_rows : whether to look at more than the first ones.
    """
    if not all_rows:
        found = _shapes(source, rows, role, rules, FIRST_ROWS)
        seen_all = sum(shape.rows for shape in found) < FIRST_ROWS
        try:
            form = decide(name, found, decimal, role in YES_OR_NO, source.semicolons)
        except InvalidValue:
            if seen_all:
                raise
        else:
            whole = source.semicolons and not any(
                "." in shape.text for shape in found
            )  # 1.000 may come later
            if seen_all or form.words or (form == PLAIN and decimal == "." and not form.doubt and not whole):
                return form
    return decide(
        name, _shapes(source, rows, role, rules, None), decimal, role in YES_OR_NO, source.semicolons
    )


def _shapes(source: Source, table: Rows, role: str, rules: Rules, first_rows: int | None) -> list[Shape]:
    """The texts that are not missing with all digits made alike, of the first rows or of all."""
    rows = table.taking({"text": table.columns[role].with_sql(sql.trimmed(table[role]))}, fenced=True)
    rows = rows.where(sql.known(rules.known(rows.columns["text"]).sql))
    if first_rows is not None:
        rows = rows.first(first_rows)
    alike = sql.replaced(rows["text"], [(digit, "9") for digit in "012345678"])
    found = rows.grouped(
        {"shape": alike},
        {"rows": sql.count(), "low": exp.Min(this=rows["text"]), "high": exp.Max(this=rows["text"])},
    )
    shapes = [
        Shape(row["shape"].strip(), row["rows"], row["low"], row["high"])
        for row in source.run(found.limit(MOST_SHAPES))
        if not rules.is_missing(row["low"])  # blanks that the database does not know
    ]
    return sorted(shapes, key=lambda shape: shape.low)  # databases give any order

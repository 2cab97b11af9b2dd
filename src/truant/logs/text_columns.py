"""A look at the texts of each column that must be numbers: how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truant.errors import InvalidValue
from truant.logs.follow_ups import outcome_known
from truant.logs.forms import PLAIN, Form, decide
from truant.logs.query import FIRST_ROWS
from truant.logs.shapes import Shape
from truant.logs.source import Source
from truant.logs.values import Rules
from truant.tables.request import Request

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_SHAPES = 5_000  # more are no numbers
YES_OR_NO = ("observed", "followed_up")  # columns that must be true or false


def find_forms(
    source: Source, request: Request, picked: ir.Table, rules: Rules, decimal: str, all_rows: bool
) -> dict[str, Form]:
    """The form of each text column that must be numbers, by role.

    The first rows are enough where later texts of another form would be noticed by the aggregate.
    """
    forms: dict[str, Form] = {}
    names = request.names()
    cut = [f"mediator_{i}" for i, part in enumerate(request.mediators) if part.classes]
    for role in ["observed", "followed_up", "outcome", *cut]:
        if role not in names or not picked[role].type().is_string():
            continue
        rows = picked
        if role == "outcome" and request.observed is not None:  # whatever it holds while not observed
            marks = [mark for mark in ("observed", "followed_up") if mark in names]
            read = {f"number_{m}": rules.number(picked[m], form=forms.get(m, PLAIN)) for m in marks}
            rows = picked.mutate(**read)
            rows = rows.filter(outcome_known(request, rows.number_observed, rows))
        forms[role] = form_of(source, rows, role, names[role], rules, decimal, all_rows)
    return forms


def form_of(
    source: Source, rows: ir.Table, role: str, name: str, rules: Rules, decimal: str, all_rows: bool
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
            form = decide(name, found, decimal, role in YES_OR_NO)
        except InvalidValue:
            if seen_all:
                raise
        else:
            if seen_all or form.words or (form == PLAIN and decimal == "." and not form.doubt):
                return form
    return decide(name, _shapes(source, rows, role, rules, None), decimal, role in YES_OR_NO)


def _shapes(source: Source, table: ir.Table, role: str, rules: Rules, first_rows: int | None) -> list[Shape]:
    """The texts that are not missing with all digits made alike, of the first rows or of all."""
    rows = table.select(text=table[role].strip())
    rows = rows.filter(rules.known(rows.text).notnull())
    if first_rows is not None:
        rows = rows.limit(first_rows)
    alike = rows.text
    for digit in "012345678":  # every database can do this
        alike = alike.replace(digit, "9")
    found = rows.group_by(shape=alike).aggregate(rows=rows.count(), low=rows.text.min(), high=rows.text.max())
    shapes = [
        Shape(row["shape"].strip(), row["rows"], row["low"], row["high"])
        for row in source.run(found.limit(MOST_SHAPES))
        if not rules.is_missing(row["low"])  # blanks that the database does not know
    ]
    return sorted(shapes, key=lambda shape: shape.low)  # databases give any order

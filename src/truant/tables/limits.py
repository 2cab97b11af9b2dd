"""How many arms, mediator levels and outcome levels a table may have; more is a wrong column, most of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truant.errors import InvalidValue
from truant.tables.request import Request

MOST_ARMS = 1_000
MOST_MEDIATORS = 100
FEW_VALUES = 10  # up to which a column is no identifier, however few the rows
MOST_LEVELS = 10  # distinct values of an outcome that is taken as discrete unless told otherwise


def check_distinct(request: Request, arms: int, *mediators: int) -> None:
    """Not too many arms, nor too many levels of a mediator."""
    if arms > MOST_ARMS:
        raise InvalidValue(
            f"At most {MOST_ARMS:,} arms can be compared, column {request.arm!r} holds more; "
            "name the column that says which treatment a row had."
        )
    if max(mediators, default=0) <= MOST_MEDIATORS:
        return
    uncut = [mediator.column for mediator in request.mediators if not mediator.classes]
    remedy = f"cut numbers into classes, as in '{uncut[-1]}:3'" if uncut else "cut into fewer classes"
    names = " x ".join(repr(mediator.column) for mediator in request.mediators)
    raise InvalidValue(f"A mediator may have at most {MOST_MEDIATORS} levels, {names} has more; {remedy}.")


def check_identifiers(request: Request, distinct: Sequence[int], rows: int) -> None:
    """No column of its own value in nearly every row; `distinct` values of the arm and of each mediator."""
    classes = [0, *(mediator.classes for mediator in request.mediators)]
    names = [request.arm, *(mediator.column for mediator in request.mediators)]
    for i, (name, count) in enumerate(zip(names, distinct, strict=True)):
        if classes[i] or count <= FEW_VALUES or count <= rows / 2:
            continue
        came = f"column {name!r} holds {count:,} different values in {rows:,} rows"
        if i == 0:
            raise InvalidValue(
                f"An arm must have several rows, {came} and looks like an identifier; "
                "name the column that says which treatment a row had."
            )
        raise InvalidValue(
            f"A mediator's level must have several rows, {came}, as identifiers and measurements have; "
            f"cut numbers into classes, as in '{name}:3', or name another column."
        )


def check_arms(request: Request, arms: Sequence[Any], rows: int, at_least: int = 2) -> None:
    """Rows, and as many arms as are needed."""
    if rows == 0:
        raise InvalidValue("The table has no rows; rows of at least two arms are needed.")
    if not arms:
        raise InvalidValue(
            f"None of the {rows} rows has an arm: column {request.arm!r} is missing throughout."
        )
    if len(arms) < at_least:
        raise InvalidValue(
            f"At least two arms are needed to compare, column {request.arm!r} holds only {arms[0]!r}."
        )

"""Rows of a log whose outcome was missing at first and then followed up: one more key of the aggregate.

In such a row the outcome column holds the answer; where it is missing, the follow-up failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from truant.errors import InvalidValue
from truant.tables.request import Request

FOLLOWED_UP = "followed_up"  # key of the aggregate: 1 in rows that were followed up, else 0
NOTHING_SEEN = {"observed": 0, "sum": None, "squares": None, "cubes": None, "outcome": None}


def outcome_known(request: Request, seen: Any, table: Any) -> Any:
    """Where a column says whether the outcome was observed: whether it was, or is the answer to a follow-up."""
    return seen == 1 if request.followed_up is None else (seen == 1) | (table.number_followed_up == 1)


def seen_at_first(table: Any) -> Any:
    """The outcome, NULL where it was missing at first."""
    import ibis

    if FOLLOWED_UP not in table.columns:
        return table.clean
    return ibis.ifelse(table[FOLLOWED_UP] == 1, None, table.clean)


def split(cells: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All cells as they were at first, with the outcomes of follow-ups missing; and the cells of follow-ups."""
    kept = list(cells)
    asked = [cell for cell in kept if cell.get(FOLLOWED_UP)]
    if asked:
        kept = [cell | NOTHING_SEEN if cell.get(FOLLOWED_UP) else cell for cell in kept]
    return kept, asked


def check_follow_ups(request: Request, cells: Sequence[dict[str, Any]]) -> None:
    """Follow-ups of outcomes that were missing, some of them with an answer; or raises InvalidValue."""
    if request.followed_up is None:
        return
    name, outcome = request.followed_up, request.outcome
    asked = [cell for cell in cells if cell[FOLLOWED_UP]]
    rows = sum(cell["pulls"] for cell in asked)
    if not rows:
        raise InvalidValue(f"Column {name!r} of followed_up marks no row; leave out followed_up.")
    at_first = sum(cell["pulls"] for cell in asked if request.observed is not None and cell["seen"] == 1)
    if at_first:
        raise InvalidValue(
            f"followed_up must mark rows whose outcome was missing at first; in {at_first:,} of the {rows:,} rows that "
            f"{name!r} marks, {request.observed!r} says that it was observed."
        )
    if not sum(map(_outcomes, asked)):
        raise InvalidValue(
            f"None of the {rows:,} rows that {name!r} marks as followed up has an outcome; column {outcome!r} must "
            "hold the answers."
        )
    if not sum(_outcomes(cell) for cell in cells if not cell[FOLLOWED_UP]):
        raise InvalidValue(
            f"followed_up must mark rows whose outcome was missing at first; {name!r} marks every row that has an "
            "outcome, so it seems to mark observed rows."
        )


def _outcomes(cell: dict[str, Any]) -> int:
    """Rows of a cell that have an outcome."""
    return int(cell["observed"] if "observed" in cell else 0 if cell["outcome"] is None else cell["pulls"])

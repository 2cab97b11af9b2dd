"""Labels that are spelt in several ways: blanks around them are left out, with a note; the rest gets a warning."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from truant.analysis.diagnosis import Warning
from truant.logs.filter import column_name
from truant.logs.values import BLANKS
from truant.tables.request import Request

# names of rows that sum up the others, as spreadsheets and reports append them
SUMMARIES = (
    "all",
    "average",
    "grand total",
    "gesamt",
    "mean",
    "overall",
    "subtotal",
    "sum",
    "summe",
    "total",
)
FEW_ROWS = 0.05  # of those that the largest arm has


def strip_labels(request: Request, cells: Sequence[dict[str, Any]]) -> list[str]:
    """Leave out the blanks around arms, mediators and groups, and say of which columns that joined two spellings.

    The groups themselves come without blanks; `blank_group` says which had some.
    """
    roles = {"arm": request.arm}
    roles |= {f"mediator_{i}": part.column for i, part in enumerate(request.mediators) if not part.classes}
    joined = []
    for role, name in roles.items():
        spellings = {cell[role] for cell in cells if isinstance(cell[role], str)}
        plain = {text: text.strip(BLANKS) for text in spellings}
        if len(set(plain.values()) - {""}) < len({text for text, short in plain.items() if short}):
            joined.append(name)
        for cell in cells:
            cell[role] = plain.get(cell[role], cell[role])
    if request.by is not None and cells and "blank_group" in cells[0]:
        ways: dict[Any, set[bool]] = {}
        for cell in cells:
            ways.setdefault(cell["group"], set()).add(bool(cell["blank_group"]))
        if any(len(found) > 1 for group, found in ways.items() if group is not None):
            joined.append(request.by)
    return [blanks_note(name) for name in joined]


def blanks_note(column: str) -> str:
    """What is said of a column whose texts had blanks around them."""
    return f"{column!r}: blanks around texts were left out"


def warnings(
    request: Request, arms: Mapping[Any, float], mediators: Iterable[Any], groups: Iterable[Any]
) -> list[Warning]:
    """Labels that differ only in case or in how a character is stored, and arms that may sum up the others.

    Parameters
    ----------
    arms : rows by label.
    mediators, groups : their labels.
    """
    mediator = " and ".join(part.column for part in request.mediators)
    found = []
    for column, labels in ((request.arm, arms), (mediator, mediators), (str(request.by), groups)):
        seen: dict[str, str] = {}
        for label in map(str, labels):
            other = seen.setdefault(_folded(label), label)
            if other != label:
                found.append(_alike(column, other, label))
    largest = max(arms.values(), default=0)
    for label, rows in arms.items():
        if str(label).strip(":").lower() in SUMMARIES and len(arms) > 2 and rows <= FEW_ROWS * largest:
            message = (
                f"The arm {str(label)!r} has {rows:,.0f} of {sum(arms.values()):,.0f} rows and may be a row that "
                f"sums up the others; if so, leave it out with filter: {column_name(request.arm)} != '{label}'."
            )
            found.append(Warning("alike-labels", message, arm=str(label), value=float(rows)))
    return found


def _alike(column: str, one: str, other: str) -> Warning:
    if one.casefold() == other.casefold():
        how = "in upper and lower case"
    else:
        how = "in blanks, case or the way a character is stored"
    message = (
        f"{one!r} and {other!r} of {column!r} differ only {how} and count as two; if they are one, spell them alike "
        "in the data."
    )
    return Warning("alike-labels", message)


def _folded(label: str) -> str:
    """The same for labels that look alike: é may be one character or two, a blank may be one of many."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold()).split())

"""Which values were taken as missing, and in how many rows."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truant.analysis.diagnosis import Warning
from truant.errors import InvalidValue
from truant.logs.follow_ups import FOLLOWED_UP
from truant.logs.refusals import listed
from truant.logs.values import Rules
from truant.tables.request import Request
from truant.tables.words import MARKERS

Markers = dict[str, dict[str, int]]  # column -> marker -> rows
EMPTY = "empty"  # NULL, NaN of numbers, blanks
MOST_SHOWN = 6
# what programs and people write where something is missing, though it can be a label
DOUBTFUL = (
    *(
        "#n/a",
        "#null!",
        "#value!",
        "#ref!",
        "#div/0!",
        "#name?",
        "#num!",
        "<na>",
        "nat",
        "(null)",
        "(blank)",
        "\\n",
    ),
    *(
        ".",
        "-",
        "--",
        "\u2013",
        "\u2014",
        "?",
        "??",
        "n.a.",
        "n/d",
        "n.d.",
        "k.a.",
        "keine angabe",
        "nil",
        "undefined",
    ),
    *(
        "unknown",
        "unk",
        "not known",
        "missing",
        "not available",
        "not applicable",
        "not set",
        "(not set)",
        "unbekannt",
    ),
)


def mark(request: Request, cells: Sequence[dict[str, Any]], rules: Rules) -> None:
    """Make arms and mediators that are missing None, and keep as `missing` what stood there: column, marker, rows.

    Mediators and outcomes count only in rows that have an arm.
    """
    mediators = [(f"mediator_{i}", part) for i, part in enumerate(request.mediators)]
    roles = ["arm", *(role for role, part in mediators if not part.classes)]
    missing = {  # looked up, since there may be hundreds of thousands of cells
        role: {value for value in {cell[role] for cell in cells} if rules.is_missing(value)} for role in roles
    }
    for cell in cells:
        found: dict[str, tuple[str, int]] = {}
        has_arm = cell["arm"] not in missing["arm"]
        for role, part in mediators:
            text = cell.get(f"unread_{role}") if part.classes else cell[role]
            if cell[role] is None or (not part.classes and cell[role] in missing[role]):
                cell[role] = None
                found.setdefault(part.column, (_label(text), cell["pulls"]))
        if has_arm:
            _mark_outcome(request, cell, found)
        else:
            found = {request.arm: (_label(cell["arm"]), cell["pulls"])}
            cell["arm"] = None
        cell["missing"] = found


def _mark_outcome(request: Request, cell: dict[str, Any], found: dict[str, tuple[str, int]]) -> None:
    """Add what stood where the outcome, or the word whether it was observed, is missing."""
    if request.observed is not None and cell["seen"] is None:
        found[request.observed] = _label(cell.get("unread_observed")), cell["pulls"]
    if request.observed is None or cell["seen"] == 1 or cell.get(FOLLOWED_UP):
        hidden = cell["pulls"] - cell.get("observed", 0 if cell.get("outcome") is None else cell["pulls"])
        if hidden:
            found[request.outcome] = _label(cell.get("unread_outcome")), hidden


def count(cells: Sequence[Mapping[str, Any]]) -> Markers:
    """Of each column, how many rows each marker has, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for cell in cells:
        for name, (marker, rows) in cell["missing"].items():
            found.setdefault(name, Counter())[marker] += rows
    return {
        name: dict(sorted((+counter).items(), key=lambda item: (-item[1], item[0])))
        for name, counter in found.items()
        if counter.total()
    }


def notes(found: Markers) -> list[str]:
    """What was taken as missing, a short sentence for each column."""
    sentences = []
    for name, rows in found.items():
        shown = [f"{count:,} {marker}" for marker, count in list(rows.items())[:MOST_SHOWN]]
        more = [f"{len(rows) - MOST_SHOWN} more"] if len(rows) > MOST_SHOWN else []
        sentences.append(f"missing in {name!r}: {', '.join([*shown, *more])}")
    return sentences


def doubts(request: Request, cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels that may mean missing, though they are none of the markers: a short sentence for each column."""
    roles = {"arm": request.arm}
    roles |= {f"mediator_{i}": part.column for i, part in enumerate(request.mediators) if not part.classes}
    roles |= {} if request.by is None else {"group": request.by}
    sentences = []
    for role, name in roles.items():
        labels = {cell[role] for cell in cells if isinstance(cell[role], str)}
        found = sorted(label for label in labels if label.strip().lower() in DOUBTFUL)
        if found:
            option = shlex.quote("--missing-values=" + ",".join(found))
            sentences.append(
                f"{listed(found)} of {name!r} may mean missing: if so, say missing_values={found!r} ({option})"
            )
    return list(dict.fromkeys(sentences))  # a column may be mediator and `by`


def check_arms_read(request: Request, arms: Sequence[Any], found: Markers) -> None:
    """At least two arms, unless one of them is a word that was taken as missing."""
    words = _words(request, found)
    if len(arms) < 2 and words:
        held = f"only {arms[0]!r}" if arms else "nothing"
        raise InvalidValue(
            f"At least two arms are needed to compare, column {request.arm!r} holds {held} beside "
            f"{listed(words)}, which means missing; {AN_ARM}."
        )


def warnings(request: Request, found: Markers, rules: Rules) -> list[Warning]:
    """Rows whose arm was taken as missing though it may be a name."""
    words = [word for word in _words(request, found) if word not in rules.texts]
    rows = sum(found[request.arm][word] for word in words)
    if not rows:
        return []
    names = listed(words)
    message = (
        f"{rows:,} rows whose {request.arm!r} is {names} were left out, since that means missing; {AN_ARM}."
    )
    return [Warning("missing-arm", message, value=float(rows))]


AN_ARM = "if it is an arm, say only_missing_values=[] (--only-missing-values '')"


def _words(request: Request, found: Markers) -> list[str]:
    return [word for word in found.get(request.arm, {}) if word.lower() in MARKERS]


def _label(value: Any) -> str:
    if value is None or value != value:
        return EMPTY
    text = str(value).strip()
    return text.removesuffix(".0") or EMPTY

"""Labels that are spelt in several ways: blanks do not count, and the rest is merged on request or gets a warning.

Arms that cannot be compared yet: new ones with a single row, and those without an outcome; the others go on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from truant.counts import Counts
from truant.estimates.beliefs import Caution
from truant.logs import statement as sql
from truant.logs.statement import BLANKS, Kind, Rows
from truant.logs.values import Rules
from truant.logs.where import column_name
from truant.tables.request import Request

if TYPE_CHECKING:
    from truant.logs.source import Source

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
MOST_LABELS = 10_000  # of a column whose labels are merged; more are refused anyway
MOST_SHOWN = 4


def merge(source: Source, request: Request, picked: Rows, rules: Rules) -> tuple[Rows, list[str]]:
    """Write arms, mediators and groups that differ by case, blanks or the way a character is stored in one way.

    That is the spelling with the most rows; what was merged is said in a short sentence for each column. All that comes
    later (units, periods, cut points, rows to follow up) then finds one label.
    """
    columns, notes = {}, []
    for role, name in _label_roles(request, by=True).items():
        column = picked.columns[role]
        if column.kind is not Kind.TEXT:
            continue
        label = rules.known(column).sql
        rows = picked.where(sql.known(label)).grouped({"label": label}, {"rows": sql.count()})
        cells = source.run(rows.limit(MOST_LABELS))
        merged = _merged({cell["label"]: int(cell["rows"]) for cell in cells})
        if merged:
            spelt = [
                (sql.is_in(sql.trimmed(column.sql), others), sql.text(best))
                for best, others in merged.items()
            ]
            columns[role] = column.with_sql(sql.cases(*spelt, otherwise=column.sql))
            notes.append(_merge_note(name, merged))
    return picked.adding(columns) if columns else picked, notes


def _merged(rows: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """By the spelling that is kept, the others with their rows."""
    alike: dict[str, list[str]] = {}
    for label in sorted(rows, key=lambda label: (-rows[label], label)):
        alike.setdefault(folded(label), []).append(label)
    return {best: {other: rows[other] for other in others} for best, *others in alike.values() if others}


def _merge_note(name: str, merged: Mapping[str, Mapping[str, int]]) -> str:
    said = [
        f"{other!r} ({rows:,} row{'s' * (rows != 1)}) was counted as {best!r}"
        for best, others in merged.items()
        for other, rows in others.items()
    ]
    more = [f"{len(said) - MOST_SHOWN} more"] if len(said) > MOST_SHOWN else []
    return f"{name!r}: {', '.join([*said[:MOST_SHOWN], *more])}"


def _label_roles(request: Request, by: bool = False) -> dict[str, str]:
    """Columns that hold labels, by role."""
    roles = {"arm": request.arm}
    roles |= {f"mediator_{i}": part.column for i, part in enumerate(request.mediators) if not part.classes}
    return roles | ({"by": request.by} if by and request.by is not None else {})


def strip_labels(request: Request, cells: Sequence[dict[str, Any]]) -> list[str]:
    """Leave out the blanks around arms, mediators and groups, and say of which columns that joined two spellings.

    The groups themselves come without blanks; `blank_group` says which had some.
    """
    joined = []
    for role, name in _label_roles(request).items():
        spellings = {cell[role] for cell in cells if isinstance(cell[role], str)}
        plain = {label: label.strip(BLANKS) for label in spellings}
        if len(set(plain.values()) - {""}) < len({label for label, short in plain.items() if short}):
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


def spelling_warnings(
    request: Request, arms: Mapping[Any, float], mediators: Iterable[Any], groups: Iterable[Any]
) -> list[Caution]:
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
            other = seen.setdefault(folded(label), label)
            if other != label:
                pair = (other, label)
                own = pair if labels is arms else ()
                found.append(Caution("alike-labels", facts={"column": column, "pair": pair}, arms=own))
    largest = max(arms.values(), default=0)
    for label, rows in arms.items():
        if str(label).strip(":").lower() in SUMMARIES and len(arms) > 2 and rows <= FEW_ROWS * largest:
            facts = {"total": sum(arms.values()), "condition": f"{column_name(request.arm)} != '{label}'"}
            found.append(Caution("alike-labels", str(label), float(rows), facts, (str(label),)))
    return found


def folded(label: str) -> str:
    """The same for labels that look alike: é may be one character or two, a blank may be one of many or unseen."""
    label = "".join(sign for sign in label if unicodedata.category(sign) != "Cf")  # as a blank of no width
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold()).split())


SET_ASIDE = "set-aside"  # the code of the warning


def thin_arms(counts: Counts) -> list[int]:
    """Arms with one row, or without an outcome, observed or obtained later; none if fewer than two would be left."""
    pulls, outcomes = counts.pulls, counts.observed + counts.answered
    thin = [arm for arm, rows in enumerate(pulls) if rows and (rows == 1 or not outcomes[arm])]
    return thin if sum(pulls > 0) - len(thin) >= 2 else []


def values_of(cells: Iterable[Mapping[str, Any]], arms: Sequence[int]) -> list[Any]:
    """What the column holds for these arms."""
    codes = {cell["place"][0]: cell["arm"] for cell in cells if cell["arm"] is not None}
    return [codes[arm] for arm in arms]


def without_arms(rows: Rows, rules: Rules, values: Sequence[Any]) -> Rows:
    """The rows of other arms, and those without an arm."""
    if not values:
        return rows
    column = rules.known(rows.columns["arm"])
    if column.kind.is_number:
        inside = sql.is_in(column.sql, [float(value) for value in values])
    else:
        written = column.sql if column.kind is Kind.TEXT else sql.as_text(column.sql)
        inside = sql.is_in(written, [str(value) for value in values])
    return rows.where(exp.or_(sql.is_null(column.sql), exp.not_(inside)))


def set_aside_warnings(counts: Counts, labels: Sequence[Any], arms: Sequence[int]) -> list[Caution]:
    """Which arms were set aside, how many rows that left out, and which may be another spelling of an arm."""
    spelt: dict[str, list[str]] = {}
    for place in sorted(range(len(labels)), key=lambda place: -counts.pulls[place]):
        spelt.setdefault(folded(str(labels[place])), []).append(str(labels[place]))
    single = [arm for arm in arms if counts.pulls[arm] == 1]
    unseen = [arm for arm in arms if counts.pulls[arm] > 1]
    found = []
    for own in filter(None, (single, unseen)):
        names = [str(labels[arm]) for arm in own]
        alike = [spelt[folded(name)] for name in names]
        facts = {
            "names": names,
            "single": own is single,
            "alike": list(dict.fromkeys((one[0], other) for one in alike for other in one[1:])),
        }
        arm = names[0] if len(names) == 1 else ""
        found.append(Caution(SET_ASIDE, arm, float(counts.pulls[own].sum()), facts))
    return found

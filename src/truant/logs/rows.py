"""Which rows are counted and what their labels are: a condition, labels in several spellings, arms that are set aside.

A condition (`where`) keeps the rows that it is true for, and the others are counted. Blanks around labels do not count;
other differences of spelling are merged on request, or get a warning. Arms that cannot be compared yet, new ones with a
single row and those without an outcome, are set aside, and the others go on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from truant.counts import Counts
from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.logs import statement as sql
from truant.logs.forms import Form
from truant.logs.moments import FORMS, DateForm, find_dates, iso_of, no_dates, with_iso
from truant.logs.query import form_of
from truant.logs.source import Source
from truant.logs.statement import BLANKS, Column, Kind, Rows, Sql
from truant.logs.values import Rules, blanks_note
from truant.logs.where import (
    Condition,
    Tree,
    column_name,
    conditions_in,
    expression,
    needs_numbers,
    needs_times,
)
from truant.tables.request import Request

if TYPE_CHECKING:
    from truant.logs.source import Source


@dataclass(frozen=True)
class Kept:
    """The rows for which a condition is true, how many others there are, and how their values were read."""

    table: Rows
    left_out: int = 0
    notes: tuple[str, ...] = ()


def condition_columns(tree: Tree | None) -> dict[str, str]:
    """Each column that the condition is about, by the name that the queries use: where_0, ..."""
    names = [] if tree is None else list(dict.fromkeys(one.column for one in conditions_in(tree)))
    return {f"where_{i}": name for i, name in enumerate(names)}


def keep(source: Source, picked: Rows, tree: Tree, where: str, rules: Rules, decimal: str = ".") -> Kept:
    """The rows for which the condition is true; or raises InvalidValue if it is for none.

    Texts that are compared with numbers are read as the outcome is: the same decimal sign, the same forms.
    """
    roles = {name: role for role, name in condition_columns(tree).items()}
    numbers, times = (_columns(tree, picked, roles, needs) for needs in (needs_numbers, needs_times))
    dates = {name: find_dates(source, picked, roles[name], rules, name) for name in times}
    rows, iso = picked, dict[str, Column]()
    for name, form in dates.items():
        rows = with_iso(rows, roles[name], rules, form)
        iso[name] = rows.columns[iso_of(roles[name])]
    columns = {name: rows.columns[role] for name, role in roles.items()}
    texts = [
        name for name, one in columns.items() if one.kind is Kind.TEXT and name not in {*numbers, *times}
    ]
    for all_rows in (False, True):  # again if the first rows misled
        forms = {name: _form(source, picked, roles[name], name, rules, decimal, all_rows) for name in numbers}
        true = expression(tree, columns, rules, forms, iso)
        about = {"rows": sql.count(), "kept": sql.count_where(true)}
        about |= {f"number_{roles[n]}": exp.Min(this=_stray(columns[n], rules, forms[n])) for n in numbers}
        about |= {f"time_{roles[n]}": exp.Min(this=no_dates(rows, roles[n])) for n in times}
        about |= {
            f"blank_{roles[n]}": sql.count_where(columns[n].sql.neq(sql.trimmed(columns[n].sql)))
            for n in texts
        }
        found = source.run(rows.grouped({}, about))[0]
        if all(found[f"number_{roles[name]}"] is None for name in numbers):
            break
    _check_read(found, roles, numbers, times)
    kept = int(found["kept"] or 0)
    if found["rows"] and not kept:
        raise InvalidValue(
            f"where={where!r} keeps none of the {found['rows']:,} rows; check its values, and that missing ones "
            "are asked for with 'is null'."
        )
    written: list[Form | DateForm] = [*forms.values(), *dates.values()]
    notes = [form.note for form in written if form.note]
    notes += [blanks_note(name) for name in texts if found[f"blank_{roles[name]}"]]
    return Kept(rows.where(true).taking(picked.columns), int(found["rows"]) - kept, tuple(notes))


def _columns(
    tree: Tree, picked: Rows, roles: Mapping[str, str], needs: Callable[[Column, Condition], bool]
) -> list[str]:
    """The columns of which a condition needs something, each once."""
    found = (one.column for one in conditions_in(tree) if needs(picked.columns[roles[one.column]], one))
    return list(dict.fromkeys(found))


def _form(
    source: Source, rows: Rows, role: str, name: str, rules: Rules, decimal: str, all_rows: bool
) -> Form:
    try:
        return form_of(source, rows, role, name, rules, decimal, all_rows)
    except InvalidValue as error:
        about = error.at(f"where compares column {name!r} with a number")
        raise about.advising("To compare texts, write the value in single quotes.") from None


def _stray(column: Column, rules: Rules, form: Form) -> Sql:
    """The texts that are neither missing nor numbers of this form."""
    conditions = [sql.known(rules.known(column).sql), sql.is_null(rules.number(column, form=form))]
    listed = rules.listed(column, form)
    conditions += [] if listed is None else [sql.is_null(listed)]
    return sql.if_else(exp.and_(*conditions), column.sql)


def selected_on_outcome(tree: Tree | None, outcome: str) -> tuple[Caution, ...]:
    """A condition on the outcome picks rows by what is to be found out."""
    if tree is None or outcome not in condition_columns(tree).values():
        return ()
    return (Caution("where-on-outcome", facts={"outcome": outcome}),)


def _check_read(
    found: Mapping[str, object], roles: Mapping[str, str], numbers: Sequence[str], times: Sequence[str]
) -> None:
    """A text that is compared with a number or a date must be one: it would be dropped unseen."""
    for name in (*numbers, *times):
        number, time = (found.get(f"{what}_{roles[name]}") for what in ("number", "time"))
        if number is not None:
            raise InvalidValue(
                f"where compares column {name!r} with a number, it also holds the text {number!r}; write a "
                "number for it, or list it in missing_values if it stands for missing."
            )
        if time is not None:
            raise InvalidValue(
                f"where compares column {name!r} with a date, it also holds the text {time!r}; write its dates as "
                f"{FORMS}, or list that text in missing_values if it stands for missing."
            )


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

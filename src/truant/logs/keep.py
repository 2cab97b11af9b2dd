"""Keeps the rows that a condition is true for, and counts the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from truant.errors import InvalidValue
from truant.estimates.beliefs import Caution
from truant.logs import statement as sql
from truant.logs.forms import Form
from truant.logs.labels import blanks_note
from truant.logs.moments import FORMS, find_dates, iso_of, no_dates, with_iso
from truant.logs.query import form_of
from truant.logs.source import Source
from truant.logs.statement import Column, Kind, Rows, Sql
from truant.logs.values import Rules
from truant.logs.where import Condition, Tree, conditions_in, expression, needs_numbers, needs_times


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
    rows = picked
    for name, form in dates.items():
        rows = with_iso(rows, roles[name], rules, form)
    columns = {name: rows.columns[role] for name, role in roles.items()}
    iso = {name: rows.columns[iso_of(roles[name])] for name in times}
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
    notes = [form.note for form in forms.values() if form.note]
    notes += [form.note for form in dates.values() if form.note]
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

"""Keeps the rows that a condition is true for, and counts the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    columns = {name: picked.columns[role] for name, role in roles.items()}
    numbers = [name for name in roles if _any(tree, name, columns, needs_numbers)]
    times = [name for name in roles if _any(tree, name, columns, needs_times)]
    dates = {name: find_dates(source, picked, roles[name], rules, name) for name in times}
    rows = picked
    for name in times:
        rows = with_iso(rows, roles[name], rules, dates[name])
    columns = {name: rows.columns[role] for name, role in roles.items()}
    iso = {name: rows.columns[iso_of(roles[name])] for name in times}
    for all_rows in (False, True):  # again if the first rows misled
        forms = {name: _form(source, picked, roles[name], name, rules, decimal, all_rows) for name in numbers}
        true = expression(tree, columns, rules, forms, iso)
        about = {"rows": sql.count(), "kept": sql.count_where(true)}
        about |= {
            f"number_{i}": sql.lowest(_stray(columns[n], rules, forms[n])) for i, n in enumerate(numbers)
        }
        about |= {f"time_{i}": sql.lowest(no_dates(rows, roles[n])) for i, n in enumerate(times)}
        about |= {
            f"blank_{i}": sql.count_where(
                sql.compared(columns[name].sql, "!=", sql.trimmed(columns[name].sql))
            )
            for i, name in enumerate(roles)
            if columns[name].kind is Kind.TEXT and name not in (*numbers, *times)
        }
        found = source.run(rows.grouped({}, about))[0]
        if all(found[f"number_{i}"] is None for i, _ in enumerate(numbers)):
            break
    _check_read(found, numbers, times)
    kept = int(found["kept"] or 0)
    if found["rows"] and not kept:
        raise InvalidValue(
            f"where={where!r} keeps none of the {found['rows']:,} rows; check its values, and that missing ones "
            "are asked for with 'is null'."
        )
    notes = [*(form.note for form in forms.values()), *(form.note for form in dates.values())]
    notes += [blanks_note(name) for i, name in enumerate(roles) if found.get(f"blank_{i}")]
    return Kept(
        rows.where(true).taking(picked.columns), int(found["rows"]) - kept, tuple(filter(None, notes))
    )


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
    return sql.if_else(sql.both(*conditions), column.sql)


def _any(tree: Tree, name: str, columns: Mapping[str, Any], needs: Callable[[Any, Condition], bool]) -> bool:
    return any(needs(columns[name], one) for one in conditions_in(tree) if one.column == name)


def selected_on_outcome(tree: Tree | None, outcome: str) -> tuple[Caution, ...]:
    """A condition on the outcome picks rows by what is to be found out."""
    if tree is None or outcome not in condition_columns(tree).values():
        return ()
    return (Caution("where-on-outcome", facts={"outcome": outcome}),)


def _check_read(found: Mapping[str, object], numbers: Sequence[str], times: Sequence[str]) -> None:
    """A text that is compared with a number or a date must be one: it would be dropped unseen."""
    for i, name in enumerate(numbers):
        text = found[f"number_{i}"]
        if text is not None:
            raise InvalidValue(
                f"where compares column {name!r} with a number, it also holds the text {text!r}; write a "
                "number for it, or list it in missing_values if it stands for missing."
            )
    for i, name in enumerate(times):
        text = found[f"time_{i}"]
        if text is not None:
            raise InvalidValue(
                f"where compares column {name!r} with a date, it also holds the text {text!r}; write its dates as "
                f"{FORMS}, or list that text in missing_values if it stands for missing."
            )

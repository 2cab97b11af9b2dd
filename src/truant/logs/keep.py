"""Keeps the rows that a filter is true for, and counts the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truant.analysis.diagnosis import Warning
from truant.errors import InvalidValue
from truant.logs.conditions import Condition, Tree, conditions_in, expression, needs_numbers, needs_times
from truant.logs.forms import Form
from truant.logs.moments import FORMS, iso_texts
from truant.logs.source import Source
from truant.logs.spellings import blanks_note
from truant.logs.text_columns import form_of
from truant.logs.values import Rules

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Kept:
    """The rows for which a filter is true, how many others there are, and how their values were read."""

    table: ir.Table
    left_out: int = 0
    notes: tuple[str, ...] = ()


def filter_columns(tree: Tree | None) -> dict[str, str]:
    """Each column that the filter looks at, by the name that the queries use: filter_0, ..."""
    names = [] if tree is None else list(dict.fromkeys(one.column for one in conditions_in(tree)))
    return {f"filter_{i}": name for i, name in enumerate(names)}


def keep(
    source: Source, picked: ir.Table, tree: Tree, filters: Sequence[str], rules: Rules, decimal: str = "."
) -> Kept:
    """The rows for which the filter is true; or raises InvalidValue if it is for none.

    Texts that are compared with numbers are read as the outcome is: the same decimal sign, the same forms.
    """
    roles = {name: role for role, name in filter_columns(tree).items()}
    columns = {name: picked[role] for name, role in roles.items()}
    numbers = [name for name in roles if _any(tree, name, columns, needs_numbers)]
    times = [name for name in roles if _any(tree, name, columns, needs_times)]
    for all_rows in (False, True):  # again if the first rows misled
        forms = {name: _form(source, picked, roles[name], name, rules, decimal, all_rows) for name in numbers}
        true = expression(tree, columns, rules, forms)
        about = {"rows": picked.count(), "kept": true.ifelse(1, 0).sum()}
        about |= {f"number_{i}": _stray(columns[n], rules, forms[n]).min() for i, n in enumerate(numbers)}
        about |= {f"time_{i}": iso_texts(columns[n], rules)[1].min() for i, n in enumerate(times)}
        about |= {
            f"blank_{i}": (columns[name] != columns[name].strip()).ifelse(1, 0).sum()
            for i, name in enumerate(roles)
            if columns[name].type().is_string() and name not in (*numbers, *times)
        }
        found = source.run(picked.aggregate(**about))[0]
        if all(found[f"number_{i}"] is None for i, _ in enumerate(numbers)):
            break
    _check_read(found, numbers, times)
    kept = int(found["kept"] or 0)
    if found["rows"] and not kept:
        shown = " and ".join(repr(text) for text in filters)
        raise InvalidValue(
            f"The filter {shown} keeps none of the {found['rows']:,} rows; check its values, and that missing ones "
            "are asked for with 'is missing'."
        )
    notes = [form.note for form in forms.values() if form.note]
    notes += [blanks_note(name) for i, name in enumerate(roles) if found.get(f"blank_{i}")]
    return Kept(picked.filter(true), int(found["rows"]) - kept, tuple(notes))


def _form(
    source: Source, rows: ir.Table, role: str, name: str, rules: Rules, decimal: str, all_rows: bool
) -> Form:
    try:
        return form_of(source, rows, role, name, rules, decimal, all_rows)
    except InvalidValue as error:
        about = error.at(f"The filter compares column {name!r} with a number")
        raise about.advising("To compare texts, write the value in single quotes.") from None


def _stray(column: Any, rules: Rules, form: Form) -> Any:
    """The texts that are neither missing nor numbers of this form."""
    import ibis

    no_number = rules.known(column).notnull() & rules.number(column, form=form).isnull()
    listed = rules.listed(column, form)
    return ibis.ifelse(no_number if listed is None else no_number & listed.isnull(), column, None)


def _any(tree: Tree, name: str, columns: Mapping[str, Any], needs: Callable[[Any, Condition], bool]) -> bool:
    return any(needs(columns[name], one) for one in conditions_in(tree) if one.column == name)


def selected_on_outcome(tree: Tree | None, outcome: str) -> tuple[Warning, ...]:
    """A filter on the outcome picks rows by what is to be found out."""
    if tree is None or outcome not in filter_columns(tree).values():
        return ()
    return (
        Warning(
            "filter-on-outcome",
            f"The filter uses the outcome {outcome!r}: it selects rows by the value that is to be estimated, and may "
            "drop those whose outcome is missing, so that estimates are not those of the whole arm; filter by what was "
            "known before the outcome.",
        ),
    )


def _check_read(found: Mapping[str, object], numbers: Sequence[str], times: Sequence[str]) -> None:
    """A text that is compared with a number or a date must be one: it would be dropped unseen."""
    for i, name in enumerate(numbers):
        text = found[f"number_{i}"]
        if text is not None:
            raise InvalidValue(
                f"The filter compares column {name!r} with a number, it also holds the text {text!r}; write a "
                "number for it, or list it in missing_values if it stands for missing."
            )
    for i, name in enumerate(times):
        text = found[f"time_{i}"]
        if text is not None:
            raise InvalidValue(
                f"The filter compares column {name!r} with a date, it also holds the text {text!r}; write its dates as "
                f"{FORMS}, or list that text in missing_values if it stands for missing."
            )

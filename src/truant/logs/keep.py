"""Keeps the rows that a filter is true for, and counts the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truant.analysis.diagnosis import Warning
from truant.errors import InvalidValue
from truant.logs.conditions import Tree, conditions_in, expression, needs_numbers
from truant.logs.source import Source
from truant.logs.spellings import blanks_note
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


def keep(source: Source, picked: ir.Table, tree: Tree, filters: Sequence[str], rules: Rules) -> Kept:
    """The rows for which the filter is true; or raises InvalidValue if it is for none."""
    columns = {name: picked[role] for role, name in filter_columns(tree).items()}
    true = expression(tree, columns, rules)
    about = {"rows": picked.count(), "kept": true.ifelse(1, 0).sum()}
    numbers = {one.column for one in conditions_in(tree) if needs_numbers(columns[one.column], one)}
    texts = [rules.stray(columns[name]) for name in sorted(numbers)]
    strays = {f"stray_{i}": text.min() for i, text in enumerate(texts) if text is not None}
    blanks = {
        f"blank_{i}": (column != column.strip()).ifelse(1, 0).sum()
        for i, (name, column) in enumerate(columns.items())
        if column.type().is_string() and name not in numbers
    }
    found = source.run(picked.aggregate(**about, **strays, **blanks))[0]
    _check_numbers(found, sorted(numbers))
    kept = int(found["kept"] or 0)
    if found["rows"] and not kept:
        shown = " and ".join(repr(text) for text in filters)
        raise InvalidValue(
            f"The filter {shown} keeps none of the {found['rows']:,} rows; check its values, and that missing ones "
            "are asked for with 'is missing'."
        )
    notes = [blanks_note(name) for i, name in enumerate(columns) if found.get(f"blank_{i}")]
    return Kept(picked.filter(true), int(found["rows"]) - kept, tuple(notes))


def selected_on_outcome(tree: Tree | None, outcome: str) -> tuple[Warning, ...]:
    """A filter on the outcome picks rows by what is to be found out."""
    if tree is None or outcome not in filter_columns(tree).values():
        return ()
    return (
        Warning(
            "filter-on-outcome",
            f"The filter looks at the outcome {outcome!r}: rows are picked by what they are to tell, and those whose "
            "outcome is missing may be gone, so that no estimate is that of the arm; filter by what was known "
            "before the outcome.",
        ),
    )


def _check_numbers(found: Mapping[str, object], names: Sequence[str]) -> None:
    """A text that is compared with a number must be one: it would be dropped unseen."""
    for i, name in enumerate(names):
        if found.get(f"stray_{i}") is not None:
            raise InvalidValue(
                f"The filter compares column {name!r} with a number, it also holds the text "
                f"{found[f'stray_{i}']!r}; compare with texts in single quotes, or list that text in missing_values."
            )

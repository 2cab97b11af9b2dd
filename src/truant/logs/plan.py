"""Plan: how many missing outcomes of a table to follow up, and a random list of these rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from truant.errors import InvalidValue, NotIdentified
from truant.estimates.beliefs import Labels
from truant.follow_up.plan import plan_counts
from truant.follow_up.result import WORST_CASE, MissingRows, Plan, PlanOptions
from truant.logs import query
from truant.logs import statement as sql
from truant.logs.analyze import source_name
from truant.logs.places import inputs_of
from truant.logs.question import PlanQuestion
from truant.logs.read import OpenTable, Reduced
from truant.logs.source import Source
from truant.logs.statement import Rows
from truant.logs.values import FOLLOWED_UP, Rules
from truant.provenance import Provenance
from truant.setting import whole_number

if TYPE_CHECKING:
    import pyarrow as pa

Whole = npt.NDArray[np.int64]


def _check_order(source: Source) -> None:
    """Refuse rows without a column of names that have no numbers, before the work."""
    if source.has_order:
        return
    what = "several files have no numbers in common" if source.has_header else "a database have no numbers"
    raise InvalidValue(f"Rows of {what}; name the column that tells them apart (--id COLUMN).")


def missing_rows(table: OpenTable, reduced: Reduced, most: int, seed: int) -> MissingRows:
    """The rows of the log that can be followed up, in the order of the table (of a database: of their names).

    Of Spark, where there may be very many, only those that come first when they are shuffled with this seed: as many of
    each arm and mediator level as are wanted at `most`.
    """
    source, columns = table.source, reduced.columns
    if table.request.id is not None:
        _check_names(source, columns.table, table.rules, table.request.id)
    rows = _missing(columns)
    shuffled = source.dialect == "spark"
    if shuffled:
        rows = _shuffled(rows, columns.keys, most, seed)
    fetched = source.fetch(rows.select.order_by(rows["draw" if shuffled else "id"].copy()))
    codes, combinations = _combinations([fetched.column(key) for key in columns.keys])
    places = {cell["raw"]: cell["place"] for cell in reduced.aggregate.rows if cell["arm"] is not None}
    cells = np.array([places[one] for one in combinations], np.int64).reshape(-1, 2)
    return MissingRows(fetched.column("id"), cells[codes, 0], cells[codes, 1], shuffled)


def _check_names(source: Source, table: Rows, rules: Rules, name: str) -> None:
    """Every row must have a name of its own."""
    rows = table.where(sql.known(rules.known(table.columns["arm"]).sql))
    names = rules.known(rows.columns["id"]).sql
    about = {"rows": sql.count(), "named": sql.count(names), "distinct": sql.distinct(names)}
    found = source.run(rows.grouped({}, about))[0]
    if found["named"] < found["rows"]:
        raise InvalidValue(
            f"{found['rows'] - found['named']:,} of {found['rows']:,} rows have no value in the column {name!r} that "
            "names them; fill it, or leave --id out to list rows by number."
        )
    if found["distinct"] < found["named"]:
        each = rows.regrouped(("id",), {"rows": sql.count()})
        example = source.run(each.where(each["rows"] > 1).first(1).select)
        shown = f", {example[0]['id']!r} for one" if example else ""
        raise InvalidValue(
            f"Column {name!r} must name each row by itself, and some values occur several times{shown}; name another "
            "column, or leave --id out to list rows by number."
        )


def _missing(columns: query.QueryColumns) -> Rows:
    """The names and the keys of the rows whose outcome is missing and was not followed up."""
    table = columns.table
    left = [sql.is_null(table["clean"]), sql.known(columns.known("arm"))]
    if FOLLOWED_UP in columns.details:
        left.append(table[FOLLOWED_UP].neq(1))
    return table.where(*left).taking({key: table.columns[key] for key in ("id", *columns.keys)})


def _shuffled(rows: Rows, keys: Sequence[str], most: int, seed: int) -> Rows:
    """The first of each combination of keys, in the order of hashes of their names.

    Labels that differ in blanks are one level but several combinations: with the hash as `draw`, the first of a level
    are among the first of its combinations.
    """
    hashed = exp.func("MD5", exp.func("CONCAT", sql.text(f"{seed}:"), sql.as_text(rows["id"])))
    rows = rows.adding({"draw": hashed})
    rank = exp.Window(
        this=exp.RowNumber(),
        partition_by=[rows[key].copy() for key in keys],
        order=exp.Order(expressions=[exp.Ordered(this=rows["draw"].copy())]),
    )
    ranked = rows.adding({"rank": rank})
    return ranked.where(ranked["rank"] <= most)


def _combinations(columns: Sequence[pa.ChunkedArray]) -> tuple[Whole, list[tuple[Any, ...]]]:
    """Which combination each row has, and the combinations."""
    encoded = [column.combine_chunks().dictionary_encode() for column in columns]
    values = [[*one.dictionary.to_pylist(), None] for one in encoded]
    code = np.zeros(len(columns[0]), np.int64)
    for one, labels in zip(encoded, values, strict=True):
        index = one.indices.fill_null(len(labels) - 1).to_numpy(zero_copy_only=False)
        code = code * len(labels) + index
    distinct, place = np.unique(code, return_inverse=True)
    found = []
    for number in distinct.tolist():
        parts = []
        for labels in reversed(values):
            number, part = divmod(number, len(labels))
            parts.append(labels[part])
        found.append(tuple(reversed(parts)))
    return place.astype(np.int64), found


# warnings of how the table was read, which a plan has as notes
SAID = ("set-aside", "alike-labels", "thousands")


def plan_table(data: Any, question: PlanQuestion) -> Plan:
    """The plan for a table, with the rows to follow up."""
    failures = WORST_CASE if question.failed_follow_ups is None else question.failed_follow_ups
    options = PlanOptions(
        question.level, question.chance, question.differ, question.success, question.budget, failures
    )
    whole_number("seed", question.seed, at_least=0)
    columns = question.columns("arm", "outcome", "mediator", "observed", "followed_up", "id")
    with OpenTable.of(data, question) as table:
        if question.id is None:
            _check_order(table.source)
        reduced = table.reduced(named=True)
        log = reduced.log
        labels = Labels.of(log.arms, log.mediators, question.outcome, log.mediator_column)
        try:
            found = plan_counts(log.counts, log.setting, labels, options)
        except NotIdentified as error:
            raise InvalidValue(labels.sentence(error)) from None
        most = max((cell.follow_ups for cell in found.cells), default=0)
        listed = missing_rows(table, reduced, most, int(question.seed))
    return replace(
        found,
        seed=int(question.seed),
        provenance=Provenance(
            source=source_name(data),
            columns=columns,
            rows=log.rows,
            skipped=log.skipped,
            where=log.where,
            filtered_out=log.filtered_out,
            notes=(*log.notes, *(one.message for one in log.warnings if one.code in SAID)),
            inputs=inputs_of(data),
        ),
        missing_rows=listed,
    )

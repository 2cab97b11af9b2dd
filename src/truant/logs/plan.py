"""The rows of a log whose outcome is missing, by arm and mediator level, and a random list of some of them.

Plan: how many missing outcomes of a table to follow up, and which rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from truant.errors import InvalidValue, NotIdentified, UnknownName
from truant.estimates.beliefs import Labels
from truant.follow_up.plan import plan_counts
from truant.follow_up.result import WORST_CASE, MissingRows, Plan, PlanOptions
from truant.logs import query
from truant.logs import statement as sql
from truant.logs.aggregate import check_types
from truant.logs.analyze import source_name
from truant.logs.keep import condition_columns, keep
from truant.logs.labels import merge, without_arms
from truant.logs.log import Log
from truant.logs.places import inputs_of
from truant.logs.query import find_forms
from truant.logs.question import PlanQuestion
from truant.logs.read import advising, found, read, requested, rules_of
from truant.logs.source import Source
from truant.logs.statement import BLANKS, Rows
from truant.logs.values import FOLLOWED_UP, Rules
from truant.logs.where import condition_of, parse
from truant.provenance import Provenance
from truant.setting import whole_number
from truant.tables.request import Request, in_order, mediator_levels, one_column

if TYPE_CHECKING:
    import pyarrow as pa

Whole = npt.NDArray[np.int64]


def check_id(data: Any, asked: PlanQuestion) -> None:
    """Refuse a column that cannot name rows, before the work; or rows without a column that have no numbers."""
    with closing(found(data, asked)) as source:
        if asked.id is None:
            if not source.has_order:
                what = (
                    "several files have no numbers in common"
                    if source.has_header
                    else "a database have no numbers"
                )
                raise InvalidValue(f"Rows of {what}; name the column that tells them apart (--id COLUMN).")
            return
        try:
            one_column(asked.id, source.columns)
        except UnknownName as error:
            raise advising(error, source) from None


def missing_rows(data: Any, asked: PlanQuestion, log: Log, most: int, seed: int) -> MissingRows:
    """The rows of the log that can be followed up, in the order of the table (of a database: of their names).

    Of Spark, where there may be very many, only those that come first when they are shuffled with this seed: as many of
    each arm and mediator level as are wanted at `most`.
    """
    with closing(found(data, asked)) as source:
        request = replace(requested(source, asked), levels=None, range=None, unit=asked.id)
        rules = rules_of(source, asked)
        columns, cuts = _columns(source, request, asked, rules, log)
        if asked.id is not None:
            _check_names(source, columns.table, rules, asked.id)
        places = _places(source, request, columns, cuts, rules, log)
        rows = _missing(columns)
        shuffled = source.dialect == "spark"
        if shuffled:
            rows = _shuffled(rows, columns.keys, most, seed)
        fetched = source.fetch(rows.select.order_by(rows["draw" if shuffled else "cluster"].copy()))
        codes, combinations = _combinations([fetched.column(key) for key in columns.keys])
        cells = np.array([places[one] for one in combinations], np.int64).reshape(-1, 2)
        return MissingRows(fetched.column("cluster"), cells[codes, 0], cells[codes, 1], shuffled)


def _columns(
    source: Source, request: Request, asked: PlanQuestion, rules: Rules, log: Log
) -> tuple[query.QueryColumns, query.Cuts]:
    """The columns as `read` has them, with the name of each row in `cluster`, which is where units have theirs."""
    tree = parse(condition_of(asked.where), source.columns)
    names = request.names() | condition_columns(tree)
    picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
    check_types(request, picked, source.durations)
    picked = picked.adding({"cluster": sql.row_number() if asked.id is None else picked.columns["unit"]})
    if tree is not None and asked.where is not None:
        picked = keep(source, picked, tree, asked.where, rules, asked.decimal).table
    if asked.merge_labels:
        picked = merge(source, request, picked, rules).table
    picked = without_arms(picked, rules, log.set_aside)
    request = replace(request, unit="row")
    forms = find_forms(source, request, picked, rules, asked.decimal, True)
    cuts = query.find_cuts(source, request, picked, rules, forms)
    return query.tidy(request, picked, rules, forms, cuts), cuts


def _check_names(source: Source, table: Rows, rules: Rules, name: str) -> None:
    """Every row must have a name of its own."""
    rows = table.where(sql.known(rules.known(table.columns["arm"]).sql))
    names = rules.known(rows.columns["cluster"]).sql
    about = {"rows": sql.count(), "named": sql.count(names), "distinct": sql.distinct(names)}
    found = source.run(rows.grouped({}, about))[0]
    if found["named"] < found["rows"]:
        raise InvalidValue(
            f"{found['rows'] - found['named']:,} of {found['rows']:,} rows have no value in the column {name!r} that "
            "names them; fill it, or leave --id out to list rows by number."
        )
    if found["distinct"] < found["named"]:
        each = rows.regrouped(("cluster",), {"rows": sql.count()})
        example = source.run(each.where(each["rows"] > 1).first(1).select)
        shown = f", {example[0]['cluster']!r} for one" if example else ""
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
    return table.where(*left).taking({key: table.columns[key] for key in ("cluster", *columns.keys)})


def _shuffled(rows: Rows, keys: Sequence[str], most: int, seed: int) -> Rows:
    """The first of each combination of keys, in the order of hashes of their names.

    Labels that differ in blanks are one level but several combinations: with the hash as `draw`, the first of a level
    are among the first of its combinations.
    """
    hashed = exp.func("MD5", exp.func("CONCAT", sql.text(f"{seed}:"), sql.as_text(rows["cluster"])))
    rows = rows.adding({"draw": hashed})
    rank = exp.Window(
        this=exp.RowNumber(),
        partition_by=[rows[key].copy() for key in keys],
        order=exp.Order(expressions=[exp.Ordered(this=rows["draw"].copy())]),
    )
    ranked = rows.adding({"rank": rank})
    return ranked.where(ranked["rank"] <= most)


def _places(
    source: Source, request: Request, columns: query.QueryColumns, cuts: query.Cuts, rules: Rules, log: Log
) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Arm and mediator level of each combination of keys, as they stand in the table."""
    keys = list(columns.keys)
    rows = source.run(columns.table.grouped(columns.table.by(*keys), {"rows": sql.count()}))
    read = {
        tuple(row[key] for key in keys): [_known(row[key], rules, key in columns.cut) for key in keys]
        for row in rows
    }
    kept = {raw: values for raw, values in read.items() if values[0] is not None}
    arms = {
        value: code
        for code, value in enumerate(in_order({values[0] for values in kept.values()}, source.untyped))
    }
    levels = {tuple(values[1:]) for values in kept.values()}
    whole = [level for level in levels if None not in level]
    points = [cut.points for cut in cuts]
    ordered = (
        mediator_levels(whole, request.mediators, points, source.untyped)
        if request.mediators
        else {(): "all"}
    )
    codes = {level: code for code, level in enumerate(ordered)}
    assert len(arms) == len(log.arms)
    assert len(codes) == len(log.mediators)
    return {raw: (arms[values[0]], codes.get(tuple(values[1:]), len(codes))) for raw, values in kept.items()}


def _known(value: Any, rules: Rules, is_class: bool) -> Any:
    if not is_class and rules.is_missing(value):
        return None
    return value.strip(BLANKS) if isinstance(value, str) else value


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


SAID = (
    "set-aside",
    "alike-labels",
    "thousands",
)  # warnings of how the table was read, which a plan has as notes


def plan_table(data: Any, question: PlanQuestion) -> Plan:
    """The plan for a table, with the rows to follow up."""
    failures = WORST_CASE if question.failed_follow_ups is None else question.failed_follow_ups
    options = PlanOptions(
        question.level, question.chance, question.differ, question.success, question.budget, failures
    )
    whole_number("seed", question.seed, at_least=0)
    roles = ("arm", "outcome", "mediators", "observed", "followed_up", "id")
    columns = {
        role.removesuffix("s") if role == "mediators" else role: getattr(question, role) for role in roles
    }
    if question.id is not None and question.id in (question.arm, question.outcome):
        raise InvalidValue(f"id must be another column than arm and outcome, got {question.id!r}.")
    check_id(data, question)
    log = read(data, question)
    labels = Labels.of(log.arms, log.mediators, question.outcome, log.mediator_column)
    try:
        found = plan_counts(log.counts, log.setting, labels, options)
    except NotIdentified as error:
        raise InvalidValue(labels.sentence(error)) from None
    notes = (*log.notes, *(one.message for one in log.warnings if one.code in SAID))
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
            notes=notes,
            inputs=inputs_of(data),
        ),
        missing_rows=missing_rows(
            data, question, log, max((cell.follow_ups for cell in found.cells), default=0), int(question.seed)
        ),
    )

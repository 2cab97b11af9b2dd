"""The rows of a log whose outcome is missing, by arm and mediator level, and a random list of some of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from truant.errors import InvalidValue, UnknownName
from truant.logs import query
from truant.logs.checks import check_types
from truant.logs.files import find_files
from truant.logs.filter import filters_of, parse
from truant.logs.follow_ups import FOLLOWED_UP
from truant.logs.keep import filter_columns, keep
from truant.logs.log import Log
from truant.logs.read import _advising
from truant.logs.source import Source, find
from truant.logs.text_columns import find_forms
from truant.logs.values import BLANKS, Rules
from truant.tables.labels import in_order, mediator_levels
from truant.tables.request import Request, one_column, understand

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowsAsked:
    """How the rows are read: as `read` takes it, and the column that names a row (None: by number)."""

    data: Any
    columns: dict[str, Any]  # arm, outcome, mediator, observed, followed_up
    id: str | None
    missing_values: Sequence[object] = ()
    only_missing_values: Sequence[object] | None = None
    decimal: str = "."
    filter: str | Sequence[str] = ()
    encoding: str | None = None
    partitioned: bool = False


@dataclass(frozen=True, eq=False)
class MissingRows:
    """Rows whose outcome is missing and was not followed up: what names them, and their place in the counts."""

    names: pa.ChunkedArray
    arms: Whole
    mediators: Whole  # the number after the last level is that of a missing mediator


def check_id(asked: RowsAsked) -> None:
    """Refuse a column that cannot name rows, before the work; or rows without a column that have no numbers."""
    with closing(find(asked.data, encoding=asked.encoding, partitioned=asked.partitioned)) as source:
        if asked.id is None:
            if source.backend.name != "duckdb" or source.borrowed or _is_database(asked.data):
                raise InvalidValue(
                    "Rows of a database have no numbers; name the column that tells them apart (--id COLUMN)."
                )
            if isinstance(asked.data, str | os.PathLike) and len(find_files(os.fspath(asked.data))) > 1:
                raise InvalidValue(
                    "Rows of several files have no numbers in common; name the column that tells them apart "
                    "(--id COLUMN)."
                )
            return
        try:
            one_column(asked.id, source.columns)
        except UnknownName as error:
            raise _advising(error, source) from None


def _is_database(data: Any) -> bool:
    from truant.logs.databases import is_url

    return isinstance(data, str) and is_url(data)


def missing_rows(asked: RowsAsked, log: Log) -> MissingRows:
    """The rows of the log that can be followed up, in the order of the table (of a database: of their names)."""
    with closing(find(asked.data, encoding=asked.encoding, partitioned=asked.partitioned)) as source:
        request = _request(source, asked)
        rules = Rules.of(asked.missing_values, source.backend.name, asked.only_missing_values)
        columns, cuts = _columns(source, request, asked, rules)
        if asked.id is not None:
            _check_names(source, columns.table, rules, asked.id)
        return _placed(source, request, columns, cuts, rules, log)


def _request(source: Source, asked: RowsAsked) -> Request:
    named = asked.columns
    return understand(
        source.columns,
        named["arm"],
        named["outcome"],
        named["mediator"],
        named["observed"],
        None,
        None,
        followed_up=named["followed_up"],
        unit=asked.id,
    )


def _columns(
    source: Source, request: Request, asked: RowsAsked, rules: Rules
) -> tuple[query.QueryColumns, query.Cuts]:
    """The columns as `read` has them, with the name of each row in `cluster`, which is where units have theirs."""
    import ibis

    tree = parse(filters_of(asked.filter), source.columns)
    names = request.names() | filter_columns(tree)
    picked = source.pick({role: source.columns.index(name) for role, name in names.items()})
    check_types(request, picked, source.durations)
    picked = picked.mutate(cluster=picked.unit if asked.id is not None else ibis.row_number() + 1)
    if tree is not None:
        picked = keep(source, picked, tree, filters_of(asked.filter), rules, asked.decimal).table
    request = replace(request, unit="row")
    forms = find_forms(source, request, picked, rules, asked.decimal, True)
    cuts = query.find_cuts(source, request, picked, rules, forms)
    return query.tidy(request, picked, rules, forms, cuts), cuts


def _check_names(source: Source, table: ir.Table, rules: Rules, name: str) -> None:
    """Every row must have a name of its own."""
    known = table.filter(rules.known(table.arm).notnull())
    names = rules.known(known.cluster)
    found = source.run(known.aggregate(rows=known.count(), named=names.count(), distinct=names.nunique()))[0]
    if found["named"] < found["rows"]:
        raise InvalidValue(
            f"{found['rows'] - found['named']:,} of {found['rows']:,} rows have no value in the column {name!r} that "
            "names them; fill it, or leave --id out to list rows by number."
        )
    if found["distinct"] < found["named"]:
        twice = known.group_by("cluster").aggregate(rows=known.count()).filter(lambda t: t.rows > 1).limit(1)
        example = source.run(twice)
        shown = f", {example[0]['cluster']!r} for one" if example else ""
        raise InvalidValue(
            f"Column {name!r} must name each row by itself, and some values occur several times{shown}; name another "
            "column, or leave --id out to list rows by number."
        )


def _placed(
    source: Source, request: Request, columns: query.QueryColumns, cuts: query.Cuts, rules: Rules, log: Log
) -> MissingRows:
    table = columns.table
    keys = list(columns.keys)
    places = _places(source, request, columns, cuts, rules, log)
    left = table.clean.isnull()
    if FOLLOWED_UP in columns.details:
        left = left & (table[FOLLOWED_UP] != 1)
    rows = (
        table.filter(left & columns.known(table, "arm").notnull())
        .select("cluster", *keys)
        .order_by("cluster")
    )
    found = source.backend.to_pyarrow(rows)
    codes, combinations = _combinations([found.column(key) for key in keys])
    cells = np.array([places[one] for one in combinations], np.int64).reshape(-1, 2)
    return MissingRows(found.column("cluster"), cells[codes, 0], cells[codes, 1])


def _places(
    source: Source, request: Request, columns: query.QueryColumns, cuts: query.Cuts, rules: Rules, log: Log
) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Arm and mediator level of each combination of keys, as they stand in the table."""
    keys = list(columns.keys)
    rows = source.run(columns.table.group_by(*keys).aggregate(rows=columns.table.count()))
    read = {
        tuple(row[key] for key in keys): [_known(row[key], rules, key in columns.cut) for key in keys]
        for row in rows
    }
    kept = {raw: known for raw, known in read.items() if known[0] is not None}
    arms = {
        value: code
        for code, value in enumerate(in_order({known[0] for known in kept.values()}, source.untyped))
    }
    levels = {tuple(known[1:]) for known in kept.values()}
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
    return {raw: (arms[known[0]], codes.get(tuple(known[1:]), len(codes))) for raw, known in kept.items()}


def _known(value: Any, rules: Rules, is_class: bool) -> Any:
    if not is_class and rules.is_missing(value):
        return None
    return value.strip(BLANKS) if isinstance(value, str) else value


def _combinations(columns: Sequence[pa.ChunkedArray]) -> tuple[Whole, list[tuple[Any, ...]]]:
    """Which combination each row has, and the combinations."""
    encoded = [column.combine_chunks().dictionary_encode() for column in columns]
    values = [[*one.dictionary.to_pylist(), None] for one in encoded]
    code = np.zeros(len(columns[0]), np.int64)
    for one, known in zip(encoded, values, strict=True):
        index = one.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
        code = code * len(known) + index
    distinct, place = np.unique(code, return_inverse=True)
    found = []
    for number in distinct.tolist():
        parts = []
        for known in reversed(values):
            number, part = divmod(number, len(known))
            parts.append(known[part])
        found.append(tuple(reversed(parts)))
    return place.astype(np.int64), found


def drawn(rows: MissingRows, follow_ups: Whole, seed: int) -> Whole:
    """Numbers of the rows to follow up, in the order of the calls.

    Within each arm and mediator level rows are drawn at random. Levels take turns in proportion to their numbers, so
    that the first calls of the list are a fair sample, too, wherever one stops.
    """
    rng = np.random.default_rng(seed)
    chosen, turns = [], []
    for arm, level in np.argwhere(follow_ups > 0):
        own = np.flatnonzero((rows.arms == arm) & (rows.mediators == level))
        number = int(follow_ups[arm, level])
        chosen.append(rng.permutation(own)[:number])
        turns.append((np.arange(number) + rng.random(number)) / number)
    if not chosen:
        return np.zeros(0, np.int64)
    order = np.argsort(np.concatenate(turns), kind="stable")
    return np.concatenate(chosen)[order]

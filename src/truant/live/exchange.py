"""Decisions and stores as files: export, backups; imports of past decisions are in `imports`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from truant.errors import Conflict, InvalidValue, Unavailable, named, require
from truant.files import TABLES, output_path, written_whole
from truant.live.configuration import Configuration
from truant.live.imports import LENGTH_OF_HASH
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.deadline import patient
from truant.live.store.opening import open_store
from truant.live.times import as_datetime

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.live.experiment import Experiment

CHUNK = 20_000


class ExportedDecision(NamedTuple):
    """One row for each settled decision, as `truant analyze` and `truant import` read it."""

    id: str  # id of the decision
    arm: str  # its arm
    probability: float | None  # probability with which the arm was drawn; None if it is not known
    asked: datetime  # when the decision was made
    deadline: datetime  # outcomes that happen before this moment count
    state: str  # `pending`, `observed` or `missing`
    # why the outcome is missing: `expired`, `reported` or `withdrawn`; or `absent` if it was set to the value for
    # outcomes that are never told; None otherwise
    reason: str | None
    mediator: str | None  # mediator level; None if it is missing or there is no mediator
    outcome: float | None  # the outcome, or the answer to a follow-up; None if it is missing
    late_outcome: float | None  # an outcome that came late and is not counted; None if none did
    followed_up: bool  # whether a missing outcome was followed up and the follow-up has ended
    pick_probability: float | None  # probability with which it was picked for follow-up; None if it was not
    holdout: bool  # whether it was drawn from the fixed split
    # id of the decision in the experiment that it was imported from; None if it was made here or came without an id of
    # truant
    origin: str | None


@patient
def export(experiment: Experiment, path: str | os.PathLike[str], every: bool = False) -> Path:
    """Write the settled decisions, or all of them, as .csv or .parquet."""
    from truant.tables.write import write_csv_rows, write_parquet

    target = output_path(path, TABLES)
    configuration = experiment.configuration  # which reads the store, and so cannot be asked for below
    if target.suffix.lower() == ".csv":

        def write(transaction: Transaction) -> None:
            with written_whole(target) as temporary:
                rows = _exported_rows(transaction, experiment.number, configuration, every)
                write_csv_rows(ExportedDecision._fields, rows, temporary)

        experiment.store.read(write)
    else:
        table = exported(experiment, every)
        with written_whole(target) as temporary:
            write_parquet(table, temporary, "decisions", 1)
    return target


@patient
def exported(experiment: Experiment, every: bool = False) -> pa.Table:
    """The same as an Arrow table.

    The outcome of a decision that was followed up is the answer, empty if the follow-up failed, and `followed_up` is
    true; it is false for one that was picked and has no answer yet.
    """
    require("logs", "Arrow tables and Parquet files", "pyarrow")
    import pyarrow as pa

    types: dict[Any, pa.DataType] = {
        str: pa.string(),
        str | None: pa.string(),
        float | None: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in get_type_hints(ExportedDecision).items()])
    configuration = experiment.configuration

    def query(transaction: Transaction) -> pa.Table:
        batches = []
        rows = _exported_rows(transaction, experiment.number, configuration, every)
        while some := list(islice(rows, CHUNK)):
            columns = zip(*some, strict=True)
            batches.append(
                pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)
            )
        return pa.Table.from_batches(batches, schema)

    return experiment.store.read(query)


def _exported_rows(
    transaction: Transaction, number: int, configuration: Configuration, every: bool
) -> Iterator[ExportedDecision]:
    for row in decision_statements.all_rows(transaction, number, settled_only=not every):
        followed_up = row.answered_at is not None
        yield ExportedDecision(
            id=row.id,
            arm=configuration.arms[row.arm],
            probability=row.probability,
            asked=as_datetime(row.asked),
            deadline=as_datetime(row.deadline),
            state=row.state,
            reason=row.reason,
            mediator=mediator_name(row.mediator, configuration),
            outcome=row.answer if followed_up else row.outcome,
            late_outcome=row.late_outcome,
            followed_up=followed_up,
            pick_probability=row.pick_probability,
            holdout=bool(row.holdout),
            origin=row.origin if row.origin and len(row.origin) < LENGTH_OF_HASH else None,
        )


def mediator_name(code: int | None, configuration: Configuration) -> str | None:
    """The name of a mediator level; None if it is missing, or there is no mediator."""
    return None if code is None or not configuration.mediator_levels else configuration.mediator_levels[code]


Where = str | os.PathLike[str] | Store | None
COPIED_TABLES = ("meta", "experiments", "revisions", "decisions", "events", "counts", "allocations")
ENDINGS = (".db", ".sqlite", ".backup")
COPIED = 5000


@patient
def backup(store: Where, path: str | os.PathLike[str]) -> Path:
    """Write everything that a store holds at one moment into a new file; asks and tells go on meanwhile."""
    target = output_path(path, ENDINGS)
    if target.exists():
        raise InvalidValue(
            f"Cannot write the backup {named(target)}: the file is there already; choose another name."
        )
    with _opened(store, create=False) as source, written_whole(target) as temporary:
        temporary.unlink(missing_ok=True)
        with _opened(f"sqlite:///{temporary}?durability=process") as copy:
            source.read(lambda transaction: copy.write(lambda into: _copy(transaction, into)))
    return target


@patient
def restore(path: str | os.PathLike[str], store: Where = None) -> int:
    """Bring a backup into a store without experiments; gives the number of experiments."""
    if not Path(path).is_file():
        raise InvalidValue(f"There is no backup at {named(path)}.")
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "backup.db"  # a copy: it may be of an older version, and is brought up to date
        shutil.copyfile(path, own)
        source = _backup_in(own, path)
        try:
            with _opened(store) as target:
                return _restored(source, target)
        finally:
            source.close()


def _backup_in(copy: Path, path: str | os.PathLike[str]) -> Store:
    """The copy of a backup, opened; or raises InvalidValue if it is none."""
    try:
        return open_store(copy, create=False)
    except Unavailable:
        raise InvalidValue(f"{named(path)} is not a backup of a store of truant, or it is damaged.") from None


@contextmanager
def _opened(store: Where, create: bool = True) -> Iterator[Store]:
    """A store; one that was opened here is closed again."""
    opened = open_store(store, create)
    try:
        yield opened
    finally:
        if opened is not store:
            opened.close()


def _restored(source: Store, target: Store) -> int:

    def operation(into: Transaction) -> int:
        if statements.heads(into):
            raise Conflict("A backup is restored into a store without experiments; this one has some.")
        source.read(lambda transaction: _copy(transaction, into))
        target.after_restore(into)
        return len(statements.heads(into))

    return target.write(operation)


def _copy(source: Transaction, target: Transaction) -> None:
    """All rows of all tables; the columns of both have the same order, since both were made by the same steps."""
    target.run("DELETE FROM meta")
    for table in COPIED_TABLES:
        rows = source.stream(f"SELECT * FROM {table}")
        while some := list(islice(rows, COPIED)):
            target.many(f"INSERT INTO {table} VALUES ({', '.join('?' * len(some[0]))})", some)

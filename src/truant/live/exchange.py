"""Decisions and stores as files: export, import of past decisions, backups."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.errors import (
    Conflict,
    InvalidValue,
    TruantError,
    Unavailable,
    counted,
    named,
    quoted,
    require,
    unknown,
)
from truant.files import TABLES, output_path, written_whole
from truant.live.ask_tell import HALF_TAG
from truant.live.configuration import Configuration, Note, plain_number
from truant.live.decision import TAG_BITS, decoded
from truant.live.store import Store, Transaction, decision_statements, statements
from truant.live.store.opening import open_store
from truant.live.times import as_datetime, moment
from truant.tables.write import FORMULA, names_and_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.live.experiment import Experiment

IMPORTED = (
    *("key", "arm", "probability", "asked", "mediator", "outcome", "late_outcome"),
    *("followed_up", "pick_probability", "holdout"),
)
PASSED_OVER = ("id", "deadline", "state", "reason")  # columns of an export that say nothing more

Rows = Iterable[tuple[int, Sequence[Any]]]  # each with the number of its line


def read_decisions(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """The rows of the file by column, each with the number of its line; blanks are None."""
    names, rows = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _csv_rows(path)
    _check_columns(path, names)
    return [(number, dict(zip(names, row, strict=True))) for number, row in rows]


def without_guard(text: Any, known: Sequence[str]) -> Any:
    """A name without the apostrophe that an export puts before what a spreadsheet would compute."""
    guarded = isinstance(text, str) and text.startswith("'") and text[1:].startswith(FORMULA)
    return text[1:] if guarded and text not in known and text[1:] in known else text


def _parquet_rows(path: Path) -> tuple[list[str], Rows]:
    require("logs", "Parquet files", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names, rows = names_and_rows(parquet.read_table(path))
    except (OSError, pa.ArrowException) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}: {' '.join(str(error).split())}.") from None
    return names, enumerate(rows, start=2)


def _csv_rows(path: Path) -> tuple[list[str], Rows]:
    lines, number = list[tuple[int, list[str]]](), 1
    try:
        reader = csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""), strict=True)
        for line in reader:
            if line:
                lines.append((number, line))
            number = reader.line_num + 1  # a cell may hold line breaks
    except UnicodeDecodeError:
        raise InvalidValue(
            f"Cannot read {named(path.name)}: it is not UTF-8; save it as CSV in UTF-8."
        ) from None
    except (OSError, csv.Error) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}, line {number}: {error}.") from None
    if not lines:
        raise InvalidValue(f"Cannot read {named(path.name)}: it is empty.")
    (_, names), *rows = lines
    for number, row in rows:
        if len(row) != len(names):
            raise InvalidValue(
                f"Cannot read {named(path.name)}: the header has {len(names)} fields, line {number} has {len(row)}."
            )
    return names, ((number, [cell or None for cell in row]) for number, row in rows)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    """Refuse a file without arms, with a column twice, or with one that is not known: it may be misspelt."""
    if "arm" not in names:
        others = ", ".join(name for name in IMPORTED if name != "arm")
        raise InvalidValue(
            f"{named(path.name)} must have a column arm, and may have {others}, with commas between them; "
            f"got {', '.join(names)}."
        )
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidValue(f"{named(path.name)} has the column {named(name)} twice.")
        if name not in (*IMPORTED, *PASSED_OVER):
            raise unknown(f"column of {named(path.name)}:", name, IMPORTED)


CHUNK = 20_000
YES, NO = ("true", "1", "yes"), ("false", "0", "no")
COLUMNS = {  # of an export, with the names of their types in Arrow
    "id": "string",
    "arm": "string",
    "probability": "float64",
    "asked": "time",
    "deadline": "time",
    "state": "string",
    "reason": "string",
    "mediator": "string",
    "outcome": "float64",
    "late_outcome": "float64",
    "followed_up": "bool_",
    "pick_probability": "float64",
    "holdout": "bool_",
}


def export(experiment: Experiment, path: str | os.PathLike[str], every: bool = False) -> Path:
    """Write the settled decisions, or all of them, as .csv or .parquet."""
    from truant.tables.write import write_csv_rows, write_parquet

    target = output_path(path, TABLES)
    configuration = experiment.configuration  # which reads the store, and so cannot be asked for below
    if target.suffix.lower() == ".csv":

        def write(transaction: Transaction) -> None:
            with written_whole(target) as temporary:
                rows = _exported_rows(transaction, experiment.number, configuration, every)
                write_csv_rows(list(COLUMNS), rows, temporary)

        experiment.store.read(write)
    else:
        table = exported(experiment, every)
        with written_whole(target) as temporary:
            write_parquet(table, temporary, "decisions", 1)
    return target


def exported(experiment: Experiment, every: bool = False) -> pa.Table:
    """The same as an Arrow table.

    The outcome of a decision that was followed up is the answer, empty if the follow-up failed, and `followed_up` is
    true; it is false for one that was picked and has no answer yet.
    """
    require("logs", "Arrow tables and Parquet files", "pyarrow")
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    kinds = {name: time if kind == "time" else getattr(pa, kind)() for name, kind in COLUMNS.items()}
    schema = pa.schema(list(kinds.items()))
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
) -> Iterator[tuple[Any, ...]]:
    """The values of COLUMNS, a tuple for each decision."""
    for row in decision_statements.all_rows(transaction, number, settled_only=not every):
        followed_up = row.answered_at is not None
        named_otherwise = {
            "arm": configuration.arms[row.arm],
            "asked": as_datetime(row.asked),
            "deadline": as_datetime(row.deadline),
            "mediator": mediator_name(row.mediator, configuration),
            "outcome": row.answer if followed_up else row.outcome,
            "followed_up": followed_up,
            "holdout": bool(row.holdout),
        }
        yield tuple(
            named_otherwise[name] if name in named_otherwise else getattr(row, name) for name in COLUMNS
        )


def mediator_name(code: int | None, configuration: Configuration) -> str | None:
    """The name of a mediator level; None if it is missing, or there is no mediator."""
    return None if code is None or not configuration.mediator_levels else configuration.mediator_levels[code]


def import_rows(experiment: Experiment, data: str | os.PathLike[str], note: Note) -> int:
    """Add past decisions from a file: all of them, or none if one is not as it should be.

    A decision whose window is over counts at once, with its outcome missing where there is none; one whose window is
    still open waits for it like any other.
    """
    if not isinstance(data, str | os.PathLike):
        raise InvalidValue(f"Decisions are imported from a .csv or .parquet file, got {quoted(data)}.")
    path = Path(data)
    if path.suffix.lower() not in TABLES:
        raise InvalidValue(
            f"Decisions are imported from a .csv or .parquet file, got {quoted(os.fspath(data))}."
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidValue(f"Cannot read {named(path)}: {error.strerror}.") from None
    digest = hashlib.sha256(content).hexdigest()
    now, configuration = experiment.now(), experiment.configuration
    lines = read_decisions(path)
    _refuse_own_decisions(experiment, path, [values for _, values in lines])
    rows = []
    for number, values in lines:
        try:
            rows.append(_checked_row(experiment, configuration, values, now))
        except TruantError as error:
            raise error.at(f"line {number}") from None
    if not rows:
        raise InvalidValue(f"{named(path)} has no rows.")

    def operation(transaction: Transaction) -> None:
        head = statements.head_of(transaction, experiment.number, experiment.store.for_update)
        for one in statements.events_of_kind(transaction, head.id, "imported"):
            if one["body"].get("sha256") == digest:
                raise Conflict(
                    f"{named(path.name)} was imported already ({counted(one['body']['rows'], 'row')})."
                )
        keys = [row["key"] for row in rows if row["key"] is not None]
        known = decision_statements.known_keys(transaction, head.id, keys)
        if known or len(set(keys)) < len(keys):
            count = len(known) or len(keys) - len(set(keys))
            raise Conflict(
                "A key has at most one decision; known already, or there twice: "
                f"{counted(count, 'key')} of {named(path.name)}; remove these rows."
            )
        decision_statements.insert_imported(transaction, head.id, rows)
        body = {"file": path.name, "sha256": digest, "rows": len(rows)}
        at = max(now, head.clock)
        statements.insert_event(transaction, head.id, "imported", at, note=note, body=body)

    experiment.store.write(operation)
    experiment.close_windows()
    return len(rows)


def _refuse_own_decisions(experiment: Experiment, path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """An export of this experiment would count everything twice."""
    ids = [line["id"] for line in lines if line.get("id") is not None]
    if not ids:
        return

    def query(transaction: Transaction) -> bool:
        return any(
            decision_statements.decision_by_number(transaction, experiment.number, *decoded(one), "")
            is not None
            for one in (ids[0], ids[-1])
        )

    if experiment.store.read(query):
        raise Conflict(
            f"{named(path.name)} holds decisions of this experiment already; importing would count them twice."
        )


def _checked_row(
    experiment: Experiment, configuration: Configuration, line: Mapping[str, Any], now: int
) -> dict[str, Any]:
    """A past decision by column, as it is kept."""
    asked = now if line.get("asked") is None else moment("asked", line["asked"])
    if asked > now:
        raise InvalidValue(f"asked must not be in the future, got {quoted(line['asked'])}.")
    deadline = asked + configuration.window
    probability = _share("probability", line)
    mediator = without_guard(line.get("mediator"), configuration.mediator_levels)
    if mediator is not None and configuration.mediator_cuts:
        mediator = _number("mediator", mediator)
    code, value = configuration.mediator_code(mediator), _outcome("outcome", line, configuration)
    late = _outcome("late_outcome", line, configuration)
    followed_up = _flag("followed_up", line)
    if followed_up and deadline + configuration.grace > now:
        raise InvalidValue("followed_up can be given only for decisions whose window is over.")
    answer, value = (value, None) if followed_up else (None, value)
    key = None if line.get("key") is None else experiment.hashed_key(line["key"])
    tag = experiment.rng.getrandbits(TAG_BITS) - HALF_TAG
    if line["arm"] is None:
        raise InvalidValue("The arm is blank.")
    arm = configuration.arm_number(without_guard(str(line["arm"]), configuration.arms))
    due = now if deadline + configuration.grace <= now else deadline + configuration.grace
    pick = (_share("pick_probability", line) or 1.0) if followed_up else None
    return {
        "tag": tag,
        "arm": arm,
        "key": key,
        "probability": probability,
        "holdout": int(_flag("holdout", line)),
        "asked": asked,
        "deadline": deadline,
        "due": due,
        "mediator": code,
        "mediator_at": None if code is None else asked,
        "outcome": value,
        "outcome_at": None if value is None else asked,
        "late_outcome": late,
        "late_at": None if late is None else deadline,
        "listed_at": now if followed_up else None,
        "pick_probability": pick,
        "answer": answer,
        "answered_at": now if followed_up else None,
    }


def _outcome(name: str, line: Mapping[str, Any], configuration: Configuration) -> float | None:
    return None if line.get(name) is None else configuration.outcome_value(_number(name, line[name]))


def _share(name: str, line: Mapping[str, Any]) -> float | None:
    found = None if line.get(name) is None else _number(name, line[name])
    if found is not None and not 0 < found <= 1:
        raise InvalidValue(f"{name} must be above 0 and at most 1, got {found:g}.")
    return found


def _flag(name: str, line: Mapping[str, Any]) -> bool:
    text = str(line.get(name) or "no").strip().lower()
    if text not in (*YES, *NO):
        raise InvalidValue(f"{name} must be yes or no, got {quoted(line[name])}.")
    return text in YES


def _number(name: str, value: object) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InvalidValue(f"{name} must be a number, got {quoted(value)}.") from None
    return plain_number(name, value)


Where = str | os.PathLike[str] | Store | None
COPIED_TABLES = ("meta", "experiments", "revisions", "decisions", "events", "counts", "allocations")
ENDINGS = (".db", ".sqlite", ".backup")
COPIED = 5000


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

"""Decisions as files: `export` writes a row for each, as `truant analyze` reads them; `import_rows` adds past ones."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.errors import Conflict, InvalidValue, TruantError, unknown
from truant.extras import require
from truant.files import TABLES, output_path, written_whole
from truant.live.asking import HALF_TAG
from truant.live.configuration import Configuration, plain_number
from truant.live.decision import TAG_BITS, Row, decoded
from truant.live.store import Transaction, decision_statements, statements
from truant.live.times import as_datetime, moment
from truant.tables.rows import names_and_rows
from truant.text import counted, named, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.live.experiment import Experiment

CHUNK = 20_000
IMPORTED = (
    *("key", "arm", "probability", "asked", "mediator", "outcome", "late_outcome"),
    *("followed_up", "pick_probability", "holdout"),
)
PASSED_OVER = ("id", "deadline", "state", "reason")  # columns of an export that say nothing more
YES, NO = ("true", "1", "yes"), ("false", "0", "no")
TEXTS = ("id", "arm", "state", "reason", "mediator")
NUMBERS = ("probability", "outcome", "late_outcome", "pick_probability")
FLAGS = ("followed_up", "holdout")
TIMES = ("asked", "deadline")
COLUMNS = (
    *(
        "id",
        "arm",
        "probability",
        "asked",
        "deadline",
        "state",
        "reason",
        "mediator",
        "outcome",
        "late_outcome",
    ),
    *("followed_up", "pick_probability", "holdout"),
)


def export(experiment: Experiment, path: str | os.PathLike[str], every: bool = False) -> Path:
    """Write the settled decisions, or all of them, as .csv or .parquet."""
    from truant.tables.write import write_csv_rows, write_parquet

    target = output_path(path, TABLES)
    configuration = experiment.configuration  # which reads the store, and so cannot be asked for below
    if target.suffix.lower() == ".csv":

        def write(transaction: Transaction) -> None:
            with written_whole(target) as temporary:
                rows = _exported_rows(transaction, experiment.number, configuration, every)
                write_csv_rows(COLUMNS, rows, temporary)

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

    kinds = {
        **dict.fromkeys(TEXTS, pa.string()),
        **dict.fromkeys(NUMBERS, pa.float64()),
        **dict.fromkeys(FLAGS, pa.bool_()),
        **dict.fromkeys(TIMES, pa.timestamp("us", tz="UTC")),
    }
    schema = pa.schema([(name, kinds[name]) for name in COLUMNS])
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
    for row in decision_statements.all_rows(transaction, number, settled_only=not every):
        yield _exported_row(row, configuration)


def _exported_row(row: Row, configuration: Configuration) -> tuple[Any, ...]:
    followed_up = row.answered_at is not None
    return (
        row.id,
        configuration.arms[row.arm],
        row.probability,
        as_datetime(row.asked),
        as_datetime(row.deadline),
        row.state,
        row.reason,
        mediator_name(row.mediator, configuration),
        row.answer if followed_up else row.outcome,
        row.late_outcome,
        followed_up,
        row.pick_probability,
        bool(row.holdout),
    )


def mediator_name(code: int | None, configuration: Configuration) -> str | None:
    """The name of a mediator level; None if it is missing, or there is no mediator."""
    return None if code is None or not configuration.mediator_levels else configuration.mediator_levels[code]


def import_rows(
    experiment: Experiment, data: str | os.PathLike[str], actor: str | None = None, why: str | None = None
) -> int:
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
    lines = list(_lines(path))
    _refuse_own_decisions(experiment, path, lines)
    rows = [
        _imported_row(experiment, configuration, line, number, now)
        for number, line in enumerate(lines, start=2)
    ]
    if not rows:
        raise InvalidValue(f"{named(path)} has no rows.")

    def operation(transaction: Transaction) -> None:
        head = statements.head_of(transaction, experiment.number, experiment.store.for_update)
        for one in statements.events_of_kind(transaction, head.id, "imported"):
            if one["body"].get("sha256") == digest:
                raise Conflict(
                    f"{named(path.name)} was imported already ({counted(one['body']['rows'], 'row')})."
                )
        keys = [row[2] for row in rows if row[2] is not None]
        known = decision_statements.known_keys(transaction, head.id, keys)
        if known or len(set(keys)) < len(keys):
            count = len(known) or len(keys) - len(set(keys))
            raise Conflict(
                f"{count:,} keys of {named(path.name)} have a decision already, or occur twice; remove these rows."
            )
        decision_statements.insert_imported(transaction, head.id, rows)
        body = {"file": path.name, "sha256": digest, "rows": len(rows)}
        at = max(now, head.clock)
        statements.insert_event(transaction, head.id, "imported", at, actor=actor, why=why, body=body)

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


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of the file; blanks are None."""
    names, rows = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _csv_rows(path)
    _check_columns(path, names)
    for row in rows:
        yield dict(zip(names, row, strict=True))


def _parquet_rows(path: Path) -> tuple[list[str], Iterable[Sequence[Any]]]:
    require("logs", "Parquet files", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return names_and_rows(parquet.read_table(path))
    except (OSError, pa.ArrowException) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}: {' '.join(str(error).split())}.") from None


def _csv_rows(path: Path) -> tuple[list[str], Iterable[Sequence[Any]]]:
    try:
        text = path.read_text("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except UnicodeDecodeError:
        raise InvalidValue(
            f"Cannot read {named(path.name)}: it is not UTF-8; save it as CSV in UTF-8."
        ) from None
    except (OSError, csv.Error) as error:
        raise InvalidValue(f"Cannot read {named(path.name)}: {error}.") from None
    if not lines:
        raise InvalidValue(f"Cannot read {named(path.name)}: it is empty.")
    names, *rows = lines
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise InvalidValue(
                f"Cannot read {named(path.name)}: the header has {len(names)} fields, row {number} has {len(row)}."
            )
    return names, ([cell or None for cell in row] for row in rows)


def _check_columns(path: Path, names: Sequence[str]) -> None:
    """Refuse a file without arms, with a column twice, or with one that is not known: it may be misspelt."""
    if "arm" not in names:
        others = ", ".join(name for name in IMPORTED if name != "arm")
        raise InvalidValue(
            f"{named(path.name)} must have a column arm, and may have {others}; got {', '.join(names)}."
        )
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidValue(f"{named(path.name)} has the column {named(name)} twice.")
        if name not in (*IMPORTED, *PASSED_OVER):
            raise unknown(f"column of {named(path.name)}:", name, IMPORTED)


def _imported_row(
    experiment: Experiment, configuration: Configuration, line: Mapping[str, Any], number: int, now: int
) -> Sequence[Any]:
    try:
        return _checked_row(experiment, configuration, line, now)
    except TruantError as error:
        raise error.at(f"line {number}") from None


def _checked_row(
    experiment: Experiment, configuration: Configuration, line: Mapping[str, Any], now: int
) -> Sequence[Any]:
    """The values of the columns that `insert_imported` fills."""
    asked = now if line.get("asked") is None else moment("asked", line["asked"])
    if asked > now:
        raise InvalidValue(f"asked must not be in the future, got {quoted(line['asked'])}.")
    deadline = asked + configuration.window
    probability = _share("probability", line)
    mediator = line.get("mediator")
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
    arm = configuration.arm_number(None if line["arm"] is None else str(line["arm"]))
    due = now if deadline + configuration.grace <= now else deadline + configuration.grace
    pick = (_share("pick_probability", line) or 1.0) if followed_up else None
    return (
        *(tag, arm, key, probability, int(_flag("holdout", line)), asked, deadline, due),
        *(code, None if code is None else asked, value, None if value is None else asked),
        *(late, None if late is None else deadline, now if followed_up else None, pick),
        *(answer, now if followed_up else None),
    )


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

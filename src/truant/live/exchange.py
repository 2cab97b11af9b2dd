"""Decisions as files: `export` writes a row for each, as `truant analyze` reads them; `import_rows` adds past ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.errors import Conflict, InvalidValue, TruantError
from truant.extras import require
from truant.files import TABLES, output_path, written_whole
from truant.live.asking import HALF_TAG
from truant.live.configuration import Configuration, plain_number
from truant.live.decision import TAG_BITS, Row, decoded
from truant.live.decision_files import read_decisions, without_guard
from truant.live.store import Transaction, decision_statements, statements
from truant.live.times import as_datetime, moment
from truant.text import counted, named, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.live.experiment import Experiment

CHUNK = 20_000
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
    lines = read_decisions(path)
    _refuse_own_decisions(experiment, path, [values for _, values in lines])
    rows = [_imported_row(experiment, configuration, values, number, now) for number, values in lines]
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
                "A key has at most one decision; known already, or there twice: "
                f"{counted(count, 'key')} of {named(path.name)}; remove these rows."
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

"""Imports of past decisions: each row has an identity, so that a file that has grown adds its new rows only."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truant.errors import (
    Conflict,
    InvalidValue,
    TruantError,
    UnknownName,
    counted,
    named,
    quoted,
    require,
    unknown,
)
from truant.files import TABLES
from truant.live.ask_tell import HALF_TAG
from truant.live.configuration import Configuration, Note, name_of, plain_number
from truant.live.decision import SKEW, TAG_BITS, decoded
from truant.live.store import Transaction, decision_statements, statements
from truant.live.store.deadline import patient
from truant.live.times import moment
from truant.tables.write import FORMULA, names_and_rows

if TYPE_CHECKING:
    from truant.live.experiment import Experiment

IMPORTED = (
    *("key", "arm", "probability", "asked", "mediator", "outcome", "late_outcome"),
    *("followed_up", "pick_probability", "holdout"),
)
PASSED_OVER = (
    "id",
    "origin",
    "deadline",
    "state",
    "reason",
)  # columns of an export that say no more of a row
YES, NO = ("true", "1", "yes"), ("false", "0", "no")
LENGTH_OF_HASH = 64  # of an identity that is no id of truant

Rows = Iterable[tuple[int, Sequence[Any]]]  # each with the number of its line


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


def _check_columns(path: Path, names: Sequence[str], identity: Identity) -> None:
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
        if name not in (*IMPORTED, *PASSED_OVER, identity.column):
            raise unknown(f"column of {named(path.name)}:", name, IMPORTED)


PIECE = 2_000  # rows of one transaction


class Imported(int):
    """The number of decisions that an import added; `known` and `differing` say what became of the other rows."""

    known: int  # rows that were imported before
    differing: int  # of these: rows whose values are no longer those in the store, which stay as they are

    @classmethod
    def of(cls, added: int, known: int, differing: int) -> Imported:
        """The three numbers."""
        result = cls(added)
        result.known, result.differing = known, differing
        return result

    @property
    def sentence(self) -> str:
        """What was added, and what was not."""
        was = "was" if self == 1 else "were"
        text = f"{counted(int(self), 'decision')} {was} added"
        if self.known:
            text += f", {self.known:,} {'was' if self.known == 1 else 'were'} known already"
        if self.differing:
            text += (
                f"; {self.differing:,} of these {'has' if self.differing == 1 else 'have'} other values now than in "
                "the store, which stay: change them with truant correct"
            )
        return f"{text}."


@dataclass(frozen=True)
class Identity:
    """What identifies the rows of a file: ids of truant, or a column of a named source."""

    column: str
    source: str | None  # None: ids that truant gave, which are the same everywhere

    @classmethod
    def of(cls, path: Path, names: Sequence[str], source: object, column: object) -> Identity:
        """What the caller said, or the ids of an export; or raises InvalidValue."""
        if (source is None) != (column is None):
            raise InvalidValue(
                "source and identified_by go together: where rows come from, and what identifies them."
            )
        if source is None:
            if "id" not in names:
                raise InvalidValue(
                    f"{named(path.name)} has no ids of truant, so that a second import would count its rows twice; say "
                    "where they come from with source, and which column identifies them with identified_by (for the "
                    "command: --source shop --identified-by order)."
                )
            return cls("id", None)
        if not isinstance(column, str) or column not in names:
            raise unknown(f"column of {named(path.name)}:", column, names)
        if column in IMPORTED:
            why = "can be forgotten" if column == "key" else "is the same for many rows"
            raise InvalidValue(f"{column} {why}, so it cannot identify rows; name another column.")
        return cls(column, name_of("source", source))

    def of_row(self, experiment: Experiment, line: Mapping[str, Any]) -> str:
        """The identity of a row as the store keeps it: the id, or a keyed hash."""
        value = line.get(self.column)
        if value is None:
            raise InvalidValue(f"The column {named(self.column)}, which identifies rows, is blank.")
        if self.source is not None:
            whole = isinstance(value, float) and value.is_integer()
            return experiment.hashed_key(f"{self.source}\n{int(value) if whole else value}")
        own = str(line.get("origin") or value).strip().lower()
        try:
            decoded(own)
        except UnknownName:
            raise InvalidValue(
                f"id must be one that truant gave, got {quoted(value)}; for other ids give source and identified_by."
            ) from None
        return own


@patient
def import_rows(
    experiment: Experiment,
    data: str | os.PathLike[str],
    note: Note,
    source: str | None = None,
    identified_by: str | None = None,
) -> Imported:
    """Add past decisions from a file; none if one of them is not as it should be.

    Rows that were imported before are known by their identity, so that a call that was interrupted can be repeated. A
    decision whose window is over counts at once, with its outcome missing where there is none; one whose window is
    still open waits for it like any other.
    """
    if not isinstance(data, str | os.PathLike) or Path(data).suffix.lower() not in TABLES:
        raise InvalidValue(f"Decisions are imported from a .csv or .parquet file, got {quoted(data)}.")
    path = Path(data)
    if not path.is_file():
        raise InvalidValue(f"Cannot read {named(path)}: there is no such file.")
    rows = _checked_rows(experiment, path, source, identified_by)
    if not rows:
        raise InvalidValue(f"{named(path)} has no rows.")
    _check_keys(experiment, path, rows)
    added = known = differing = 0
    for start in range(0, len(rows), PIECE):
        piece = rows[start : start + PIECE]
        some_known, some_differing = experiment.store.write(
            lambda transaction: _import_piece(transaction, experiment, path.name, piece, note)  # noqa: B023
        )
        added += len(piece) - some_known
        known, differing = known + some_known, differing + some_differing
    if added:
        experiment.close_windows()
    return Imported.of(added, known, differing)


def _checked_rows(
    experiment: Experiment, path: Path, source: str | None, identified_by: str | None
) -> list[dict[str, Any]]:
    """The rows of the file by column as they are kept, each with another identity."""
    names, lines = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _csv_rows(path)
    identity = Identity.of(path, names, source, identified_by)
    _check_columns(path, names, identity)
    now, configuration = experiment.now(), experiment.configuration
    rows, line_of = [], dict[str, int]()
    for number, values in lines:
        line = dict(zip(names, values, strict=True))
        try:
            row = _checked_row(experiment, configuration, line, now)
            row["origin"] = identity.of_row(experiment, line)
            before = line_of.setdefault(row["origin"], number)
            if before != number:
                raise InvalidValue(f"It has the same {identity.column} as line {before}.")
        except TruantError as error:
            raise error.at(f"line {number}") from None
        rows.append(row)
    return rows


def _check_keys(experiment: Experiment, path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse keys that have a decision already, unless that is the row itself."""
    keys = {row["key"]: row["origin"] for row in rows if row["key"] is not None}

    def query(transaction: Transaction) -> int:
        origins = decision_statements.origins_of_keys(transaction, experiment.number, list(keys))
        return sum(keys[key] not in known for key, known in origins.items())

    twice = sum(row["key"] is not None for row in rows) - len(keys)
    taken = experiment.store.read(query) or twice
    if taken:
        raise Conflict(
            "A key has at most one decision; known already, or there twice: "
            f"{counted(taken, 'key')} of {named(path.name)}; remove these rows."
        )


def _import_piece(
    transaction: Transaction,
    experiment: Experiment,
    file: str,
    rows: Sequence[Mapping[str, Any]],
    note: Note,
) -> tuple[int, int]:
    """Add those rows that are new; how many were known, and how many of these have other values in the store."""
    head = statements.head_of(transaction, experiment.number, experiment.store.for_update)
    numbers = {row["origin"]: decoded(row["origin"]) for row in rows if len(row["origin"]) < LENGTH_OF_HASH}
    kept = decision_statements.imported_values(transaction, head.id, [row["origin"] for row in rows], numbers)
    new = [row for row in rows if row["origin"] not in kept]
    if new:
        decision_statements.insert_imported(transaction, head.id, new)
        at = max(experiment.now_in(transaction), head.clock)
        statements.insert_event(
            transaction, head.id, "imported", at, note=note, body={"file": file, "rows": len(new)}
        )
    differing = sum(kept[row["origin"]] != _values(row) for row in rows if row["origin"] in kept)
    return len(kept), differing


def _values(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in decision_statements.COMPARED)


def _checked_row(
    experiment: Experiment, configuration: Configuration, line: Mapping[str, Any], now: int
) -> dict[str, Any]:
    """A past decision by column, as it is kept."""
    asked = now if line.get("asked") is None else moment("asked", line["asked"])
    if asked > now + SKEW:
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

"""A CSV file of outcomes: one that is not as expected is refused whole; others are told in bulk, a verdict on each."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from truant.cli.live.base import told_values
from truant.documents.progress import progress_bar
from truant.envelope import in_document
from truant.errors import AlreadyTold, InvalidValue, TruantError, named, quoted, unknown
from truant.files import written_whole

if TYPE_CHECKING:
    from truant.live.experiment import Experiment

COLUMNS = ("id", "key", "mediator", "outcome", "at", "followed_up")
OF_ANSWERS = ("id", "key", "outcome", "at")
DELIMITERS = (",", ";", "\t")
WORDS = {"": False, "no": False, "false": False, "0": False, "yes": True, "true": True, "1": True}


class OutcomeLine(NamedTuple):
    """One line of the file: its number, and what it says by column; blanks are left out."""

    number: int
    values: Mapping[str, str]

    @property
    def says_something(self) -> bool:
        """Whether there is a mediator or an outcome to tell."""
        return "mediator" in self.values or "outcome" in self.values


class OutcomesFile:
    """The lines of a CSV file, whose header and shape are checked.

    Parameters
    ----------
    path : of the file: UTF-8, with or without a byte order mark; columns are separated by what the header has.
    ignore_columns : leave out columns that are not known; if not, they are refused.
    followed_up : all lines are answers to follow-ups; columns other than id, key, outcome and at are left out.
    """

    def __init__(self, path: Path, ignore_columns: bool = False, followed_up: bool = False) -> None:
        self.path, self._name = path, named(path)
        self._known = OF_ANSWERS if followed_up else COLUMNS
        self._of_all = {"followed_up": "yes"} if followed_up else {}
        self._text = _text_of(path, self._name)
        header = self._text[: _end_of_line(self._text)]
        self._delimiter = max(DELIMITERS, key=header.count)
        self._columns = self._checked_header(ignore_columns or followed_up)
        self.size = sum(1 for _ in self.lines())  # reads all lines: a wrong one is refused now

    def lines(self) -> Iterator[OutcomeLine]:
        """The lines below the header, empty ones left out."""
        rows = self._rows()
        next(rows)
        for number, row in rows:
            if len(row) != len(self._columns):
                raise InvalidValue(
                    f"{self._name}, line {number}: {len(self._columns)} fields are expected, as in the header, got "
                    f"{len(row)}; nothing was told."
                )
            cells = zip(self._columns, map(str.strip, row), strict=True)
            yield OutcomeLine(
                number, {column: cell for column, cell in cells if column and cell} | self._of_all
            )

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter, strict=True)
        number = 1
        try:
            for row in reader:
                if row:
                    yield number, row
                number = reader.line_num + 1
        except csv.Error as error:
            raise InvalidValue(f"{self._name}, line {number}: {error}; nothing was told.") from None

    def _checked_header(self, ignore_columns: bool) -> list[str | None]:
        """The columns by their place; None where one is left out."""
        first = next(self._rows(), None)
        if first is None:
            raise InvalidValue(f"{self._name} is empty; {self._expected()}.")
        found: list[str | None] = []
        for cell in first[1]:
            column = cell.strip().lower()
            if column not in self._known and not ignore_columns:
                error = unknown(f"column in {self._name}:", cell, COLUMNS)
                raise error.advising("Nothing was told; --ignore-columns leaves out others.")
            if column in found:
                raise InvalidValue(f"{self._name} has the column {quoted(column)} twice; nothing was told.")
            found.append(column if column in self._known else None)
        if not {"id", "key"} & {*found} or not {"mediator", "outcome"} & {*found}:
            raise InvalidValue(f"{self._name} has the columns {', '.join(first[1])}; {self._expected()}.")
        return found

    def _expected(self) -> str:
        if self._of_all:
            return "expected are id or key, outcome, and perhaps at; nothing was told"
        return "expected are id or key, mediator or outcome or both, and perhaps at and followed_up; nothing was told"


def _text_of(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidValue(f"Cannot read {name}: {error.strerror}.") from None
    except ValueError as error:  # a NUL character in the path is one, too
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise InvalidValue(f"Cannot read {name}: {reason}; save it as CSV in UTF-8.") from None


def _end_of_line(text: str) -> int:
    ends = [place for sign in ("\n", "\r") if (place := text.find(sign)) >= 0]
    return min(ends, default=len(text))


def tell_of(experiment: Experiment, line: OutcomeLine) -> dict[str, Any]:
    """A line as the library takes it; words that it does not know are handed on, and refused there."""
    values = line.values
    word = values.get("followed_up", "")
    return {
        **{name: values[name] for name in ("id", "key", "at") if name in values},
        **told_values(experiment, values.get("mediator"), values.get("outcome")),
        "followed_up": WORDS.get(word.lower(), word),
    }


CHUNK = 5000  # lines of one transaction


class ToldLine(NamedTuple):
    """What became of one line."""

    line: int  # number of the line in the file; the header is line 1
    id: str | None  # id of the decision; None if the line has none
    key: str | None  # key of the decision; None if the line has none
    verdict: Literal["accepted", "repeated", "late", "blank", "refused"]  # what became of the line
    refusal: str | None = None  # why it was refused; None if it was not


class VerdictCounts(NamedTuple):
    """Number of lines by verdict."""

    accepted: int  # lines that were kept
    repeated: int  # lines that were known already
    late: int  # lines that were kept, but not counted, as their window is over
    blank: int  # lines without anything to tell
    refused: int  # lines that were refused


@dataclass(frozen=True)
class ToldFile:
    """What telling each line of a file did."""

    schema: ClassVar = "truant/told-file/1"
    experiment: str  # name of the experiment
    verdicts: list[ToldLine] = field(default_factory=list)  # one entry for each line

    @property
    @in_document
    def lines(self) -> int:
        """Number of lines."""
        return len(self.verdicts)

    @property
    @in_document
    def counts(self) -> VerdictCounts:
        """Number of lines by verdict."""
        number: Counter[str] = Counter(one.verdict for one in self.verdicts)
        return VerdictCounts(**{verdict: number[verdict] for verdict in VerdictCounts._fields})


def tell_file(experiment: Experiment, file: OutcomesFile) -> ToldFile:
    """Tell all lines, some thousand at a time; what was told before an error stays."""
    result, lines = ToldFile(experiment.name), file.lines()
    with progress_bar("telling", None) as done:
        while some := list(islice(lines, CHUNK)):
            try:
                result.verdicts.extend(_told(experiment, some))
            except TruantError as error:
                raise error.advising(_kept_before(result)) from None
            done(len(result.verdicts) / file.size)
    return result


def _kept_before(result: ToldFile) -> str:
    if not result.verdicts:
        return "No line was told."
    last = result.verdicts[-1].line
    return f"Lines up to {last:,} were told and are kept; tell the same file again for the others."


def _told(experiment: Experiment, lines: list[OutcomeLine]) -> Iterator[ToldLine]:
    read = [_read(experiment, line) for line in lines]
    answers = iter(experiment.tell_many(one for one in read if isinstance(one, dict)))
    for line, one in zip(lines, read, strict=True):
        id, key = line.values.get("id"), line.values.get("key")
        if one is None:
            yield ToldLine(line.number, id, key, "blank")
            continue
        answer = one if isinstance(one, TruantError) else next(answers)
        if isinstance(answer, TruantError):
            if isinstance(answer, AlreadyTold):
                answer = answer.advising_instead("Use `truant correct` to change it.")
            yield ToldLine(line.number, id, key, "refused", str(answer))
        else:
            yield ToldLine(line.number, answer.id, key, answer.verdict)


def _read(experiment: Experiment, line: OutcomeLine) -> dict[str, Any] | TruantError | None:
    """What a line tells, or why it cannot be read; None if it tells nothing."""
    try:
        return tell_of(experiment, line) if line.says_something else None
    except TruantError as error:
        return error


def write_verdicts(result: ToldFile, path: Path) -> Path:
    """Write a row for each line of the file that was told."""
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(ToldLine._fields)
        rows.writerows(result.verdicts)
    return path

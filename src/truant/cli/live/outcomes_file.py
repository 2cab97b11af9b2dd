"""A CSV file of outcomes: what is not such a file is refused whole, before anything is told."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from truant.cli.live.base import told_values
from truant.errors import InvalidValue, unknown
from truant.text import named, quoted

if TYPE_CHECKING:
    from truant.live.experiment import Experiment

COLUMNS = ("id", "key", "mediator", "outcome", "at", "followed_up")
OF_ANSWERS = ("id", "key", "outcome", "at")
DELIMITERS = (",", ";", "\t")
WORDS = {"": False, "no": False, "false": False, "0": False, "yes": True, "true": True, "1": True}


class Line(NamedTuple):
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

    def lines(self) -> Iterator[Line]:
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
            yield Line(number, {column: cell for column, cell in cells if column and cell} | self._of_all)

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


def tell_of(experiment: Experiment, line: Line) -> dict[str, Any]:
    """A line as the library takes it; words that it does not know are handed on, and refused there."""
    values = line.values
    word = values.get("followed_up", "")
    return {
        **{name: values[name] for name in ("id", "key", "at") if name in values},
        **told_values(experiment, values.get("mediator"), values.get("outcome")),
        "followed_up": WORDS.get(word.lower(), word),
    }

"""A look at all bytes of a CSV file, at the speed of the disk, for what DuckDB would stumble over without a word.

Where line ends are mixed, DuckDB 2.0 can drop the last rows. Where a quoted value holds a delimiter or a line break,
its threads can take the inside of the value for rows; one thread gets it right, but drops a value whose quote is
never closed. So mixed line ends and open quotes are refused here, with their line, and the second kind of file is read
by one thread.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from truant.errors import InvalidValue

CHUNK = 1 << 20
LONGEST_LINE = 2_000_000  # bytes that DuckDB reads
LINE_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
QUOTE, LF, CR = b'"\n\r'
BOM = b"\xef\xbb\xbf"


@contextmanager
def opened(path: str, packed: bool) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked."""
    with open(path, "rb") as file:
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield io.BufferedReader(unpacked)


class Scan:
    """What was seen of a file so far.

    Parameters
    ----------
    name : as a message calls the file.
    delimiter : between the fields.
    """

    def __init__(self, name: str, delimiter: str) -> None:
        self.name, self.delimiter = name, delimiter
        self.line_end: str | None = None
        self.quoted_breaks = False  # some value holds a line break
        self.parallel = True  # no value holds a delimiter, a line break or a quote that opens nothing
        self._stray = False  # some quote opens nothing: 5" pipe
        self._inside = False  # a quoted value goes on in the next chunk
        self._before = LF  # the byte before this chunk
        self._lines = 1

    def run(self, path: str, packed: bool) -> Scan:
        """Look at all of it; or raises InvalidValue."""
        with opened(path, packed) as source:
            for chunk in _chunks(source):
                self._look_at(chunk)
        if self._stray:
            self.parallel = False
        if self._stray or self._inside:
            self._check_closed(path, packed)
        return self

    def _look_at(self, chunk: bytes) -> None:
        if 0 in chunk:
            line = self._lines + _lines(chunk[: chunk.index(0)])
            raise InvalidValue(
                f"Cannot read {self.name!r}: line {line} holds a NUL byte; the file is damaged, no plain text, or "
                "UTF-16 (then say --encoding utf-16-le, in Python encoding='utf-16-le')."
            )
        if CR not in chunk and QUOTE not in chunk and not self._inside:
            if LF in chunk:
                self._note("\n", chunk, chunk.index(LF))
        else:
            self._look_closely(chunk)
        self._lines += _lines(chunk)
        self._before = chunk[-1]

    def _look_closely(self, chunk: bytes) -> None:
        data = np.frombuffer(chunk, dtype=np.uint8)
        feeds, returns = data == LF, data == CR
        if QUOTE in chunk or self._inside:
            quotes = data == QUOTE
            # quotes up to here, odd inside a quoted value; uint8 overflows evenly
            inside = ((np.cumsum(quotes, dtype=np.uint8) + self._inside) & 1).astype(bool)
            self._inside = bool(inside[-1])
            delimiters = data == ord(self.delimiter)
            if np.any((feeds | returns) & inside):
                self.quoted_breaks, self.parallel = True, False
            elif self.parallel and np.any(delimiters & inside):
                self.parallel = False
            opens_here = feeds | returns | delimiters | quotes  # after these a quote may open (or be doubled)
            first = self._before in (LF, CR, QUOTE, ord(self.delimiter))
            opening = quotes & inside
            self._stray |= bool(opening[0] and not first) or bool(np.any(opening[1:] & ~opens_here[:-1]))
            feeds &= ~inside
            returns &= ~inside
        both = np.zeros_like(feeds)  # at the LF of a CRLF
        both[1:] = feeds[1:] & returns[:-1]
        alone = returns.copy()
        alone[:-1] &= ~both[1:]
        kinds = (("\r\n", both), ("\n", feeds & ~both), ("\r", alone))
        found = [(int(where.argmax()), line_end) for line_end, where in kinds if where.any()]
        for start, line_end in sorted(found):
            self._note(line_end, chunk, start)

    def _note(self, line_end: str, chunk: bytes, start: int) -> None:
        if self.line_end in (None, line_end):
            self.line_end = line_end
            return
        line = self._lines + _lines(chunk[:start].removesuffix(b"\r"))
        raise InvalidValue(
            f"Cannot read {self.name!r}: line {line} ends in {LINE_ENDS[line_end]} and lines before it end in "
            f"{LINE_ENDS[self.line_end or line_end]}; save it with one kind of line ends."
        )

    def _check_closed(self, path: str, packed: bool) -> None:
        """Row by row, and so slowly, whether the last quote is closed."""
        line = 0
        with opened(path, packed) as source:
            text = io.TextIOWrapper(source, encoding="utf-8-sig", errors="replace", newline="")
            reader = csv.reader(text, delimiter=self.delimiter, skipinitialspace=True, strict=True)
            limit = csv.field_size_limit(2 * LONGEST_LINE)  # of the whole program, and so put back
            try:
                for _ in reader:
                    line = reader.line_num
            except csv.Error as error:
                if "field larger" in str(error):
                    raise too_long(self.name, line + 1, quotes=True) from None
                raise open_quote(self.name, line + 1) from None
            finally:
                csv.field_size_limit(limit)


def too_long(name: str, line: int, quotes: bool) -> InvalidValue:
    """The error for a line that DuckDB will not read; with quotes in it, one of them may be open."""
    cure = 'a quote (") may never be closed' if quotes else "shorten its values"
    return InvalidValue(f"Cannot read {name!r}: line {line} is longer than two million bytes; {cure}.")


def open_quote(name: str, line: int) -> InvalidValue:
    """The error for a quote that is not closed where it should be."""
    return InvalidValue(
        f'Cannot read {name!r}: in line {line} a quote (") is never closed, or text follows a closing one; '
        "a quote inside a quoted value must be doubled."
    )


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    first = True
    while chunk := source.read(CHUNK):
        if chunk.endswith(b"\r"):  # a CRLF stays whole
            chunk += source.read(1)
        if first:
            chunk, first = chunk.removeprefix(BOM), False
        if chunk:
            yield chunk


def _lines(data: bytes) -> int:
    """The number of line ends."""
    returns = data.count(b"\r")
    return data.count(b"\n") + (returns - data.count(b"\r\n") if returns else 0)

"""CSV files: a look at the header of each, and the query by which DuckDB reads them, without a guess of its own.

Files in another encoding than UTF-8 are made UTF-8 in a private file first. All bytes of a file are looked at, at the
speed of the disk, for what DuckDB would stumble over without a word; what it says of a file that it cannot read becomes
one sentence with the file, the line and the likely cause.

Where line ends are mixed, DuckDB 2.0 can drop the last rows. Where a quoted value holds a delimiter or a line break,
its threads can take the inside of the value for rows; one thread gets it right, but drops a value whose quote is
never closed. So mixed line ends and open quotes are refused here, with their line, and the second kind of file is read
by one thread.

pyarrow's reader with an audit of its own loses no row of the files of tests/tables/hostile_files.py either, but is not
in this place: of 200 MB in 2 cores, this reader makes counts in 7.6 s and 380 MB (16.8 s and 470 MB with quotes in the
file), pyarrow's in 14.7 s and 550 MB (23.9 s and 1.3 GB, since an audit of quotes by an expression holds the file in
memory); and it refuses more good files, as that audit has no way to allow 5" pipe.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import os
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np

from truant.errors import InvalidValue, unknown
from truant.tables.engine import as_pattern, quoted

CHUNK = 1 << 20  # bytes
COMMON = (
    "ascii big5 cp1250 cp1251 cp1252 cp437 euc-jp euc-kr gb18030 iso-8859-15 koi8-r latin-1 mac-roman shift-jis utf-16 "
    "utf-16-be utf-16-le utf-32 utf-8"
)


def check_encoding(encoding: object) -> str:
    """The encoding's plain name; or raises InvalidValue."""
    if not isinstance(encoding, str):
        raise InvalidValue(f"encoding must be a name such as 'latin-1' or 'utf-16', got {encoding!r}.")
    try:
        found = codecs.lookup(encoding.strip())
        if not found._is_text_encoding:
            raise LookupError(encoding)
        found.incrementaldecoder().decode(b"")
    except (LookupError, ValueError, UnicodeError, TypeError):
        raise unknown("encoding", encoding[:60], COMMON.split()) from None
    return found.name


def is_utf8(encoding: str) -> bool:
    """Whether DuckDB can read it as it is."""
    return encoding in ("utf-8", "utf-8-sig")


def transcoded(source: IO[bytes], name: str, encoding: str, folder: str) -> str:
    """The path of a new file in `folder` that holds the text of `source` as UTF-8.

    Parameters
    ----------
    source : the file, open.
    name : as a message calls it.
    encoding : its encoding.
    folder : where to write; the caller removes it.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    handle, path = tempfile.mkstemp(suffix=".csv", dir=folder)
    line, first = 1, True
    with os.fdopen(handle, "w", encoding="utf-8", newline="", errors="strict") as target:
        while True:
            chunk = source.read(CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
                target.write(text.removeprefix("\ufeff") if first else text)
            except UnicodeError as error:
                line += _breaks(decoded_before(error, chunk, encoding))
                raise InvalidValue(
                    f"Cannot read {name!r}: line {line} is not {encoding}; name the encoding that the file has."
                ) from None
            line += _breaks(text)
            first = first and not text
            if not chunk:
                return path


def decoded_before(error: UnicodeError, chunk: bytes, encoding: str) -> str:
    """The text of a chunk in front of what could not be decoded."""
    start = error.start if isinstance(error, UnicodeDecodeError) else 0
    return chunk[:start].decode(encoding, errors="ignore")


def _breaks(text: str) -> int:
    return text.count("\n") or text.count("\r")


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


DELIMITERS = (",", ";", "\t", "|")
HEAD = 1 << 20  # bytes in which a header must end
MAGIC = {
    b"PK": "a zip or Excel file; save the table as CSV",
    b"\x1f\x8b": "compressed by gzip; let its name end in .csv.gz",
    b"PAR1": "a Parquet file; let its name end in .parquet",
    b"\xff\xfe\0\0": "UTF-32; say so: --encoding utf-32 (in Python encoding='utf-32')",
    b"\0\0\xfe\xff": "UTF-32; say so: --encoding utf-32 (in Python encoding='utf-32')",
    b"\xff\xfe": "UTF-16; say so: --encoding utf-16 (in Python encoding='utf-16')",
    b"\xfe\xff": "UTF-16; say so: --encoding utf-16 (in Python encoding='utf-16')",
}
NO_TEXT = "\x1d\x1e\x1f"  # "no value is NULL": DuckDB drops a field too many if it reads as NULL


@dataclass(frozen=True)
class CsvFile:
    """One file, and what its header and its bytes say."""

    name: str  # as a message calls it
    path: str  # what is read: the file itself, or its text as UTF-8
    columns: tuple[str, ...]  # as the header spells them
    delimiter: str
    packed: bool  # by gzip
    parallel: bool  # whether DuckDB reads it rightly with several threads
    quoted_breaks: bool  # whether a value holds a line break


def look_at(path: str, name: str, encoding: str, folder: str) -> CsvFile:
    """The file, if its header can be understood and nothing in its bytes forbids to read it; or raises InvalidValue.

    Parameters
    ----------
    path, name : where it is, and what a message calls it.
    encoding : its plain name.
    folder : a private one, for the text of a file that is not UTF-8.
    """
    packed = path.lower().endswith(".gz")
    with _plain_errors(name):
        if not is_utf8(encoding):
            with opened(path, packed) as source:
                path, packed = transcoded(source, name, encoding, folder), False
        with opened(path, packed) as source:
            columns, delimiter = _header(source.read(HEAD), name)
        scan = Scan(name, delimiter).run(path, packed)
    return CsvFile(name, path, columns, delimiter, packed, scan.parallel, scan.quoted_breaks)


def csv_query(files: Sequence[CsvFile], partitioned: bool = False) -> tuple[str, tuple[str, ...]]:
    """The query that reads files of the same columns (in any order) as text, and the names of its columns.

    In the query the columns are called by their place, since names may occur twice or differ in case only.
    """
    first = files[0]
    groups: dict[tuple[object, ...], list[CsvFile]] = {}
    for file in files:
        _check_same_columns(file, first)
        groups.setdefault((file.columns, file.delimiter, file.packed, file.parallel), []).append(file)
    reads = [_read(group, first.columns, partitioned) for group in groups.values()]
    return " UNION ALL BY NAME ".join(reads), first.columns


def _read(files: Sequence[CsvFile], order: Sequence[str], partitioned: bool) -> str:
    like = files[0]
    paths = ", ".join(quoted(as_pattern(file.path)) for file in files)
    columns = ", ".join(f"'column {i}': 'VARCHAR'" for i in range(len(order)))
    options = {
        "auto_detect": "false",
        "header": "true",
        "columns": f"{{{columns}}}",
        "delim": quoted(like.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "comment": "''",
        "nullstr": quoted(NO_TEXT),
        "compression": "'gzip'" if like.packed else "'none'",
        "strict_mode": "true",
        "null_padding": "false",
        "ignore_errors": "false",
        "parallel": str(like.parallel).lower(),
        "hive_partitioning": str(partitioned).lower(),
        "hive_types_autocast": "false",  # 2024-1-1 is not 2024-01-01
    }
    said = ", ".join(f"{option} = {value}" for option, value in options.items())
    places = {name: i for i, name in enumerate(like.columns)}
    if like.columns == tuple(order):
        wanted = list(range(len(order)))
    else:  # each name once: see _check_same_columns
        wanted = [places[name] for name in order]
    taken = [f'nullif("column {place}", \'\') AS "column {i}"' for i, place in enumerate(wanted)]
    others = [f'"column {i}"' for i in range(len(order))]
    rest = [f"* EXCLUDE ({', '.join(others)})"] if partitioned else []
    return f"SELECT {', '.join(taken + rest)} FROM read_csv([{paths}], {said})"


def _check_same_columns(file: CsvFile, first: CsvFile) -> None:
    if file.columns == first.columns:
        return
    lacks = [name for name in first.columns if name not in file.columns]
    more = [name for name in file.columns if name not in first.columns]
    if lacks or more:
        said = f"it has no column {lacks[0]!r}" if lacks else f"it has a column {more[0]!r} that"
        raise InvalidValue(
            f"Files of a log must have the same columns: {file.name!r} differs from {first.name!r}, "
            f"{said}{'' if lacks else ' the other has not'}."
        )
    if len(set(file.columns)) < len(file.columns) or len(file.columns) != len(first.columns):
        raise InvalidValue(
            f"Files with columns of the same name must have them in the same order: {file.name!r} differs from "
            f"{first.name!r}."
        )


@contextmanager
def _plain_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidValue(
            f"Cannot read {name!r}: the gzip file is incomplete or damaged; create it again."
        ) from None
    except OSError as error:
        raise InvalidValue(f"Cannot read {name!r}: {error.strerror or error}; check the file.") from None


def _header(head: bytes, name: str) -> tuple[tuple[str, ...], str]:
    """The names of the columns and the delimiter: the one that fits the header and the first row."""
    for magic, what in MAGIC.items():
        if head.startswith(magic):
            raise InvalidValue(f"Cannot read {name!r}: it is {what}.")
    # bytes that are no UTF-8 matter in the names of columns; elsewhere DuckDB finds them in columns that are asked for
    text = head.decode("utf-8-sig", errors="surrogateescape")
    if "\0" in text:
        text = text[: text.index("\0")]  # the scan says where
    found = {delimiter: _records(text, delimiter) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda each: _fit(found[each]))
    line = text.partition("\n")[0]
    if re.fullmatch(r"\"?sep=.\"?\s*", line, re.IGNORECASE):
        raise InvalidValue(
            f"Cannot read {name!r}: line 1 is {line.strip()!r}, which only Excel reads; remove it, so that the first "
            "line names the columns."
        )
    if _fit(found[delimiter])[1] < 2 and any(each in line and not found[each] for each in DELIMITERS):
        raise open_quote(name, 1)  # what a delimiter cannot read, another one takes for a single column
    columns = found[delimiter][0] if found[delimiter] else []
    if not any(column.strip() for column in columns):
        raise InvalidValue(f"Cannot read {name!r}: line 1 is empty; the first line must name the columns.")
    if any("\udc80" <= letter <= "\udcff" for column in columns for letter in column):
        raise not_utf8(name, 1)
    return tuple(columns), delimiter


def _fit(records: Sequence[Sequence[str]]) -> tuple[bool, int]:
    """How well a delimiter fits: the row has the fields of the header, and these are many."""
    fields = [len(record) for record in records]
    return len(fields) == 2 and fields[0] == fields[1] > 1, fields[0] if fields else 0


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The header and the first row, if there is one."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    records: list[list[str]] = []
    with contextlib.suppress(StopIteration, csv.Error):
        records.append(next(reader))
        while not (row := next(reader)):
            pass
        records.append(row)
    return records


def not_utf8(name: str, line: int) -> InvalidValue:
    """The error for bytes that are no UTF-8."""
    return InvalidValue(
        f"Cannot read {name!r}: line {line} is not UTF-8; say which encoding the file has, "
        "e.g. --encoding latin-1 or utf-16 (in Python encoding='latin-1')."
    )


DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "|"}


def explained(error: Exception, files: Sequence[CsvFile]) -> InvalidValue | None:
    """The error in our words; None if it is not about the form of one of these files."""
    said = str(error)
    # what the file itself holds stands in the message, too, before what DuckDB says of it: hence the last match
    paths = re.findall(r"^  file = (.*)$", said, re.MULTILINE)
    file = next((file for file in files if paths and file.path == paths[-1]), None)
    if file is None and len(files) == 1 and "CSV" in said:
        file = files[0]
    record = re.match(r"[^\n]*CSV Error on Line: (\d+)", said)
    if file is not None and "reached an invalid state" in said:
        return InvalidValue(
            f"Cannot read {file.name!r}: its line ends are mixed, or a quote is misplaced; save it as CSV again."
        )
    if file is None or record is None:
        return None
    line = _line(file, int(record[1]))
    counts = re.findall(r"^Expected Number of Columns: (\d+) Found: (\d+)", said, re.MULTILINE)
    if counts:
        return _ragged(file, line, *map(int, counts[-1]))
    if "unterminated quote" in said:
        return open_quote(file.name, line)
    if "utf-8" in said or "unicode" in said:
        return not_utf8(file.name, line)
    if "Maximum line size" in said:
        return too_long(file.name, line, _has_quote(file, line))
    return None


def _ragged(file: CsvFile, line: int, expected: int, found: int) -> InvalidValue:
    mark = DELIMITER_NAMES[file.delimiter]
    if found > expected:
        cause = f"a value that holds a {mark} must be in quotes, and no {mark} may end the line"
    else:
        cause = "it may be cut off, or a value with a line break is not in quotes"
    fields = "1 field" if found == 1 else f"{found} fields"
    return InvalidValue(
        f"Cannot read {file.name!r}: line {line} has {fields} where the header has {expected}; {cause}."
    )


def _has_quote(file: CsvFile, line: int) -> bool:
    with opened(file.path, file.packed) as source:
        return any(b'"' in text for number, text in enumerate(source, start=1) if number == line)


def _line(file: CsvFile, record: int) -> int:
    """The line where a record begins: DuckDB counts records, which may be of several lines."""
    if not file.quoted_breaks:
        return record
    with opened(file.path, file.packed) as source:
        inside, seen = False, 0
        for number, line in enumerate(source, start=1):
            seen += not inside
            if seen == record:
                return number
            inside ^= line.count(b'"') % 2 == 1
    return record

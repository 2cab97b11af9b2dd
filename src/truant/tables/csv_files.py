"""CSV files: a look at the header of each, and the query by which DuckDB reads them, without a guess of its own."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from truant.errors import InvalidValue
from truant.tables.csv_scan import Scan, open_quote, opened
from truant.tables.encodings import is_utf8, transcoded
from truant.tables.engine import as_pattern, quoted

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

"""What DuckDB says of a CSV file that it cannot read, as one sentence with the file, the line and the likely cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from truant.errors import InvalidValue
from truant.tables.csv_files import CsvFile, not_utf8, open_quote, opened, too_long

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

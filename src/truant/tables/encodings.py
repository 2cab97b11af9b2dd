"""Text files in another encoding than UTF-8, made UTF-8 in a private file before they are read."""

from __future__ import annotations

import codecs
import os
import tempfile
from typing import IO

from truant.errors import InvalidValue, unknown

CHUNK = 1 << 20  # bytes
COMMON = (
    *(
        "ascii",
        "big5",
        "cp1250",
        "cp1251",
        "cp1252",
        "cp437",
        "euc-jp",
        "euc-kr",
        "gb18030",
        "iso-8859-15",
        "koi8-r",
    ),
    *("latin-1", "mac-roman", "shift-jis", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-8"),
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
        raise unknown("encoding", encoding[:60], COMMON) from None
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

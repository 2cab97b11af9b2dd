"""Where a table may be: URLs of databases; and inputs, which are never written."""

from __future__ import annotations

import glob
import os
import re
from typing import Any
from urllib.parse import unquote

from truant.errors import InvalidValue, unknown
from truant.files import absolute

LOCAL = ("sqlite", "duckdb")  # databases that are a file
POSTGRES = ("postgres", "postgresql")
OTHERS = "bigquery clickhouse databricks mssql mysql oracle redshift snowflake trino"
# file systems that are not this machine's, by their usual names
REMOTE = (
    "abfs abfss adl az azure dbfs ftp ftps gcs github gs hdfs hf http https oss r2 s3 s3a s3n sftp smb ssh webdav "
    "webhdfs"
)


def is_url(text: str) -> bool:
    """Whether the text is a URL, in any case, rather than a path of this machine."""
    kind = scheme(text)
    if kind is None or os.path.exists(text):
        return False
    return f"{kind}://" in text.lower() or kind in (
        *LOCAL,
        *POSTGRES,
        *OTHERS.split(),
        *REMOTE.split(),
        "file",
    )


def scheme(text: str) -> str | None:
    """What stands before the first colon, in lower case, if it can be a scheme; a single letter is a drive."""
    found = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]+):", text)
    return found[1].lower() if found else None


def split_table(text: str) -> tuple[str, str]:
    """URL and table, either of which may be empty: of a file, a name of a table may itself hold `::`."""
    kind = str(scheme(text))
    parts = text.split("::")
    if kind in LOCAL:
        for i in range(1, len(parts)):
            url = "::".join(parts[:i])
            if _existing(url.strip()[len(kind) + 1 :]):
                return url, "::".join(parts[i:])
    url, colons, table = text.rpartition("::")
    return (url, table) if colons else (text, "")


def refuse_others(kind: str, url: str) -> None:
    """Raises where the URL is not that of a database."""
    if kind in REMOTE.split():
        raise InvalidValue(
            f"truant reads no files from the network ({kind}://): download the file and name its path; or, in Python, "
            "pass a connection that you opened and that may reach the network, with the name of its table."
        )
    if kind == "file":
        raise InvalidValue(f"Write the path of a file as it is, without file:, got {url!r}.")
    if kind in OTHERS.split():
        raise InvalidValue(
            f"truant has not been tried on {kind}; export the table as Parquet, or copy it to PostgreSQL, SQLite or "
            "DuckDB, or read it as a Spark table."
        )
    if kind not in (*LOCAL, *POSTGRES):
        raise unknown("kind of database", kind, (*LOCAL, *POSTGRES))


def database_file(kind: str, rest: str) -> str:
    """The file of a URL; or raises InvalidValue."""
    path, _, options = _path(rest).partition("?")
    found = _existing(rest)
    if not found:
        shown = path.removeprefix("/").rpartition("@")[2]  # not the password of some other kind of URL
        raise InvalidValue(f"The database file {shown!r} does not exist; check the path.")
    file, takes_options = found
    if takes_options:
        raise InvalidValue(
            f"A {kind} file is opened read-only and takes no options; leave out {'?' + options!r}."
        )
    return file


def _existing(rest: str) -> tuple[str, bool] | None:
    """The file that is there, and whether options follow: after three slashes it is beside us or below the root."""
    text = _path(rest)
    path, _, options = text.partition("?")
    spellings = [text] if not options else [text, path]
    for spelling in dict.fromkeys([*spellings, *map(unquote, spellings)]):
        for candidate in (spelling.removeprefix("/"), spelling):
            if "\0" not in candidate and os.path.isfile(candidate):
                return os.path.realpath(candidate), bool(options) and spelling in (path, unquote(path))
    return None


def _path(rest: str) -> str:
    return rest[2:] if rest.startswith("//") else rest


PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def inputs_of(data: Any) -> tuple[str, ...]:
    """Absolute paths of the files that `data` names, and patterns where it names a folder or a pattern.

    A file too many does no harm: whether `data` can be read is found out by reading it.
    """
    text = os.fspath(data) if isinstance(data, str | os.PathLike) else None
    if not isinstance(text, str) or "\0" in text:
        return ()
    if is_url(text):
        return _of_url(text)
    path = absolute(os.path.expanduser(text))
    if os.path.isdir(path):
        return tuple(os.path.join(glob.escape(path), "**", f"*{ending}") for ending in CSV + PARQUET)
    return (path,)


def _of_url(url: str) -> tuple[str, ...]:
    """The file of a database: after three slashes it is beside us or from the root, whichever is there."""
    place = url.strip().partition(":")[2]
    parts = place.removeprefix("//").split("::")
    several = {"::".join(parts[: i + 1]) for i in range(len(parts))}  # a table's name may hold :: too
    several |= {spelling.partition("?")[0] for spelling in several}
    several |= {unquote(spelling) for spelling in several}
    several |= {spelling.removeprefix("/") for spelling in several}
    return tuple(sorted(absolute(path) for path in several if os.path.isfile(path)))


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    kind, colon, rest = url.partition(":")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return f"{kind}{colon}{slashes}{rest.lstrip('/').rpartition('@')[2].partition('?')[0]}"

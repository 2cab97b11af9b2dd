"""Which local files a log is read from, so that no output takes the place of one."""

from __future__ import annotations

import glob
import os
from typing import Any
from urllib.parse import unquote

from truant.files import absolute
from truant.logs.databases import is_url
from truant.logs.files import CSV, PARQUET


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

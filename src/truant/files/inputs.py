"""What is read must not be written: whether a file is one of the inputs, whatever it is called.

An input is the path of a file, or a pattern such as `logs/**/*.csv`, which also stands for files that are not there
yet: the next reading would find them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from truant.errors import InvalidValue


def named_files(values: Iterable[object]) -> tuple[str, ...]:
    """The files that texts among these values name, also in lists: as parameters of a world that reads a file."""
    return tuple(absolute(path) for path in _texts(values) if _is_file(path))


def input_of(target: Path, inputs: Iterable[str]) -> str | None:
    """The input that this file is, or would be at the next reading; None if there is none."""
    for name in inputs:
        if any(same_file(target, path) for path in _files(name)) or _matches(target, name):
            return name
    return None


def same_file(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, which need not be there yet."""
    try:
        return os.path.samefile(first, second)
    except OSError:
        return _real(first) == _real(second)


def absolute(path: str | os.PathLike[str]) -> str:
    """The path from the root, links left as they are; or raises InvalidValue if the working folder is gone."""
    return _spelled(os.path.abspath, path)


def _real(path: str | os.PathLike[str]) -> str:
    return _spelled(os.path.realpath, path)


def _spelled(spell: Callable[[str], str], path: str | os.PathLike[str]) -> str:
    try:
        return spell(os.fspath(path))
    except FileNotFoundError:  # the path need not be there, but the folder that it starts from
        raise InvalidValue("The working folder was removed; change to another, or give full paths.") from None


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str | os.PathLike):
            text = os.fspath(value)
            if isinstance(text, str) and text and "\0" not in text:
                yield os.path.expanduser(text)
        elif isinstance(value, list | tuple):
            yield from _texts(value)


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except (OSError, ValueError):
        return False


def _files(name: str) -> list[str]:
    if os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    return glob.glob(name, recursive=True, include_hidden=True)


def _matches(target: Path, pattern: str) -> bool:
    if os.path.lexists(pattern) or not glob.has_magic(pattern):
        return False
    parts = Path(pattern).parts
    plain = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    folder, rest = Path(*parts[:plain]), parts[plain:]
    return any(_fits(spell(target), spell(folder), rest) for spell in (absolute, _real))


def _fits(path: str, folder: str, pattern: Sequence[str]) -> bool:
    try:
        parts = Path(path).relative_to(folder).parts
    except ValueError:
        return False
    return _fit(parts, pattern)


def _fit(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path fit those of a pattern; `**` is any number of folders. The case does not count."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fit(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    matches = bool(parts) and fnmatchcase(parts[0].lower(), pattern[0].lower())
    return matches and _fit(parts[1:], pattern[1:])

"""What is read must not be written: whether a file is one of the inputs, whatever it is called.

An input is the path of a file, or a pattern such as `logs/**/*.csv`, which also stands for files that are not there
yet: the next reading would find them.

Refuses an output file that cannot or must not be written, before the work begins.
"""

from __future__ import annotations

import glob
import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from truant.errors import InvalidValue, quoted, require


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


CHARTS = (".png", ".svg", ".html")
TABLES = (".csv", ".parquet")
PAGES = (".html",)

# what files of a kind need beyond a light installation: extra, subject of the sentence, modules
_NEEDED: dict[str, tuple[str, ...]] = {".parquet": ("logs", "Parquet files", "pyarrow")}
_NEEDED |= dict.fromkeys((".png", ".svg", ".html"), ("charts", "Charts and pages"))

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def check_outputs(
    wanted: Iterable[tuple[str | os.PathLike[str] | None, Sequence[str]]], inputs: Iterable[str] = ()
) -> None:
    """Refuse the outputs of one command, before its work, if one cannot be written or destroys an input or another.

    Parameters
    ----------
    wanted : path and possible endings of each output; a path may be None.
    inputs : paths and patterns of what is read.
    """
    inputs = tuple(inputs)
    targets = [output_path(path, suffixes, inputs) for path, suffixes in wanted if path is not None]
    for first, second in itertools.combinations(targets, 2):
        if same_file(first, second):
            raise InvalidValue(
                f"Cannot write both {os.fspath(first)!r} and {os.fspath(second)!r}: they are one file; name two."
            )


def output_path(path: str | os.PathLike[str], suffixes: Sequence[str], inputs: Iterable[str] = ()) -> Path:
    """The path, if a file of one of these kinds can be written there; or raises InvalidValue.

    Parameters
    ----------
    path : of the output; a file that is there is replaced, unless it is an input or no ordinary file.
    suffixes : endings that it may have.
    inputs : paths and patterns of what was read.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"A file name is needed, got {quoted(path)}.")
    target, name = Path(path), os.fspath(path)
    try:
        fits = "\0" not in name and len(os.fsencode(target.name)) <= 255
    except UnicodeEncodeError:
        raise InvalidValue(
            f"{quoted(name)} cannot be a file name: it contains half of a surrogate pair."
        ) from None
    if not fits:
        raise InvalidValue(f"{name[:60]!r} cannot be a file name: it is too long, or has a NUL character.")
    if target.suffix.lower() not in suffixes:
        *others, last = suffixes
        listed = f"{', '.join(others)} or {last}" if others else last
        raise InvalidValue(f"The file name must end in {listed}, got {name!r}.")
    if (needed := _NEEDED.get(target.suffix.lower())) is not None:
        require(*needed)
    if os.path.basename(name) in ("", ".", ".."):  # Path("a.csv/") is a.csv
        raise InvalidValue(f"Cannot write {name!r}: it is the name of a folder; name a file.")
    absolute(target)
    refuse_unwritable(target)
    if (found := input_of(target, inputs)) is not None:
        raise InvalidValue(f"Cannot write {name!r}: {_why(target, found)}; choose another name or folder.")
    return target


def refuse_unwritable(target: Path) -> None:
    """Raise InvalidValue unless a file can be written there, which replaces no more than an ordinary file."""
    name = os.fspath(target)
    try:
        status = target.lstat() if os.path.lexists(target) else None
        folder_there = target.parent.is_dir()
    except OSError as error:  # a path that is too long, or a folder that may not be entered
        raise InvalidValue(f"Cannot write {name[:60]!r}: {error.strerror}; choose another name.") from None
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise InvalidValue(f"Cannot write {name!r}: it is a folder; name a file in it.")
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise InvalidValue(f"Cannot write {name!r}: it is {kind_of(status)}; name an ordinary file.")
    if not folder_there:
        folder = os.fspath(target.parent)
        if os.path.exists(folder):
            raise InvalidValue(f"Cannot write {name!r}: {folder!r} is no folder; choose another.")
        raise InvalidValue(f"Cannot write {name!r}: the folder {folder!r} does not exist; make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InvalidValue(f"Cannot write {name!r}: the folder is not writable; choose another.")
    if status is not None and _is_kept_by_another(status, target.parent.stat()):
        raise InvalidValue(
            f"Cannot write {name!r}: the file that is there is another user's, and only its owner can replace it in "
            "this folder; choose another name."
        )
    if status is not None and not os.access(target, os.W_OK):
        raise InvalidValue(
            f"Cannot write {name!r}: the file that is there is not writable; choose another name."
        )


def _is_kept_by_another(file: os.stat_result, folder: os.stat_result) -> bool:
    """Whether the folder is one such as /tmp (sticky), where files are replaced and removed by their owners only."""
    if not folder.st_mode & stat.S_ISVTX or not hasattr(os, "geteuid"):
        return False
    return os.geteuid() not in (0, file.st_uid, folder.st_uid)


def kind_of(status: os.stat_result) -> str:
    """What is there, in words."""
    return "a file" if stat.S_ISREG(status.st_mode) else _KINDS.get(stat.S_IFMT(status.st_mode), "no file")


def _why(target: Path, found: str) -> str:
    if not target.exists():
        return f"the input {found!r} would include it when it is read again"
    same = absolute(target) == found
    return "it is an input of this command" if same else f"it is the input {found!r} or a part of it"

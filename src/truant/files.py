"""Outputs: what may be written where is said before the work begins; files are written whole or not at all.

What is read must not be written. An input is the path of a file, or a pattern such as `logs/**/*.csv`, which also
stands for files that are not there yet: the next reading would find them. An output that cannot or must not be written
is refused before the work begins.

A file is written into a temporary one beside the target, flushed, which then takes its place. The writer holds a lock
on its temporary file as long as it lives. So a process that finds one without a lock knows that its writer was killed,
wherever that one ran, and removes it.

Folders of results are new, empty, or made by truant for the same kind of results, which a marker in them says.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from truant.errors import InvalidValue, TruantError, quoted, require


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


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LEFTOVER = re.compile(r"\.truant-[0-9a-f]{32}\.part")
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), None)  # None: a library did not say
ABANDONED = 24 * 3600.0  # seconds, where files cannot be locked


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A temporary path beside the target that takes its place when the block ends without an error.

    Whatever is wrong with the disk or the folder raises InvalidValue, and leaves what was there before.
    """
    refuse_unwritable(target)
    temporary: Path | None = None
    handle = -1
    try:
        remove_unfinished(target.parent)
        before = target.lstat() if os.path.lexists(target) else None
        temporary, handle = _temporary(target.parent, private=before is not None)
        yield temporary
        _settle(handle, before)
        if fcntl is None:  # Windows does not rename a file that is open
            os.close(handle)
            handle = -1
        os.replace(temporary, target)
        _flush_folder(target.parent)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        remedy = "choose another place" + (", or make room" if error.errno in _FULL else "")
        raise InvalidValue(
            f"Cannot write {os.fspath(target)!r}: {reason}; nothing was changed: {remedy}."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # it has taken the target's place
                temporary.unlink()
            if handle >= 0:  # only now: without its lock it would be taken for a leftover
                os.close(handle)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed writers left in a folder, and nothing that a living one is still writing."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if LEFTOVER.fullmatch(entry.name):
                _remove_abandoned(folder / entry.name)


def is_unfinished(name: str) -> bool:
    """Whether this is the name of a temporary file."""
    return LEFTOVER.fullmatch(name) is not None


def _temporary(folder: Path, private: bool) -> tuple[Path, int]:
    """A new file with a lock on it; who may read it is decided by the umask, or later by the file that it replaces."""
    while True:
        path = folder / f".truant-{uuid.uuid4().hex}.part"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        # between these lines another process may take it for a leftover
        if try_lock(handle) is not False and path.exists():
            return path, handle
        os.close(handle)


def _settle(handle: int, before: os.stat_result | None) -> None:
    """Give the file the owner and the mode of the one before, and have the system write it to the disk."""
    if before is not None and hasattr(os, "fchown"):
        with contextlib.suppress(OSError):  # only root may, and few file systems do not know owners
            os.fchown(handle, before.st_uid, before.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(handle, stat.S_IMODE(before.st_mode))
    os.fsync(handle)


def _flush_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some systems cannot: the file is there all the same
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def try_lock(handle: int) -> bool | None:
    """Lock a file without waiting: False if somebody else has locked it, None where files cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_abandoned(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was quicker, or it is somebody else's
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status, free = os.fstat(handle), try_lock(handle)
            if free is None:
                free = time.time() - status.st_mtime > ABANDONED
            if free and stat.S_ISREG(status.st_mode):
                path.unlink()
        finally:
            os.close(handle)


MARKER = ".truant"  # a file whose one line says what the folder holds, as in "truant sweep"


def output_folder(
    path: str | os.PathLike[str], kind: str, files: Iterable[str] = (), inputs: Iterable[str] = ()
) -> Path:
    """The folder, if results can be written there, made and marked if need be; or raises InvalidValue.

    A folder that holds anything is used only if its marker says that truant made it for this kind of results. What
    earlier versions made has no marker; their runs would not be used again in any case.

    Parameters
    ----------
    path : of the folder.
    kind : such as "sweep".
    files : names of what will be written there.
    inputs : paths and patterns of what is read.
    """
    folder = _checked(path, kind, tuple(files), tuple(inputs))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unfit_folder(path, error.strerror) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unfit_folder(path, "it is not writable")
    remove_unfinished(folder)
    if not (folder / MARKER).exists():
        with written_whole(folder / MARKER) as temporary:
            temporary.write_text(f"truant {kind}\n", encoding="utf-8")
    return folder


def unfit_folder(path: str | os.PathLike[str], reason: object) -> InvalidValue:
    """The error for a folder that results cannot go to."""
    return InvalidValue(f"Cannot use {os.fspath(path)!r} as the folder of results: {reason}; choose another.")


@contextmanager
def locked(folder: Path, kind: str) -> Iterator[Path]:
    """One process at a time in a folder; the system lets go of the lock if the process is killed."""
    _refuse_odd(folder, ".lock")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(folder / ".lock", flags, 0o666)
    except OSError as error:
        raise unfit_folder(folder, f"{error.strerror} (.lock)") from None
    try:
        if try_lock(handle) is False:  # where nothing can be locked, two sweeps only do some work twice
            raise InvalidValue(
                f"Another {kind} is at work in {os.fspath(folder)!r}; wait for it, or choose another folder."
            )
        yield folder
    except (TruantError, OSError):
        if not folder.is_dir():  # whatever was wrong, this is why
            raise InvalidValue(
                f"The folder {os.fspath(folder)!r} was removed or renamed while the {kind} was at work; "
                f"run the {kind} again."
            ) from None
        raise
    finally:
        os.close(handle)


def _refuse_odd(folder: Path, name: str) -> None:
    """Raise InvalidValue if a name in the folder is there, and is no ordinary file."""
    try:
        status = (folder / name).lstat()
    except OSError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise unfit_folder(folder, f"its {name} is {kind_of(status)}")


def _checked(
    path: str | os.PathLike[str], kind: str, files: tuple[str, ...], inputs: tuple[str, ...]
) -> Path:
    """The folder, if it is fit; nothing is made yet."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"A folder is needed, got {quoted(path)}.")
    if not os.fspath(path):
        raise unfit_folder(path, "it has no name")
    folder = Path(path)
    if "\0" not in os.fspath(path):
        absolute(folder)
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return folder
    except UnicodeEncodeError:
        raise unfit_folder(path, "its name contains half of a surrogate pair") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise unfit_folder(path, getattr(error, "strerror", error)) from None
    if not stat.S_ISDIR(status.st_mode):
        raise unfit_folder(path, f"it is {kind_of(status)}")
    try:
        _refuse_foreign(folder, kind)
    except OSError as error:
        raise unfit_folder(path, error.strerror) from None
    for name in files:
        refuse_unwritable(folder / name)
        if (found := input_of(folder / name, inputs)) is not None:
            raise unfit_folder(path, f"its file {name} would be written, and is the input {found!r}")
    return folder


def _refuse_foreign(folder: Path, kind: str) -> None:
    """Raise InvalidValue if others made the folder, or truant for another kind of results."""
    marker = folder / MARKER
    _refuse_odd(folder, MARKER)
    if marker.exists():
        said = marker.read_bytes()[:100].decode(errors="replace").strip()
        if said != f"truant {kind}":
            raise unfit_folder(folder, f"it holds something else than a {kind} ({MARKER} says {said!r})")
        return
    others = sorted(entry.name for entry in os.scandir(folder) if not is_unfinished(entry.name))
    if others:
        raise unfit_folder(
            folder,
            f"it holds {others[0]!r} and no file {MARKER} with the line 'truant {kind}', which truant puts into its "
            "folders (earlier versions did not)",
        )

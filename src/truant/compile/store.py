"""Keeps machine code on disk between processes, in a folder of the user's own; each file is checked before it runs.

A file that is damaged, cut off, or somebody else's is made anew. A folder that others can write to is not used, and
where nothing can be written code is compiled in memory, with one warning.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import stat
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import llvmlite.binding
import platformdirs
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

MARK = b"truant compiled code 1\n"  # what a file begins with; then the checksum of the rest
MOST_BYTES = 256 * 2**20  # of all files together; those used longest ago go first
LONGEST_UNUSED = 90 * 24 * 3600.0  # seconds
TOUCHED = 24 * 3600.0  # seconds after which another use of a file is noted


class CacheWarning(UserWarning):
    """Compiled code cannot be kept, so that every process compiles anew."""


_logger = logging.getLogger("truant.compile")  # the commands tell a person who waits


class CompiledCode(_Cache):  # type: ignore[misc]
    """What numba asks before it compiles: the machine code of one function, by signature."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def cache_path(self) -> str:
        """The folder."""
        return os.fspath(cache_folder() or "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, if it is kept and whole; else None, and numba compiles it."""
        found = self._kept(sig, target_context)
        if found is None:
            _logger.info("compiling %s", self._name)
        return found

    def _kept(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        folder = cache_folder()
        content = None if folder is None else read(folder / self._file(sig, target_context.codegen()))
        if content is None:
            return None
        try:
            called, *parts = pickle.loads(content)
            if not all(llvmlite.binding.address_of_symbol(name) for name in called):  # would end the process
                return None
            return CompileResult._rebuild(target_context, *parts)
        except Exception:  # whatever another state of the installed packages makes of it: compile anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless it holds what only this process knows."""
        folder = cache_folder()
        if folder is not None and not data.lifted and not data.library.has_dynamic_globals:
            functions = data.library._final_module.functions
            called = [
                each.name for each in functions if each.is_declaration and each.name.startswith("truant_")
            ]
            write(folder / self._file(sig, data.codegen), dumps((called, *data._reduce())))

    def _file(self, sig: Any, codegen: Any) -> str:
        where = hashlib.sha256(f"{sig} {codegen.magic_tuple()}".encode()).hexdigest()[:16]
        return f"{self._name}-{where}.bin"

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Old files go by themselves."""


def read(path: Path) -> bytes | None:
    """What was kept; None if it is not there, not whole, or somebody else's."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _private(status) or status.st_size > MOST_BYTES:
                return None
            whole = file.read()
    except OSError:
        return None
    start = len(MARK) + hashlib.sha256().digest_size
    if not whole.startswith(MARK) or _checksum(path, whole[start:]) != whole[len(MARK) : start]:
        return None
    if time.time() - status.st_mtime > TOUCHED:
        _touch(path)
    return whole[start:]


def write(path: Path, content: bytes) -> None:
    """Keep it, whole or not at all: another process may be writing the same."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")  # for its owner only
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + _checksum(path, content) + content)
        os.replace(temporary, path)
        _evict(path.parent)
    except OSError as error:
        if temporary:
            _remove(Path(temporary))
        _warn(path.parent, error.strerror or str(error))


def _checksum(path: Path, content: bytes) -> bytes:
    """Of the content and of the name that it is kept under, so that files cannot be exchanged."""
    return hashlib.sha256(path.name.encode() + b"\n" + content).digest()


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled code is kept: $TRUANT_CACHE_DIR, or the user's cache folder; None where that cannot be used."""
    chosen = os.environ.get("TRUANT_CACHE_DIR") or platformdirs.user_cache_dir("truant", appauthor=False)
    folder = Path(chosen).absolute() / "compiled"
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)  # with parents=True, these would have the umask's mode
        status = folder.stat()
    except OSError as error:
        _warn(folder, error.strerror or str(error))
        return None
    if not stat.S_ISDIR(status.st_mode) or not _private(status):
        _warn(folder, "others can write to it, or it is somebody else's")
        return None
    return folder


def _private(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's own, and nobody else can write to it."""
    if not hasattr(os, "getuid"):  # Windows: a user's cache folder is the user's own
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


_warned: list[str] = []  # what was said: once is enough


def _warn(folder: Path, reason: str) -> None:
    if _warned:
        return
    _warned.append(reason)
    warnings.warn(
        f"Compiled code cannot be kept in {os.fspath(folder)!r} ({reason}), so that every process compiles anew; "
        "set TRUANT_CACHE_DIR to a folder of your own.",
        CacheWarning,
        stacklevel=2,
    )


def _evict(folder: Path) -> None:
    """Remove what was not used for long, then the oldest of what is too much; and what killed processes left."""
    now, kept = time.time(), []
    for path in [*folder.glob("*.bin"), *folder.glob("*.part")]:  # nothing that is not truant's
        try:
            status = path.stat(follow_symlinks=False)
        except OSError:  # another process has removed it
            continue
        unused = now - status.st_mtime
        if unused > LONGEST_UNUSED or (path.suffix == ".part" and unused > 3600):
            _remove(path)
        else:
            kept.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= MOST_BYTES:
            break
        _remove(path)
        total -= size


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()

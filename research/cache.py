"""Keeps results on disk under everything that decides them: name, parameters, and the code that is reached.

A result is computed anew when one of these has changed, and when its file is damaged; otherwise it is read.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from truant.fingerprint import code_fingerprint


class NotKept(Exception):
    """A result is asked for that is not in the cache, and nothing may be computed."""


class Format(NamedTuple):
    """How a kind of result is written to a file and read again."""

    suffix: str
    write: Callable[[Any, Path], object]
    read: Callable[[Path], Any]


JSON = Format(
    ".json",
    lambda result, path: path.write_text(json.dumps(result), encoding="utf-8"),
    lambda path: json.loads(path.read_text(encoding="utf-8")),
)


class Kept(NamedTuple):
    """A result, and the day on which it was computed."""

    result: Any
    date: str


@dataclass(frozen=True)
class Cache:
    """A folder of results; with `only_kept` a result that is missing raises NotKept instead of being computed."""

    folder: Path
    only_kept: bool = False

    def kept(
        self,
        name: str,
        parameters: Mapping[str, Any],
        modules: Iterable[str],
        compute: Callable[[], Any],
        format: Format = JSON,
        anew: bool = False,
    ) -> Kept:
        """The result of that name, parameters and code: from its file, or computed and then kept.

        Parameters
        ----------
        modules : the code that computes it; what they import counts, too.
        format : of the file.
        anew : compute it even if it is kept, as a measurement.
        """
        path = self.path(name, parameters, modules, format)
        found = None if anew and not self.only_kept else self._read(path, format)
        if found is not None:
            return found
        if self.only_kept:
            raise NotKept(f"{name} is not kept for this code and these parameters: {dict(parameters)}.")
        print(f"{name} {_in_words(parameters)}".rstrip(), flush=True)
        self._write(path, compute(), format, name, parameters)
        kept = self._read(path, format)  # as it will be read later: lists for tuples, texts for keys
        assert kept is not None
        return kept

    def path(self, name: str, parameters: Mapping[str, Any], modules: Iterable[str], format: Format) -> Path:
        """Where a result is kept: its file's name has a hash of all that decides it."""
        decisive = {
            "name": name,
            "parameters": parameters,
            "code": code_fingerprint(*modules),
            "versions": [
                platform.python_version(),
                *(version(package) for package in ("numpy", "numba", "scipy")),
            ],
        }
        key = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:24]
        readable = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
        return self.folder / f"{readable}-{key}{format.suffix}"

    def _write(
        self, path: Path, result: Any, format: Format, name: str, parameters: Mapping[str, Any]
    ) -> None:
        """First the file, then the record with its checksum: a file that is cut off has no record that fits."""
        self.folder.mkdir(parents=True, exist_ok=True)
        format.write(result, path)
        record = {
            "name": name,
            "parameters": parameters,
            "date": str(datetime.date.today()),
            "sha256": _checksum(path),
        }
        _record_path(path).write_text(json.dumps(record), encoding="utf-8")

    def _read(self, path: Path, format: Format) -> Kept | None:
        """The result in a file; None if it is not there, or not as it was written."""
        try:
            record = json.loads(_record_path(path).read_text(encoding="utf-8"))
            if record["sha256"] != _checksum(path):
                return None
            return Kept(format.read(path), record["date"])
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.record")


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _in_words(parameters: Mapping[str, Any]) -> str:
    """The short ones of the parameters."""
    short = {key: value for key, value in parameters.items() if len(str(value)) <= 30 and key != "machine"}
    return ", ".join(f"{key}={value}" for key, value in short.items())

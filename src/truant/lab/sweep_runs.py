"""The folder of a sweep: the study, the results, and what its tasks have left, a file for each policy of each task.

A file of parts says in its metadata which key its runs are kept under, and has a checksum of key and numbers. So one
that is cut off, edited or exchanged with another is noticed, and its runs are made again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from truant.documents import METADATA, own_fields, parquet_metadata
from truant.errors import InvalidValue
from truant.files import (
    kind_of,
    named_files,
    output_folder,
    refuse_unwritable,
    remove_unfinished,
    unfit_folder,
    written_whole,
)
from truant.lab.records import SweepPart
from truant.lab.study import COLUMNS, Columns, Study, Task
from truant.spec import Spec

KIND, SCHEMA_NUMBER = "sweep-part", 1  # of the document in the metadata
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)  # metadata of others
SCHEMA = pa.schema([(name, pa.float64()) for name in COLUMNS])


@dataclass(frozen=True)
class KeptRuns:
    """The folder of what is done: a file for each policy of each task, whole or not there."""

    folder: Path

    def path(self, key: str) -> Path:
        """Where the runs of that key are kept."""
        return self.folder / key[:2] / f"{key}.parquet"

    def missing(self, task: Task) -> Task | None:
        """What is left to do of a task; None if nothing is. What could not be kept later is refused here."""
        left = tuple(policy for policy in task.policies if self.read(task, policy) is None)
        for policy in left:
            path = self.path(task.key(policy))
            if path.parent.exists():
                refuse_unwritable(path)
        return replace(task, policies=left) if left else None

    def write(self, task: Task, done: dict[Spec, Columns]) -> None:
        """Keep what a task left."""
        for policy, columns in done.items():
            key = task.key(policy)
            path = self.path(key)
            self.check_folder(path.parent)
            try:
                path.parent.mkdir(exist_ok=True)  # no parents: a folder that was removed stays so
            except OSError as error:
                raise self._unfit(path.parent, f"cannot be made ({error.strerror})") from None
            table = pa.table(columns, schema=SCHEMA)
            named = parquet_metadata(KIND, SCHEMA_NUMBER, _part_of(key, table))
            with written_whole(path) as temporary:
                pq.write_table(
                    table.replace_schema_metadata(named),
                    temporary,
                    compression="zstd",
                    write_page_checksum=True,
                )

    def read(self, task: Task, policy: Spec) -> Any | None:
        """The columns of a policy's runs; None if they are not there, not whole, or not those of this key."""
        key = task.key(policy)
        path = self.path(key)
        if not self._is_there(path):
            return None
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                # before its rows are read, which may be any number
                if file.metadata.num_rows != task.runs or not file.schema_arrow.equals(SCHEMA):
                    return None
                said = own_fields(json.loads(file.schema_arrow.metadata[METADATA]), KIND, SCHEMA_NUMBER)
                table = file.read().replace_schema_metadata(None)
        except PermissionError:  # Arrow's own sentence names the file again
            raise self._unfit(path, f"cannot be read ({os.strerror(errno.EACCES)})") from None
        except (OSError, pa.ArrowException, *_DAMAGED):
            return None
        whole = said == _part_of(key, table)
        return table if whole and table.num_rows == task.runs else None

    def check_folder(self, folder: Path) -> None:
        """Raise InvalidValue if this is there and is no folder, such as a link to one of somebody else's."""
        status = self._status(folder)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            raise self._unfit(folder, f"is {kind_of(status)}")

    def _is_there(self, path: Path) -> bool:
        """Whether there is a file; raises InvalidValue if something else is in its place."""
        self.check_folder(path.parent)
        status = self._status(path)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise self._unfit(path, f"is {kind_of(status)}")
        return status is not None

    def _status(self, path: Path) -> os.stat_result | None:
        try:
            return path.lstat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unfit(path, f"cannot be read ({error.strerror})") from None

    def _unfit(self, path: Path, fault: str) -> InvalidValue:
        results = self.folder.parent
        return unfit_folder(results, f"its {os.fspath(path.relative_to(results))} {fault}")


def _part_of(key: str, table: Any) -> SweepPart:
    """What a file of these runs says of itself."""
    return {"key": key, "checksum": _checksum(key, table)}


def _checksum(key: str, table: Any) -> str:
    """Of the numbers and of the key that they are kept under."""
    digest = hashlib.sha256(f"{key} {' '.join(COLUMNS)}\n".encode())
    for name in COLUMNS:
        digest.update(table[name].to_numpy().tobytes())
    return digest.hexdigest()


PARTS = "parts"
STUDY = "study.toml"
FILES = (STUDY, "results.parquet", "summary.json", "index.html")  # beside the parts


def results_folder(study: Study, out: str | os.PathLike[str] | None) -> Path:
    """Where the results go: as asked, else beside the study's file; what no sweep made is not overwritten."""
    file = Path(study.file)
    path = file.with_name(f"{file.stem}-results") if out is None else out
    folder = output_folder(path, "sweep", FILES, tuple(_inputs(study, path)))
    parts = folder / PARTS
    KeptRuns(parts).check_folder(parts)
    return folder


def prepared(folder: Path, study: Study) -> KeptRuns:
    """The folder as a sweep begins or goes on, with the study that these are the results of."""
    kept = KeptRuns(folder / PARTS)
    try:
        kept.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unfit_folder(folder, f"its {PARTS} cannot be made ({error.strerror})") from None
    try:
        places = sorted(kept.folder.iterdir())
    except OSError as error:
        raise unfit_folder(folder, f"its {PARTS} cannot be read ({error.strerror})") from None
    if not os.access(kept.folder, os.W_OK | os.X_OK):
        raise unfit_folder(folder, f"its {PARTS} is not writable")
    for place in places:
        if not place.is_symlink():
            remove_unfinished(place)
    target = folder / STUDY
    if study.source and not _same(target, study.file):
        with written_whole(target) as temporary:
            temporary.write_text(study.source, encoding="utf-8")
    return kept


def _inputs(study: Study, folder: str | os.PathLike[str]) -> Iterator[str]:
    """The study's file, unless it is the one in the folder, which is left as it is; files that worlds are read from."""
    if not (isinstance(folder, str | os.PathLike) and _same(os.path.join(folder, STUDY), study.file)):
        yield from named_files([study.file])
    for block in study.blocks:
        yield from named_files(block.fixed.values())
        for axis in block.axes:
            yield from named_files(axis.values)


def _same(path: str | os.PathLike[str], file: str) -> bool:
    return os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file)

"""What tasks of a sweep have left: a Parquet file for each policy of each task, which is checked whenever it is read.

A file says in its metadata which key its runs are kept under, and has a checksum of key and numbers. So one that is cut
off, edited or exchanged with another is noticed, and its runs are made again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from truant.documents import METADATA, own_fields, parquet_metadata
from truant.files import unfit_folder, written_whole
from truant.spec import Spec
from truant.sweeps.task import COLUMNS, Columns, Task

KIND, SCHEMA_NUMBER = "sweep-part", 1  # of the document in the metadata
SCHEMA = pa.schema([(name, pa.float64()) for name in COLUMNS])


@dataclass(frozen=True)
class KeptRuns:
    """The folder of what is done: a file for each policy of each task, whole or not there."""

    folder: Path

    def path(self, key: str) -> Path:
        """Where the runs of that key are kept."""
        return self.folder / key[:2] / f"{key}.parquet"

    def missing(self, task: Task) -> Task | None:
        """What is left to do of a task; None if nothing is."""
        left = tuple(policy for policy in task.policies if self.read(task, policy) is None)
        return replace(task, policies=left) if left else None

    def write(self, task: Task, done: dict[Spec, Columns]) -> None:
        """Keep what a task left."""
        for policy, columns in done.items():
            key = task.key(policy)
            path = self.path(key)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise unfit_folder(self.folder, error.strerror) from None
            table = pa.table(columns, schema=SCHEMA)
            named = parquet_metadata(KIND, SCHEMA_NUMBER, {"key": key, "checksum": _checksum(key, table)})
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
        if not path.is_file():
            return None
        try:
            table = pq.ParquetFile(path, page_checksum_verification=True).read()
            said = own_fields(json.loads(table.schema.metadata[METADATA]), KIND, SCHEMA_NUMBER)
        except (OSError, pa.ArrowException, ValueError, LookupError, TypeError, AttributeError):
            return None
        if table.num_rows != task.runs or not table.schema.equals(SCHEMA):
            return None
        table = table.replace_schema_metadata(None)
        whole = said == {"key": key, "checksum": _checksum(key, table)}
        return table if whole else None


def _checksum(key: str, table: Any) -> str:
    """Of the numbers and of the key that they are kept under."""
    digest = hashlib.sha256(f"{key} {' '.join(COLUMNS)}\n".encode())
    for name in COLUMNS:
        digest.update(table[name].to_numpy().tobytes())
    return digest.hexdigest()

"""The tables of a sweep, with a column for each parameter that is set or varied: a row per run, or per policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant.documents import parquet_metadata
from truant.setting import FloatArray
from truant.sweeps.study import Choice, Point, Study, shown

FIGURES = ("regret", "regret_first_half", "best_arm_share")
RESERVED = (
    "block",
    "world",
    "policy",
    "family",
    "horizon",
    "delay",
    "seed",
    "run",
    "runs",
    "best",
    "as_good",
)
RESERVED_STARTS = ("regret", "best_arm_share", "share_above", "behind_", "policy_")
ROWS = 100_000  # gathered before they are written


def place_of(point: Point, choice: Choice, columns: Mapping[str, pa.DataType]) -> dict[str, Any]:
    """The place of a row: world, parameters, horizon, delay, policy."""
    given = {world_column(key): value for key, value in point.world.parameters.items()}
    given |= {policy_column(key): value for key, value in choice.varied.items()}
    cells = {name: _cell(given.get(name), kind) for name, kind in columns.items()}
    place = {"block": point.block + 1, "world": point.world.name, **cells}
    place |= {"horizon": point.horizon, "delay": point.delay}
    return place | {"policy": choice.name, "family": choice.family}


def world_column(key: str) -> str:
    """The column of a world's parameter."""
    return f"world_{key}" if key in RESERVED or key.startswith(RESERVED_STARTS) else key


def policy_column(key: str) -> str:
    """The column of a policy's parameter."""
    return f"policy_{key}"


def parameter_columns(study: Study) -> dict[str, pa.DataType]:
    """A column for each parameter that is set or varied somewhere: whole numbers, numbers, else texts."""
    values: dict[str, list[Any]] = {}
    for block in study.blocks:
        for key, value in block.fixed.items():
            values.setdefault(world_column(key), []).append(value)
        for axis in block.axes:
            for key in axis.name.split(","):
                values.setdefault(world_column(key), []).extend(axis.values)
    for block in study.blocks:
        for choice in block.choices:
            for key, value in choice.varied.items():
                values.setdefault(policy_column(key), []).append(value)
    return {name: _kind(several) for name, several in values.items()}


def _kind(values: Sequence[Any]) -> pa.DataType:
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return pa.int64()
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return pa.float64()
    return pa.string()


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    return shown(value) if kind == pa.string() else float(value) if kind == pa.float64() else value


def summary_table(study: Study, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The summary as a table, a row for each point and policy; a column has the same type in every study."""
    types: dict[str, pa.DataType] = dict.fromkeys(("block", "horizon", "delay", "runs"), pa.int64())
    types |= dict.fromkeys(("world", "policy", "family"), pa.string())
    types |= dict.fromkeys(("best", "as_good"), pa.bool_())
    types |= parameter_columns(study)
    schema = pa.schema([(name, types.get(name, pa.float64())) for name in rows[0]])
    return pa.Table.from_pylist(rows, schema=schema)


class Writer:
    """Writes rows in groups of a fair size, never the whole study at once."""

    def __init__(self, path: Path, study: Study, columns: Mapping[str, pa.DataType]) -> None:
        # the block tells apart two entries of a study with the same world and parameters
        fields = [("block", pa.int64()), ("world", pa.string()), *columns.items()]
        fields += [("horizon", pa.int64()), ("delay", pa.int64()), ("policy", pa.string())]
        fields += [("seed", pa.int64()), ("run", pa.int64()), *((name, pa.float64()) for name in FIGURES)]
        metadata = parquet_metadata("sweep-runs", 1) | {b"truant.study": study.source.encode()}
        self._schema = pa.schema(fields, metadata=metadata)
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)
        self._columns, self._seed = columns, study.seed
        self._waiting: list[Any] = []

    def __enter__(self) -> Writer:
        return self

    def add(self, point: Point, choice: Choice, whole: Mapping[str, FloatArray]) -> None:
        """The runs of a policy at a point."""
        runs = len(whole["regret"])
        place = place_of(point, choice, self._columns) | {"seed": self._seed}
        arrays = []
        for field in self._schema:
            if field.name in FIGURES:
                arrays.append(pa.array(whole[field.name]))
            elif field.name == "run":
                arrays.append(pa.array(np.arange(runs)))
            else:
                arrays.append(pa.repeat(pa.scalar(place[field.name], field.type), runs))
        self._waiting.append(pa.table(arrays, schema=self._schema))
        if sum(table.num_rows for table in self._waiting) >= ROWS:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._file.write_table(pa.concat_tables(self._waiting))
            self._waiting = []

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._write()
        self._file.close()

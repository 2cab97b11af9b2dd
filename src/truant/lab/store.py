"""Keeps a simulation in one Parquet file: a row per policy and run, what they share in its metadata."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant.envelope import METADATA, document_fields, own_fields, parquet_metadata, plain
from truant.errors import InvalidValue, quoted
from truant.files import written_whole
from truant.lab.records import SavedSimulation
from truant.lab.result import Simulation
from truant.policies.follow_up_rules import FollowUps
from truant.setting import FloatArray, IntArray, switch, whole_number

KIND, SCHEMA = "simulation-runs", 1  # of the document in the metadata
_SHARED = tuple(document_fields(SavedSimulation))
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError)


def save(simulation: Simulation, target: Path) -> Path:
    """Write a simulation to a .parquet file, whole or not at all."""
    policies, runs = len(simulation.policies), simulation.runs
    shared = plain(SavedSimulation(**{name: getattr(simulation, name) for name in _SHARED}))
    columns = {
        "policy": pa.array(np.repeat(simulation.policies, runs)),
        "run": pa.array(np.tile(np.arange(runs), policies)),
        "nanoseconds": pa.array(simulation.nanoseconds.ravel()),
        "regret": _lists(simulation.regret),
        "pulls": _lists(simulation.pulls),
        "estimates": _lists(simulation.estimates),
        "means": _lists(np.broadcast_to(simulation.means, simulation.pulls.shape)),
    }
    if simulation.low is not None and simulation.high is not None:
        columns |= {"low": _lists(simulation.low), "high": _lists(simulation.high)}
    if simulation.follow_ups is not None:
        columns["follow_ups"] = _lists(simulation.follow_ups)
    table = pa.table(columns).replace_schema_metadata(parquet_metadata(KIND, SCHEMA, shared))
    with written_whole(target) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
    return target


def load(path: str | os.PathLike[str]) -> Simulation:
    """Read a simulation that `save` wrote."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InvalidValue(f"A file name is needed, got {quoted(path)}.")
    name = os.fspath(path)
    if name.lower().endswith(".csv"):
        raise InvalidValue(
            f"Cannot load {name!r}: a .csv file has the final figures only; save the simulation as .parquet to load it."
        )
    try:
        if not Path(path).is_file():
            raise InvalidValue(f"There is no file {name!r}.")
        table = pq.read_table(Path(path), page_checksum_verification=True, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise InvalidValue(
            f"Cannot read {name!r} as a Parquet file; it may be damaged or another kind."
        ) from error
    metadata = (table.schema.metadata or {}).get(METADATA)
    if metadata is None:
        raise InvalidValue(f"{name!r} is a Parquet file, but not one that a simulation was saved to.")
    damaged = InvalidValue(f"{name!r} is damaged: it is not as a simulation was saved.")
    try:
        shared = own_fields(json.loads(metadata), KIND, SCHEMA)
    except InvalidValue:  # another kind of document, or a newer one
        raise
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise damaged from error
    try:
        older = {"follow_up": None}  # which files of earlier versions do not have
        return _restored(table, {name: (older | shared)[name] for name in _SHARED})
    except (*_DAMAGED, pa.ArrowException) as error:
        raise damaged from error


def _restored(table: Any, shared: dict[str, Any]) -> Simulation:
    if not isinstance(shared["world"], str) or not isinstance(shared["parameters"], dict):
        raise ValueError("a world is a name with parameters")
    for number in ("seed", "delay"):
        shared[number] = whole_number(number, shared[number], at_least=0)
    switch("minimize", shared["minimize"])
    policies = shared["policies"]
    cells = (len(policies), table.num_rows // len(policies))
    order = [(policy, run) for policy in policies for run in range(cells[1])]
    if list(zip(table["policy"].to_pylist(), table["run"].to_pylist(), strict=True)) != order:
        raise ValueError("rows are missing, or not in the order they were saved in")
    if shared["follow_up"] is not None:
        shared["follow_up"] = FollowUps(**shared["follow_up"])
    ends = [name for name in ("low", "high", "follow_ups") if name in table.column_names]
    arrays = {name: _array(table, name, cells) for name in ("regret", "pulls", "estimates", "means", *ends)}
    arrays["means"] = arrays["means"][0]
    nanoseconds = table["nanoseconds"].to_numpy().reshape(cells)
    return Simulation(**shared, **arrays, nanoseconds=nanoseconds)


def _lists(values: FloatArray | IntArray) -> Any:
    """(policies, runs, n) numbers as one list of n per row."""
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[2])


def _array(table: Any, column: str, cells: tuple[int, int]) -> Any:
    values = table[column].combine_chunks()
    return values.flatten().to_numpy(zero_copy_only=False).reshape(*cells, -1)

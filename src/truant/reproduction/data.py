"""Everything that is drawn, in one tidy Parquet file: a row per line, run and checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant.documents import parquet_metadata
from truant.files import written_whole
from truant.reproduction.figure import Figure
from truant.reproduction.results import Results

WORDS = ("figure", "version", "panel", "label", "world", "parameters", "policy")
_WORD = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        *((name, _WORD) for name in WORDS),
        ("run", pa.int32()),
        ("round", pa.int64()),
        ("regret", pa.float64()),
    ],
    metadata=parquet_metadata("reproduction-runs", 1),
)


def save_data(path: Path, figures: Sequence[Figure], results: Results) -> Path:
    """Write the data of the figures, whole or not at all; parameters are JSON."""
    with written_whole(path) as temporary, pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as file:
        for figure in figures:
            file.write_table(pa.concat_tables(_lines(figure, results)).unify_dictionaries())
    return path


def _lines(figure: Figure, results: Results) -> Iterator[Any]:
    for version, panels in figure.versions.items():
        for panel in panels:
            for line in panel.lines:
                simulation, regret = results.simulations[line.scene], results.regret(line)
                runs, rounds = regret.shape
                words = {
                    "figure": figure.name,
                    "version": version,
                    "panel": panel.title,
                    "label": line.name,
                    "world": simulation.world,
                    "parameters": json.dumps(simulation.parameters),
                    "policy": line.policy,
                }
                columns = {name: _repeated(word, regret.size) for name, word in words.items()}
                columns["run"] = pa.array(np.repeat(np.arange(runs, dtype=np.int32), rounds))
                columns["round"] = pa.array(np.tile(simulation.rounds, runs))
                columns["regret"] = pa.array(regret.ravel())
                yield pa.table(columns, schema=SCHEMA)


def _repeated(word: str, count: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([word]))

"""The simulations behind figures, looked up by line; and everything that is drawn in one Parquet file."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from research.reproduction.figure import Figure, Line, Panel, Scene
from truant import theory
from truant.documents import parquet_metadata
from truant.files import written_whole
from truant.lab.result import Simulation
from truant.lab.simulate import plan_of
from truant.play.run import second_half_ratio, standard_deviation, summarize_regret
from truant.setting import FloatArray, IntArray

BOUNDS = {"mcar": theory.mcar_lower_bound, "mar": theory.mar_lower_bound}
READ_BY_EYE = 0.05  # of a value that was read from a plot
BOUND_LABELS = {"mcar": "√(nT/γ)", "mar": "√(TnH)"}

_WORD = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(  # of the Parquet file: a row per line, run and checkpoint
    [
        *((name, _WORD) for name in ("figure", "version", "panel", "label", "world", "parameters", "policy")),
        ("run", pa.int32()),
        ("round", pa.int64()),
        ("regret", pa.float64()),
    ],
    metadata=parquet_metadata("reproduction-runs", 1),
)


@dataclass(eq=False)
class Results:
    """A simulation for each scene that was played."""

    simulations: dict[Scene, Simulation] = field(default_factory=dict)

    def regret(self, line: Line) -> FloatArray:
        """Regret of each run at the checkpoints, shape (R, C)."""
        simulation = self.simulations[line.scene]
        regret: FloatArray = simulation.regret[simulation.policies.index(line.policy)]
        return regret

    def final(self, line: Line) -> FloatArray:
        """Regret of each run at the horizon, shape (R,)."""
        return self.regret(line)[:, -1]

    def ratio(self, line: Line) -> float:
        """Regret of the second half of the rounds over that of the first, means of all runs: 1 if linear."""
        mean = self.regret(line).mean(axis=0)
        return second_half_ratio(mean[self._half(line)], mean[-1])

    def _half(self, line: Line) -> int:
        """The checkpoint at half of the horizon."""
        simulation = self.simulations[line.scene]
        return int(np.searchsorted(simulation.rounds, max(1, simulation.horizon // 2)))

    @functools.cache  # noqa: B019 - lives as long as the results
    def bound(self, scene: Scene) -> float | None:
        """The theory's lower-bound rate at the horizon, mean over the instances of the runs."""
        if scene.bound is None:
            return None
        simulation = self.simulations[scene]
        plan = plan_of(scene.spec, "naive-ucb", simulation.horizon, simulation.seed, {})
        of_world = BOUNDS[scene.bound]
        return float(np.mean([of_world(plan.instance(r), plan.horizon) for r in range(simulation.runs)]))

    def curves(self, panel: Panel) -> pa.Table:
        """Columns policy (the line's name), round, mean, low, high: the mean and mean ± sd of each line."""
        tables = []
        for line in panel.lines:
            regret = self.regret(line)
            mean = regret.mean(axis=0)
            sd = standard_deviation(regret, axis=0)
            values = {"mean": mean, "low": mean - sd, "high": mean + sd}
            columns = {key: _rounded(value) for key, value in values.items()}
            tables.append(_named_table(line.name, self.simulations[line.scene].rounds, columns))
        return pa.concat_tables(tables)

    def reference(self, panel: Panel) -> pa.Table | None:
        """The lower-bound rate over rounds of a panel with one scene; it grows with the root of the rounds."""
        scene = panel.lines[0].scene
        bound = self.bound(scene)
        if bound is None or len({line.scene for line in panel.lines}) > 1:
            return None
        simulation = self.simulations[scene]
        label = BOUND_LABELS[scene.bound]  # type: ignore[index]
        mean = bound * np.sqrt(simulation.rounds / simulation.horizon)
        return _named_table(label, simulation.rounds, {"mean": mean})

    def rows(self, figure: Figure) -> list[dict[str, Any]]:
        """The main figures of every line of a figure, as plain JSON values."""
        return [
            self._row(figure, version, panel, line)
            for version, panels in figure.versions.items()
            for panel in panels
            for line in panel.lines
        ]

    def beside_plots(self, figure: Figure) -> list[dict[str, Any]]:
        """The stored plots' values beside ours; they agree if the means differ by less than both spreads allow."""
        found = []
        for stored in figure.stored:
            final = self.final(stored.line)
            sd = float(standard_deviation(final, axis=0))
            # the mean of the plot has its own error, of which its spread is a generous bound
            allowed = stored.sd + 2 * sd / np.sqrt(len(final)) + READ_BY_EYE * stored.mean
            found.append(
                {
                    "line": stored.line.name,
                    "plot_mean": stored.mean,
                    "plot_sd": stored.sd,
                    "regret_mean": float(final.mean()),
                    "regret_sd": sd,
                    "agrees": bool(abs(final.mean() - stored.mean) <= allowed),
                    "note": stored.note,
                }
            )
        return found

    def _row(self, figure: Figure, version: str, panel: Panel, line: Line) -> dict[str, Any]:
        simulation, ratio = self.simulations[line.scene], self.ratio(line)
        regret = summarize_regret(self.final(line), self.regret(line)[:, self._half(line)])
        return {
            "figure": figure.name,
            "version": version,
            "panel": panel.title,
            "label": line.name,
            "world": simulation.world,
            "parameters": simulation.parameters,
            "policy": line.policy,
            "horizon": simulation.horizon,
            "runs": simulation.runs,
            "regret_mean": float(regret.mean),
            "regret_median": float(regret.median),
            "regret_sd": float(regret.sd) if regret.runs > 1 else None,
            "second_half_ratio": ratio if ratio == ratio else None,
            "lower_bound": self.bound(line.scene),
        }


def _named_table(name: str, rounds: IntArray, columns: dict[str, FloatArray]) -> pa.Table:
    return pa.table({"policy": [name] * len(rounds), "round": rounds, **columns})


def _rounded(values: FloatArray) -> FloatArray:
    """Five figures, as many as a chart shows: pages stay small."""
    return np.array([float(f"{value:.5g}") for value in values])


def save_data(path: Path, figures: Sequence[Figure], results: Results) -> None:
    """Write the data of the figures, whole or not at all; parameters are JSON."""
    with written_whole(path) as temporary, pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as file:
        for figure in figures:
            file.write_table(pa.concat_tables(_tables(figure, results)).unify_dictionaries())


def _tables(figure: Figure, results: Results) -> Iterator[pa.Table]:
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
                same = pa.array(np.zeros(regret.size, np.int32))
                columns = {name: pa.DictionaryArray.from_arrays(same, [word]) for name, word in words.items()}
                columns["run"] = pa.array(np.repeat(np.arange(runs, dtype=np.int32), rounds))
                columns["round"] = pa.array(np.tile(simulation.rounds, runs))
                columns["regret"] = pa.array(regret.ravel())
                yield pa.table(columns, schema=SCHEMA)

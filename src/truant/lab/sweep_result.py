"""Results of a sweep: every run in one tidy Parquet file, and a row of figures for each point and policy."""

from __future__ import annotations

from truant.errors import require

require("charts", "Sweeps, which write a page with charts,")

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant.envelope import parquet_metadata, plain
from truant.errors import InvalidValue, counted
from truant.files import written_whole
from truant.lab.records import SweepSummary
from truant.lab.result import circumstances, versions
from truant.lab.study import Choice, Point, Study, Task, policy_of, shown
from truant.lab.sweep_runs import KeptRuns
from truant.play.run import paired_difference, summarize_regret
from truant.setting import FloatArray
from truant.shown import Shown

if TYPE_CHECKING:
    import altair as alt

    from truant.charts.sweep import SweptBlock

UNDECIDED = 2.0  # standard errors, below which two policies are as good as each other


@dataclass(frozen=True, repr=False)
class SweepResult(Shown):
    """A finished study: a row for each point and policy, and where everything is.

    Parameters
    ----------
    study : what was run.
    folder : where results.parquet, summary.json and index.html are.
    rows : one dict for each point and policy.
    seconds : wall time of this call; `kernel_seconds` is the time of all runs in the compiled loop, whenever made.
    """

    _views: ClassVar = {"document": "truant.documents.sweep:sweep_document"}

    study: Study
    folder: Path
    rows: list[dict[str, Any]]
    seconds: float
    kernel_seconds: float  # time of all runs in the compiled loop, also of earlier calls

    @property
    def results(self) -> Path:
        """Every run of every policy at every point, a row each."""
        return self.folder / "results.parquet"

    @property
    def page(self) -> Path:
        """The summary page."""
        return self.folder / "index.html"

    @property
    def points(self) -> int:
        """How many points the study has."""
        return sum(1 for _ in self.study.points())

    def table(self) -> pa.Table:
        """One row per point and policy: regret over the runs, who is best, and how far behind it the others are."""
        return summary_table(self.study, self.rows)

    def blocks(self) -> list[SweptBlock]:
        """The worlds of the study, each with what varies in it and its rows, as charts and pages take them."""
        return swept_blocks(self.study, self.rows)

    def charts(self) -> dict[str, alt.TopLevelMixin]:
        """The charts of the page, by name."""
        from truant.charts.sweep import sweep_charts

        return {chart.name: chart.draw() for chart in sweep_charts(self.blocks())}

    def __repr__(self) -> str:
        return f"SweepResult of {self.study.title!r}: {counted(len(self.rows), 'row')} in {os.fspath(self.folder)!r}"

    def document(self) -> Any:
        """Everything as a `truant.documents.blocks.Document`, which terminal, page and notebook render."""
        return self._view("document", self, self.blocks(), self.summary(), self.points)

    def summary(self) -> dict[str, Any]:
        """The same as summary.json and `truant sweep --json`."""
        figures = SweepSummary(
            title=self.study.title,
            runs=self.study.runs,
            seed=self.study.seed,
            minimize=self.study.minimize,
            results=str(self.results),
            page=str(self.page),
            seconds=round(self.seconds, 3),
            kernel_seconds=round(self.kernel_seconds, 3),
            versions=versions(),
            rows=self.rows,
        )
        return dict(plain(figures))


def gather(study: Study, tasks: Sequence[Task], kept: KeptRuns, folder: Path, seconds: float) -> SweepResult:
    """Put all runs into one file, in the study's order, and sum up each point; a point at a time in memory."""
    columns = parameter_columns(study)
    rows: list[dict[str, Any]] = []
    nanoseconds = 0.0
    # the block tells apart two entries of a study with the same world and parameters
    fields = [("block", pa.int64()), ("world", pa.string()), *columns.items()]
    fields += [("horizon", pa.int64()), ("delay", pa.int64()), ("policy", pa.string())]
    fields += [("seed", pa.int64()), ("run", pa.int64()), *((name, pa.float64()) for name in FIGURES)]
    metadata = parquet_metadata("sweep-runs", 1) | {b"truant.study": study.source.encode()}
    schema = pa.schema(fields, metadata=metadata)
    waiting: list[Any] = []  # tables that are written together, never the whole study at once
    with (
        written_whole(folder / "results.parquet") as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as file,
    ):
        for _, of_point in itertools.groupby(tasks, key=lambda task: id(task.point)):
            several = list(of_point)
            point, choices = several[0].point, study.choices(several[0].point)
            finals = []
            figures: list[dict[str, Any]] = []
            for choice in choices:
                whole = _joined(kept, several, choice)
                nanoseconds += float(whole["nanoseconds"].sum())
                place = place_of(point, choice, columns)
                waiting.append(_runs_table(schema, place | {"seed": study.seed}, whole))
                finals.append(whole["regret"])
                figures.append(place | _figures(whole))
            for figure, comparison in zip(figures, _compared(choices, finals), strict=True):
                rows.append(figure | comparison)
            if sum(table.num_rows for table in waiting) >= ROWS:
                file.write_table(pa.concat_tables(waiting))
                waiting.clear()
        if waiting:
            file.write_table(pa.concat_tables(waiting))
    result = SweepResult(study, folder, rows, seconds, nanoseconds / 1e9)
    with written_whole(folder / "summary.json") as temporary:
        temporary.write_text(json.dumps(result.summary(), indent=2), encoding="utf-8")
    result.report(result.page)
    return result


def _joined(kept: KeptRuns, tasks: Iterable[Task], choice: Choice) -> dict[str, FloatArray]:
    tables = []
    for task in tasks:
        table = kept.read(task, choice.spec)
        if table is None:  # it was there, or was written, a moment ago
            raise InvalidValue(
                f"A part of the results is gone or damaged: {kept.path(task.key(choice.spec))}; run the sweep again."
            )
        tables.append(table)
    whole = pa.concat_tables(tables)
    return {name: whole[name].to_numpy() for name in whole.column_names}


def _runs_table(schema: Any, place: Mapping[str, Any], whole: Mapping[str, FloatArray]) -> Any:
    """A row for each run of a policy at a point."""
    runs = len(whole["regret"])
    arrays = [
        pa.array(whole[field.name])
        if field.name in FIGURES
        else pa.array(np.arange(runs))
        if field.name == "run"
        else pa.repeat(pa.scalar(place[field.name], field.type), runs)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _figures(whole: Mapping[str, FloatArray]) -> dict[str, Any]:
    regret = summarize_regret(whole["regret"], whole["regret_first_half"])
    return {
        "runs": regret.runs,
        "regret_mean": float(regret.mean),
        "regret_sd": float(regret.sd),
        "regret_se": _known(regret.se),
        "regret_median": float(regret.median),
        "regret_p90": float(regret.p90),
        "share_above_10x_median": float(regret.share_above_10x_median),
        "regret_first_half_mean": float(regret.first_half_mean),
        "best_arm_share": float(whole["best_arm_share"].mean()),
    }


def _known(error: float) -> float | None:
    """A standard error as JSON has it: null where one run says nothing about how far runs differ."""
    return None if np.isnan(error) else float(error)


def _compared(choices: Sequence[Choice], finals: Sequence[FloatArray]) -> Iterator[dict[str, Any]]:
    """Each policy beside the best, run by run; an oracle sees everything and takes no part."""
    contest = [i for i, choice in enumerate(choices) if not policy_of(choice.spec).reveals]
    best = min(contest, key=lambda i: finals[i].mean(), default=None)
    for i, final in enumerate(finals):
        if best is None or i not in contest:
            yield {"best": False, "as_good": False, "behind_mean": None, "behind_se": None}
            continue
        behind, error = paired_difference(final, finals[best])
        as_good = i == best or bool(np.isnan(error) or behind <= UNDECIDED * error)
        yield {
            "best": i == best,
            "as_good": as_good,
            "behind_mean": float(behind),
            "behind_se": _known(error),
        }


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


def swept_blocks(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[SweptBlock]:
    """The worlds of a study, each with what holds and what varies in it, and its rows with its own values."""
    from truant.charts.sweep import SweptBlock, Varied

    def varied(column: str, label: str, values: Sequence[Any]) -> Varied:
        """Values stay numbers if all of them are; else they are texts."""
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        return Varied(column, label, tuple(value if numeric else shown(value) for value in values))

    blocks = []
    for block in study.blocks:
        axes = [
            (world_column(axis.name.split(",")[0]), axis.name.replace(",", " = "), axis.values)
            for axis in block.axes
        ]
        axes += [("horizon", "horizon", block.horizons), ("delay", "delay", block.delays)]
        in_world = [varied(*axis) for axis in axes if len(axis[2]) > 1]
        of_policies: dict[str, dict[Any, None]] = {}
        for key, value in (pair for choice in block.choices for pair in choice.varied.items()):
            of_policies.setdefault(key, {})[value] = None
        in_policies = [varied(policy_column(key), key, tuple(values)) for key, values in of_policies.items()]
        own = [dict(row) for row in rows if row["block"] == block.number + 1]
        for each in (*in_world, *in_policies):
            # a column, which all blocks share, may hold texts for numbers
            numbers = {shown(value): value for value in each.values} if each.numeric else {}
            for row in own:
                if (cell := row[each.column]) is not None:
                    row[each.column] = numbers.get(cell, cell) if each.numeric else shown(cell)
        conditions = [", ".join(f"{key} = {shown(value)}" for key, value in block.fixed.items())]
        conditions += [f"{block.horizons[0]:,} rounds"] if len(block.horizons) == 1 else []
        conditions += circumstances(block.delays[0], False) if len(block.delays) == 1 else []
        conditions = [words for words in conditions if words]
        blocks.append(
            SweptBlock(block.number + 1, block.title, block.world, conditions, in_world, in_policies, own)
        )
    return blocks

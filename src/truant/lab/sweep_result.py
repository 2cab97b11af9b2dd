"""What a sweep leaves: every run in one tidy Parquet file, and a row of figures for each point and policy."""

from __future__ import annotations

import itertools
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from truant.errors import InvalidValue
from truant.files import written_whole
from truant.lab.study import Choice, Point, Study, shown
from truant.lab.task import Parts, Task
from truant.setting import FloatArray

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from rich.console import RenderableType

FIGURES = ("regret", "regret_first_half", "best_arm_share")
RESERVED = ("world", "policy", "horizon", "seed", "run", *FIGURES)
ROWS = 100_000  # gathered before they are written
UNDECIDED = 2.0  # standard errors, below which two policies are as good as each other


@dataclass(frozen=True, repr=False)
class SweepResult:
    """A finished study: a row for each point and policy, and where everything is.

    Parameters
    ----------
    study : what was run.
    folder : where results.parquet, summary.json and index.html are.
    rows : one dict for each point and policy.
    seconds : wall time of this call; `kernel_seconds` is the time of all runs in the compiled loop, whenever made.
    """

    study: Study
    folder: Path
    rows: list[dict[str, Any]]
    seconds: float
    kernel_seconds: float

    @property
    def results(self) -> Path:
        """Every run of every policy at every point, a row each."""
        return self.folder / "results.parquet"

    @property
    def page(self) -> Path:
        """The summary page."""
        return self.folder / "index.html"

    def table(self) -> pd.DataFrame:
        """One row per point and policy: regret over the runs, who is best, and how far behind it the others are."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def charts(self) -> dict[str, alt.TopLevelMixin]:
        """The charts of the page, by name."""
        from truant.lab.sweep_page import charts

        return {figure.name: figure.chart for block in charts(self) for figure in block}

    def __repr__(self) -> str:
        return f"SweepResult of {self.study.title!r}: {len(self.rows):,} rows in {os.fspath(self.folder)!r}"

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>{self.table().to_html(max_rows=20)}"

    def __rich__(self) -> RenderableType:
        from truant.lab.display import SweepDisplay

        return SweepDisplay(self)

    def summary(self) -> dict[str, Any]:
        """The same as summary.json and `truant sweep --json`."""
        return {
            "title": self.study.title,
            "runs": self.study.runs,
            "seed": self.study.seed,
            "results": str(self.results),
            "page": str(self.page),
            "seconds": round(self.seconds, 3),
            "kernel_seconds": round(self.kernel_seconds, 3),
            "versions": versions(),
            "rows": self.rows,
        }


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {"python": platform.python_version()} | {
        name: version(name) for name in ("truant", "numpy", "numba", "pyarrow")
    }


def gather(study: Study, tasks: Sequence[Task], parts: Parts, folder: Path, seconds: float) -> SweepResult:
    """Put all parts into one file, in the study's order, and sum up each point; a point at a time in memory."""
    columns = _parameter_columns(study)
    rows: list[dict[str, Any]] = []
    nanoseconds = 0.0
    with written_whole(folder / "results.parquet") as temporary, _Writer(temporary, study, columns) as writer:
        for _, of_point in itertools.groupby(tasks, key=lambda task: id(task.point)):
            several = list(of_point)
            point, choices = several[0].point, study.choices(several[0].point)
            finals = []
            figures: list[dict[str, Any]] = []
            for choice in choices:
                whole = _joined(parts, several, choice)
                nanoseconds += float(whole["nanoseconds"].sum())
                writer.add(point, choice, whole)
                finals.append(whole["regret"])
                figures.append(_where(point, choice, columns) | _figures(whole))
            for figure, comparison in zip(figures, _compared(choices, finals), strict=True):
                rows.append(figure | comparison)
    result = SweepResult(study, folder, rows, seconds, nanoseconds / 1e9)
    with written_whole(folder / "summary.json") as temporary:
        temporary.write_text(json.dumps(result.summary(), indent=2, default=list), encoding="utf-8")
    from truant.lab.sweep_page import write

    write(result)
    return result


def _joined(parts: Parts, tasks: Iterable[Task], choice: Choice) -> dict[str, FloatArray]:
    tables = []
    for task in tasks:
        table = parts.read(task, choice.spec)
        if table is None:  # it was there, or was written, a moment ago
            raise InvalidValue(
                f"A part of the results is gone or damaged: {parts.path(task.key(choice.spec))}; run the sweep again."
            )
        tables.append(table)
    whole = pa.concat_tables(tables)
    return {name: whole[name].to_numpy() for name in whole.column_names}


def _figures(whole: Mapping[str, FloatArray]) -> dict[str, Any]:
    final = whole["regret"]
    runs, median = len(final), float(np.median(final))
    sd = float(final.std(ddof=1)) if runs > 1 else 0.0
    return {
        "runs": runs,
        "regret_mean": float(final.mean()),
        "regret_sd": sd,
        "regret_se": sd / runs**0.5 if runs > 1 else None,  # one run says nothing about how far runs differ
        "regret_median": median,
        "regret_p90": float(np.quantile(final, 0.9)),
        "share_above_10x_median": float((final > 10 * median).mean()),
        "regret_first_half_mean": float(whole["regret_first_half"].mean()),
        "best_arm_share": float(whole["best_arm_share"].mean()),
    }


def _compared(choices: Sequence[Choice], finals: Sequence[FloatArray]) -> Iterator[dict[str, Any]]:
    """Each policy beside the best, run by run; an oracle sees everything and takes no part."""
    contest = [i for i, choice in enumerate(choices) if not choice.spec.startswith("oracle-")]
    best = min(contest, key=lambda i: finals[i].mean(), default=None)
    for i, final in enumerate(finals):
        if best is None or i not in contest:
            yield {"best": False, "as_good": False, "behind_mean": None, "behind_se": None}
            continue
        behind = final - finals[best]
        mean = float(behind.mean())
        error = float(behind.std(ddof=1) / len(behind) ** 0.5) if len(behind) > 1 else None
        as_good = i == best or error is None or mean <= UNDECIDED * error
        yield {"best": i == best, "as_good": as_good, "behind_mean": mean, "behind_se": error}


def _where(point: Point, choice: Choice, columns: Mapping[str, pa.DataType]) -> dict[str, Any]:
    """The place of a row: world, parameters, horizon, policy."""
    given = {world_column(key): value for key, value in point.parameters.items()}
    given |= {policy_column(key): value for key, value in choice.varied.items()}
    cells = {name: _cell(given.get(name), kind) for name, kind in columns.items()}
    place = {"block": point.block + 1, "world": point.world, **cells}
    return place | {"horizon": point.horizon, "policy": choice.spec, "family": choice.family}


def world_column(key: str) -> str:
    """The column of a world's parameter."""
    return f"world_{key}" if key in RESERVED else key


def policy_column(key: str) -> str:
    """The column of a policy's parameter."""
    return f"policy_{key}"


def _parameter_columns(study: Study) -> dict[str, pa.DataType]:
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


class _Writer:
    """Writes rows in groups of a fair size, never the whole study at once."""

    def __init__(self, path: Path, study: Study, columns: Mapping[str, pa.DataType]) -> None:
        fields = [("world", pa.string()), *columns.items(), ("horizon", pa.int64()), ("policy", pa.string())]
        fields += [("seed", pa.int64()), ("run", pa.int64()), *((name, pa.float64()) for name in FIGURES)]
        self._schema = pa.schema(fields, metadata={b"truant.study": study.source.encode()})
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)
        self._columns, self._seed = columns, study.seed
        self._waiting: list[Any] = []

    def __enter__(self) -> _Writer:
        return self

    def add(self, point: Point, choice: Choice, whole: Mapping[str, FloatArray]) -> None:
        """The runs of a policy at a point."""
        runs = len(whole["regret"])
        place = _where(point, choice, self._columns) | {"seed": self._seed}
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

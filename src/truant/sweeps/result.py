"""Results of a sweep: every run in one tidy Parquet file, and a row of figures for each point and policy."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from truant.documents import document
from truant.errors import InvalidValue
from truant.files import written_whole
from truant.lab.versions import versions
from truant.play.regret import paired_difference, summarize_regret
from truant.setting import FloatArray
from truant.sweeps.kept_runs import KeptRuns
from truant.sweeps.study import Choice, Study, policy_of
from truant.sweeps.table import Writer, parameter_columns, place_of, summary_table
from truant.sweeps.task import Task
from truant.sweeps.words import verdict
from truant.text import counted

if TYPE_CHECKING:
    import altair as alt
    from rich.console import RenderableType

    from truant.charts.swept import SweptBlock

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
        from truant.sweeps.describe import swept_blocks

        return swept_blocks(self.study, self.rows)

    def charts(self) -> dict[str, alt.TopLevelMixin]:
        """The charts of the page, by name."""
        from truant.charts.sweep_sections import sweep_charts

        sections = sweep_charts(self.blocks())
        return {chart.name: chart.chart for section in sections for chart in section}

    def __repr__(self) -> str:
        return f"SweepResult of {self.study.title!r}: {counted(len(self.rows), 'row')} in {os.fspath(self.folder)!r}"

    def _repr_html_(self) -> str:
        from truant.report.sweep import sweep_html

        return sweep_html(repr(self), self.rows, self.blocks())

    def __rich__(self) -> RenderableType:
        from truant.terminal.sweep import SweepDisplay

        return SweepDisplay(
            title=self.study.title,
            points=self.points,
            runs=self.study.runs,
            verdict=verdict(self.rows),
            results=self.results,
            page=self.page,
        )

    def summary(self) -> dict[str, Any]:
        """The same as summary.json and `truant sweep --json`."""
        fields = {
            "title": self.study.title,
            "runs": self.study.runs,
            "seed": self.study.seed,
            "minimize": self.study.minimize,
            "results": str(self.results),
            "page": str(self.page),
            "seconds": round(self.seconds, 3),
            "kernel_seconds": round(self.kernel_seconds, 3),
            "versions": versions(),
            "rows": self.rows,
        }
        return document("sweep", 1, fields)


def gather(study: Study, tasks: Sequence[Task], kept: KeptRuns, folder: Path, seconds: float) -> SweepResult:
    """Put all runs into one file, in the study's order, and sum up each point; a point at a time in memory."""
    columns = parameter_columns(study)
    rows: list[dict[str, Any]] = []
    nanoseconds = 0.0
    with written_whole(folder / "results.parquet") as temporary, Writer(temporary, study, columns) as writer:
        for _, of_point in itertools.groupby(tasks, key=lambda task: id(task.point)):
            several = list(of_point)
            point, choices = several[0].point, study.choices(several[0].point)
            finals = []
            figures: list[dict[str, Any]] = []
            for choice in choices:
                whole = _joined(kept, several, choice)
                nanoseconds += float(whole["nanoseconds"].sum())
                writer.add(point, choice, whole)
                finals.append(whole["regret"])
                figures.append(place_of(point, choice, columns) | _figures(whole))
            for figure, comparison in zip(figures, _compared(choices, finals), strict=True):
                rows.append(figure | comparison)
    result = SweepResult(study, folder, rows, seconds, nanoseconds / 1e9)
    with written_whole(folder / "summary.json") as temporary:
        temporary.write_text(json.dumps(result.summary(), indent=2, default=list), encoding="utf-8")
    _write_page(result)
    return result


def _write_page(result: SweepResult) -> None:
    from truant.report.document import write_page
    from truant.report.sweep import sweep_page

    study = result.study
    page = sweep_page(
        result.summary(),
        result.blocks(),
        description=study.description,
        points=result.points,
        verdict=verdict(result.rows),
        source=study.source,
    )
    write_page(page, result.page)


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

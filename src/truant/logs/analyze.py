"""Analyze: a table with holes, read where it lies, and what it says under each assumption."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from truant.analysis import Analysis, Labels, analyze_counts
from truant.analysis.words import direction_sentence
from truant.errors import InvalidValue
from truant.files import output_path, written_whole
from truant.logs.read import read

TABLES = (".csv", ".parquet")
PAGES = (".html",)


@dataclass(frozen=True, eq=False, kw_only=True)
class LogAnalysis(Analysis):
    """An analysis of a table: prints itself, renders itself in a notebook, writes tables and a page."""

    source: str
    rows: int
    skipped: int  # rows without an arm
    columns: dict[str, Any]  # which column was what

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"{self.columns['outcome']} by {self.columns['arm']}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        mediators = ", ".join(self.columns["mediator"]) or "none"
        sentences = [f"{self.source}: {self.rows:,} rows", f"mediator: {mediators}"]
        sentences += filter(None, [direction_sentence(self)])
        if self.skipped:
            sentences.append(f"{self.skipped:,} rows without an arm left out")
        return sentences

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet."""
        target = output_path(path, TABLES)
        with written_whole(target) as temporary:
            if target.suffix.lower() == ".csv":
                self.table().to_csv(temporary, index=False)
            else:
                self.table().to_parquet(temporary, index=False)
        return target

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with charts and plain sentences, which needs no network."""
        from truant.report import save_page

        return save_page(self, path, title=self.title, about=self.about)

    def _repr_html_(self) -> str:
        from truant.report import analysis_html

        return analysis_html(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.terminal import AnalysisDisplay

        yield AnalysisDisplay(self, self.title, self.about)

    def __str__(self) -> str:
        console = Console(width=200, no_color=True)
        with console.capture() as shown:
            console.print(self)
        return shown.get()


def analyze(
    data: Any,
    *,
    arm: str,
    outcome: str,
    mediator: str | Sequence[str] = (),
    control: Any = None,
    assume: str | Sequence[str] = (),
    level: float = 0.95,
    range: tuple[float, float] | None = None,
    levels: Sequence[float] | None = None,
    missing_values: Sequence[object] = (),
    observed: str | None = None,
    expected_split: Sequence[float] | None = None,
    minimize: bool = False,
) -> LogAnalysis:
    """What each arm of a table with holes is worth under each assumption, and how far to believe it.

    Parameters
    ----------
    data : a CSV or Parquet file (or glob), a pandas, polars or Arrow table, an Ibis table, or a database URL.
    arm, outcome : names of columns; an outcome is missing where it is NULL, NaN or empty.
    mediator : what was known in between, a column or several; "cd420:3" cuts a continuous one at its tertiles.
    control : the arm that others are compared with.
    assume : names of assumptions, see `truant assumptions`; all that are possible unless given.
    level : of confidence intervals.
    range : the lowest and the highest possible outcome, for worst-case bounds; levels bring their own.
    levels : the values of a discrete outcome; found out unless given.
    missing_values : further values that mean missing, e.g. -99.
    observed : a column that says whether the outcome was observed.
    expected_split : the share of units that each arm should have, in the order of the arms.
    minimize : the best arm is the one with the lowest mean: costs, churn, deaths.
    """
    mediators = [mediator] if isinstance(mediator, str) else list(mediator)
    log = read(
        data,
        arm=arm,
        outcome=outcome,
        mediator=mediators,
        observed=observed,
        levels=levels,
        range=range,
        missing_values=missing_values,
        minimize=minimize,
    )
    found = analyze_counts(
        log.counts,
        log.setting,
        Labels.of(log.arms, log.mediators),
        assume=[assume] if isinstance(assume, str) else _names(assume),
        level=level,
        control=None if control is None else str(control),
        expected_split=expected_split,
        range_known=log.setting.levels is not None or log.outcome_range_given,
    )
    own = {name: getattr(found, name) for name in Analysis.__dataclass_fields__}
    columns = {"arm": arm, "outcome": outcome, "mediator": mediators, "observed": observed}
    return LogAnalysis(**own, source=_source(data), rows=log.rows, skipped=log.skipped, columns=columns)


def _names(assume: object) -> list[str]:
    if isinstance(assume, Sequence) and all(isinstance(name, str) for name in assume):
        return list(assume)
    raise InvalidValue(f"assume must be names of assumptions, got {assume!r}.")


def _source(data: Any) -> str:
    """What to call the data: a file's name without its folders (and a database's without its password)."""
    if isinstance(data, str | os.PathLike):
        return Path(os.fspath(data).split("?")[0]).name
    return f"{type(data).__module__.split('.')[0]} {type(data).__name__}"

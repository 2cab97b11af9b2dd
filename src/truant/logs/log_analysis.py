"""The analysis of a table, with where it came from: prints itself, and writes tables and a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult

from truant.analysis import Analysis
from truant.analysis.collection_words import collection_sentences, value_sentences
from truant.analysis.words import direction_with_option, settling_sentences, verdict_sentence
from truant.extras import is_installed
from truant.files import PAGES, TABLES, output_path
from truant.tables.write import write_table
from truant.text import counted, named

if TYPE_CHECKING:
    import pyarrow as pa

    from truant.analysis import Labels
    from truant.analysis.analysis import Arm
    from truant.analysis.collection import Collection
    from truant.analysis.contradictions import Test, Untestable
    from truant.analysis.diagnosis import Warning
    from truant.analysis.estimates import Infeasible
    from truant.analysis.over_time import OverTime
    from truant.analysis.sensitivity import Tipping
    from truant.analysis.value import Value
    from truant.analysis.verdict import Verdict
    from truant.counts import Counts
    from truant.logs.cut_outcome import CutOutcome
    from truant.logs.log import Log
    from truant.setting import Setting


@dataclass(frozen=True, eq=False, kw_only=True)
class LogAnalysis:
    """The result of `analyze`: estimates, verdict, tests and warnings of a table with missing outcomes."""

    analysis: Analysis  # the analysis of the counts
    source: str
    rows: int
    skipped: int  # rows without an arm
    columns: dict[str, Any]  # which column was what
    units: int | None = None  # of which there are several rows; None if rows are independent
    filters: tuple[str, ...] = ()  # of which all are true in every row
    filtered_out: int = 0  # rows of the source that they left out
    missing_markers: dict[str, dict[str, int]] = field(default_factory=dict)  # column -> marker -> rows
    cut_outcome: CutOutcome | None = None  # what cutting a real outcome did, if that was asked for
    notes: tuple[str, ...] = ()  # how values were read
    inputs: tuple[str, ...] = ()  # paths and patterns of the files that were read, which are never written

    @property
    def verdict(self) -> Verdict:
        """Which arm is best, whether that is clear, and if not, why not."""
        return self.analysis.verdict

    @property
    def verdict_sentence(self) -> str:
        """The verdict in words, as terminal, page and JSON show it."""
        return verdict_sentence(self.analysis)

    @property
    def to_settle(self) -> list[str]:
        """What would settle the question, a sentence each; none where it is settled."""
        return settling_sentences(self.analysis)

    @property
    def sorted_arms(self) -> list[Arm]:
        """The arms, best value first."""
        return self.analysis.sorted_arms

    @property
    def sorted_by(self) -> str:
        """The assumption whose values they are sorted by."""
        return self.analysis.sorted_by

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Each arm under each assumption."""
        return self.analysis.arms

    @property
    def assumptions(self) -> list[str]:
        """The assumptions that could be used."""
        return self.analysis.assumptions

    @property
    def infeasible(self) -> tuple[Infeasible, ...]:
        """The assumptions that could not be used, with the reason."""
        return self.analysis.infeasible

    @property
    def winner(self) -> dict[str, str]:
        """The best arm, by assumption, and for the naive mean."""
        return self.analysis.winner

    @property
    def expected_loss(self) -> dict[str, float]:
        """The expected loss of choosing that winner now, by assumption."""
        return self.analysis.expected_loss

    @property
    def agree(self) -> bool:
        """Whether the naive mean and every assumption name the same winner."""
        return self.analysis.agree

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What to know before relying on a figure."""
        return self.analysis.warnings

    @property
    def tests(self) -> tuple[Test, ...]:
        """Tests of the assumptions."""
        return self.analysis.tests

    @property
    def untestable(self) -> tuple[Untestable, ...]:
        """Assumptions that these data cannot contradict."""
        return self.analysis.untestable

    @property
    def sensitivity(self) -> tuple[Tipping, ...]:
        """The tipping point of each assumption."""
        return self.analysis.sensitivity

    @property
    def missing(self) -> tuple[dict[str, Any], ...]:
        """Pulls, observed outcomes and share missing of each arm and mediator level."""
        return self.analysis.missing

    @property
    def tipping_curves(self) -> dict[str, list[dict[str, float]]]:
        """The winner's value as its missing outcomes are shifted, by assumption."""
        return self.analysis.tipping_curves

    @property
    def over_time(self) -> OverTime | None:
        """The course over time, if it was asked for."""
        return self.analysis.over_time

    @property
    def value(self) -> Value | None:
        """The value of the mix that was asked for."""
        return self.analysis.value

    @property
    def collection(self) -> Collection:
        """How the rows were collected, and which kind of intervals this led to."""
        return self.analysis.collection

    @property
    def level(self) -> float:
        """The confidence level of intervals."""
        return self.analysis.level

    @property
    def control(self) -> str | None:
        """The arm that others are compared with."""
        return self.analysis.control

    @property
    def outcome_sd(self) -> float:
        """The standard deviation of an observed outcome within arms."""
        return self.analysis.outcome_sd

    @property
    def failures_ignored(self) -> bool:
        """Whether follow-ups failed, and were stated to be like the others."""
        return self.analysis.failures_ignored

    @property
    def has_follow_ups(self) -> bool:
        """Whether missing outcomes were followed up."""
        return self.analysis.has_follow_ups

    @property
    def counts(self) -> Counts:
        """The counts that everything was computed from."""
        return self.analysis.counts

    @property
    def setting(self) -> Setting:
        """The setting of the counts: arms, levels, range of the outcome."""
        return self.analysis.setting

    @property
    def labels(self) -> Labels:
        """Names of arms and mediator levels."""
        return self.analysis.labels

    @property
    def minimize(self) -> bool:
        """Whether the lowest value is the best."""
        return self.analysis.minimize

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"Mean of {named(self.columns['outcome'])} by {named(self.columns['arm'])}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        return about_sentences(self, self.source, self.columns, self.analysis)

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        own = {
            "source": self.source,
            "rows": self.rows,
            "skipped": self.skipped,
            "columns": dict(self.columns),
            "unit": self.columns["unit"],
            "units": self.units,
            "filter": list(self.filters),
            "filtered_out": self.filtered_out,
            "cut_outcome": None if self.cut_outcome is None else self.cut_outcome.summary(),
            "missing_markers": {name: dict(rows) for name, rows in self.missing_markers.items()},
            "notes": list(self.notes),
        }
        return self.analysis.summary() | own

    def table(self) -> pa.Table:
        """One row for each arm and assumption (the naive mean among them)."""
        return self.analysis.table()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet; refused if the log was read from there."""
        return save_table(self.table(), path, "analysis-table", self.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with charts and plain sentences, which needs no network."""
        from truant.report import save_page

        output_path(path, PAGES, self.inputs)
        return save_page(self.analysis, path, title=self.title, about=self.about)

    def _repr_html_(self) -> str | None:
        if not is_installed("charts"):
            return None  # a notebook then shows the text
        from truant.report import analysis_html

        return analysis_html(self.analysis)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.terminal.analysis import AnalysisDisplay

        yield AnalysisDisplay(self.analysis, self.title, self.about)

    def __repr__(self) -> str:
        return f"<analysis of {counted(self.rows, 'row')}: {self.verdict_sentence}>"

    def __str__(self) -> str:
        console = Console(width=200, no_color=True)
        with console.capture() as shown:
            console.print(self)
        return shown.get()


def about_sentences(
    log: Log | LogAnalysis, source: str, columns: Mapping[str, Any], analysis: Analysis
) -> list[str]:
    """Where the figures come from, a short sentence each."""
    mediators = ", ".join(columns["mediator"]) or "none"
    sentences = [f"{source}: {log.rows:,} rows", f"mediator: {mediators}"]
    sentences.append(direction_with_option(analysis))
    if log.filters:
        shown = " and ".join(f"({one})" if len(log.filters) > 1 else one for one in log.filters)
        total = log.rows + log.filtered_out
        sentences.append(f"filter: {shown} (kept {log.rows:,} of {total:,} rows)")
    if log.units is not None:
        sentences.append(
            f"clustered by {columns['unit']}: {log.units:,} units; tests of assumptions take all rows of a unit as one"
        )
    sentences += [*collection_sentences(analysis.collection), *value_sentences(analysis)]
    if log.skipped:
        sentences.append(f"{log.skipped:,} rows without an arm left out")
    if log.cut_outcome is not None:
        sentences.append(log.cut_outcome.sentence)
    return [*sentences, *log.notes]


def save_table(
    table: pa.Table, path: str | os.PathLike[str], kind: str, inputs: tuple[str, ...] = ()
) -> Path:
    """Write a table as .csv or .parquet, whole or not at all; refused if it is one of the inputs."""
    return write_table(table, output_path(path, TABLES, inputs), kind)

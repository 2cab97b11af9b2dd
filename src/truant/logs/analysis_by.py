"""The analyses of a table for each value of a column: prints itself, and writes one table and one page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult

from truant.analysis.words import chances_sentence
from truant.documents import document
from truant.extras import is_installed
from truant.files import PAGES, output_path
from truant.logs.log import Log
from truant.logs.log_analysis import LogAnalysis, about_sentences, save_table
from truant.text import counted, named

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LeftOut:
    """A group that cannot be analysed."""

    value: str
    rows: int
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalysisBy:
    """An analysis for each value of the column `by`; labels, cut points, levels and range are common to all."""

    by: str
    groups: Mapping[str, LogAnalysis]
    left_out: tuple[LeftOut, ...]
    source: str
    columns: dict[str, Any]
    log: Log = field(repr=False)  # of all groups together
    inputs: tuple[str, ...] = ()  # paths and patterns of the files that were read, which are never written

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"Mean of {named(self.columns['outcome'])} by {named(self.columns['arm'])}, for each {named(self.by)}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        first = next(iter(self.groups.values()))
        return [
            *about_sentences(self.log, self.source, self.columns, first.analysis),
            *filter(None, [self.chances]),
        ]

    @property
    def chances(self) -> str:
        """What looking at several groups does to the error of naming a winner."""
        return chances_sentence(len(self.groups))

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        fields = {
            "by": self.by,
            "source": self.source,
            "rows": self.log.rows,
            "skipped": self.log.skipped,
            "columns": dict(self.columns),
            "unit": self.columns["unit"],
            "units": self.log.units,
            "filter": list(self.log.filters),
            "filtered_out": self.log.filtered_out,
            "cut_outcome": None if self.log.cut_outcome is None else self.log.cut_outcome.summary(),
            "notes": list(self.log.notes),
            "chances": self.chances,
            "groups": [{"value": label, "analysis": group.summary()} for label, group in self.groups.items()],
            "left_out": [vars(group) for group in self.left_out],
        }
        return document("analysis-by", 1, fields)

    def table(self) -> pa.Table:
        """One row for each group, arm and assumption (the naive mean among them); the group is the column `by`."""
        import pyarrow as pa

        tables = []
        for label, group in self.groups.items():
            table = group.table()
            tables.append(table.add_column(0, "by", pa.array([label] * len(table), pa.string())))
        return pa.concat_tables(tables, promote_options="permissive")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `table()` as .csv or .parquet; refused if the log was read from there."""
        return save_table(self.table(), path, "analysis-by-table", self.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with a table of all groups and the analysis of each, which needs no network."""
        from truant.report.analysis_by import save_page_by

        output_path(path, PAGES, self.inputs)
        return save_page_by(
            self._analyses(), self._reasons(), path, by=self.by, title=self.title, about=self.about
        )

    def _analyses(self) -> dict[str, Any]:
        return {label: group.analysis for label, group in self.groups.items()}

    def _reasons(self) -> list[tuple[str, int, str]]:
        return [(group.value, group.rows, group.reason) for group in self.left_out]

    def _repr_html_(self) -> str | None:
        if not is_installed("charts"):
            return None  # a notebook then shows the text
        from truant.report.analysis_by import by_html

        return by_html(self._analyses(), self._reasons(), by=self.by)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from truant.terminal.analysis_by import ByDisplay

        yield ByDisplay(self._analyses(), self._reasons(), self.by, self.title, self.about)

    def __repr__(self) -> str:
        groups = counted(len(self.groups), "group")
        left_out = f", {len(self.left_out):,} left out" if self.left_out else ""
        return f"<analysis of {counted(self.log.rows, 'row')} by {named(self.by)}: {groups}{left_out}>"

    def __str__(self) -> str:
        console = Console(width=200, no_color=True)
        with console.capture() as shown:
            console.print(self)
        return shown.get()

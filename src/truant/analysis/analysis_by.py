"""The analyses of a table for each value of a column."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from truant.analysis.analysis import Analysis
from truant.envelope import document
from truant.errors import counted, named
from truant.provenance import Provenance
from truant.shown import Shown, save_table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LeftOut:
    """A group that cannot be analysed."""

    value: str
    rows: int
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalysisBy(Shown):
    """An analysis for each value of the column `by`; labels, cut points, levels and range are common to all."""

    _views: ClassVar = {
        "document": "truant.documents.analysis:by_document",
        "about": "truant.documents.analysis:about_sentences",
        "chances": "truant.documents.analysis:chances_sentence",
    }

    by: str
    groups: Mapping[str, Analysis]
    left_out: tuple[LeftOut, ...]
    provenance: Provenance  # of all groups together

    @property
    def source(self) -> str:
        """The file, table or database that was read."""
        return self.provenance.source

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return self.provenance.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """How values were read, one sentence each."""
        return self.provenance.notes

    @property
    def title(self) -> str:
        """What is on top of tables and pages."""
        return f"M{self.provenance.means[1:]}, for each {named(self.by)}"

    @property
    def about(self) -> list[str]:
        """Where the figures come from, a short sentence each."""
        first = next(iter(self.groups.values()))
        return [*self._view("about", first, self.provenance), *filter(None, [self.chances])]

    @property
    def chances(self) -> str:
        """What looking at several groups does to the error of naming a winner."""
        return str(self._view("chances", len(self.groups)))

    def summary(self) -> dict[str, Any]:
        """Everything but the counts, as plain values for JSON."""
        own = self.provenance.summary()
        del own["missing_markers"]  # each group has its own
        own |= {
            "chances": self.chances,
            "groups": [{"value": label, "analysis": group.summary()} for label, group in self.groups.items()],
            "left_out": [vars(group) for group in self.left_out],
        }
        return document("analysis-by", 2, {"by": self.by} | own)

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
        return save_table(self.table(), path, "analysis-by-table", self.provenance.inputs)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page with a table of all groups and the analysis of each, which needs no network."""
        return self._save_page(path, self.provenance.inputs)

    def __repr__(self) -> str:
        groups = counted(len(self.groups), "group")
        left_out = f", {len(self.left_out):,} left out" if self.left_out else ""
        return f"<analysis of {counted(self.rows, 'row')} by {named(self.by)}: {groups}{left_out}>"

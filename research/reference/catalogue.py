"""All JSON documents and Parquet files: under which heading they stand, who gives them, and the records they are."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from research import ROOT
from research.reference.records import Entry, ParquetFile, schema_of
from truant.cli.live import outcomes_file, records
from truant.live import doctor, exchange, follow_up

PROBLEM = "problem.json"
FOLDER = ROOT / "docs" / "schemas"
DOCUMENTS: dict[str, tuple[Entry | str, ...]] = {
    "Start here": ("demo-1.json", "which-1.json"),
    "Analysis of tables": (
        "analysis-2.json",
        "analysis-by-2.json",
        "plan-2.json",
        "analysis-table-1.json",
        "analysis-by-table-1.json",
        "plan-rows-1.json",
    ),
    "Simulations": (
        "simulation-1.json",
        "simulation-runs-1.json",
        "sweep-1.json",
        "sweep-size-1.json",
        "sweep-runs-1.json",
        "sweep-part-1.json",
    ),
    "Live experiments": (
        Entry(
            "Experiment",
            (
                "`truant create --json`",
                "`truant change --json`",
                "`truant pause --json`",
                "`truant resume --json`",
                "`truant end --json`",
                "`truant arm add --json`",
                "`truant arm retire --json`",
            ),
            records.ExperimentState,
        ),
        Entry("List of experiments", ("`truant list --json`",), records.ListedExperiments),
        Entry("Decisions", ("`truant ask --json`", "`truant lookup --json`"), records.AskedDecisions),
        Entry("One outcome told", ("`truant tell --json`",), records.ToldOutcome),
        Entry("A file of outcomes told", ("`truant tell --csv FILE --json`",), outcomes_file.ToldFile),
        Entry(
            "Change of a decision",
            ("`truant correct --json`", "`truant withdraw --json`", "`truant forget --json`"),
            records.DecisionChange,
        ),
        "status-1.json",
        Entry("Events", ("`truant events --json`",), records.Events),
        Entry("Closed windows", ("`truant close-windows --json`",), records.ClosedWindows),
        Entry("Settled experiments", ("`truant settle --json`",), records.SettledExperiments),
        Entry(
            "Follow-ups of an experiment",
            ("`truant follow-up --json`", "`Experiment.follow_up().summary()`"),
            follow_up.FollowUpList,
        ),
        Entry(
            "List of follow-ups",
            ("`truant follow-up --out FILE.parquet`", "`Experiment.follow_up().save()`"),
            None,
            ParquetFile(
                "truant/follow-up-rows/1",
                "The decisions that were picked to be followed up.",
                follow_up.FollowUp,
            ),
        ),
        Entry("Diagnosis of a store", ("`truant doctor --json`",), records.StoreDiagnosis),
        Entry(
            "Diagnosis of one experiment",
            ("`Experiment.doctor().summary()`", "each entry of `truant doctor --json`"),
            doctor.Diagnosis,
        ),
        Entry(
            "Files of an experiment",
            (
                "`truant export --json`",
                "`truant import --json`",
                "`truant backup --json`",
                "`truant restore --json`",
            ),
            records.Transfer,
        ),
        Entry(
            "Exported decisions",
            ("`truant export --out FILE.parquet`", "`Experiment.export()`"),
            None,
            ParquetFile(
                "truant/decisions/1",
                "One row for each settled decision, as `truant analyze` and `truant import` read it.",
                exchange.ExportedDecision,
            ),
        ),
        "rehearsal-2.json",
        "rehearsal-runs-2.json",
    ),
    "Listings": ("worlds-1.json", "policies-1.json", "assumptions-1.json", "indices-1.json"),
    "Errors": ("problem.json",),
}


@cache
def headed_schemas() -> dict[str, list[dict[str, Any]]]:
    """The schemas of all documents as they should be now, by heading."""
    return {heading: [_schema(one) for one in several] for heading, several in DOCUMENTS.items()}


def _schema(one: Entry | str) -> dict[str, Any]:
    if isinstance(one, Entry):
        return schema_of(one)
    found: dict[str, Any] = json.loads((FOLDER / one).read_text(encoding="utf-8"))
    return found


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The same by the names of their files in docs/schemas."""
    return {one["$id"]: one for several in headed_schemas().values() for one in several}


def written(schema: dict[str, Any]) -> str:
    """The text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"

"""All JSON documents and Parquet files: under which heading they stand, who gives them, and the records they are."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from research import ROOT
from research.reference.records import Entry, schema_of
from truant import errors
from truant.analysis import analysis as analyses
from truant.analysis import records as analysis_tables
from truant.cli import records as listings
from truant.cli.live import outcomes_file, records
from truant.demo import records as demo
from truant.follow_up import records as plans
from truant.lab import records as lab
from truant.live import doctor, exchange, follow_up, status
from truant.rehearsal import result as rehearsal

PROBLEM = "problem.json"
FOLDER = ROOT / "docs" / "schemas"
DOCUMENTS: dict[str, tuple[Entry, ...]] = {
    "Start here": (
        Entry("Demo", ("`truant demo --json`",), demo.DemoSummary),
        Entry("Choice of an assumption", ("`truant which --json`",), listings.AssumptionChoice),
    ),
    "Analysis of tables": (
        Entry(
            "Analysis of a table",
            ("`truant analyze --json`", "`truant.analyze(...).summary()`"),
            analyses.Analysis,
            description="The mean of each arm under each assumption, and the verdict.",
        ),
        Entry(
            "Analysis by a column",
            ("`truant analyze --by COLUMN --json`", "`truant.analyze(..., by=COLUMN).summary()`"),
            analyses.AnalysisBy,
            description="One analysis for each value of a column.",
        ),
        Entry(
            "Plan of follow-ups",
            ("`truant plan --json`", "`truant.plan(...).summary()`"),
            plans.PlanSummary,
        ),
        Entry(
            "Table of an analysis",
            ("`truant analyze --out FILE.parquet`", "`truant.analyze(...).save()`"),
            None,
            "truant/analysis-table/1",
            analysis_tables.AnalysisRow,
            "One row for each arm and assumption, `naive` among them.",
        ),
        Entry(
            "Table of an analysis by a column",
            ("`truant analyze --by COLUMN --out FILE.parquet`", "`truant.analyze(..., by=COLUMN).save()`"),
            None,
            "truant/analysis-by-table/1",
            analysis_tables.AnalysisByRow,
            "One row for each group, arm and assumption.",
        ),
        Entry(
            "Rows to follow up",
            ("`truant plan --out FILE.parquet`", "`truant.plan(...).save()`"),
            None,
            "truant/plan-rows/1",
            plans.PlannedRow,
            "The rows of a plan of follow-ups, in the order of the calls.",
        ),
    ),
    "Simulations": (
        Entry("Simulation", ("`truant simulate --json`", "`Simulation.summary()`"), lab.SimulationSummary),
        Entry(
            "Saved simulation",
            ("`truant simulate --out FILE.parquet`", "`Simulation.save()`"),
            lab.SavedSimulation,
            "truant/simulation-runs/1",
            lab.SavedRun,
            "Every run of a simulation; `Simulation.load` reads it.",
        ),
        Entry(
            "Sweep",
            (
                "`truant sweep --json`",
                "`summary.json` in the folder of a sweep",
                "`SweepResult.summary()`",
            ),
            lab.SweepSummary,
        ),
        Entry("Size of a sweep", ("`truant sweep --check --json`",), lab.SweepSize),
        Entry(
            "Runs of a sweep",
            ("`results.parquet` in the folder of a sweep",),
            None,
            "truant/sweep-runs/1",
            lab.SweptRun,
            "One row for each point, policy and run.",
        ),
        Entry(
            "Part of a sweep",
            ("files in `parts/` in the folder of a sweep",),
            lab.SweepPart,
            "truant/sweep-part/1",
            lab.PartRun,
            "The runs of one policy in one task; a sweep that was stopped continues from these files.",
        ),
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
        Entry(
            "Status of an experiment",
            (
                "`truant status --json`",
                "`truant watch --json` (one document in each line)",
                "`Experiment.status().summary()`",
            ),
            status.Status,
        ),
        Entry("Events", ("`truant events --json`",), records.Events),
        Entry("Closed windows", ("`truant close-windows --json`",), records.ClosedWindows),
        Entry("Settled experiments", ("`truant settle --json`",), records.SettledExperiments),
        Entry("Clock", ("`truant clock accept --json`", "`truant clock back --json`"), records.ClockChange),
        Entry(
            "Follow-ups of an experiment",
            ("`truant follow-up --json`", "`Experiment.follow_up().summary()`"),
            follow_up.FollowUpList,
        ),
        Entry(
            "List of follow-ups",
            ("`truant follow-up --out FILE.parquet`", "`Experiment.follow_up().save()`"),
            None,
            "truant/follow-up-rows/1",
            follow_up.FollowUp,
            "The decisions that were picked to be followed up.",
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
            "truant/decisions/1",
            exchange.ExportedDecision,
            "One row for each settled decision, as `truant analyze` and `truant import` read it.",
        ),
        Entry(
            "Rehearsal",
            ("`truant rehearse --json`", "`truant.rehearse(...).summary()`"),
            rehearsal.RehearsalSummary,
            "truant/rehearsal/2",
        ),
        Entry(
            "Runs of a rehearsal",
            ("`truant rehearse --out FILE.parquet`", "`truant.rehearse(...).save()`"),
            rehearsal.RehearsalTerms,
            "truant/rehearsal-runs/2",
            rehearsal.RehearsedRun,
            "One row for each variant, world (null or not) and run.",
        ),
    ),
    "Listings": (
        Entry(
            "Worlds",
            ("`truant worlds --json`", "`truant worlds NAME --json`"),
            listings.Worlds,
            "truant/worlds/1",
        ),
        Entry(
            "Policies",
            ("`truant policies --json`", "`truant policies NAME --json`"),
            listings.Policies,
            "truant/policies/1",
        ),
        Entry(
            "Assumptions",
            ("`truant assumptions --json`", "`truant assumptions NAME --json`"),
            listings.Assumptions,
            "truant/assumptions/1",
        ),
        Entry(
            "Indices",
            ("`truant indices --json`", "`truant indices NAME --json`"),
            listings.Indices,
            "truant/indices/1",
        ),
    ),
    "Errors": (Entry("Problem", ("every command with `--json` that fails",), errors.Problem, "problem"),),
}


@cache
def headed_schemas() -> dict[str, list[dict[str, Any]]]:
    """The schemas of all documents as they should be now, by heading."""
    return {heading: [schema_of(one) for one in several] for heading, several in DOCUMENTS.items()}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The same by the names of their files in docs/schemas."""
    return {one["$id"]: one for several in headed_schemas().values() for one in several}


def written(schema: dict[str, Any]) -> str:
    """The text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"

"""The mutation run: how many small changes of the code the tests notice. mutate.py runs it; this shows it.

mutants.toml has one [[file]] for each file: name, source (a hash of its text), possible (all mutants there are),
mutants (those tried), killed, explained (survivors that change nothing that matters, each with a reason in
mutants_explained.toml), not_run (those of the explained that were argued only).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from research.figures import table
from research.markdown import verdict, yes
from research.validation.changes import source_hash
from research.validation.mutation_report import TOTALS

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.0  # a mutation run takes hours; mutate.py makes it, and writes what this shows
KEYS = ("possible", "mutants", "killed", "explained")


def section(bench: Workbench) -> list[str]:
    rows = mutation_rows(TOTALS)
    if not rows:
        return []
    return [
        "## Mutation run",
        "Small changes are made to the code, one at a time (mutants); the table shows how many of them a "
        "test detects (killed). A survivor is explained if it has no effect that matters "
        "(`mutants_explained.toml` gives the reason); a file agrees if it has no unexplained survivor. "
        f"{how_many(TOTALS)} {changed_since(TOTALS)}{verdict([row[-1] for row in rows], 'files')}",
        table(
            (
                "file",
                "possible",
                "mutants",
                "killed",
                "survived, explained",
                "survived, not explained",
                "agrees",
            ),
            rows,
        ),
    ]


def read_files(path: Path) -> list[dict[str, Any]]:
    """The figures of each file."""
    files: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get("file", [])
    return files


def changed_since(path: Path) -> str:
    """A sentence on the files whose text is another than the one that was tried."""
    changed = [file["name"] for file in read_files(path) if file.get("source") != source_hash(file["name"])]
    return f"Changed since then: {', '.join(f'`{name}`' for name in changed)}. " if changed else ""


def how_many(path: Path) -> str:
    """What was tried of what there is, and what the figures cannot tell."""
    files = read_files(path)
    possible, tried, not_run = (
        sum(file[key] for file in files) for key in ("possible", "mutants", "not_run")
    )
    if tried == possible:
        first = f"All {possible:,} are counted"
    else:
        first = f"{tried:,} of the {possible:,} possible mutants are counted, a random sample for each file"
    return (
        f"{first}; {not_run} of them were not run, because it was plain why they have no effect. Tests were "
        "written for the survivors of this sample, so more of the untried mutants will survive. Only the "
        "tests nearest to a file were run."
    )


def mutation_rows(path: Path) -> list[list[str]]:
    """A row for each file and one for all, or none if there was no run."""
    if not path.exists():
        return []
    files = read_files(path)
    total = {"name": "all", **{key: sum(file[key] for file in files) for key in KEYS}}
    return [mutation_row(file) for file in [*files, total]]


def mutation_row(file: dict[str, Any]) -> list[str]:
    left = file["mutants"] - file["killed"] - file["explained"]
    figures = [f"{file[key]:,}" for key in KEYS]
    return [file["name"], *figures, f"{left:,}", yes(left == 0)]

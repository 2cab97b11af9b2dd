"""The mutation run: how many small changes of the code the tests notice. study/mutate.py runs it; this shows it.

study/mutants.toml has one [[file]] for each file: name, possible (all mutants there are), mutants (those tried),
killed, explained (survivors that change nothing that matters, each with a reason in study/mutants_explained.toml),
not_run (those of the explained that were argued only).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from research.validation.keep import ROOT, Study
from research.validation.page import table, verdict, yes

TOTALS = ROOT / "research" / "validation" / "mutants.toml"
KEYS = ("possible", "mutants", "killed", "explained")


def section(study: Study) -> list[str]:
    rows = mutation_rows(TOTALS)
    if not rows:
        return []
    return [
        "## Mutation run",
        "Small changes made to the code, one at a time (mutants), and how many of them a test notices (killed). A "
        "survivor is explained if it changes nothing that matters (`study/mutants_explained.toml` says why); a file "
        f"agrees if no other one is left. {how_many(TOTALS)} {verdict([row[-1] for row in rows], 'files')}",
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


def how_many(path: Path) -> str:
    """What was tried of what there is, and what the figures cannot tell."""
    files = tomllib.loads(path.read_text(encoding="utf-8")).get("file", [])
    possible, tried, not_run = (
        sum(file[key] for file in files) for key in ("possible", "mutants", "not_run")
    )
    if tried == possible:
        first = f"All {possible:,} are counted"
    else:
        first = f"{tried:,} of the {possible:,} possible ones are counted, a random sample of each file's"
    return (
        f"{first}; {not_run} of them were not run, since the reason why they change nothing was plain. Tests were "
        "written for the survivors of this very sample, so that of the mutants not tried more will survive. Only "
        "the tests nearest to a file were run."
    )


def mutation_rows(path: Path) -> list[list[str]]:
    """A row for each file and one for all, or none if there was no run."""
    if not path.exists():
        return []
    files = tomllib.loads(path.read_text(encoding="utf-8")).get("file", [])
    total = {"name": "all", **{key: sum(file[key] for file in files) for key in KEYS}}
    return [mutation_row(file) for file in [*files, total]]


def mutation_row(file: dict[str, Any]) -> list[str]:
    left = file["mutants"] - file["killed"] - file["explained"]
    figures = [f"{file[key]:,}" for key in KEYS]
    return [file["name"], *figures, f"{left:,}", yes(left == 0)]

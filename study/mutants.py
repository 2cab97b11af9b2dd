"""The mutation run: how many small changes of the code the tests notice. Somebody else runs it; this shows it.

study/mutants.toml has one [[file]] for each file: name, mutants, killed, explained (survivors that change nothing
that matters, each with a reason where the run is kept).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from study.keep import HERE, Study
from study.page import table, verdict, yes

TOTALS = HERE / "mutants.toml"


def section(study: Study) -> list[str]:
    rows = mutation_rows(TOTALS)
    if not rows:
        return []
    return [
        "## Mutation run",
        "Small changes made to the code, one at a time (mutants), and how many of them a test notices (killed). A "
        "survivor is explained if it changes nothing that matters; a file agrees if no other one is left. "
        f"{verdict([row[-1] for row in rows], 'files')}",
        table(
            ("file", "mutants", "killed", "survived, explained", "survived, not explained", "agrees"), rows
        ),
    ]


def mutation_rows(path: Path) -> list[list[str]]:
    """A row for each file and one for all, or none if there was no run."""
    if not path.exists():
        return []
    files = tomllib.loads(path.read_text(encoding="utf-8")).get("file", [])
    keys = ("mutants", "killed", "explained")
    total = {"name": "all", **{key: sum(file[key] for file in files) for key in keys}}
    return [mutation_row(file) for file in [*files, total]]


def mutation_row(file: dict[str, Any]) -> list[str]:
    left = file["mutants"] - file["killed"] - file["explained"]
    figures = [f"{file[key]:,}" for key in ("mutants", "killed", "explained")]
    return [file["name"], *figures, f"{left:,}", yes(left == 0)]

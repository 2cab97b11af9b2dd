"""Commands and functions with random input: right, refused in one sentence, or a bug?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from research import SEED
from research.fuzz.commands import CHECKS
from research.fuzz.long_run import long_run
from research.markdown import table, verdict, yes

if TYPE_CHECKING:
    from research.workbench import Workbench

EXAMPLES = 500
COLUMNS = ("what is tried", "right", "refused in one sentence", "bugs", "no bug")
READ = {"truant.cli", "truant.logs.analyze", "truant.lab.simulate", "truant.sweeps.sweep"}


def section(bench: Workbench) -> list[str]:
    rows, bugs = [], list[str]()
    for check in CHECKS:
        ended = bench.piece(
            long_run, READ, check=check.__name__, examples=bench.size(EXAMPLES, 5), start=SEED
        )
        summary = (check.__doc__ or "").partition(":")[0].rstrip(".")
        count = len(ended["bugs"])
        rows.append([summary, str(ended["right"]), str(ended["refused"]), str(count), yes(count == 0)])
        bugs += ended["bugs"][:3]
    return [
        "## Random input",
        "Tables, file names, labels, options and study files are drawn at random, valid and invalid ones. A "
        "command may end in two ways: with the right answer (for a table, the rows, observed outcomes and "
        "mean of each arm are counted a second time from the meaning of its cells), or with an error of one "
        "sentence that leaves every file unchanged. Python must raise an error with the same sentence. "
        + verdict([row[-1] for row in rows], "rows"),
        table(COLUMNS, rows),
        *(f"- {bug}" for bug in bugs),
    ]

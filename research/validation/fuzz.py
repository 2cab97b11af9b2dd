"""Commands and functions with random input: right, refused in one sentence, or a bug?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import Note, exact, table
from research.fuzz.commands import CHECKS
from research.fuzz.long_run import long_run
from research.markdown import verdict, yes

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the examples, to confirm that there is no bug
EXAMPLES = 500
COLUMNS = ("what is tried", "right", "refused in one sentence", "bugs", "no bug")
READ = {"truant.cli", "truant.logs.calls", "truant.lab.simulate", "truant.lab.sweep"}


def section(bench: Workbench) -> list[str]:
    rows, bugs = [], list[str]()
    for check in CHECKS:
        ended = bench.piece(
            long_run, READ, check=check.__name__, examples=bench.runs(EXAMPLES, 5), start=bench.seed
        )
        summary = (check.__doc__ or "").partition(":")[0].rstrip(".")
        count = len(ended["bugs"])
        ends = [Note(ended[name]) for name in ("right", "refused")]
        rows.append([summary, *ends, exact(count), yes(count == 0)])
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

"""Commands that are killed or find the disk full: are their outputs whole, old or new?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.figures import Note, exact, table
from research.markdown import verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.interrupted import POLICIES, WORLD, disk_full, killed

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.15  # of the kills, to confirm that no file is half-written
KILLS, FULL = 20, 10
KILLED = (
    "command",
    "kills",
    "while a file was written",
    "after one was replaced",
    "half-written",
    "left over",
    "same",
)
FILLED = (
    "command",
    "times",
    "refused in a sentence",
    "half-written",
    "left over",
    "same with more room",
    "agrees",
)
WORDS = {
    "simulate": "`simulate --out --chart`",
    "analyze": "`analyze --out --html`",
    "sweep": "`sweep --out`",
}


def section(bench: Workbench) -> list[str]:
    kills, times = bench.runs(KILLS, 2), bench.runs(FULL, 1)
    killed_rows = [killed_row(bench, command, kills) for command in ("simulate", "analyze")]
    full_rows, kinds = zip(*(full_row(bench, command, times) for command in WORDS), strict=True)
    return [
        "## Outputs of commands that are killed or run out of disk space",
        f"Each command replaces existing files. It is killed (SIGKILL) {kills} times, every second time at a "
        "random moment and otherwise while it writes its first or its second file; then it runs to its end. "
        "After each kill every output must be, byte by byte, the old file or the new one (clock times "
        "excepted); at the end all files must equal those of a command that was not interrupted, and there "
        "may be no temporary files. " + verdict([row[-1] for row in killed_rows], "rows"),
        table(KILLED, killed_rows, title="killed"),
        f"The same on {kinds[0]} with space for the old files and a random part of the largest new one, "
        f"{times} times each: the command must end with one sentence and leave no half-written file; with "
        "more space the same command must write what it writes elsewhere. A sweep continues with the parts "
        "that it could store. " + verdict([row[-1] for row in full_rows], "rows"),
        table(FILLED, full_rows, title="disk full"),
    ]


def killed_row(bench: Workbench, command: str, kills: int) -> list[str]:
    found = bench.piece(killed, _modules(), command=command, kills=kills, seed=bench.seed)
    agrees = found["same"] and found["writing"] and not found["half"] and not found["left"]
    counts = [Note(found[name]) for name in ("kills", "writing", "replaced")]
    return [WORDS[command], *counts, *(exact(found[name]) for name in ("half", "left")), yes(agrees)]


def full_row(bench: Workbench, command: str, times: int) -> tuple[list[str], str]:
    found = bench.piece(disk_full, _modules(), command=command, times=times, seed=bench.seed)
    agrees = found["refused"] == found["same"] == times and not found["half"] and not found["left"]
    counts = [Note(found[name]) for name in ("times", "refused")]
    wrong = [exact(found[name]) for name in ("half", "left")]
    return [WORDS[command], *counts, *wrong, str(found["same"]), yes(agrees)], found["kind"]


def _modules() -> set[str]:
    commands = {f"truant.cli.{name}" for name in WORDS}
    return commands | world_modules(WORLD) | policy_modules(*POLICIES)

"""Processes of a live experiment that are killed at random moments: is everything there that they were promised?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from research.figures import Note, exact, table
from research.markdown import verdict, yes
from research.sources import policy_modules
from research.validation.killed_experiment import killed_in_postgresql, killed_in_sqlite

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the kills, to confirm that nothing is lost
KILLS = 50  # of each
POLICY = "mcar-thompson"
STORES = ("truant.live.store.sqlite", "truant.live.store.postgres")
COLUMNS = (
    "store",
    "kills",
    "asks that returned",
    "tells that returned",
    "of these late",
    "decisions",
    "kept without an answer",
    "batches of closed windows",
    "lost",
    "miscounted",
    "findings of doctor",
    "agrees",
)


def section(bench: Workbench) -> list[str]:
    parts = {*STORES, *policy_modules(POLICY)}
    sizes = {"kills": bench.runs(KILLS, 2), "first": bench.first}
    found = {
        "SQLite": bench.piece(killed_in_sqlite, parts, seed=bench.seed, durability="full", **sizes),
        "SQLite, durability=process": bench.piece(
            killed_in_sqlite, parts, seed=bench.seed + 1, durability="process", **sizes
        ),
        "PostgreSQL": bench.piece(killed_in_postgresql, parts, seed=bench.seed + 2, **sizes),
    }
    rows = [row(name, one) for name, one in found.items()]
    return [
        "## Live experiments whose processes are killed",
        f"Four processes ask, tell and close windows of one second in the same experiment. {sizes['kills']} times, at "
        "a random moment, one of them is killed (SIGKILL) and another one replaces it. Each process records "
        "the answer of a call after the call has returned. A row agrees if everything that was answered is "
        "in the store (nothing is lost, a key has one decision), every decision is counted once, and "
        "`doctor` finds no difference from a new count. If a process is killed between the end of a "
        "transaction and its record, a decision is stored without a recorded answer. "
        + verdict([row[-1] for row in rows], "rows"),
        table(COLUMNS, rows),
    ]


def row(name: str, found: dict[str, Any]) -> list[str]:
    numbers = [
        found[key] for key in ("kills", "asks", "tells", "late", "decisions", "unacknowledged", "batches")
    ]
    wrong = [found["lost"], found["miscounted"], len(found["findings"])]
    agrees = not any(wrong) and not found["pending"] and found["batches"] > 0
    return [name, *(Note(number) for number in numbers), *(exact(number) for number in wrong), yes(agrees)]

"""Processes of a live experiment that are killed at random moments: is everything there that they were promised?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from research import SEED
from research.markdown import table, verdict, yes
from research.sources import policy_modules
from research.validation.killed_experiment import killed_in_postgresql, killed_in_sqlite

if TYPE_CHECKING:
    from research.workbench import Workbench

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
    kills, parts = bench.size(KILLS, 2), {*STORES, *policy_modules(POLICY)}
    found = {
        "SQLite": bench.piece(killed_in_sqlite, parts, kills=kills, seed=SEED, durability="full"),
        "SQLite, durability=process": bench.piece(
            killed_in_sqlite, parts, kills=kills, seed=SEED + 1, durability="process"
        ),
        "PostgreSQL": bench.piece(killed_in_postgresql, parts, kills=kills, seed=SEED + 2),
    }
    rows = [row(name, one) for name, one in found.items()]
    return [
        "## Live experiments whose processes are killed",
        f"Four processes ask, tell and close windows of one second in the same experiment. {KILLS} times, at "
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
    return [name, *(str(number) for number in [*numbers, *wrong]), yes(agrees)]

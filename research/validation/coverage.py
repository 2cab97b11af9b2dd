"""Coverage of 95% intervals with fixed samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.figures import Figure, share, table
from research.markdown import verdict, yes
from research.sources import assumption_modules, world_modules
from research.validation.intervals import fixed_samples

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.5  # of the replications, to confirm the figures
BAND = (0.92, 0.98)  # at most .03 from the nominal .95
SIZES = (200, 1000, 10_000)
# a well and a badly identified world for each assumption
FIXED = {
    "mcar": ("mcar", "mcar:gamma=0.1"),
    "mar": ("mar", "mar-low"),
    "mediator-mar": ("mediator-mar", "mediator-mar:gamma=0.1,0.5"),
    "mnar": ("mnar-clear:K=3,L=3", "mnar:K=3,L=3"),
    "mediator-mnar": ("mediator-mnar-clear:K=3,L=3", "mediator-mnar:K=3,L=3"),
    "both-mnar": ("both-mnar:K=2,L=2", "both-mnar:K=3,L=3"),
}


def section(bench: Workbench) -> list[str]:
    replications = bench.runs(2000, 20)
    rows = []
    for name, worlds in FIXED.items():
        for world in worlds:
            cells = [cell(bench, name, world, pulls, replications) for pulls in SIZES]
            rows.append([f"`{name}`", world, *(words for words, _ in cells), yes(all(ok for _, ok in cells))])
    return [
        "## Coverage of 95% intervals, fixed samples",
        f"{replications} replications, each a new instance; the first world of each pair is well identified, "
        f"the second poorly. Standard error {np.sqrt(0.95 * 0.05 / replications):.3f}. *Refused*: a mediator "
        "level has no observed outcome; an analyst would be told to merge levels. A row agrees if all three "
        "figures are at most .03 from the nominal .95, with an allowance of three standard errors. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(("assumption", "world", *(f"n = {n:,}" for n in SIZES), "agrees"), rows),
    ]


def cell(bench: Workbench, name: str, world: str, pulls: int, replications: int) -> tuple[Figure, bool]:
    outcomes = bench.piece(
        fixed_samples,
        assumption_modules(name) | world_modules(world),
        assumption=name,
        world=world,
        pulls=pulls,
        replications=replications,
        first=bench.first,
    )
    held = [outcome for outcome in outcomes if outcome is not None]
    refused = replications - len(held)
    covered = share(held, f"{{:.3f}} ({refused} refused)" if refused else "{:.3f}")
    return covered, nominal(covered.value, covered.error)


def nominal(share: float, error: float) -> bool:
    """Whether a coverage is near the nominal .95, up to three standard errors."""
    low, high = BAND
    return low - 3 * error <= share <= high + 3 * error

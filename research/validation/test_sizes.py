"""How often tests reject what holds, and what does not."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from research.cores import each
from research.figures import Note, share, table
from research.markdown import verdict, yes
from research.sources import assumption_modules, world_modules
from research.validation.instances import world_named
from truant import registry
from truant.assumptions import ChiSquare
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.evidence.contradictions import p_value

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the tables, to confirm the figures
LEVEL, LARGEST_SIZE = 0.05, 0.075
SIZES = (100, 1000)
# assumption, a world where it holds, and one where it does not
TESTED = [
    ("mcar", "mcar-by-level", "mar-low:K=3"),
    ("mcar", "mcar-by-level-6", "mar-low:K=6"),
    ("mediator-mar", "mediator-mar", "both-mnar:K=3,L=3"),
    ("mnar", "mnar:K=4,L=2", "mediator-mnar:K=4,L=2"),
    ("mediator-mnar", "mediator-mnar-clear:K=3,L=3", "both-mnar:K=3,L=3"),
    ("both-mnar", "both-mnar:K=2,L=2", "mediator-mnar-clear:K=2,L=2"),
    ("both-mnar", "both-mnar:K=3,L=3", "mediator-mnar-clear:K=3,L=3"),
]


def section(bench: Workbench) -> list[str]:
    many, few = bench.runs(2000, 20), bench.runs(200, 4)
    rows = []
    for name, null, other in TESTED:
        replications = many if name in ("mcar", "mediator-mar") else few
        cells, agrees = [], True
        for world in (null, other):
            for n in SIZES:
                parts = assumption_modules(name) | (
                    world_modules(world) if "by-level" not in world else set()
                )
                tables = bench.piece(
                    rejections,
                    parts,
                    assumption=name,
                    world=world,
                    rows=n,
                    replications=replications,
                    first=bench.first,
                )
                rejected = [one for one in tables if one is not None]
                cells.append(share(rejected) if rejected else Note("-"))
                if world == null and rejected:
                    allowed = 3 * np.sqrt(LEVEL * (1 - LEVEL) / len(rejected))
                    agrees &= bool(np.mean(rejected) <= LARGEST_SIZE + allowed)
        rows.append([f"`{name}`", f"`{null}`", *cells[:2], f"`{other}`", *cells[2:], yes(agrees)])
    return [
        "## Sizes and powers of the tests",
        f"How often the test of an assumption rejects at {LEVEL:g}, for one arm: in a world where the "
        f"assumption holds (its size), and in one where it does not (its power). There are {many:,} tables, "
        f"{few:,} for the assumptions that are fitted by likelihood; the standard error of a size of .05 is "
        f"{np.sqrt(0.0475 / many):.3f} and {np.sqrt(0.0475 / few):.3f}. `mcar-by-level`: three (or six) "
        "mediator levels, with a fifth of the outcomes missing in each. A row agrees if both sizes are at "
        f"most {LARGEST_SIZE}, with an allowance of three standard errors. Powers are reported, not judged: "
        "where a power is near the size, passing the test says little. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(
            (
                *("assumption", "holds in", *(f"size, {n:,} rows" for n in SIZES)),
                *("does not hold in", *(f"power, {n:,} rows" for n in SIZES), "agrees"),
            ),
            rows,
        ),
    ]


def rejections(assumption: str, world: str, rows: int, replications: int, first: int) -> list[bool | None]:
    """Of each replication, whether the test of the assumption rejects; None if there is no test.

    Parameters
    ----------
    first : seed of the first replication.
    """
    return each(_rejected, [(assumption, world, rows, seed) for seed in range(first, first + replications)])


def _rejected(item: tuple[str, str, int, int]) -> bool | None:
    assumption, name, rows, seed = item
    arms = np.zeros(rows, np.int64)
    if "by-level" in name:
        setting = world_named("mar-low:K=6" if name.endswith("6") else "mar-low:K=3", 0).setting
        rng = np.random.default_rng(seed)
        m = rng.choice(setting.mediators, rows, p=rng.dirichlet(np.ones(setting.mediators)))
        counts = Counts.fold(setting, arms, m, np.where(rng.random(rows) < 0.2, np.nan, 0.5))
    else:
        world = world_named(name, seed)
        setting = world.setting
        counts = Counts.fold(setting, arms, *world.pulls(arms, seed))
    model = _assumption(assumption)
    try:
        tests = list(model.tests(counts, setting)) or list(model.read(counts, 0, setting).tests)
    except NotIdentified:
        return None
    usable = [
        test
        for test in tests
        if isinstance(test, ChiSquare) and test.freedom > 0 and test.contradicts and test.arm in (None, 0)
    ]
    return bool(p_value(usable[0]) < LEVEL) if usable else None


@functools.cache
def _assumption(name: str) -> Any:
    return registry.find("assumption", name).build()

"""What becomes of the paper's claims: the reproduction's own summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from research.markdown import table
from research.sources import policy_modules, world_modules
from research.validation.claims import claims_of
from truant.reproduction.catalogue import FIGURES

if TYPE_CHECKING:
    from research.workbench import Workbench

RUNS = 120


def section(bench: Workbench) -> list[str]:
    runs = bench.size(RUNS, 2)
    rows = [
        [f"`{name}`", claim["claim"], claim["verdict"], claim["figures"]]
        for name in FIGURES
        for claim in bench.piece(claims_of, parts_of(name), figure=name, runs=runs, quick=bench.quick)
    ]
    return [
        "## Reproduction of the paper's figures",
        f"Results of `truant reproduce --runs {runs}` for the claims of the "
        "[paper](https://arxiv.org/abs/2411.05661). A verdict is computed from the runs: a claim about an "
        "order survives if the 95% interval of the paired difference confirms it, does not survive if the "
        "interval shows the opposite, and depends if the interval contains zero or if cases of one claim "
        "disagree.",
        table(("figure", "claim", "verdict", "figures"), rows),
    ]


def parts_of(name: str) -> set[str]:
    """The modules of the worlds and policies of a figure."""
    figure = FIGURES[name]
    cases = [case for claim in figure.claims for case in claim.cases]
    lines = [*figure.lines(), *(line for case in cases for line in case.lines)]
    worlds, policies = {line.scene.world for line in lines}, {line.policy for line in lines}
    return world_modules(*worlds) | policy_modules(*policies)

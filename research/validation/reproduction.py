"""What becomes of the paper's claims: the reproduction's own summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from research.figures import plus_minus, table
from research.reproduction.catalogue import FIGURES
from research.sources import policy_modules, world_modules
from research.validation.claims import claims_of

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the runs, to confirm the figures
RUNS = 120


def section(bench: Workbench) -> list[str]:
    runs = bench.runs(RUNS, 2)
    judged = {
        name: bench.piece(
            claims_of, parts_of(name), figure=name, runs=runs, quick=bench.quick, seed=bench.draw
        )
        for name, figure in FIGURES.items()
        if figure.claims
    }
    claims = [
        [f"`{name}`", claim["claim"], claim["verdict"], claim["figures"]]
        for name, answer in judged.items()
        for claim in answer["claims"]
    ]
    means = {
        (own["world"], own["policy"]): plus_minus(own["mean"], own["sd"] / math.sqrt(runs), 0, runs)
        for answer in judged.values()
        for own in answer["regret"]
    }
    return [
        "## Reproduction of the paper's figures",
        f"Results of `python -m research reproduce --runs {runs}` for the claims of the "
        "[paper](https://arxiv.org/abs/2411.05661). A verdict is computed from the runs: a claim about an "
        "order survives if the 95% interval of the paired difference confirms it, does not survive if the "
        "interval shows the opposite, and depends if the interval contains zero or if cases of one claim "
        "disagree.",
        table(("figure", "claim", "verdict", "figures"), claims),
        "Mean regret ± standard error of the policies that the claims are about, in the same runs:",
        table(
            ("world", "policy", "regret"),
            [[world, f"`{policy}`", mean] for (world, policy), mean in means.items()],
        ),
    ]


def parts_of(name: str) -> set[str]:
    """The modules of the worlds and policies of a figure."""
    figure = FIGURES[name]
    lines = [*figure.lines(), *figure.claimed()]
    worlds, policies = {line.scene.world for line in lines}, {line.policy for line in lines}
    return world_modules(*worlds) | policy_modules(*policies)

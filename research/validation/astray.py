"""Runs that go wrong: how often a policy stays with a bad arm, where cells are thin or noise is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.markdown import table, verdict, yes
from research.validation.measures import MOST_STRAIGHT, STRAIGHT, regret, straight

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation


WORLDS = {
    "mar": "mar",
    "mar-low": "mar",
    "mediator-mar": "mediator-mar",
    "confounded": "mar",
    "mar-rare": "mar",
    "mar-one-hidden": "mar",
    "mar-wide": "mar",
    "mar:sd=0.1": "mar",
    "mar:sd=10": "mar",
    "mar-low:sd=0.1": "mar",
    "mar-low:sd=10": "mar",
}
COLUMNS = (
    "world",
    "policy",
    "mean",
    "sd",
    "median",
    "worst run / median",
    "above 10x median",
    "straight",
    "agrees",
)


def section(bench: Workbench) -> list[str]:
    runs, horizon = bench.size(300, 6), bench.size(100_000, 2000)
    rows = []
    for world, assumption in WORLDS.items():
        policies = [f"{assumption}-{index}" for index in ("ucb", "thompson")]
        result = bench.simulated(world, policies, horizon, runs)
        rows += [row(world, result, policy) for policy in policies]
    return [
        "## Runs that keep a bad arm",
        f"Final regret of {runs} runs of {horizon:,} rounds, in worlds with nearly normal outcomes that were "
        f"designed to mislead policies. {STRAIGHT} A row agrees if at most {MOST_STRAIGHT:.1%} of its runs "
        "are straight. A mean far above the median, or runs above ten times the median, mean that a few "
        f"runs cause most of the regret. {verdict([row[-1] for row in rows], 'rows')}",
        table(COLUMNS, rows),
    ]


def row(world: str, result: Simulation, policy: str) -> list[str]:
    final, share = regret(result, policy), straight(result, policy).mean()
    median = np.median(final)
    figures = [f"{x:,.0f}" for x in (final.mean(), final.std(ddof=1), median)]
    wild = f"{np.mean(final > 10 * median):.1%}"
    agrees = yes(share <= MOST_STRAIGHT)
    return [world, f"`{policy}`", *figures, f"{final.max() / median:.1f}", wild, f"{share:.1%}", agrees]

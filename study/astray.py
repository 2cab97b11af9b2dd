"""Runs that go wrong: how often a policy locks onto a bad arm, where cells are thin or noise is odd."""

from __future__ import annotations

import numpy as np
from study.keep import Study
from study.page import table, verdict, yes

MAR, MEDIATOR_MAR = ["mar-plain-ucb", "mar-ucb"], ["mediator-mar-plain-ucb", "mediator-mar-ucb"]
WORLDS = {
    "mar": MAR,
    "mar-low": MAR,
    "mediator-mar": MEDIATOR_MAR,
    "confounded": MAR,
    "mar-rare": MAR,
    "mar-one-hidden": MAR,
    "mar-wide": MAR,
    "mar:sd=0.1": MAR,
    "mar:sd=10": MAR,
    "mar-low:sd=0.1": MAR,
    "mar-low:sd=10": MAR,
}
COLUMNS = ("world", "policy", "mean", "sd", "median", "worst run / median", "above 10x median", "agrees")


def section(study: Study) -> list[str]:
    runs, horizon = study.size(300, 6), study.size(100_000, 2000)
    rows = []
    for world, policies in WORLDS.items():
        result = study.simulated(f"astray-{world}-{runs}", world, policies, horizon, runs)
        rows += [row(world, policy, final) for policy, final in zip(policies, result.final, strict=True)]
    return [
        "## Runs that go wrong",
        f"Final regret of {runs} runs of {horizon:,} rounds. A run above ten times the median has stayed with a bad "
        "arm; a mean far above the median says the same. The shrinkage of thin cells to a fixed centre promises "
        f"that none does: a row agrees if there is none. {verdict([row[-1] for row in rows], 'rows')}",
        table(COLUMNS, rows),
    ]


def row(world: str, policy: str, final: np.ndarray) -> list[str]:
    median = np.median(final)
    wild = np.mean(final > 10 * median)
    figures = [f"{x:,.0f}" for x in (final.mean(), final.std(ddof=1), median)]
    return [world, f"`{policy}`", *figures, f"{final.max() / median:.1f}", f"{wild:.1%}", yes(wild == 0)]

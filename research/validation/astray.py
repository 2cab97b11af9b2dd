"""Runs that go wrong: how often a policy stays with a bad arm, where cells are thin or noise is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from research.figures import Figure, median, plus_minus, share, table
from research.markdown import standard_error, verdict, yes
from research.validation.measures import MOST_STRAIGHT, STRAIGHT, regret, straight

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation


CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
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
    runs, horizon = bench.runs(300, 6), bench.size(100_000, 2000)
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
    final, lines = regret(result, policy), straight(result, policy)
    typical = np.median(final)
    return [
        world,
        f"`{policy}`",
        plus_minus(final.mean(), standard_error(final), size=len(final), text=f"{final.mean():,.0f}"),
        deviation(final),
        median(final),
        f"{final.max() / typical:.1f}",
        share(final > 10 * typical, "{:.1%}"),
        share(lines, "{:.1%}"),
        yes(lines.mean() <= MOST_STRAIGHT),
    ]


def deviation(values: npt.NDArray[np.float64]) -> Figure:
    """The standard deviation; its error follows from the fourth moment."""
    sd = float(values.std(ddof=1))
    squares = (values - values.mean()) ** 2
    error = standard_error(squares) / (2 * sd) if sd > 0 else 0.0
    return plus_minus(sd, error, size=len(values), text=f"{sd:,.0f}")

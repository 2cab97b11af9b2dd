"""Regret of every policy beside that of dropping the rows, of seeing everything, and of theory's yardstick."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from research.figures import Note, mean, median, plus_minus, share, table
from research.markdown import verdict, yes
from research.sources import assumption_modules, world_modules
from research.validation.measures import (
    LIMITS,
    MOST_STRAIGHT,
    NAIVE,
    STRAIGHT,
    beside_naive,
    ratio,
    regret,
    straight,
)
from research.validation.plans import yardsticks

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation

CONFIRMED_SHARE = 0.1  # of the runs, to confirm the figures
ORACLE = "oracle-thompson"


class Case(NamedTuple):
    """A world, what is so in it, and who plays besides ucb and thompson of that assumption."""

    world: str
    assumption: str
    runs: int = 300
    horizon: int = 100_000
    others: tuple[str, ...] = ()

    @property
    def ours(self) -> list[str]:
        names = [f"{self.assumption}-ucb", f"{self.assumption}-thompson"]
        if self.assumption == "mnar":
            names.append("mnar-ucb:level=cautious")
        return names

    @property
    def policies(self) -> list[str]:
        return [*self.others, NAIVE, *self.ours, ORACLE]


CASES = (
    *(Case(f"mcar:gamma={gamma}", "mcar", 1000, 10_000) for gamma in (0.5, 0.7, 0.9, 1)),
    *(Case(world, "mar", others=("paper-mar-known", "paper-mar")) for world in ("mar", "mar-low")),
    Case("mediator-mar", "mediator-mar", others=("paper-mediator-mar",)),
    *(Case(f"confounded:K={K}", "mar", others=("paper-mar-known", "paper-mar")) for K in (2, 3, 4, 5)),
    *(
        Case(f"mnar{kind}", "mnar", 200, others=("paper-mnar",))
        for kind in ("", "-hidden", "-clear", "-hidden-clear")
    ),
    *(
        Case(f"mediator-mnar{kind}", "mediator-mnar", 200, others=("paper-mediator-mnar",))
        for kind in ("", "-hidden", "-clear", "-hidden-clear")
    ),
)
COLUMNS = (
    "world",
    "policy",
    "regret",
    "median",
    "of naive's",
    "of the oracle's",
    "of the yardstick",
    "straight",
    "best arm",
    "within limits",
)


def section(bench: Workbench) -> list[str]:
    rows = [row for case in CASES for row in case_rows(bench, case)]
    return [
        "## Regret",
        "Mean ± standard error of the final regret (100,000 rounds; `mcar` 10,000). The further columns, "
        f"from the same runs: the ratio to the regret of `{NAIVE}`, which drops the rows with a missing "
        f"outcome, and to that of `{ORACLE}`, which sees every outcome, each with its standard error; and "
        "the median over runs of the ratio to the yardstick `truant.theory.instance_regret`, the sum over "
        "the worse arms of 2 V/gap log T, where V is the smallest variance that the assumption allows. "
        "(Where V is very large, as for the random mediators of `mnar`, a policy that knows the range of "
        f"outcomes has far lower regret than this yardstick.) {STRAIGHT}",
        f"{LIMITS} At most {MOST_STRAIGHT:.1%} of the runs may be straight. These limits apply to truant's "
        "own policies; the paper's policies have none. "
        f"{verdict([row[-1] for row in rows if row[-1] != '-'], 'rows')}",
        table(COLUMNS, rows),
    ]


def case_rows(bench: Workbench, case: Case) -> Iterator[list[str]]:
    runs, horizon = bench.runs(case.runs, 4), bench.size(case.horizon, 2000)
    result = bench.simulated(case.world, case.policies, horizon, runs)
    sticks = bench.piece(
        yardsticks,
        world_modules(case.world) | assumption_modules(case.assumption),
        world=case.world,
        assumption=case.assumption,
        horizon=horizon,
        runs=runs,
        seed=bench.seed_in(case.world),  # the same instances
    )
    for policy in result.policies:
        yield row(case, result, policy, np.asarray(sticks))


def row(case: Case, result: Simulation, policy: str, sticks: np.ndarray) -> list[str]:
    final, lines = regret(result, policy), straight(result, policy)
    best_arm = result.best_arm_share[result.policies.index(policy)]
    agrees = "-"
    if policy in case.ours:
        agrees = yes(beside_naive(result, policy) and lines.mean() <= MOST_STRAIGHT)
    return [
        case.world,
        f"`{policy}`",
        mean(final, 0),
        median(final),
        Note("1") if policy == NAIVE else plus_minus(*ratio(final, regret(result, NAIVE)), size=len(final)),
        Note("1") if policy == ORACLE else plus_minus(*ratio(final, regret(result, ORACLE)), size=len(final)),
        median(final / sticks, "{:.2g}"),
        share(lines, "{:.1%}"),
        mean(best_arm, text=f"{best_arm.mean():.1%}"),
        agrees,
    ]

"""Unkind worlds: skewed, rare and unequally noisy outcomes, where a normal width would trust the first pulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from research import ROOT
from research.figures import Note, mean, median, plus_minus, share, table
from research.markdown import verdict, yes
from research.validation.measures import (
    ERRORS,
    LIMITS,
    LINEAR,
    MOST_STRAIGHT,
    QUARTER,
    STRAIGHT,
    beside_naive,
    halves,
    ratio,
    regret,
    straight,
)
from truant.worlds import from_table

if TYPE_CHECKING:
    from research.workbench import Workbench
    from truant.lab.result import Simulation

CONFIRMED_SHARE = 0.05  # of the runs, to confirm the figures
UNKIND = {
    "conversion": "mar",
    "zero-inflated": "mcar",
    "rates": "mcar",
    "jackpots": "mar",
    "noisy-arm": "mar",
    "noisy-level": "mar",
    "rare-level": "mar",
    "lognormal": "mcar",
    "mnar-skewed": "mnar",
}
NORMAL = {"mar": "mar", "mar-low": "mar", "mediator-mar": "mediator-mar", "confounded": "mar"}
NAIVE = ("naive-ucb", "naive-thompson")
ORACLES = ("oracle-ucb", "oracle-thompson")
ORACLES_STRAIGHT, SKEWED_STRAIGHT = 0.01, 0.05  # shares of runs; the second where outcomes hide themselves
WILD = 10.0  # times the median, for a table of one's own
COLUMNS = (
    "world",
    "policy",
    "regret",
    "median",
    "of naive's",
    "second half / first",
    "straight",
    "within limits",
)
VISITS = "examples/visits.csv"


class Judged(NamedTuple):
    """A row of the table and its verdict: "-" if nothing is promised."""

    cells: list[str]
    agrees: str


def ours(assumption: str) -> list[str]:
    """The policies of an assumption that are judged."""
    return [f"{assumption}-ucb", f"{assumption}-ucb:horizon=unknown", f"{assumption}-thompson"]


def section(bench: Workbench) -> list[str]:
    unkind = [row for world, assumption in UNKIND.items() for row in unkind_rows(bench, world, assumption)]
    normal = [row for world, assumption in NORMAL.items() for row in normal_rows(bench, world, assumption)]
    visits = visits_rows(bench)
    runs, horizon = sizes(bench)
    return [
        "## Unkind worlds",
        f"Regret after {horizon:,} rounds, {runs} runs, mean ± standard error. These worlds have revenue "
        "after a rare conversion, rare very large outcomes, unequal variances and similar difficulties "
        "([the lab](lab.md#worlds) describes them). Policies use the assumption that holds in the world; "
        "oracles see every outcome. *Of naive's*: the ratio to the mean regret of `naive-ucb` in the same "
        f"runs. {STRAIGHT}",
        f"Limits: at most {MOST_STRAIGHT:.1%} straight runs ({ORACLES_STRAIGHT:.0%} for oracles). Where "
        f"`naive-ucb` does not learn (second half above {LINEAR} of the first), the regret of truant's "
        f"policies may be at most {QUARTER:g} times its regret; where it learns, at most equal to it. In "
        "`mnar-skewed`, where missingness depends on the outcome and one outcome level is rare, no policy "
        f"learns fast: there the limits are naive's regret and {SKEWED_STRAIGHT:.0%} straight runs. Ratios "
        f"are judged with an allowance of {ERRORS:.0f} standard errors. {counted(unkind)}",
        table(COLUMNS, [row.cells for row in unkind]),
        "### Nearly normal outcomes",
        f"The same policies where outcomes are normal with equal variances, {bench.size(100000, 2000):,} "
        f"rounds, {bench.runs(200, 4)} runs: this is the cost of caution where it is not needed. {LIMITS} "
        f"{counted(normal)}",
        table(COLUMNS, [row.cells for row in normal]),
        "### A table as a world",
        f"`{VISITS}` as a world: each mail draws from the outcomes that were observed after it. Limit: no "
        f"run above {WILD:.0f} times the median. {counted(visits)}",
        table((*COLUMNS[:-2], "worst run / median", COLUMNS[-1]), [row.cells for row in visits]),
    ]


def sizes(bench: Workbench) -> tuple[int, int]:
    """Runs and rounds in the unkind worlds."""
    return bench.runs(400, 4), bench.size(50_000, 1000)


def counted(rows: Sequence[Judged]) -> str:
    return verdict([row.agrees for row in rows if row.agrees != "-"], "rows")


def unkind_rows(bench: Workbench, world: str, assumption: str) -> list[Judged]:
    runs, horizon = sizes(bench)
    policies = [*ours(assumption), *NAIVE, *ORACLES]
    result = bench.simulated(world, policies, horizon, runs)
    return [row(world, result, policy, unkind_verdict(world, result, policy)) for policy in policies]


def unkind_verdict(world: str, result: Simulation, policy: str) -> str:
    """Whether a policy keeps the limits of an unkind world."""
    if policy in NAIVE:
        return "-"
    lines = straight(result, policy).mean()
    if policy in ORACLES:
        return yes(lines <= ORACLES_STRAIGHT)
    if world == "mnar-skewed":
        found, error = ratio(regret(result, policy), regret(result, "naive-ucb"))
        return yes(found <= 1 + ERRORS * error and lines <= SKEWED_STRAIGHT)
    return yes(beside_naive(result, policy, price=1.0) and lines <= MOST_STRAIGHT)


def normal_rows(bench: Workbench, world: str, assumption: str) -> list[Judged]:
    runs, horizon = bench.runs(200, 4), bench.size(100_000, 2000)
    policies = [*ours(assumption), *NAIVE, *ORACLES]
    result = bench.simulated(world, policies, horizon, runs)
    rows = []
    for policy in policies:
        agrees = "-"
        if policy in ours(assumption):
            within = beside_naive(result, policy)
            agrees = yes(within and straight(result, policy).mean() <= MOST_STRAIGHT)
        rows.append(row(world, result, policy, agrees))
    return rows


def visits_rows(bench: Workbench) -> list[Judged]:
    runs, horizon = sizes(bench)
    world = from_table(ROOT / VISITS, arm="mail", mediator="opened", outcome="spent")
    policies = [*ours("mar"), "naive-ucb", "oracle-ucb"]
    result = bench.simulated(world, policies, horizon, runs)
    rows = []
    for policy in policies:
        final = regret(result, policy)
        worst = final.max() / max(float(np.median(final)), 1e-12)
        agrees = yes(worst <= WILD) if policy in ours("mar") else "-"
        cells = row("visits.csv", result, policy, agrees).cells
        rows.append(Judged([*cells[:-2], f"{worst:.1f}", agrees], agrees))
    return rows


def row(world: str, result: Simulation, policy: str, agrees: str) -> Judged:
    final, lines = regret(result, policy), straight(result, policy)
    first, second = halves(result, policy)
    naive, growth = regret(result, "naive-ucb"), ratio(second, first)
    cells = [
        world,
        f"`{policy}`",
        mean(final, 0),
        median(final),
        Note("1") if policy == "naive-ucb" else plus_minus(*ratio(final, naive), size=len(final)),
        plus_minus(*growth, size=len(final), text=f"{growth[0]:.2f}"),
        share(lines, f"{lines.sum()} of {len(lines)}"),
        agrees,
    ]
    return Judged(cells, agrees)

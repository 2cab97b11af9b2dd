"""The default policy of live experiments: shares of thompson and of ucb, while outcomes come late."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from research import SEED
from research.cores import each
from research.figures import Note, mean, table
from research.markdown import standard_error
from research.sources import policy_modules, world_modules
from truant.counts import Counts
from truant.policies.decider import Decider
from truant.worlds import make

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
DELAYS = (100, 1000)  # decisions until an outcome settles


class Case(NamedTuple):
    """A world, the assumption that holds in it, runs, and how many decisions are drawn from one allocation."""

    world: str
    assumption: str
    runs: int = 40
    ahead: int = 20


CASES = (
    Case("mar", "mar"),
    Case("mar-low", "mar"),
    Case("conversion", "mar"),
    Case("noisy-arm", "mar"),
    Case("rates", "mcar"),
    Case("lognormal", "mcar"),
    Case("mnar", "mnar", 12, 100),
    Case("mnar-hidden", "mnar", 12, 100),
)


def section(bench: Workbench) -> list[str]:
    rounds = bench.size(10_000, 400)
    rows = []
    for case in CASES:
        runs = bench.runs(case.runs, 2)
        for delay in DELAYS:
            first, second = (
                bench.piece(
                    regrets,
                    policy_modules(f"{case.assumption}-{index}") | world_modules(case.world),
                    world=case.world,
                    policy=f"{case.assumption}-{index}",
                    rounds=rounds,
                    delay=delay,
                    ahead=case.ahead,
                    runs=runs,
                    first=bench.first,
                )
                for index in ("thompson", "ucb")
            )
            paired = np.subtract(first, second)
            cells = [mean(one, 0) for one in (first, second, paired)]
            better = "-"
            if abs(paired.mean()) > 2 * standard_error(paired):
                better = "ucb" if paired.mean() > 0 else "thompson"
            rows.append([case.world, f"`{case.assumption}`", f"{delay:,}", Note(f"{runs}"), *cells, better])
    wins = [row[-1] for row in rows]
    return [
        "## Shares of thompson and of ucb",
        f"Regret after {rounds:,} decisions made as in a live experiment: arms are drawn from an allocation "
        "that is computed again after every 20 decisions (mnar: 100), from the outcomes that are older than "
        "the delay (in decisions). `thompson` gives each arm the probability that it is the best, `ucb` its "
        "share of the next choices, with pending decisions counted. Mean ± standard error, and the paired "
        "difference (in the same worlds). *Better*: by more than two standard errors. ucb is better in "
        f"{wins.count('ucb')} of {len(wins)} rows, thompson in {wins.count('thompson')}: ucb is the default "
        "of live experiments. Its share can be 0 for an arm: to weight outcomes by the probabilities, set "
        "`minimum_share` or use thompson.",
        table(
            ("world", "assumption", "delay", "runs", "thompson", "ucb", "difference", "better"),
            rows,
        ),
    ]


def regrets(
    world: str, policy: str, rounds: int, delay: int, ahead: int, runs: int, first: int
) -> list[float]:
    """The final regret of each run.

    Parameters
    ----------
    first : number of the first run, which decides its instance and its draws.
    """
    return each(regret, [(world, policy, rounds, delay, ahead, run) for run in range(first, first + runs)])


def regret(item: tuple[str, str, int, int, int, int]) -> float:
    """One run: draw a block from the allocation, settle what is old enough, allocate anew."""
    world, policy, rounds, delay, ahead, run = item
    instance = make(world, seed=SEED + run)
    setting = instance.setting
    decider = Decider(policy, setting, rounds)
    rng = np.random.default_rng([SEED, run])
    counts = Counts.empty(setting)
    waiting: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    lost, gaps = 0.0, instance.gaps
    for _ in range(rounds // ahead):
        pending = np.bincount(
            np.concatenate([one[0] for one in waiting]) if waiting else np.empty(0, np.int64),
            minlength=setting.arms,
        )
        shares = decider.allocation(counts, pending=pending if decider.counts_pending else None, ahead=ahead)
        arms = rng.choice(setting.arms, size=ahead, p=shares)
        lost += float(gaps[arms].sum())
        waiting.append((arms, *instance.pulls(arms, seed=rng)))
        if len(waiting) * ahead >= delay:
            counts.extend(*waiting.pop(0))
    return lost

"""How often the share test raises a false alarm under adaptive shares, and how often it finds a broken split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.cores import each
from research.figures import share, table
from research.markdown import verdict, yes
from research.sources import policy_modules
from truant.counts import Counts
from truant.evidence.live_tests import share_test
from truant.policies.decider import Decider
from truant.setting import FloatArray, Setting

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
LEVEL = 0.05
BATCHES, BATCH = 30, 20  # looks, and decisions between them
LOST = 0.3  # share of the last arm's decisions that are lost
# policy, arms, how far apart their means are, decisions that ucb looks ahead, minimum share
TRIED = [
    ("mcar-thompson", 2, 0.0, 10, 0.0),
    ("mcar-thompson", 5, 0.4, 10, 0.0),
    ("mcar-thompson", 10, 0.4, 10, 0.0),
    ("mcar-ucb", 2, 0.0, 10, 0.0),
    ("mcar-ucb", 5, 0.4, 1, 0.0),
    ("mcar-ucb", 5, 0.0, 10, 0.0),
    ("mcar-ucb", 10, 0.4, 10, 0.01),
]


def section(bench: Workbench) -> list[str]:
    many, few = bench.runs(400, 5), bench.runs(100, 3)
    rows = []
    for policy, arms, apart, ahead, least in TRIED:
        parameters = {"policy": policy, "arms": arms, "apart": apart, "ahead": ahead, "least": least}
        sizes, powers = (
            [
                share(values < LEVEL)
                for values in np.transpose(
                    bench.piece(
                        p_values,
                        policy_modules(policy),
                        **parameters,
                        lost=lost,
                        replications=number,
                        first=bench.first,
                    )
                )
            ]
            for lost, number in ((0.0, many), (LOST, few))
        )
        highest = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / many)
        agrees = max(sizes[0].value, sizes[2].value) <= highest
        shape = [f"`{policy}`", str(arms), f"{apart:g}", str(ahead) if "ucb" in policy else "", f"{least:g}"]
        rows.append([*shape, *sizes, powers[0], powers[2], yes(agrees)])
    return [
        "## The share test under adaptive shares",
        f"How often choices contradict their own probabilities at {LEVEL:g}: {BATCHES * BATCH} decisions, "
        f"with shares computed again after every {BATCH} of them from the counts, by `Decider.allocation`. "
        "Outcomes are 0 or 1, three in ten are missing; means are spread evenly over the stated distance. "
        f"`one look`: the p-value after the last decision; `some look`: the smallest of {BATCHES} such "
        "p-values; `any time`: the smallest of the p-values that are valid at any number of looks. Powers: "
        "the same, if 30% of the decisions of the last (best) arm are lost; where shares are near 0 and 1, "
        f"as those of `ucb`, choices can hardly contradict them. {many:,} runs for sizes (standard error of "
        f".05: {np.sqrt(0.0475 / many):.3f}), {few:,} for powers (at most {np.sqrt(0.25 / few):.3f}). A row "
        "agrees if the sizes at one look and at any time are at most .05 plus three standard errors; `some "
        "look` shows why a daily check must not use the p-value for one look. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(
            (
                *("policy", "arms", "means apart", "looks ahead", "minimum share"),
                *("size, one look", "size, some look", "size, any time"),
                *("power, one look", "power, any time"),
                "agrees",
            ),
            rows,
        ),
    ]


def p_values(
    policy: str, arms: int, apart: float, ahead: int, least: float, lost: float, replications: int, first: int
) -> list[tuple[float, float, float]]:
    """Of each replication: at the last look, the smallest of all looks, and the smallest that holds at any time.

    Parameters
    ----------
    first : seed of the first replication.
    """
    shape = (policy, arms, apart, ahead, least, lost)
    return each(_p_values, [(*shape, seed) for seed in range(first, first + replications)])


def _p_values(item: tuple[str, int, float, int, float, float, int]) -> tuple[float, float, float]:
    tests = [share_test(*look) for look in looks(*item)]
    once = [test.p_value for test in tests]
    return once[-1], min(once), min(test.p_value_any_time for test in tests)


def looks(
    policy: str, arms: int, apart: float, ahead: int, least: float, lost: float, seed: int
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Choices, sums of probabilities and variances after each batch of a run."""
    rng = np.random.default_rng([seed, arms, ahead, len(policy)])
    setting = Setting(arms=arms, levels=(0.0, 1.0))
    decider = Decider(policy, setting, BATCHES * BATCH)
    means = 0.3 + apart * np.arange(arms) / (arms - 1)
    counts, found = Counts.empty(setting), []
    n, expected, variance = (np.zeros(arms) for _ in range(3))
    for _ in range(BATCHES):
        shares = decider.allocation(counts, ahead=ahead, minimum_share=least)
        a = rng.choice(arms, BATCH, p=shares)
        a = a[(a < arms - 1) | (rng.random(BATCH) >= lost)]
        y = np.where(rng.random(len(a)) < 0.3, np.nan, rng.random(len(a)) < means[a])
        counts = counts.merge(Counts.fold(setting, a, np.zeros(len(a), np.int64), y))
        n += np.bincount(a, minlength=arms)
        expected += len(a) * shares
        variance += len(a) * shares * (1 - shares)
        found.append((n.copy(), expected.copy(), variance.copy()))
    return found

"""Problems without missing outcomes that others have published, beside quantities that can be computed.

Their figures are printed as curves, so what stands beside ours are bounds (Lai and Robbins 1985; Auer, Cesa-Bianchi
and Fischer 2002) and a plain numpy version of the same policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.figures import Figure, exact, mean, table
from research.markdown import verdict, yes
from research.validation.plain_bandits import final_regret
from truant.policies import named
from truant.setting import FloatArray, Setting
from truant.worlds import DiscreteWorld, RealWorld, World

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
HORIZON = 10_000
UCB1 = "paper-mcar:alpha=4"  # sqrt(4 log T/(2n)) is UCB1's sqrt(2 log T/n)
AGAIN = {UCB1: "ucb1", "oracle-thompson": "beta"}  # policies that are written again in numpy
POLICIES = (UCB1, "mcar-ucb:level=cautious", "mcar-ucb", "mcar-thompson", "oracle-thompson")
BERNOULLI = {
    "10 arms: .1, three each of .05, .02, .01 (Garivier and Cappé 2011; Kaufmann et al. 2012)": (
        (0.1, *[0.05] * 3, *[0.02] * 3, *[0.01] * 3)
    ),
    "2 arms: .9, .8 (Garivier and Cappé 2011)": (0.9, 0.8),
    "9 arms: .1, .2 ... .9": tuple(i / 10 for i in range(1, 10)),
}
NORMAL = {"2 normal arms: .5, 0, sd 1": (0.5, 0.0)}
HAND = ((1, 1.0), (2, 1.0), (10, 3.0), (100, 55.0), (5000, 4321.0))  # pulls and sum of outcomes


def section(bench: Workbench) -> list[str]:
    rows = [row for name in (*BERNOULLI, *NORMAL) for row in problem_rows(bench, name)]
    columns = ("problem", "policy", "regret", "Lai-Robbins x log T", "UCB1 bound", "numpy version", "agrees")
    hand = [hand_row(*pulls) for pulls in HAND]
    return [
        "## Published problems without missing outcomes",
        f"Mean regret after {bench.size(HORIZON, 1000):,} rounds ± its standard error. *Lai-Robbins*: the "
        "asymptotic lower bound, the sum of gap/KL over the worse arms, times log T (at this horizon a "
        "policy may still be below it). *UCB1 bound*: 8 sum log T/gap + (1 + pi²/3) sum gap, for outcomes "
        "in [0, 1]. *numpy version*: an independent implementation of the same rule in a few lines (UCB1 "
        "with log T; Thompson sampling from the Beta posterior, where `oracle-thompson` draws from a normal "
        "of the same mean and variance, so only agreement within a factor of 1.5 is required). A row agrees "
        "if it is below the bound where that holds, and within three standard errors of the numpy version "
        f"where it is the same rule. {verdict([r[-1] for r in rows if r[-1] != '-'], 'rows')}",
        table(columns, rows),
        "### The index of UCB1 computed by hand",
        f"Mean + sqrt(2 log T/n) for T = {HORIZON:,} rounds and n pulls, compared with what the compiled "
        f"`{UCB1}` computes from the same counts. {verdict([r[-1] for r in hand], 'rows')}",
        table(("n", "sum", "by hand", "compiled", "agrees"), hand),
    ]


def problem_rows(bench: Workbench, name: str) -> list[list[str]]:
    means = np.array((BERNOULLI | NORMAL)[name])
    runs, horizon = bench.runs(1000, 10), bench.size(HORIZON, 1000)
    world = bernoulli(means) if name in BERNOULLI else normal(means)
    final = bench.simulated(world, POLICIES, horizon, runs).final
    found = {policy: mean(values, 1) for policy, values in zip(POLICIES, final, strict=True)}
    if name in BERNOULLI:
        for policy, again in AGAIN.items():
            regret = bench.piece(
                final_regret, policy=again, means=means.tolist(), horizon=horizon, runs=runs, seed=bench.seed
            )
            found[f"numpy {policy}"] = mean(regret, 1)
    least, bound = bounds(means, horizon, name in BERNOULLI)
    return [row(name, policy, found, least, bound) for policy in POLICIES]


def row(name: str, policy: str, found: dict[str, Figure], least: float, bound: float) -> list[str]:
    regret, again = found[policy], found.get(f"numpy {policy}")
    bounded = policy == UCB1 and name in BERNOULLI
    answers = [regret.value <= bound] if bounded else []
    if again and policy == UCB1:
        answers.append(abs(regret.value - again.value) <= 3 * np.hypot(regret.error, again.error))
    elif again:
        answers.append(max(regret.value / again.value, again.value / regret.value) <= 1.5)
    return [
        name,
        f"`{policy}`",
        regret,
        exact(round(least, 1), "{:.1f}"),
        exact(round(bound), "{:,.0f}") if bounded else "-",
        again or "-",
        yes(all(answers)) if answers else "-",
    ]


def bernoulli(means: FloatArray) -> World:
    return DiscreteWorld(np.stack([1 - means, means], axis=1)[:, None, :])


def normal(means: FloatArray) -> World:
    return RealWorld(np.ones((len(means), 1)), means[:, None])


def bounds(means: FloatArray, horizon: int, binary: bool) -> tuple[float, float]:
    """Lai and Robbins' asymptotic least, and Auer's bound on UCB1."""
    best = means.max()
    worse = means[means < best]
    gap = best - worse
    information = kullback_leibler(worse, best) if binary else gap**2 / 2
    least = (gap / information).sum() * np.log(horizon)
    bound = 8 * np.log(horizon) * (1 / gap).sum() + (1 + np.pi**2 / 3) * gap.sum()
    return float(least), float(bound)


def kullback_leibler(p: FloatArray, q: float) -> FloatArray:
    """Between two coins."""
    return np.asarray(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


def hand_row(n: int, total: float) -> list[str]:
    by_hand = total / n + np.sqrt(2 * np.log(HORIZON) / n)
    policy, setting = named(UCB1), Setting(arms=1)
    curve = policy.curve(setting, HORIZON)
    about = total - n * setting.centre  # sums are kept about the centre of the range
    counts = np.array([[n, n, about, about**2 / n, 0], [0, 0, 0, 0, 0]], float)
    value = np.zeros(1)
    z_grid = policy.index.z_grid(curve.linear)
    policy.index.aim(0.0, float(np.log(HORIZON)), policy.index.parameters(), z_grid)
    shared = np.zeros(curve.pooled + curve.scratch)
    curve.score_arm(counts, np.zeros(curve.memory(1)), shared, curve.parameters[0], z_grid, value)
    agrees = abs(value[0] - by_hand) <= 1e-12
    values = [exact(float(f"{x:.6g}"), f"{x:.9f}") for x in (by_hand, value[0])]
    return [f"{n:,}", f"{total:,.0f}", *values, yes(agrees)]

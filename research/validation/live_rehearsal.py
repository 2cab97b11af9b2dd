"""Live experiments against the lab and the truth: regret at a delay, late outcomes, false winners, probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from research.figures import Note, mean, plus_minus, share, table
from research.markdown import standard_error, verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.live_runs import (
    CLOSE_MEANS,
    LEVEL,
    MEANS,
    lab_regrets,
    late_errors,
    live_regrets,
    weighted_means,
    winners,
)
from research.validation.measures import ERRORS

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.25  # of the runs, to confirm the figures
POLICIES = ("mar-thompson", "mar-ucb")
DELAYS = (0, 50)


def section(bench: Workbench) -> list[str]:
    rows = []
    paragraphs = ["## Live experiments: rehearsals"]
    for make in (_against_the_lab, _late_outcomes, _winners, _weighted):
        text, own_rows = make(bench)
        paragraphs += text
        rows += own_rows
    paragraphs.insert(
        1,
        "A simulated world provides the decisions and outcomes of the real experiment code, on SQLite in "
        "memory and with a manual clock, as in `truant rehearse`: every decision is asked, and every "
        "outcome is told at its time. " + verdict([row[-1] for row in rows], "rows"),
    )
    return paragraphs


# Regret at a delay


def _against_the_lab(bench: Workbench) -> tuple[list[str], list[list[str]]]:
    runs, horizon = bench.runs(24, 3), bench.size(600, 60)
    rows = []
    for policy in POLICIES:
        for delay in DELAYS:
            shape = {
                "policy": policy,
                "delay": min(delay, horizon // 4),
                "horizon": horizon,
                "seed": bench.seed,
            }
            modules = policy_modules(policy)
            live = bench.piece(live_regrets, modules, **shape, runs=runs)
            lab = bench.piece(lab_regrets, modules, **shape, runs=bench.runs(4000, 50))
            error = math.hypot(standard_error(live), standard_error(lab))
            agrees = abs(np.mean(live) - np.mean(lab)) <= ERRORS * error
            rows.append([f"`{policy}`", f"{shape['delay']}", mean(live, 1), mean(lab, 1), yes(agrees)])
    text = [
        f"**Regret with a delay.** {horizon:,} decisions, one per minute, with a window of D + 1 minutes: an "
        "outcome is counted before the decision D + 1 minutes later, which is a delay of D rounds in the "
        "lab. There are three arms and two mediator levels, on which missingness depends. Mean regret ± "
        f"standard error of {runs} runs, compared with many runs of `truant simulate --delay D`; a row "
        "agrees within three standard errors of the difference. Here arms are drawn from the shares of "
        "`ucb`; in the lab they are not.",
        table(["policy", "D", "live", "lab", "agrees"], rows),
    ]
    return text, rows


# Outcomes that come late depending on what they are


def _late_outcomes(bench: Workbench) -> tuple[list[str], list[list[str]]]:
    runs = bench.runs(40, 4)
    rows = []
    for depends_on in ("outcome", "arm"):
        for settle in ("at_close", "on_arrival"):
            errors = bench.piece(
                late_errors, depends_on=depends_on, settle=settle, runs=runs, seed=bench.seed
            )
            biases = [mean(one, 3) for one in np.transpose(errors)]
            unbiased = all(abs(bias.value) <= ERRORS * bias.error for bias in biases)
            promised = settle == "at_close" or depends_on == "arm"
            rows.append(
                [depends_on, f"`{settle}`", *biases, "yes" if unbiased else "no", yes(unbiased == promised)]
            )
    text = [
        "**Late outcomes.** Outcomes are 0 and 1, none is missing, and all arrive within their window of 4 "
        "days. The delay depends either on the outcome (0: 8 hours, 1: 3 days) or on the arm (the same "
        "delays for the first and the last arm). Arms are drawn at random, 150 decisions a day for 6 days; "
        f"bias ± standard error of the mean of each arm's counted outcomes on the last day, {runs} runs. "
        "`at_close` must be unbiased. `on_arrival` counts fast outcomes first, and so must be biased where "
        "the delay depends on the outcome.",
        table(
            ["delay depends on", "settle", *(f"mean {mean:g}" for mean in MEANS), "unbiased", "agrees"], rows
        ),
    ]
    return text, rows


# Winners in the null world


def _winners(bench: Workbench) -> tuple[list[str], list[list[str]]]:
    runs, fewer = bench.runs(100, 3), bench.runs(40, 3)
    rows = []
    for policy in POLICIES:
        for depends_on in ("outcome", "arm"):
            shape = {"policy": policy, "depends_on": depends_on, "seed": bench.seed}
            modules = {*policy_modules(policy), *world_modules("mar")}
            null = bench.piece(winners, modules, **shape, runs=runs, null=True)
            real = bench.piece(winners, modules, **shape, runs=fewer, null=False)
            called = share([one != "none" for one in null])
            limit = (1 - LEVEL) + ERRORS * math.sqrt(LEVEL * (1 - LEVEL) / runs)
            right, wrong = (share([one == kind for one in real], "{:.2f}") for kind in ("right", "wrong"))
            rows.append([f"`{policy}`", depends_on, called, right, wrong, yes(called.value <= limit)])
    text = [
        "**Winners.** World `mar` with 3 arms, 40 decisions a day for 21 days, a window of 3 days, and "
        "outcomes after 12 hours on average, four times as long for the last arm or the highest outcome as "
        "for the first or the lowest; 2% of the messages arrive twice, 1% never, and half of the mediators "
        f"after their outcome. The table has the share of runs that call a clear winner: {runs} runs in the "
        f"null world, where all arms have the outcome distribution of one of them, and {fewer} in the world "
        f"itself. A row agrees if at most {1 - LEVEL:.2f} of the null runs call a winner, with an allowance "
        "of three standard errors.",
        table(["policy", "delay depends on", "null", "right arm", "wrong arm", "agrees"], rows),
    ]
    return text, rows


# Probabilities that were kept


def _weighted(bench: Workbench) -> tuple[list[str], list[list[str]]]:
    decisions = bench.size(20_000, 400)
    rows = []
    for run, policy in enumerate(("mcar-thompson", "mcar-ucb")):
        shape = {"policy": policy, "decisions": decisions, "seed": bench.seed, "run": run}
        estimates = bench.piece(weighted_means, policy_modules(policy), **shape)
        for truth, (estimate, error, chosen) in zip(CLOSE_MEANS, estimates, strict=True):
            agrees = abs(estimate - truth) <= ERRORS * error
            weighted = plus_minus(estimate, error, 3, decisions)
            rows.append([f"`{policy}`", f"{truth:g}", Note(f"{chosen:.3f}"), weighted, yes(agrees)])
    text = [
        f"**Probabilities.** One run of {decisions:,} decisions, 500 a day, with a window of a day and a "
        "share of at least .02 for each arm. The mean of outcome / stored probability over all decisions (0 "
        "where another arm was drawn) must be the arm's true mean, within three standard errors.",
        table(["policy", "true mean", "share of decisions", "weighted mean", "agrees"], rows),
    ]
    return text, rows

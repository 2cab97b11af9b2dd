"""Coverage of 95% intervals at the end of adaptive runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import mean, table
from research.markdown import picture, verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.adaptive_intervals import adaptive_runs
from research.validation.clustered import clustered_percentage
from research.validation.coverage import BAND, nominal
from research.validation.measures import share_with_error
from research.validation.pictures import dots, save

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the runs, to confirm the figures
# assumption, world, rounds
CASES = (
    ("mcar", "mcar", 10_000),
    ("mar", "mar", 10_000),
    ("mar", "mar", 100_000),
    ("mar", "mar-low", 10_000),
    ("mediator-mar", "mediator-mar", 10_000),
    ("mnar", "mnar", 10_000),
    ("mnar", "mnar-hidden", 10_000),
    ("mnar", "mnar-clear", 10_000),
    ("mediator-mnar", "mediator-mnar", 10_000),
    ("both-mnar", "both-mnar", 10_000),
)
ARMS = {"best": "best arm", "others": "other arms"}


def section(bench: Workbench) -> list[str]:
    runs = bench.runs(300, 8)
    results = [result_of(bench, *case, runs) for case in CASES]
    chart(bench, results)
    rows = [row(result) for result in results]
    return [
        "## Coverage of 95% intervals at the end of adaptive runs",
        "Coverage of the interval of each arm when `ucb` chose the pulls and the interval does not account "
        f"for it: {runs} runs, each a new instance, ± standard error (of the other arms: over runs). A "
        "policy stops using an arm when it looks bad, so estimates of arms are biased downwards, and no "
        "interval for fixed samples has a guarantee here; a row agrees if both figures are at most .03 from "
        "the nominal .95, with an allowance of three standard errors. *Refused*: the share of the arms "
        "without an interval (a mediator level has no observed outcome), which are left out. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(("world", "policy", "rounds", *ARMS.values(), "refused", "agrees"), rows),
        picture("validation-coverage.png", "Coverage at the end of adaptive runs, best arm and others"),
    ]


def result_of(bench: Workbench, name: str, world: str, horizon: int, runs: int) -> dict[str, Any]:
    """The coverage of one case: of the best arm, and of the others."""
    horizon = bench.size(horizon, horizon // 10)
    ends = bench.piece(
        adaptive_runs,
        policy_modules(f"{name}-ucb") | world_modules(world),
        assumption=name,
        world=world,
        horizon=horizon,
        runs=runs,
        seed=bench.seed,
    )
    arms = {}
    for which in ARMS:
        shares = [held for held in (share_held(end[which]) for end in ends) if held is not None]
        # the best arm is one interval in each run
        arms[which] = share_with_error(shares) if which == "best" else mean(shares, 3)
    refused = [[answer is None for answer in end["best"] + end["others"]] for end in ends]
    return {
        "world": world,
        "policy": f"{name}-ucb",
        "horizon": horizon,
        "arms": arms,
        "refused": clustered_percentage(refused),
    }


def share_held(answers: list[bool | None]) -> float | None:
    """Share of the intervals that hold the truth, among those that there are."""
    known = [answer for answer in answers if answer is not None]
    return float(np.mean(known)) if known else None


def row(result: dict[str, Any]) -> list[str]:
    covered = result["arms"].values()
    return [
        result["world"],
        f"`{result['policy']}`",
        f"{result['horizon']:,}",
        *covered,
        result["refused"],
        yes(all(nominal(one.value, one.error) for one in covered)),
    ]


def chart(bench: Workbench, results: list[dict[str, Any]]) -> None:
    rows = [
        {
            "case": f"{result['policy']} in {result['world']}, {result['horizon']:,} rounds",
            "kind": words,
            "value": result["arms"][which].value,
            "error": result["arms"][which].error,
        }
        for result in results
        for which, words in ARMS.items()
    ]
    save(bench, "validation-coverage.png", dots(rows, BAND))

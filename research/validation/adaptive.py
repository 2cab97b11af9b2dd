"""Coverage of 95% intervals at the end of adaptive runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research import SEED
from research.markdown import picture, plus_minus, standard_error, table, verdict, yes
from research.sources import policy_modules, world_modules
from research.validation.adaptive_intervals import adaptive_runs
from research.validation.coverage import BAND, nominal
from research.validation.pictures import dots, save

if TYPE_CHECKING:
    from research.workbench import Workbench

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
    runs = bench.size(300, 8)
    results = [result_of(bench, *case, runs) for case in CASES]
    chart(bench, results)
    answers = [arms["agrees"] for result in results for arms in result["arms"].values()]
    columns = ["world", "policy", "rounds"]
    for words in ARMS.values():
        columns += [words, "agrees"]
    return [
        "## Coverage of 95% intervals at the end of adaptive runs",
        "Coverage of the interval of each arm when `ucb` chose the pulls and the interval does not account "
        f"for it: {runs} runs, each a new instance, ± standard error (of the other arms: over runs). A "
        "policy stops using an arm when it looks bad, so estimates of arms are biased downwards, and no "
        "interval for fixed samples has a guarantee here; a figure agrees if it is at most .03 from the "
        "nominal .95, with an allowance of three standard errors. Arms without an interval (a mediator "
        f"level has no observed outcome) are left out. {verdict(answers, 'figures')}",
        table(columns, [row(result) for result in results]),
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
        seed=SEED,
    )
    arms = {}
    for which in ARMS:
        held = [share for share in (share_held(end[which]) for end in ends) if share is not None]
        share, error = float(np.mean(held)), standard_error(held)
        arms[which] = {"share": share, "error": error, "agrees": yes(nominal(share, error))}
    refused = sum(answer is None for end in ends for answer in end["best"] + end["others"])
    return {"world": world, "policy": f"{name}-ucb", "horizon": horizon, "refused": refused, "arms": arms}


def share_held(answers: list[bool | None]) -> float | None:
    """Share of the intervals that hold the truth, among those that there are."""
    known = [answer for answer in answers if answer is not None]
    return float(np.mean(known)) if known else None


def row(result: dict[str, Any]) -> list[str]:
    refused = f" ({result['refused']} intervals refused)" if result["refused"] else ""
    cells = [result["world"], f"`{result['policy']}`" + refused, f"{result['horizon']:,}"]
    for arms in result["arms"].values():
        cells += [plus_minus(arms["share"], arms["error"], 3), arms["agrees"]]
    return cells


def chart(bench: Workbench, results: list[dict[str, Any]]) -> None:
    rows = [
        {
            "case": f"{result['policy']} in {result['world']}, {result['horizon']:,} rounds",
            "kind": words,
            "value": result["arms"][which]["share"],
            "error": result["arms"][which]["error"],
        }
        for result in results
        for which, words in ARMS.items()
    ]
    save(bench, "validation-coverage.png", dots(rows, BAND))

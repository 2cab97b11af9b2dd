"""Coverage of 95% intervals: with fixed samples, and with what adaptive runs leave behind."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from research.validation.keep import SEED, Study, each
from research.validation.page import picture, standard_error, table, verdict, yes

from truant import registry
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.lab.simulate import plan_of
from truant.play.run import play
from truant.setting import Setting
from truant.worlds import make

TWO_SIDED = 1.959964  # 95%
BAND = (0.92, 0.98)  # at most .03 from the nominal .95
SIZES = (200, 1000, 10_000)
# a well and a badly identified world for each assumption
FIXED = {
    "mcar": ("mcar", "mcar:gamma=0.1"),
    "mar": ("mar", "mar-low"),
    "mediator-mar": ("mediator-mar", "mediator-mar:gamma=0.1,0.5"),
    "mnar": ("mnar-clear:K=3,L=3", "mnar:K=3,L=3"),
    "mediator-mnar": ("mediator-mnar-clear:K=3,L=3", "mediator-mnar:K=3,L=3"),
    "both-mnar": ("both-mnar:K=2,L=2", "both-mnar:K=3,L=3"),
}
ADAPTIVE = (
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


def fixed(study: Study) -> list[str]:
    replications = study.size(2000, 20)
    rows = []
    for name, worlds in FIXED.items():
        for world in worlds:
            cells = [fixed_cell(study, name, world, pulls, replications) for pulls in SIZES]
            rows.append([f"`{name}`", world, *(words for words, _ in cells), yes(all(ok for _, ok in cells))])
    return [
        "## Coverage of 95% intervals, fixed samples",
        f"{replications} replications, each a new instance; the first world of a pair is well identified, the "
        f"second badly. Standard error {np.sqrt(0.95 * 0.05 / replications):.3f}. Refused: a mediator level without "
        "an observed outcome, which an analyst would be told to merge. A row agrees if all three figures are at most "
        f".03 from the nominal .95, up to three standard errors. {verdict([row[-1] for row in rows], 'rows')}",
        table(("assumption", "world", *(f"n = {n:,}" for n in SIZES), "agrees"), rows),
    ]


def fixed_cell(study: Study, name: str, world: str, pulls: int, replications: int) -> tuple[str, bool]:
    what = {"replications": replications}
    items = [(name, world, pulls, i) for i in range(replications)]
    outcomes = study.piece(f"coverage-{name}-{world}-{pulls}", what, lambda: each(fixed_sample, items))
    held = [outcome for outcome in outcomes if outcome is not None]
    refused = replications - len(held)
    share, error = float(np.mean(held)), standard_error(held)
    return f"{share:.3f}" + (f" ({refused} refused)" if refused else ""), nominal(share, error)


def fixed_sample(item: tuple[str, str, int, int]) -> bool | None:
    """Whether the interval of one arm of one instance holds the truth."""
    name, spec, pulls, seed = item
    word, parameters = registry.parse(spec)
    world = make(word, seed=seed, **parameters)
    arms = np.full(pulls, seed % world.setting.arms)
    counts = Counts.fold(world.setting, arms, *world.pulls(arms, seed))
    return covers(name, counts, int(arms[0]), world.setting, float(world.means[arms[0]]))


def covers(name: str, counts: Counts, arm: int, setting: Setting, truth: float) -> bool | None:
    """Whether an assumption's interval holds the truth; None if it refuses the counts."""
    assumption = _assumption(name)
    try:
        if hasattr(assumption, "fit"):  # the root at the truth says the same as two limits, in one search
            fit = assumption.fit(counts, arm)
            return bool(2 * (fit.log_likelihood - fit.log_likelihood_at(truth)) <= TWO_SIDED**2)
        low, high = assumption.estimate(counts, arm, setting).interval(0.95)
        return bool(low <= truth <= high)
    except NotIdentified:
        return None


@functools.cache
def _assumption(name: str) -> Any:
    return registry.find("assumption", name).build()


def adaptive(study: Study) -> list[str]:
    runs = study.size(300, 8)
    results = [adaptive_result(study, *case, runs) for case in ADAPTIVE]
    adaptive_chart(study, results)
    answers = [part["agrees"] for result in results for part in result["parts"].values()]
    columns = ["world", "policy", "rounds"]
    for arms in ("best arm", "other arms"):
        columns += [arms, "agrees"]
    return [
        "## Coverage of 95% intervals at the end of adaptive runs",
        f"What the interval of each arm covers when its pulls were chosen by `ucb`, as it is: {runs} runs, each a "
        "new instance, ± standard error (of the other arms: over runs). A policy leaves an arm when it looks bad, "
        "so that estimates of arms are biased downwards, and no interval for fixed samples has a guarantee here; a "
        "figure agrees if it is at most .03 from the nominal .95, up to three standard errors. Refused intervals (a "
        "mediator level without "
        f"an observed outcome) are left out. {verdict(answers, 'figures')}",
        table(columns, [adaptive_row(result) for result in results]),
        picture("validation-coverage.png", "Coverage at the end of adaptive runs, best arm and others"),
    ]


def adaptive_result(study: Study, name: str, world: str, horizon: int, runs: int) -> dict[str, Any]:
    horizon = study.size(horizon, horizon // 10)
    items = [(name, world, horizon, run) for run in range(runs)]
    ends = study.piece(
        f"adaptive-{name}-{world}-{horizon}", {"runs": runs}, lambda: each(adaptive_run, items)
    )
    parts = {}
    for part in ("best", "others"):
        held = [share for share in (share_held(end[part]) for end in ends) if share is not None]
        share, error = float(np.mean(held)), standard_error(held)
        parts[part] = {"share": share, "error": error, "agrees": yes(nominal(share, error))}
    refused = sum(answer is None for end in ends for answer in end["best"] + end["others"])
    return {"world": world, "policy": f"{name}-ucb", "horizon": horizon, "refused": refused, "parts": parts}


def adaptive_run(item: tuple[str, str, int, int]) -> dict[str, list[bool | None]]:
    """Which intervals hold the truth at the end of one run: the best arm's and the others'."""
    name, world, horizon, run = item
    plan = plan_of(world, f"{name}-ucb", horizon, SEED, {})
    instance = plan.instance(run)
    counts = play(plan.policies[0], instance, plan.generator(run), horizon, np.array([horizon])).counts
    best = int(np.argmax(instance.means))
    held = [
        covers(name, counts, arm, instance.setting, float(mean)) for arm, mean in enumerate(instance.means)
    ]
    return {"best": [held[best]], "others": held[:best] + held[best + 1 :]}


def share_held(answers: list[bool | None]) -> float | None:
    """Share of the intervals that hold the truth, among those that there are."""
    known = [answer for answer in answers if answer is not None]
    return float(np.mean(known)) if known else None


def nominal(share: float, error: float) -> bool:
    """Whether a coverage is near the nominal .95, up to three standard errors."""
    low, high = BAND
    return low - 3 * error <= share <= high + 3 * error


def adaptive_row(result: dict[str, Any]) -> list[str]:
    refused = f" ({result['refused']} intervals refused)" if result["refused"] else ""
    row = [result["world"], f"`{result['policy']}`" + refused, f"{result['horizon']:,}"]
    for part in result["parts"].values():
        row += [f"{part['share']:.3f} ± {part['error']:.3f}", part["agrees"]]
    return row


def adaptive_chart(study: Study, results: list[dict[str, Any]]) -> None:
    from research.validation.pictures import dots, save  # slow to import, and of no use to the workers

    rows = [
        {
            "case": f"{result['policy']} in {result['world']}, {result['horizon']:,} rounds",
            "kind": {"best": "best arm", "others": "other arms"}[name],
            "value": part["share"],
            "error": part["error"],
        }
        for result in results
        for name, part in result["parts"].items()
    ]
    save(study, "validation-coverage.png", dots(rows, BAND))

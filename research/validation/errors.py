"""Bias and error of the estimators with fixed samples, beside the least that is possible; where data are MAR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from research.validation.estimators import estimators_of, least_variances
from research.validation.keep import Study, each
from research.validation.page import table, verdict, yes

from truant import registry
from truant.counts import Counts
from truant.errors import NotIdentified
from truant.worlds import make

SIZES = (200, 1000, 10_000)
MAR_WORLDS = ("mcar:gamma=0.5", "mar-low", "confounded", "mediator-mar")
EXACT = 0.1  # how far a large sample's error may be from the asymptotic one, as a share

Figures = dict[str, dict[str, Any]]  # by estimator


def of_arms(
    study: Study, name: str, arms: list[tuple[str, int, int]], pulls: int, replications: int
) -> Figures:
    """Errors of all estimators for these arms (world, seed, arm) with samples of this size."""
    items = [(world, seed, arm, pulls, replications) for world, seed, arm in arms]
    what = {"arms": arms, "pulls": pulls, "replications": replications}
    found = study.piece(f"errors-{name}-{pulls}", what, lambda: each(of_arm, items))
    return {estimator: summed([arm[estimator] for arm in found]) for estimator in found[0]}


def of_arm(item: tuple[str, int, int, int, int]) -> dict[str, dict[str, float | None]]:
    """For one arm and each estimator: how many estimates, their mean error and mean square error."""
    spec, seed, arm, pulls, replications = item
    name, parameters = registry.parse(spec)
    world = make(name, seed=seed, **parameters)
    estimators, least = estimators_of(world), least_variances(world)
    errors: dict[str, list[float]] = {estimator: [] for estimator in estimators}
    for replication in range(replications):
        rng = np.random.Generator(np.random.SFC64([seed, arm, pulls, replication]))
        chosen = np.full(pulls, arm)
        counts = Counts.fold(world.setting, chosen, *world.pulls(chosen, rng))
        for estimator, estimate in estimators.items():
            error = attempt(estimate, counts, arm)
            if error is not None:
                errors[estimator].append(error - float(world.means[arm]))
    return {
        estimator: {
            "count": len(found),
            "mean": float(np.mean(found)) if found else 0.0,
            "square": float(np.mean(np.square(found))) if found else 0.0,
            "least": float(least[estimator][arm] / pulls) if estimator in least else None,
        }
        for estimator, found in errors.items()
    }


def attempt(estimate: Callable[[Counts, int], float], counts: Counts, arm: int) -> float | None:
    try:
        return estimate(counts, arm)
    except NotIdentified:
        return None


def summed(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Root mean square error, and the size of the bias over the arms less what chance adds to it."""
    count, mean, square = (np.array([arm[key] for arm in arms]) for key in ("count", "mean", "square"))
    least = [arm["least"] for arm in arms]
    enough = count > 1
    noise = (square - mean**2)[enough] / (count[enough] - 1)
    bias = np.mean(mean[enough] ** 2 - noise) if enough.any() else np.nan
    return {
        "rmse": float(np.sqrt((count * square).sum() / count.sum())) if count.sum() else np.nan,
        "bias": float(np.sqrt(max(bias, 0.0))),
        "least": None if None in least else float(np.sqrt(np.mean(least))),
        "estimates": int(count.sum()),
    }


def section(study: Study) -> list[str]:
    arms, replications = study.size(100, 4), study.size(100, 5)
    rows, answers = [], []
    for spec in MAR_WORLDS:
        name, parameters = registry.parse(spec)
        n = make(name, **parameters).setting.arms
        chosen = [(spec, seed, seed % n) for seed in range(arms)]
        figures = [of_arms(study, spec, chosen, pulls, replications) for pulls in SIZES]
        for estimator in figures[0]:
            row, agrees = mar_row(estimator, figures, arms * replications)
            rows.append([spec, *row])
            answers += [agrees] if agrees else []
    columns = ("world", "estimator", *(f"RMSE, n = {n:,}" for n in SIZES), "bias", "least possible", "agrees")
    return [
        "## Bias and error of the estimators, fixed samples",
        f"Root mean square error (RMSE) over {arms} arms, {replications} samples each. Bias: root mean square over "
        f"the arms of an arm's mean error at n = {SIZES[-1]:,}, less what chance adds. Least possible: the "
        "asymptotic error of the estimator at that n (for `mar` and `AIPW` the efficient one of `truant.theory`). "
        f"A row agrees if its error is within {EXACT:.0%} of it; where the estimator is not right for the world, "
        f"nothing is promised. {verdict(answers, 'rows')}",
        table(columns, rows),
    ]


def mar_row(estimator: str, figures: list[Figures], wanted: int) -> tuple[list[str], str]:
    large = figures[-1][estimator]
    cells = [error_cell(figure[estimator], wanted) for figure in figures]
    least, agrees = large["least"], ""
    if least is not None:
        agrees = yes(abs(large["rmse"] / least - 1) <= EXACT)
    promised = "-" if least is None else f"{least:.4f}"
    return [estimator, *cells, f"{large['bias']:.4f}", promised, agrees or "-"], agrees


def error_cell(figure: dict[str, Any], wanted: int) -> str:
    refused = 1 - figure["estimates"] / wanted
    return f"{figure['rmse']:.4f}" + (f" ({refused:.1%} refused)" if refused else "")

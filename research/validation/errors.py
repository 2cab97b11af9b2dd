"""Bias and error of the estimators with fixed samples, beside the least that is possible; where data are MAR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from research.figures import Figure, plus_minus, table
from research.markdown import verdict, yes
from research.sources import assumption_modules, world_modules
from research.validation.estimators import assumptions_of
from research.validation.instances import world_named
from research.validation.samples import Arm, errors_of_arms, pooled_errors

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the arms, and of the samples of each, to confirm the figures
SIZES = (200, 1000, 10_000)
WORLDS = ("mcar:gamma=0.5", "mar-low", "confounded", "mediator-mar")
EXACT = 0.1  # how far a large sample's error may be from the asymptotic one, as a share

Figures = dict[str, dict[str, Any]]  # by estimator


def section(bench: Workbench) -> list[str]:
    arms, replications = bench.runs(100, 4), bench.runs(100, 5)
    rows, answers = [], []
    for world in WORLDS:
        n = world_named(world, 0).setting.arms
        chosen = [(world, seed, seed % n) for seed in range(bench.first, bench.first + arms)]
        figures = [figures_of(bench, chosen, pulls, replications) for pulls in SIZES]
        for estimator in figures[0]:
            cells, agrees = row(estimator, figures, arms * replications)
            rows.append([world, *cells])
            answers += [agrees] if agrees else []
    columns = ("world", "estimator", *(f"RMSE, n = {n:,}" for n in SIZES), "bias", "least possible", "agrees")
    return [
        "## Bias and error of the estimators, fixed samples",
        f"Root mean square error (RMSE) over {arms} arms, {replications} samples each. *Bias*: root mean "
        f"square over the arms of an arm's mean error at n = {SIZES[-1]:,} rows, corrected for sampling "
        "error. *Least possible*: the asymptotic error of the estimator at that n (for `mar` and `AIPW` the "
        f"efficient one of `truant.theory`). A row agrees if its error is within {EXACT:.0%} of it; where "
        f"the estimator is not valid in the world, there is no criterion. {verdict(answers, 'rows')}",
        table(columns, rows),
    ]


def figures_of(bench: Workbench, arms: list[Arm], pulls: int, replications: int) -> Figures:
    """Errors of all estimators for these arms of one world with samples of this size."""
    world = arms[0][0]
    parts = world_modules(world) | assumption_modules(*assumptions_of(world_named(world, 0)))
    found = bench.piece(errors_of_arms, parts, arms=arms, pulls=pulls, replications=replications)
    return {estimator: pooled_errors([arm[estimator] for arm in found]) for estimator in found[0]}


def row(estimator: str, figures: list[Figures], wanted: int) -> tuple[list[str], str]:
    large = figures[-1][estimator]
    cells = [error_cell(figure[estimator], wanted) for figure in figures]
    least, agrees = large["least"], ""
    if least is not None:
        agrees = yes(abs(large["rmse"] / least - 1) <= EXACT)
    promised = "-" if least is None else pooled_figure(large, "least")
    return [estimator, *cells, pooled_figure(large, "bias"), promised, agrees or "-"], agrees


def error_cell(figure: dict[str, Any], wanted: int) -> Figure:
    refused = 1 - figure["estimates"] / wanted
    error = pooled_figure(figure, "rmse")
    return error.with_text(f"{error} ({refused:.1%} refused)") if refused else error


def pooled_figure(figure: dict[str, Any], key: str) -> Figure:
    """One of the pooled errors, in 6 digits: so the least one of equal arms is the same for any number of them."""
    value = float(f"{figure[key]:.6g}")
    return plus_minus(value, figure[f"{key}_error"], size=figure["arms"], text=f"{value:.4f}")

"""Bias and error of the estimators where data are MNAR, by how well mediator and outcome tell each other apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.figures import Figure, Note, table
from research.markdown import picture, verdict, yes
from research.sources import world_modules
from research.validation.condition_classes import CLASSES, WORLDS, classed_arms
from research.validation.errors import EXACT, SIZES, Figures, figures_of, pooled_figure
from research.validation.pictures import error_panels, save

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.3  # of the arms, and of the samples of each, to confirm the figures
BOUND = "Cramér-Rao bound"
WELL = "below 20"  # where the Cramér-Rao bound can be met at the largest size


def section(bench: Workbench) -> list[str]:
    rows, answers = [], []
    for name in WORLDS:
        found = mnar_figures(bench, name)
        for label, figures in found.items():
            for estimator in figures[0]:
                row, agrees = mnar_row(name, label, estimator, figures)
                rows.append(row)
                answers += [agrees] if agrees else []
            rows.append(bound_row(name, label, figures))
        if name == "mnar":
            chart(bench, found)
    sizes = [f"n = {n:,}" for n in SIZES]
    columns = ("assumption", "condition number", "estimator", *sizes, "bias", "agrees")
    return [
        "## Bias and error where missingness depends on the outcome or the mediator",
        "RMSE by the condition number of Theta = P(m, y, both observed), the joint probabilities of "
        "mediator level m and outcome level y. The condition number measures how well mediator and outcome "
        f"distinguish each other's levels (K = L = 5); bias at n = {SIZES[-1]:,} rows. Where the number is "
        "large, the inverse gives extreme values and the likelihood stays within the possible values; its "
        "error may then be below the Cramér-Rao bound, which does not use the range of outcomes. A row of "
        "the likelihood agrees if, at every size, its error is not above that of the inverse, and, at n = "
        f"{SIZES[-1]:,}, not above the Cramér-Rao bound by more than {EXACT:.0%}. Where the condition number "
        f"is {WELL}, it must also be below the error of the complete cases there, whose bias does not "
        f"vanish. {verdict(answers, 'rows of the likelihood')}",
        table(columns, rows),
        picture("validation-errors.png", "Error of the mnar estimators by condition number and sample size"),
    ]


def mnar_figures(bench: Workbench, name: str) -> dict[str, list[Figures]]:
    """By class of condition number, figures for each size."""
    arms, replications = bench.runs(24, 1), bench.runs(40 if name == "mnar" else 25, 3)
    chosen = bench.piece(classed_arms, world_modules(name), world=name, wanted=arms, first=bench.first)
    return {label: [figures_of(bench, chosen[label], n, replications) for n in SIZES] for label in CLASSES}


def mnar_row(name: str, label: str, estimator: str, figures: list[Figures]) -> tuple[list[str], str]:
    pooled = [(n, figure[estimator]) for n, figure in zip(SIZES, figures, strict=True)]
    cells = [figure_or_note(one, "rmse", is_steady(label, estimator, n)) for n, one in pooled]
    cells.append(figure_or_note(pooled[-1][1], "bias", is_steady(label, estimator, SIZES[-1])))
    agrees = yes(as_good_as_possible(label, figures)) if estimator == "likelihood" else ""
    return [f"`{name}`", label, estimator, *cells, agrees or "-"], agrees


def bound_row(name: str, label: str, figures: list[Figures]) -> list[str]:
    has_mean = CLASSES[label] < np.inf  # else the squares of the arms' bounds have no finite mean
    cells = [figure_or_note(figure["likelihood"], "least", has_mean) for figure in figures]
    return [f"`{name}`", label, BOUND, *cells, "-", "-"]


def is_steady(label: str, estimator: str, n: int) -> bool:
    """Whether the error has a standard error; that of the inverse has none where its matrix may be nearly singular."""
    return not estimator.startswith("linear") or (label == WELL and n == SIZES[-1])


def figure_or_note(pooled: dict[str, Any], key: str, steady: bool) -> Figure | Note:
    """One of the pooled errors; a note where it has no standard error."""
    figure = pooled_figure(pooled, key)
    return figure if steady else Note(figure)


def as_good_as_possible(label: str, figures: list[Figures]) -> bool:
    """Whether the likelihood is ahead of the inverse, meets the bound, and beats the complete cases if it can."""
    ahead = all(figure["likelihood"]["rmse"] <= figure["linear"]["rmse"] for figure in figures)
    error = figures[-1]["likelihood"]["rmse"]
    meets = error <= (1 + EXACT) * bound(figures)[-1]
    return ahead and meets and (label != WELL or error < figures[-1]["complete case"]["rmse"])


def bound(figures: list[Figures]) -> list[float]:
    """The Cramér-Rao bound on the error, for each size."""
    return [figure["likelihood"]["least"] for figure in figures]


def chart(bench: Workbench, found: dict[str, list[Figures]]) -> None:
    rows = [
        {"class": label, "estimator": estimator, "n": n, "rmse": figure[estimator]["rmse"]}
        for label, figures in found.items()
        for n, figure in zip(SIZES, figures, strict=True)
        for estimator in figure
    ]
    rows += [
        {"class": label, "estimator": BOUND, "n": n, "rmse": error}
        for label, figures in found.items()
        for n, error in zip(SIZES, bound(figures), strict=True)
    ]
    save(bench, "validation-errors.png", error_panels(rows))

"""Bias and error of the estimators where data are MNAR, by how well mediator and outcome tell each other apart."""

from __future__ import annotations

import numpy as np
from research.validation.errors import EXACT, SIZES, Figures, of_arms
from research.validation.keep import Study
from research.validation.page import picture, table, verdict, yes

from truant.worlds import make

# the odds system of each assumption is that of Theta (0) or of its transpose (1)
MNAR_WORLDS = {"mnar": 0, "mediator-mnar": 1, "both-mnar": 0}
BINS = {"below 20": 20.0, "20 to 150": 150.0, "150 to 1000": 1000.0, "above 1000": np.inf}
BOUND = "Cramér-Rao bound"
WELL = "below 20"  # where the Cramér-Rao bound can be met at the largest size


def bin_of(condition_number: float) -> str:
    """The class of a condition number; the upper end belongs to the class above it."""
    return next(name for name, end in BINS.items() if condition_number < end or end == np.inf)


def section(study: Study) -> list[str]:
    rows, answers = [], []
    for name in MNAR_WORLDS:
        found = mnar_figures(study, name)
        for label, figures in found.items():
            for estimator in figures[0]:
                row, agrees = mnar_row(name, label, estimator, figures)
                rows.append(row)
                answers += [agrees] if agrees else []
            rows.append([f"`{name}`", label, BOUND, *(f"{error:.4f}" for error in bound(figures)), "-", "-"])
        if name == "mnar":
            chart(study, found)
    sizes = [f"n = {n:,}" for n in SIZES]
    columns = ("assumption", "condition number", "estimator", *sizes, "bias", "agrees")
    return [
        "## Bias and error where the outcome or the mediator hides itself",
        "RMSE by the condition number of Theta = P(m, y, both seen), the measure of how well mediator and outcome "
        f"tell each other's levels apart (K = L = 5); bias at n = {SIZES[-1]:,}. Where the number is large the inverse "
        "explodes and the likelihood stays possible; it may then be below the Cramér-Rao bound, which knows nothing of "
        "the range of outcomes. A row of the likelihood agrees if, at every size, its error is not above that of the "
        f"inverse, and, at n = {SIZES[-1]:,}, not above the Cramér-Rao bound by more than {EXACT:.0%}. Where the "
        f"condition number is {WELL}, it must also be below the error of the complete cases there, whose bias "
        f"does not fade. {verdict(answers, 'rows of the likelihood')}",
        table(columns, rows),
        picture("validation-errors.png", "Error of the mnar estimators by condition number and sample size"),
    ]


def mnar_figures(study: Study, name: str) -> dict[str, list[Figures]]:
    """By class of condition number, figures for each size."""
    arms, replications = study.size(24, 1), study.size(40 if name == "mnar" else 25, 3)
    chosen = study.piece(f"errors-{name}-arms", {"arms": arms}, lambda: classed_arms(name, arms))
    return {
        label: [of_arms(study, f"{name}-{label}", chosen[label], n, replications) for n in SIZES]
        for label in BINS
    }


def classed_arms(name: str, wanted: int) -> dict[str, list[tuple[str, int, int]]]:
    """The first arms of each class of condition number, over instances 0, 1, 2 ..."""
    found: dict[str, list[tuple[str, int, int]]] = {label: [] for label in BINS}
    seed = 0
    while any(len(arms) < wanted for arms in found.values()):
        numbers = make(name, seed=seed).setting.condition_numbers
        assert numbers is not None
        for arm, number in enumerate(numbers[:, MNAR_WORLDS[name]]):
            label = bin_of(float(number))
            if len(found[label]) < wanted:
                found[label].append((name, seed, arm))
        seed += 1
    return found


def mnar_row(name: str, label: str, estimator: str, figures: list[Figures]) -> tuple[list[str], str]:
    errors = [figure[estimator]["rmse"] for figure in figures]
    bias = f"{figures[-1][estimator]['bias']:.4f}"
    agrees = yes(as_good_as_possible(label, figures)) if estimator == "likelihood" else ""
    return [f"`{name}`", label, estimator, *(f"{error:.4f}" for error in errors), bias, agrees or "-"], agrees


def as_good_as_possible(label: str, figures: list[Figures]) -> bool:
    """Whether the likelihood is ahead of the inverse, meets the bound, and beats the complete cases if it can."""
    ahead = all(figure["likelihood"]["rmse"] <= figure["linear"]["rmse"] for figure in figures)
    error = figures[-1]["likelihood"]["rmse"]
    meets = error <= (1 + EXACT) * bound(figures)[-1]
    return ahead and meets and (label != WELL or error < figures[-1]["complete case"]["rmse"])


def bound(figures: list[Figures]) -> list[float]:
    """The Cramér-Rao bound on the error, for each size."""
    return [figure["likelihood"]["least"] for figure in figures]


def chart(study: Study, found: dict[str, list[Figures]]) -> None:
    from research.validation.pictures import (  # slow to import, and of no use to the workers
        error_panels,
        save,
    )

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
    save(study, "validation-errors.png", error_panels(rows))

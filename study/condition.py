"""Bias and error of the estimators where data are MNAR, by how well mediator and outcome tell each other apart."""

from __future__ import annotations

import numpy as np
from study.errors import SIZES, Figures, of_arms
from study.keep import EXPECTED, Study
from study.page import picture, table, verdict, yes

from truant.worlds import make

# the odds system of each assumption is that of Theta (0) or of its transpose (1)
MNAR_WORLDS = {"mnar": 0, "mediator-mnar": 1, "both-mnar": 0}
BINS = {"below 20": 20.0, "20 to 150": 150.0, "150 to 1000": 1000.0, "above 1000": np.inf}
BOUND = "Cramér-Rao bound"
ROUGH = 1.5  # factor between two draws of 24 arms
ROUGHER = np.sqrt(10)  # the same for inverses that explode: half an order of magnitude


def bin_of(condition_number: float) -> str:
    """The class of a condition number; the upper end belongs to the class above it."""
    return next(name for name, end in BINS.items() if condition_number < end or end == np.inf)


def section(study: Study) -> list[str]:
    rows, answers, beyond = [], [], []
    for name in MNAR_WORLDS:
        found = mnar_figures(study, name)
        for label, figures in found.items():
            beyond += unreachable(name, label, figures)
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
        f"tell each other's levels apart (K = L = 5); expected figures in brackets, bias at n = {SIZES[-1]:,}. "
        "Where the number is large the inverse explodes and the likelihood stays possible; it may then be below "
        "the Cramér-Rao bound, which knows nothing of the range of outcomes. A row agrees if it is within a factor "
        f"{ROUGH} of each expected figure (inverses at condition numbers above 1000, whose errors have no finite "
        f"variance: {ROUGHER:.1f}). {verdict(answers, 'rows with expected figures')}",
        *beyond,
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
    expected = EXPECTED["rmse"].get(label, {}).get(estimator) if name == "mnar" else None
    agrees, cells = "", [f"{error:.4f}" for error in errors]
    if expected:
        factor = ROUGHER if estimator.startswith("linear") and label == "above 1000" else ROUGH
        ratios = np.array(errors) / np.array(expected)
        agrees = yes(np.all(np.maximum(ratios, 1 / ratios) <= factor))
        cells = [f"{cell} ({figure})" for cell, figure in zip(cells, expected, strict=True)]
    bias = f"{figures[-1][estimator]['bias']:.4f}"
    return [f"`{name}`", label, estimator, *cells, bias, agrees or "-"], agrees


def bound(figures: list[Figures]) -> list[float]:
    """The Cramér-Rao bound on the error, for each size."""
    return [figure["likelihood"]["least"] for figure in figures]


def unreachable(name: str, label: str, figures: list[Figures]) -> list[str]:
    """A sentence, if what is expected of a well identified class is less than the least possible in our arms."""
    expected = EXPECTED["rmse"].get(label, {}).get("likelihood")
    if name != "mnar" or label != next(iter(BINS)) or expected[-1] >= bound(figures)[-1]:
        return []
    reached = figures[-1]["likelihood"]["rmse"]
    return [
        f"At condition numbers {label} and n = {SIZES[-1]:,} the expected error of the likelihood, {expected[-1]}, is "
        f"below the Cramér-Rao bound of these arms, {bound(figures)[-1]:.4f} (reached: {reached:.4f}). So the expected "
        "figures were probably measured on tables drawn in another way than the world `mnar` draws them, which is "
        "not known any more; a row that does not agree is no proof of an error here, nor one that agrees of none."
    ]


def chart(study: Study, found: dict[str, list[Figures]]) -> None:
    from study.pictures import error_panels, save  # slow to import, and of no use to the workers

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

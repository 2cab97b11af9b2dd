"""Semi-synthetic truth: outcomes of complete real data are deleted by a known mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from research.figures import Figure, Note, plus_minus, share, share_of, table
from research.markdown import standard_error, verdict, yes
from research.sources import assumption_modules
from research.validation.complete_data import NAMES, complete
from research.validation.coverage import BAND, nominal
from research.validation.deletions import ASSUMPTIONS, MECHANISMS, replications
from research.validation.measures import Places, bootstrap_error, share_with_error

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.1  # of the resamples, to confirm the figures
# the assumptions that hold under each mechanism
RIGHT = {"mcar": ASSUMPTIONS, "mar": ("mar",), "mnar": ("mnar",), "mediator and outcome": ()}
COLUMNS = (
    *("data", "deleted by", "assumption", "holds", "largest bias, in sd", "coverage, all arms"),
    *("coverage, best arm", "contradicted", "or warned of", "refused", "agrees"),
)


def section(bench: Workbench) -> list[str]:
    number = bench.runs(250, 10)
    rows, verdicts = [], []
    for name in NAMES:
        for mechanism in MECHANISMS:
            found = bench.piece(
                replications,
                assumption_modules(*ASSUMPTIONS),
                name=name,
                mechanism=mechanism,
                number=number,
                first=bench.first,
            )
            rows += [row(name, mechanism, assumption, found) for assumption in ASSUMPTIONS]
            verdicts.append([name, mechanism, *shares_of_verdicts(found)])
    return [
        "## Semi-synthetic data: outcomes deleted from complete real data",
        f"Rows of a complete table are resampled {number} times, outcomes are deleted by a known mechanism, "
        "and the table is analysed; the true mean of an arm is its mean in the complete table. "
        + " ".join(f"{name}: {about}." for name, about in NAMES.items()),
        "The mechanisms delete 40% of the outcomes at random (`mcar`); by the mediator (`mar`); by the "
        "class of the outcome (`mnar`); or where mediator and outcome are both good. Except for the first, "
        "the best arm loses 10% to 75% of its outcomes, the others 25% to 35%, good outcomes most often, so "
        "dropping rows is unfair to the best arm.",
        "Coverage is that of 95% intervals, over all arms and for the best arm, with its standard error. "
        "*Contradicted*: the share of tables in which a test of the assumption has p < .05 in some arm; "
        "`mar` has no test. *Or warned of*: the same, or with a warning about ill-conditioned or infeasible "
        "equations or a flat likelihood. A row of an assumption that holds agrees if both coverages are at "
        "most .03 from the nominal .95, with an allowance of three standard errors. "
        f"{verdict([cells[-1] for cells in rows if cells[3] == 'yes'], 'rows')}",
        table(COLUMNS, rows),
        below_the_band(rows),
        "The verdict on the same tables: how often it is `clear` about the best arm, `clear` about a wrong "
        "one, `depends` on the assumption, or is another:",
        table(("data", "deleted by", "clear, best arm", "clear, wrong arm", "depends", "other"), verdicts),
        "One case remains: outcomes that are missing because of mediator and outcome together. No "
        "assumption holds then, and the data need not show it: no test can contradict `mar`, and `mnar` can "
        "be contradicted only where the mediator has more levels than the outcome. Worst-case bounds need "
        "no assumption.",
    ]


def below_the_band(rows: list[list[str]]) -> str:
    """The rows of assumptions that hold which agree only by the three standard errors."""
    low = [
        f"{name}, {mechanism}, {assumption}: {best.split(' ')[0]}"
        for name, mechanism, assumption, holds, _, _, best, *_ in rows
        if holds == "yes" and best != "-" and float(best.split(" ")[0]) < BAND[0]
    ]
    if not low:
        return "For every assumption that holds, the coverage of the best arm is at least .92."
    return (
        "In these rows the coverage of the best arm is below .92, and they agree only because of their "
        f"standard errors, or not at all: {'; '.join(low)}. Where `mar` is applied to a cut outcome, the "
        "mean within a class still depends on the mediator, but the values of the classes do not: the bias "
        "in its row does not vanish with more rows."
    )


def shares_of_verdicts(found: list[dict[str, Any]]) -> list[Figure]:
    """Clear about the best arm, clear about a wrong one, depends, and all others."""
    clear = np.array([one["verdict"] == "clear" for one in found])
    right = np.array([one["right"] for one in found])
    depends = np.array([one["verdict"] == "depends" for one in found])
    shares = (clear & right, clear & ~right, depends, ~clear & ~depends)
    return [share_with_error(held) for held in shares]


def row(name: str, mechanism: str, assumption: str, found: list[dict[str, Any]]) -> list[str]:
    """One assumption under one mechanism."""
    data = complete(name)
    holds = assumption in RIGHT[mechanism]
    kept = [one["assumptions"][assumption] for one in found if one["assumptions"][assumption] is not None]
    words = [name, mechanism, f"`{assumption}`", "yes" if holds else "no"]
    refused = share([one["assumptions"][assumption] is None for one in found], "{:.0%}")
    if not kept:
        return [*words, *[Note("-")] * 5, refused, "-"]
    held = np.array([one["held"] for one in kept], float)
    of_tables, of_best = held.mean(axis=1), held[:, data.best]
    near = all(nominal(float(own.mean()), standard_error(own)) for own in (of_tables, of_best))
    return [
        *words,
        largest_bias(np.array([one["errors"] for one in kept]) / data.outcomes.std()),
        coverage_of_tables(of_tables, held.size),
        share_with_error(of_best),
        *(share([one[key] for one in kept], "{:.0%}") for key in ("contradicted", "flagged")),
        refused,
        yes(near) if holds else "-",
    ]


def largest_bias(errors: npt.NDArray[np.float64]) -> Figure:
    """The mean error of the arm where it is largest; errors by table and arm."""

    def largest(places: Places) -> float:
        means = errors[places(len(errors))].mean(axis=0)
        return float(means[np.argmax(np.abs(means))])

    value, arm = largest(np.arange), int(np.argmax(np.abs(errors.mean(axis=0))))
    text = f"{value:.3f} ± {standard_error(errors[:, arm]):.3f}"
    return plus_minus(value, float(bootstrap_error(largest)), size=len(errors), text=text)


def coverage_of_tables(of_tables: npt.NDArray[np.float64], intervals: int) -> Figure:
    """The share of the intervals of all arms that hold the truth; those of a table are not independent."""
    value, error = float(of_tables.mean()), standard_error(of_tables)
    return share_of(value, intervals, f"{value:.3f} ± {error:.3f}", error)

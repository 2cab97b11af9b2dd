"""Semi-synthetic truth: outcomes of complete real data are deleted by a known mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.markdown import plus_minus, standard_error, table, verdict, yes
from research.sources import assumption_modules
from research.validation.complete_data import NAMES, complete
from research.validation.coverage import BAND, nominal
from research.validation.deletions import ASSUMPTIONS, MECHANISMS, replications

if TYPE_CHECKING:
    from research.workbench import Workbench

# the assumptions that hold under each mechanism
RIGHT = {"mcar": ASSUMPTIONS, "mar": ("mar",), "mnar": ("mnar",), "mediator and outcome": ()}
COLUMNS = (
    *("data", "deleted by", "assumption", "holds", "largest bias, in sd", "coverage, all arms"),
    *("coverage, best arm", "contradicted", "or warned of", "refused", "agrees"),
)


def section(bench: Workbench) -> list[str]:
    number = bench.size(250, 10)
    rows, verdicts = [], []
    for name in NAMES:
        for mechanism in MECHANISMS:
            found = bench.piece(
                replications, assumption_modules(*ASSUMPTIONS), name=name, mechanism=mechanism, number=number
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


def shares_of_verdicts(found: list[dict[str, Any]]) -> list[str]:
    """Clear about the best arm, clear about a wrong one, depends, and all others."""
    clear = np.array([one["verdict"] == "clear" for one in found])
    right = np.array([one["right"] for one in found])
    depends = np.array([one["verdict"] == "depends" for one in found])
    shares = (clear & right, clear & ~right, depends, ~clear & ~depends)
    return [plus_minus(float(share.mean()), standard_error(share), 3) for share in shares]


def row(name: str, mechanism: str, assumption: str, found: list[dict[str, Any]]) -> list[str]:
    """One assumption under one mechanism."""
    data = complete(name)
    holds = assumption in RIGHT[mechanism]
    kept = [one["assumptions"][assumption] for one in found if one["assumptions"][assumption] is not None]
    words = [name, mechanism, f"`{assumption}`", "yes" if holds else "no"]
    if not kept:
        return [*words, "-", "-", "-", "-", "-", "100%", "-"]
    errors = np.array([one["errors"] for one in kept]) / data.outcomes.std()
    arm = int(np.argmax(np.abs(errors.mean(axis=0))))
    held = np.array([one["held"] for one in kept], float)
    coverages = [(float(own.mean()), standard_error(own)) for own in (held.mean(axis=1), held[:, data.best])]
    return [
        *words,
        plus_minus(float(errors[:, arm].mean()), standard_error(errors[:, arm]), 3),
        *(plus_minus(*coverage, 3) for coverage in coverages),
        *(f"{np.mean([one[key] for one in kept]):.0%}" for key in ("contradicted", "flagged")),
        f"{1 - len(kept) / len(found):.0%}",
        yes(all(nominal(*coverage) for coverage in coverages)) if holds else "-",
    ]

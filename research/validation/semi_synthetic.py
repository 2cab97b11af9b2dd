"""Semi-synthetic truth: outcomes of complete real data are deleted by a known mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from research.markdown import plus_minus, standard_error, table, verdict, yes
from research.sources import assumption_modules
from research.validation.complete_data import NAMES, complete
from research.validation.coverage import nominal
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
    number = bench.size(400, 10)
    rows, wrong = [], []
    for name in NAMES:
        for mechanism in MECHANISMS:
            found = bench.piece(
                replications, assumption_modules(*ASSUMPTIONS), name=name, mechanism=mechanism, number=number
            )
            rows += [row(name, mechanism, assumption, found) for assumption in ASSUMPTIONS]
            clear = [one["wrong"] for one in found]
            wrong.append([name, mechanism, plus_minus(float(np.mean(clear)), standard_error(clear), 3)])
    return [
        "## Semi-synthetic truth: outcomes deleted from complete real data",
        f"Rows of a complete table are resampled {number} times, outcomes are deleted by a known mechanism, and the "
        "table is analysed; the truth is the mean of each arm in the complete table. "
        + " ".join(f"{name}: {about}." for name, about in NAMES.items()),
        "Deleted are 40% of the outcomes at random (`mcar`); by the mediator (`mar`); by the class of the outcome "
        "(`mnar`); or where mediator and outcome are both good. But for the first, the best arm loses 10% to 75%, the "
        "others 25% to 35%, good outcomes most, so that dropping rows is unfair to the best arm.",
        "Coverage is that of 95% intervals, over all arms and for the best arm, with its standard error. "
        "*Contradicted*: the share of tables in which a test of the assumption has p < .05 in some arm; `mar` has no "
        "test. *Or warned of*: or has a warning about ill-conditioned or infeasible equations or a flat likelihood. A "
        "row of an assumption that holds agrees if both coverages are at most .03 from the nominal .95, up to three "
        f"standard errors. {verdict([cells[-1] for cells in rows if cells[3] == 'yes'], 'rows')}",
        table(COLUMNS, rows),
        "How often all assumptions that are not contradicted name the same wrong arm, each with a probability of at "
        "least .95, so that an analyst would choose it:",
        table(("data", "deleted by", "wrong arm"), wrong),
        "What is left: outcomes that are missing because of mediator and outcome together. No assumption survives "
        "that, and the data need not show it: `mar` cannot be contradicted, and `mnar` only where the mediator has "
        "more levels than the outcome. Worst-case bounds need no assumption.",
    ]


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

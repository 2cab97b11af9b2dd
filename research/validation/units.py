"""Coverage of 95% intervals where a unit has several rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.figures import share, table
from research.markdown import standard_error, verdict, yes
from research.sources import assumption_modules
from research.validation.coverage import nominal
from research.validation.unit_intervals import SETTINGS, unit_samples

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.4  # of the replications, to confirm the figures
CASES = (
    (1, 200, 0.5),
    (10, 30, 0.5),
    (10, 100, 0.5),
    (10, 300, 0.5),
    (10, 100, 0.1),
)  # rows, units, correlation


def section(bench: Workbench) -> list[str]:
    replications = bench.runs(1000, 10)
    rows = []
    for name in SETTINGS:
        for each, units, correlation in CASES:
            held = bench.piece(
                unit_samples,
                assumption_modules(name),
                assumption=name,
                units=units,
                rows=each,
                correlation=correlation,
                replications=replications,
                first=bench.first,
            )
            plain, by_unit = np.transpose(held)  # the arms of a table are independent
            rows.append(
                [
                    f"`{name}`",
                    f"{each}",
                    f"{units}",
                    f"{correlation:g}",
                    share(plain),
                    share(by_unit),
                    yes(nominal(float(by_unit.mean()), standard_error(by_unit))),
                ]
            )
    return [
        "## Coverage of 95% intervals, several rows of a unit",
        f"{replications} replications of two arms. Mediator, outcome and whether it is observed are each "
        "correlated within a unit (on a normal scale), and the outcome is missing as the assumption says. "
        "Plain intervals treat rows as independent; intervals by unit are those of `truant analyze --unit`. "
        f"Standard error {np.sqrt(0.95 * 0.05 / (2 * replications)):.3f}. A row agrees if the coverage by "
        "unit is at most .03 from the nominal .95, with an allowance of three standard errors. "
        f"{verdict([row[-1] for row in rows], 'rows')}",
        table(
            ("assumption", "rows of a unit", "units in an arm", "correlation", "plain", "by unit", "agrees"),
            rows,
        ),
    ]

"""Coverage of adaptively weighted intervals and of the value of a mix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research import SEED
from research.figures import mean, table
from research.markdown import verdict, yes
from research.sources import assumption_modules
from research.validation.coverage import nominal
from research.validation.measures import share_with_error
from research.validation.weighted_logs import weighted_runs

if TYPE_CHECKING:
    from research.workbench import Workbench

CONFIRMED_SHARE = 0.2  # of the runs, to confirm the figures
CASES = (("clear", 1_000, 0.03), ("clear", 5_000, 0.005), ("equal", 1_000, 0.03), ("equal", 5_000, 0.005))
PARTS = {"best": "best arm", "others": "other arms", "mix": "mix"}


def section(bench: Workbench) -> list[str]:
    rows, answers = [], []
    runs = bench.runs(400, 6)
    for means, length, least in CASES:
        logs = bench.piece(
            weighted_runs,
            assumption_modules("mar"),
            means=means,
            rows=bench.size(length, 200),
            least=least,
            runs=runs,
            first=SEED + bench.first,
        )
        for method in ("plain", "weighted"):
            cells = []
            for part in PARTS:
                shares = [float(np.mean(log[key])) for log in logs if (key := f"{method} {part}") in log]
                # all but `others` are one interval in each log
                covered = mean(shares, 3) if part == "others" else share_with_error(shares)
                cells.append(covered)
                if method == "weighted":
                    answers.append(yes(nominal(covered.value, covered.error)))
            agrees = yes(all(one == yes(True) for one in answers[-3:])) if method == "weighted" else ""
            names = [means, f"{length:,}", f"{least:g}"] if method == "plain" else ["", "", ""]
            rows.append([*names, method, *cells, agrees])
    return [
        "## Coverage of adaptively weighted intervals",
        f"{runs} logs of an epsilon-greedy policy for each row, three arms, two mediator levels (outcomes "
        "are missing by level), analysed under `mar`: with plain intervals, and with the probabilities of "
        "the choices (`--probability`). The mix is the value of shares .5, .25 and .25 (`--value`). A row "
        "agrees if each figure is at most .03 from the nominal .95, with an allowance of three standard "
        f"errors. {verdict(answers, 'figures')}",
        table(("means", "rows", "least probability", "intervals", *PARTS.values(), "agrees"), rows),
    ]

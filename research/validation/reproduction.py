"""What becomes of the paper's claims: the reproduction's own summary."""

from __future__ import annotations

from typing import Any

from research.validation.keep import Study
from research.validation.page import table

import truant

RUNS = 120


def section(study: Study) -> list[str]:
    runs = study.size(RUNS, 2)
    summary = study.piece("reproduction", {"runs": runs}, lambda: summarised(study, runs))
    claims = [
        [f"`{figure['name']}`", claim["claim"], claim["verdict"], claim["figures"]]
        for figure in summary["figures"]
        for claim in figure["claims"]
    ]
    return [
        "## The paper's figures, again",
        f"What `truant reproduce --runs {runs}` says of the paper's claims. A verdict is computed from the runs: an "
        "order survives if the 95% interval of the paired difference says so, does not if it says the opposite, and "
        "depends if zero is in it or if cases of one claim disagree.",
        table(("figure", "claim", "verdict", "figures"), claims),
    ]


def summarised(study: Study, runs: int) -> dict[str, Any]:
    made = truant.reproduce(runs=runs, quick=study.quick, out=study.kept / "reproduction")
    return dict(made.summary)

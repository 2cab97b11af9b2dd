"""The reproduction's own summary beside the figures of another implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
from study.keep import EXPECTED, Study
from study.page import table, verdict, yes
from study.regret import FAR

import truant

RUNS = 120


def section(study: Study) -> list[str]:
    runs = study.size(RUNS, 2)
    summary = study.piece("reproduction", {"runs": runs}, lambda: summarised(study, runs))
    found = [row for curve in summary["curves"] if (row := compared(curve))]
    rows = list({(row[0], row[1]): row for row in found}.values())  # some curves are in two figures
    claims = [
        [f"`{figure['name']}`", claim["claim"], claim["verdict"], claim["figures"]]
        for figure in summary["figures"]
        for claim in figure["claims"]
    ]
    return [
        "## The paper's figures, again",
        f"`truant reproduce --runs {runs}`: its summary.json beside the final regret of another implementation, where "
        f"there is one, with the distance in standard errors. {verdict([row[-1] for row in rows], 'rows')}",
        table(("world", "policy", "regret", "expected", "distance, se", "agrees"), rows),
        "What becomes of the paper's claims:",
        table(("figure", "claim", "verdict", "figures"), claims),
    ]


def summarised(study: Study, runs: int) -> dict[str, Any]:
    made = truant.reproduce(runs=runs, quick=study.quick, out=study.kept / "reproduction")
    return dict(made.summary)


def compared(curve: dict[str, Any]) -> list[str] | None:
    """A row, if another implementation has this policy in this world at this size."""
    parameters = ",".join(f"{key}={value:g}" for key, value in curve["parameters"].items())
    names = {f"{curve['world']}:{parameters}" if parameters else curve["world"]}
    if curve["world"] == "confounded":
        names.add("confounded:K=5")  # its default
    for world in EXPECTED["world"]:
        if world["name"] in names:
            if curve["policy"] not in world["policies"] or curve["horizon"] != world.get("horizon", 100_000):
                continue
            expected, *known = world["policies"][curve["policy"]]
            mean, sd, runs = curve["regret_mean"], curve["regret_sd"], curve["runs"]
            theirs = (known[0] if known else sd) ** 2 / world["runs"]
            distance = (mean - expected) / np.sqrt(sd**2 / runs + theirs)
            return [
                world["name"],
                f"`{curve['policy']}`",
                f"{mean:,.0f} ± {sd:,.0f}",
                f"{expected:,}",
                f"{distance:+.1f}",
                yes(abs(distance) <= FAR),
            ]
    return None

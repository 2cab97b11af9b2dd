"""The claims of one of the paper's figures, judged by runs."""

from __future__ import annotations

import tempfile
from typing import Any

from research.reproduction.catalogue import FIGURES
from research.reproduction.run import reproduce


def claims_of(figure: str, runs: int, quick: bool, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Each claim with its verdict and the figures that decide it, and the regret of the policies it is about."""
    with tempfile.TemporaryDirectory() as folder:
        summary = reproduce([figure], runs=runs, quick=quick, seed=seed, out=folder).summary
    [made] = summary["figures"]
    policies = [(line.scene.spec, line.policy) for line in FIGURES[figure].claimed()]
    regret = [
        {"world": str(spec), "policy": policy, "mean": curve["regret_mean"], "sd": curve["regret_sd"]}
        for spec, policy in policies
        for curve in summary["curves"]
        if (curve["world"], curve["parameters"], curve["policy"]) == (spec.name, spec.parameters, policy)
    ]
    return {"claims": made["claims"], "regret": regret}

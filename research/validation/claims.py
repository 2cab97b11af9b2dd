"""The claims of one of the paper's figures, judged by runs."""

from __future__ import annotations

import tempfile
from typing import Any

from truant.reproduction.run import reproduce


def claims_of(figure: str, runs: int, quick: bool) -> list[dict[str, Any]]:
    """Each claim with its verdict and the figures that decide it."""
    with tempfile.TemporaryDirectory() as folder:
        [made] = reproduce(figure, runs=runs, quick=quick, out=folder).summary["figures"]
    claims: list[dict[str, Any]] = made["claims"]
    return claims

"""Many examples of one check, and how they ended."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from research.fuzz.commands import CHECKS
from research.fuzz.ends import Bug


def long_run(check: str, examples: int, start: int) -> dict[str, Any]:
    """How many examples were right, refused, and bugs (the first of them in words)."""
    function = next(each for each in CHECKS if each.__name__ == check)
    ends: dict[str, Any] = {"right": 0, "refused": 0, "bugs": []}

    @seed(start)
    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def run(data: DataObject) -> None:
        try:
            ends["right" if function(data).right else "refused"] += 1
        except Bug as bug:  # noted, so that one bug does not hide the others
            ends["bugs"].append(str(bug)[:500])

    run()
    return ends

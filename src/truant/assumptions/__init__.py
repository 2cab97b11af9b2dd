"""Why outcomes are missing: one file per assumption, each turns an arm's counts into an estimate."""

from collections.abc import Iterable

from truant.assumptions.assumption import Advice, Assumption, Curve, Estimate, Inquiry, Reading
from truant.assumptions.evidence import ArmTables, ChiSquare, Concern, LateComparison, NoTest, SameAs

REFERENCE = "mar"  # of several assumptions the one that is taken first, where it can be used


def named_after(world: str, known: Iterable[str]) -> str:
    """The assumption among those known that a world is named after; `REFERENCE` for others."""
    return max((name for name in known if f"{world}-".startswith(f"{name}-")), key=len, default=REFERENCE)


__all__ = [
    "REFERENCE",
    "Advice",
    "ArmTables",
    "Assumption",
    "ChiSquare",
    "Concern",
    "Curve",
    "Estimate",
    "Inquiry",
    "LateComparison",
    "NoTest",
    "Reading",
    "SameAs",
    "named_after",
]

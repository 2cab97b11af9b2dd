"""Why outcomes are missing: one file per assumption, each turns an arm's counts into an estimate."""

from truant.assumptions.arm_tables import ArmTables
from truant.assumptions.assumption import Assumption, Curve, Estimate, Reading
from truant.assumptions.evidence import ChiSquare, Concern, NoTest, SameAs

__all__ = [
    "ArmTables",
    "Assumption",
    "ChiSquare",
    "Concern",
    "Curve",
    "Estimate",
    "NoTest",
    "Reading",
    "SameAs",
]

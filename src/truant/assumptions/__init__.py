"""Why outcomes are missing: one file per assumption, each turns an arm's counts into an estimate."""

from truant.assumptions.assumption import Assumption, Curve, Estimate

__all__ = ["Assumption", "Curve", "Estimate"]

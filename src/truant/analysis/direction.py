"""The direction of the outcome: arms are ranked on reflected values where less is better, and reported on their own.

Everything that ranks arms (winner, probability of being best, expected loss, tipping point) knows only "more is
better". `Direction` is the one place that reflects what goes into it, and what comes out of it in outcome units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from truant.analysis.estimates import Belief
from truant.assumptions import Estimate
from truant.counts import Counts
from truant.setting import Setting


@dataclass(frozen=True)
class Direction:
    """Whether the lowest value is the best."""

    minimize: bool

    def counts(self, counts: Counts) -> Counts:
        """The counts with more being better."""
        return counts.reflected() if self.minimize else counts

    def setting(self, setting: Setting) -> Setting:
        """The setting with more being better."""
        return setting.maximizing()

    def belief(self, belief: Belief) -> Belief:
        """What an assumption makes of all arms, with more being better."""
        if not self.minimize:
            return belief
        return replace(belief, estimates=tuple(_reflected(estimate) for estimate in belief.estimates))

    def value(self, value: float) -> float:
        """A value as ranked, of one in outcome units, and the other way round."""
        return -value if self.minimize else value

    def curve(self, points: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
        """A tipping curve in outcome units."""
        if not self.minimize:
            return list(points)
        return [
            {
                "shift": point["shift"],
                "value": -point["value"],
                "low": -point["high"],
                "high": -point["low"],
                "runner_up": -point["runner_up"],
            }
            for point in points
        ]


def _reflected(estimate: Estimate) -> Estimate:
    """The estimate of -E[Y]."""
    return Estimate(-estimate.mean, lambda z: -estimate.at(-z))

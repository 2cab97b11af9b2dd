"""How figures are written: outcomes, differences, lists of names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from truant.analysis.analysis import Analysis, Interval
from truant.analysis.differences import Difference, Lift
from truant.analysis.shares import UNKNOWN

MOST_DECIMALS = 6


@dataclass(frozen=True)
class Figures:
    """How outcomes are written: to two figures of a typical standard error, so that 0.594 ± 0.029 and 335.1 ± 5.8."""

    decimals: int

    @classmethod
    def of(cls, analysis: Analysis) -> Figures:
        """As many decimals as these estimates deserve."""
        errors = [e.standard_error for arm in analysis.arms for e in arm.estimates.values()]
        errors = errors or [(arm.naive.high - arm.naive.low) / 4 for arm in analysis.arms if arm.naive]
        known = [error for error in errors if math.isfinite(error) and error > 0]
        typical = float(np.median(known)) if known else analysis.outcome_sd
        return cls(max(0, 1 - math.floor(math.log10(typical))) if typical > 0 else 3)

    def number(self, value: float | None, sign: bool = False) -> str:
        """An outcome; a dash for what is not known."""
        if value is None or not math.isfinite(value):
            return UNKNOWN
        plus = "+" if sign else ""
        if self.decimals > MOST_DECIMALS:
            return f"{value:{plus}.3g}"
        text = f"{value:{plus},.{self.decimals}f}"
        return text.lstrip("+-") if value and not float(text.replace(",", "")) else text  # 0.000, not -0.000

    def limits(self, interval: Interval | Difference, sign: bool = False) -> str:
        """[low, high]; a dash where neither is known."""
        if not math.isfinite(interval.low) and not math.isfinite(interval.high):
            return UNKNOWN
        return f"[{self.number(interval.low, sign)}, {self.number(interval.high, sign)}]"

    def with_limits(self, interval: Interval | Difference | None, sign: bool = False) -> str:
        """Mean [low, high]; a dash for what is not known."""
        if interval is None:
            return UNKNOWN
        return f"{self.number(interval.mean, sign)} {self.limits(interval, sign)}"


def signed_percent(share: float) -> str:
    """A change with one decimal and its sign: +3.2%."""
    return f"{share:+,.1%}"


def lift_text(lift: Lift | None) -> str:
    """A relative change with its limits; a dash for what is not known."""
    if lift is None:
        return UNKNOWN
    return f"{signed_percent(lift.mean)} [{signed_percent(lift.low)}, {signed_percent(lift.high)}]"


def listed(names: Iterable[str]) -> str:
    """A, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

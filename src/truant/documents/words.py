"""The words that documents share: figures, shares, names, and which arms come first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from truant.analysis import Analysis
from truant.analysis.analysis import Arm, Interval
from truant.documents.blocks import Tagged
from truant.errors import named
from truant.estimates.differences import Difference, Lift

UNKNOWN = "–"
MOST_DECIMALS = 6
MOST_ARMS = 12  # in a table of the terminal, and drawn with all their estimates


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


def number(value: float | None, sign: bool = False) -> str:
    """Three figures below 100, whole with thousands separators above; a dash for what is not known."""
    if value is None or value != value:
        return UNKNOWN
    plus = "+" if sign else ""
    return f"{value:{plus},.0f}" if abs(value) >= 100 else f"{value:{plus}.3g}"


def percent(share: float | None) -> str:
    """A share with one decimal: 38.8%."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def chance(probability: float) -> str:
    """A probability with one decimal, which never claims certainty: >99.9%."""
    if 0 <= probability < 0.0005:
        return "<0.1%"
    return ">99.9%" if probability > 0.9995 else percent(probability)


def p_value(value: float) -> str:
    """0.034, but < 0.001 for what is smaller; a dash for what is not known."""
    if math.isnan(value):
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def signed_percent(share: float) -> str:
    """A change with one decimal and its sign: +3.2%."""
    return f"{share:+,.1%}"


def lift_text(lift: Lift | None) -> str:
    """A relative change with its limits; a dash for what is not known."""
    if lift is None:
        return UNKNOWN
    return f"{signed_percent(lift.mean)} [{signed_percent(lift.low)}, {signed_percent(lift.high)}]"


def level_text(level: float) -> str:
    """A level as a percentage: 95%."""
    return f"{100 * level:.4g}%"


def listed(names: Iterable[str]) -> str:
    """A, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def in_minutes(moment: str) -> str:
    """A moment of JSON in a heading: 2026-11-23 07:00 UTC."""
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def in_words(moment: str) -> str:
    """A moment of JSON in a sentence: Monday 23 November 2026, 07:00 UTC."""
    when = datetime.fromisoformat(moment)
    return f"{when:%A} {when.day} {when:%B %Y, %H:%M} UTC"


def arms_text(arms: Sequence[str]) -> str:
    """Arm 'a'; arms 'a' and 'b'."""
    return f"{'arm' if len(arms) == 1 else 'arms'} {listed(map(named, arms))}"


def rounded(guess: int) -> int:
    """To two digits: it is a guess."""
    digits = max(len(str(guess)) - 2, 0)
    return round(guess, -digits)


def by_code(warnings: Sequence[Tagged]) -> dict[str, list[Tagged]]:
    """Warnings of one kind together, in the order of their first."""
    kinds: dict[str, list[Tagged]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    return kinds


def missing_share(analysis: Analysis) -> float:
    """Share of all rows whose outcome is missing."""
    pulls = sum(arm.pulls for arm in analysis.arms)
    return 1 - sum(arm.observed for arm in analysis.arms) / pulls if pulls else 0.0


def leading_arms(analysis: Analysis, most: int) -> list[Arm]:
    """At most so many arms, best value first, the winner of every assumption and the control among them."""
    wanted = {*analysis.winner.values(), analysis.control}
    order = analysis.sorted_arms
    if len(order) <= most:
        return order
    first = [arm for arm in order if arm.arm in wanted][:most]
    others = [arm for arm in order if arm not in first][: most - len(first)]
    return [arm for arm in order if arm in first or arm in others]


def same_as_naive(analysis: Analysis) -> bool:
    """Whether `mcar` is in use and has the numbers of the naive mean in every arm."""
    for arm in analysis.arms:
        mcar = arm.estimates.get("mcar")
        if mcar is None or arm.naive is None:
            return False
        pairs = [(getattr(mcar, name), getattr(arm.naive, name)) for name in ("mean", "low", "high")]
        if any(one != other and not (one != one and other != other) for one, other in pairs):
            return False
    return True


def shown_names(analysis: Analysis) -> list[str]:
    """The columns of an analysis: its assumptions, and the naive mean where it is no other's."""
    return [*([] if same_as_naive(analysis) else ["naive"]), *analysis.assumptions]


def left_out_sentence(arms: int, most: int, where: str) -> str:
    """How many arms of a table are not shown, and what has them."""
    if arms <= most:
        return ""
    more = "1 more arm is" if arms - most == 1 else f"{arms - most:,} more arms are"
    return f"{more} not shown; {where}."

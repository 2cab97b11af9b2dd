"""An analysis in plain words and figures, for pages and terminals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truant.analysis.analysis import Analysis, Arm, Interval
from truant.analysis.diagnosis import Warning
from truant.analysis.differences import Difference
from truant.analysis.direction import Direction
from truant.analysis.sensitivity import Tipping

UNKNOWN = "–"
MOST_DECIMALS = 6
SETTLED = 0.9  # probability of being best below which a winner is not called settled
FEW = 10  # pulls of a cell below which its missing share says little


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
        """[low, high]."""
        return f"[{self.number(interval.low, sign)}, {self.number(interval.high, sign)}]"

    def with_limits(self, interval: Interval | Difference | None, sign: bool = False) -> str:
        """Mean [low, high]; a dash for what is not known."""
        if interval is None:
            return UNKNOWN
        return f"{self.number(interval.mean, sign)} {self.limits(interval, sign)}"


def percent(share: float | None) -> str:
    """A share with one decimal: 38.8%."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def p_value(value: float) -> str:
    """0.034, but < 0.001 for what is smaller."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def listed(names: Iterable[str]) -> str:
    """A, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def missing_share(analysis: Analysis) -> float:
    """Share of all pulls whose outcome is missing."""
    pulls = sum(arm.pulls for arm in analysis.arms)
    return 1 - sum(arm.observed for arm in analysis.arms) / pulls if pulls else 0.0


def best_end(analysis: Analysis) -> str:
    """Which end of the values is the best: "highest" or "lowest"."""
    return "lowest" if analysis.minimize else "highest"


def direction_sentence(analysis: Analysis) -> str:
    """Said on top where the lowest value is the best; empty where the highest is."""
    return "lower is better" if analysis.minimize else ""


def verdict(analysis: Analysis) -> str:
    """One sentence: which arm is best, and whether that depends on why outcomes are missing."""
    winners = {name: analysis.winner[name] for name in analysis.assumptions}
    naive = analysis.winner.get("naive")
    if not winners:
        also = f" Among the observed outcomes, {naive} has the {best_end(analysis)} mean." if naive else ""
        return f"No assumption can be used on these data, so that no arm can be named the best.{also}"
    if len(analysis.arms) == 1:
        return f"There is one arm only, {naive or analysis.arms[0].arm}: nothing to choose between."
    if len(set(winners.values())) > 1:
        return f"The winner depends on why outcomes are missing: {_sides(winners)}."
    best = next(iter(winners.values()))
    who = "All assumptions name" if len(winners) > 1 else f"The assumption {next(iter(winners))} names"
    if naive not in (None, best):
        return f"{who} {best} the best arm; leaving the missing outcomes out would have named {naive}."
    return f"{who} {best} the best arm."


def _sides(winners: dict[str, str]) -> str:
    """'mcar and mar name A, mnar names B'."""
    parts = []
    for arm in dict.fromkeys(winners.values()):
        names = [name for name, winner in winners.items() if winner == arm]
        parts.append(f"{listed(names)} {'names' if len(names) == 1 else 'name'} {arm}")
    return "; ".join(parts)


def certainty(analysis: Analysis, figures: Figures) -> str:
    """How sure the winners are to be the best, and what settling for them now may cost; empty without a contest."""
    if len(analysis.arms) < 2 or not analysis.assumptions:
        return ""
    arms = {arm.arm: arm for arm in analysis.arms}
    sure = [arms[analysis.winner[name]].estimates[name].probability_best for name in analysis.assumptions]
    low, high = percent(min(sure)), percent(max(sure))
    chance = low if low == high else f"{low} to {high}"
    start = "Not settled yet: the" if min(sure) < SETTLED else "The"
    by = "" if len(sure) == 1 else ", by assumption" if low != high else " under every assumption"
    cost = _cost(max(analysis.expected_loss[name] for name in analysis.assumptions), figures)
    return (
        f"{start} probability that the winner is truly the best is {chance}{by}; settling for it now loses "
        f"{cost} on average against the arm that is."
    )


def _cost(loss: float, figures: Figures) -> str:
    finer = Figures(figures.decimals + 1)
    least = 10.0**-finer.decimals
    return f"less than {finer.number(least)}" if loss < least else f"at most {finer.number(loss)}"


def tipping_sentence(tip: Tipping, figures: Figures) -> str:
    """How wrong an assumption must be about missing outcomes for another arm to be best."""
    if tip.gap == 0:
        return f"{tip.winner} and {tip.runner_up} are equal under {tip.assumption}."
    down = _shift(tip.shift, tip.shift_in_sd, f"worse than {tip.assumption} says", figures)
    up = _shift(tip.runner_up_shift, tip.runner_up_shift_in_sd, "better", figures)
    theirs = f"those of the runner-up {tip.runner_up}"
    if tip.shift is None and tip.runner_up_shift is None:
        return (
            f"No outcome of {tip.winner} or of the runner-up {tip.runner_up} is missing: it stays the best."
        )
    if tip.shift is None:
        first = f"No outcome of {tip.winner} is missing"
    elif tip.possible is False:
        first = (
            f"{tip.winner} stays the best whatever its missing outcomes were: {down} on average cannot happen"
        )
    else:
        first = f"{tip.winner} stays the best unless its missing outcomes were on average {down}"
    if tip.runner_up_shift is None:
        return f"{first}. No outcome of the runner-up {tip.runner_up} is missing."
    if tip.runner_up_possible is False:
        return f"{first}. That {theirs} were {up} cannot happen."
    if tip.shift is None or tip.possible is False:
        return f"{first}. It stays the best unless {theirs} were on average {up} than {tip.assumption} says."
    return f"{first}, or {theirs} {up}."


def _shift(shift: float | None, in_sd: float | None, direction: str, figures: Figures) -> str:
    if shift is None:
        return ""
    return f"{figures.number(shift)} {direction}" + (f" ({in_sd:.2f} sd)" if in_sd is not None else "")


def missing_sentence(analysis: Analysis) -> str:
    """Where most is missing and where least."""
    cells = [cell for cell in analysis.missing if cell["pulls"] >= FEW]
    cells = cells or [cell for cell in analysis.missing if cell["pulls"]]
    share = missing_share(analysis)
    if not share:
        return "No outcome is missing."
    start = f"{percent(share)} of all outcomes are missing"
    most = max(cells, key=lambda cell: cell["missing_share"])
    least = min(cells, key=lambda cell: cell["missing_share"])
    if percent(most["missing_share"]) == percent(least["missing_share"]):
        return f"{start}, as many in every arm and at every level of the mediator."
    levels = len(dict.fromkeys(cell["mediator"] for cell in cells)) > 1
    return f"{start}: most {_where(most, levels)}, fewest {_where(least, levels)}."


def _where(cell: dict[str, Any], levels: bool) -> str:
    place = f" with mediator {cell['mediator']}" if levels else ""
    return f"in arm {cell['arm']}{place} ({percent(cell['missing_share'])})"


def course_sentence(analysis: Analysis) -> str:
    """How time was divided; empty if it was not asked for."""
    course = analysis.over_time
    if course is None:
        return ""
    left_out = f" {course.left_out:,} rows without a time are left out." if course.left_out else ""
    return f"By {course.column}: each dot is a period of {course.length}, drawn where it starts.{left_out}"


def chances_sentence(groups: int) -> str:
    """What looking at several groups does to the error of naming a winner."""
    if groups < 2:
        return ""
    return (
        f"{groups} groups are {groups} chances of a false winner: intervals and probabilities are those of each group "
        "alone, and the most striking of them may be luck."
    )


def group_rows(analyses: Mapping[str, Analysis]) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """The columns of a table of groups, and for each group its cells: a text, and what stands small beside it.

    These are label, rows, missing share, the winner of each assumption with its probability, and whether all agree.
    """
    names = list(dict.fromkeys(n for analysis in analyses.values() for n in ("naive", *analysis.assumptions)))
    rows = []
    for label, analysis in analyses.items():
        pulls = f"{sum(arm.pulls for arm in analysis.arms):,}"
        winners = [_winner(analysis, name) for name in names]
        agreed = "yes" if analysis.agree else "no"
        rows.append(
            [(label, ""), (pulls, ""), (percent(missing_share(analysis)), ""), *winners, (agreed, "")]
        )
    return ["rows", "missing", *names, "all agree"], rows


def _winner(analysis: Analysis, name: str) -> tuple[str, str]:
    winner = analysis.winner.get(name, UNKNOWN)
    sure = [
        arm.estimates[name].probability_best
        for arm in analysis.arms
        if arm.arm == winner and name in arm.estimates
    ]
    return winner, percent(sure[0]) if sure else ""


def by_code(warnings: Sequence[Warning]) -> dict[str, list[Warning]]:
    """Warnings of one kind together, in the order of their first."""
    kinds: dict[str, list[Warning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    return kinds


def leading_arms(analysis: Analysis, most: int) -> list[Arm]:
    """At most so many arms, those with the best value under any assumption, in their own order."""
    if len(analysis.arms) <= most:
        return list(analysis.arms)
    direction = Direction(analysis.minimize)

    def height(arm: Arm) -> float:
        means = [estimate.mean for estimate in arm.estimates.values()]
        means = means or ([arm.naive.mean] if arm.naive else [])
        return max((direction.value(mean) for mean in means), default=-math.inf)

    kept = sorted(analysis.arms, key=height, reverse=True)[:most]
    return [arm for arm in analysis.arms if arm in kept]

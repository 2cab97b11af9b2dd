"""What the rows are: direction of the outcome, what is missing where, periods, and which arms to show first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truant.analysis.analysis import Analysis, Arm
from truant.analysis.diagnosis import Warning
from truant.analysis.shares import percent
from truant.analysis.words.figures import listed
from truant.text import named, visible

FEW = 10  # rows of a cell below which its missing share says little
TURNED_ROUND = " (if lower is: --minimize, in Python minimize=True)"


def missing_share(analysis: Analysis) -> float:
    """Share of all rows whose outcome is missing."""
    pulls = sum(arm.pulls for arm in analysis.arms)
    return 1 - sum(arm.observed for arm in analysis.arms) / pulls if pulls else 0.0


def best_end(analysis: Analysis) -> str:
    """Which end of the values is the best: "highest" or "lowest"."""
    return "lowest" if analysis.minimize else "highest"


def direction_sentence(analysis: Analysis) -> str:
    """Which way is better, for the top of every report."""
    way = "lower" if analysis.minimize else "higher"
    return f"{way} {named(analysis.labels.outcome)} is better"


def direction_with_option(analysis: Analysis) -> str:
    """The same with the option that turns it round, where the reader can still set it."""
    return f"{direction_sentence(analysis)}{'' if analysis.minimize else TURNED_ROUND}"


def drawn_sentence(analysis: Analysis, drawn: int) -> str:
    """Which arms a chart has, where it has not all."""
    if drawn >= len(analysis.arms):
        return ""
    others = (
        "each assumption's winner, the control"
        if analysis.control is not None
        else "each assumption's winner"
    )
    return f"{drawn} of {len(analysis.arms):,} arms are drawn: {others} and those with the {best_end(analysis)} means."


def undrawn_sentence(arms: Sequence[Arm]) -> str:
    """Which arms a chart of estimates cannot show."""
    without = [named(arm.arm) for arm in arms if arm.naive is None and not arm.estimates]
    return f"No estimate, since no outcome was observed: {listed(without)}." if without else ""


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
        levels = " and at every mediator level" if len(analysis.labels.mediators) > 1 else ""
        return f"{start}, the same share in every arm{levels}."
    return f"{start}: most {_where(most, analysis)}, fewest {_where(least, analysis)}."


def _where(cell: Mapping[str, Any], analysis: Analysis) -> str:
    place = f" with {cell['place']}" if len(analysis.labels.mediators) > 1 else ""
    return f"in arm {named(cell['arm'])}{place} ({percent(cell['missing_share'])})"


def course_sentence(analysis: Analysis) -> str:
    """How time was divided; empty if it was not asked for."""
    course = analysis.over_time
    if course is None:
        return ""
    left_out = f" {course.left_out:,} rows without a time are left out." if course.left_out else ""
    return f"By {visible(course.column)}: each dot is a period of {course.length}, drawn where it starts.{left_out}"


def by_code(warnings: Sequence[Warning]) -> dict[str, list[Warning]]:
    """Warnings of one kind together, in the order of their first."""
    kinds: dict[str, list[Warning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    return kinds


def leading_arms(analysis: Analysis, most: int) -> list[Arm]:
    """At most so many arms, best value first, the winner of every assumption and the control among them."""
    wanted = {*analysis.winner.values(), analysis.control}
    order = analysis.sorted_arms
    if len(order) <= most:
        return order
    first = [arm for arm in order if arm.arm in wanted][:most]
    others = [arm for arm in order if arm not in first][: most - len(first)]
    return [arm for arm in order if arm in first or arm in others]

"""An arm's counts as cells that were seen at once or missing at first, for the estimate of `follow-up`.

Notation, for mediator level m: n1 outcomes seen at once with mean r1, N0 missing at first, n0 of them answered when
followed up, with mean r0. The estimate is sum_m (n1 r1 + N0 r0)/N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truant.assumptions.cells import Cells, moments_within
from truant.assumptions.evidence import Concern
from truant.counts import OBSERVED, PULLS, Counts
from truant.errors import NotIdentified
from truant.setting import FloatArray, Setting

THIN = 5  # answers in a mediator level, below which it borrows from the others


class Group(NamedTuple):
    """Some cells: how many pulls they stand for, and their outcomes (number, mean, squares and cubes about it)."""

    pulls: FloatArray
    outcomes: FloatArray
    means: FloatArray
    squares: FloatArray
    cubes: FloatArray


def cells_of(counts: Counts, arm: int, setting: Setting, ignore_failures: bool) -> Cells:
    """Cells of outcomes seen at once, of those missing at first, and (unless ignored) of follow-ups that failed.

    Levels with fewer than THIN answers are one cell, see `_together`. A level of which some follow-ups failed stands
    for as many failures among all its missing outcomes; these have a cell without any outcome.
    """
    table, block = counts.real_row(arm), counts.followed_up_row(arm)
    missing = table[:, PULLS] - table[:, OBSERVED]
    _need_answers(missing, block, arm)
    seen, later = moments_within(table), _with_spread(moments_within(block), table)
    thin = _thin(missing, later[0])
    own = (missing > 0) & ~thin
    groups = [
        Group(table[:, OBSERVED], *seen),
        Group(missing[own], *(column[own] for column in later)),
    ]
    failing = [_failing(block[own])]
    if thin.any():
        ends = (setting.low - counts.centre, setting.high - counts.centre) if setting.outcomes == 2 else None
        groups.append(_together(missing[thin], _rows(seen, thin), _rows(later, thin), ends))
        failing.append(_failing(block[thin].sum(axis=0, keepdims=True)))
    if not ignore_failures and any(shares.any() for shares in failing):
        _need_range(counts, arm, setting)
        failed = sum(float(group.pulls @ shares) for group, shares in zip(groups[1:], failing, strict=True))
        kept = [
            group._replace(pulls=group.pulls * (1 - shares))
            for group, shares in zip(groups[1:], failing, strict=True)
        ]
        nothing = np.zeros(1)
        groups = [groups[0], *kept, Group(np.array([failed]), nothing, np.array([np.nan]), nothing, nothing)]
    pulls, n, means, squares, cubes = (np.concatenate(columns) for columns in zip(*groups, strict=True))
    return Cells("follow-up", arm, pulls, n, counts.centre + means, squares, cubes, setting)


def failure_concern(failed: int, asked: int, failures: str) -> Concern:
    """What follow-ups that failed mean for the interval."""
    if failures == "ignorable":
        text = (
            f"In {{arm}}, {failed:,} of {asked:,} follow-ups brought no outcome; as stated, they are taken to be like "
            "the others, which the data cannot test."
        )
        return Concern("failed-follow-ups", text, failed / asked, rank=1)
    text = (
        f"In {{arm}}, {failed:,} of {asked:,} follow-ups brought no outcome: under {{assumption}} such outcomes may be "
        "anywhere in the range, which widens the interval; if they failed for reasons unrelated to the outcome, say "
        "so: --failed-follow-ups ignorable."
    )
    return Concern("failed-follow-ups", text, failed / asked, rank=1)


def equal_answers_concern(block: FloatArray, setting: Setting) -> list[Concern]:
    """Answers that are all equal tell nothing of how much missing outcomes vary; of two levels, the mean tells it."""
    answers = block[:, OBSERVED].sum()
    together = block.sum(axis=0, keepdims=True)
    if setting.outcomes == 2 or answers < 2 or moments_within(together)[2][0] > 0:
        return []
    text = (
        f"In {{arm}}, all {answers:,.0f} outcomes that follow-ups brought are equal, so they do not tell how much its "
        "missing outcomes vary; the interval takes them to vary as much as the observed ones: follow up more."
    )
    return [Concern("thin-cell", text, float(answers))]


def _with_spread(later: tuple[FloatArray, ...], table: FloatArray) -> tuple[FloatArray, ...]:
    """Answers of a level that are all equal have the variance of all outcomes seen at once, not none."""
    n0, means, squares, cubes = later
    n, _, spread, _ = moments_within(table.sum(axis=0, keepdims=True))
    variance = float(spread[0] / (n[0] - 1)) if n[0] > 1 else 0.0
    alike = (n0 > 0) & (squares == 0)
    return n0, means, np.where(alike, np.maximum(n0 - 1, 0.0) * variance, squares), cubes


def _need_answers(missing: FloatArray, block: FloatArray, arm: int) -> None:
    if missing.sum() == 0 or block[:, OBSERVED].sum() > 0:
        return
    what = "was followed up" if block[:, PULLS].sum() == 0 else "was obtained by follow-up"
    raise NotIdentified(
        f"none of the {missing.sum():,.0f} missing outcomes of {{arm}} {what}.",
        arm=arm,
        assumption="follow-up",
    )


def _need_range(counts: Counts, arm: int, setting: Setting) -> None:
    if setting.range_known:
        return
    failed, asked = int(counts.follow_ups[arm] - counts.answered[arm]), int(counts.follow_ups[arm])
    raise NotIdentified(
        f"{failed:,} of {asked:,} follow-ups of {{arm}} brought no outcome; give the range of the outcome (--range "
        "LOW,HIGH, in Python range=(low, high)), or say that they failed for reasons unrelated to the outcome "
        '(--failed-follow-ups ignorable, in Python failed_follow_ups="ignorable").',
        arm=arm,
        assumption="follow-up",
    )


def _thin(missing: FloatArray, answered: FloatArray) -> npt.NDArray[np.bool_]:
    """Levels with missing outcomes that borrow; these have THIN answers together, if others can give them."""
    thin = (missing > 0) & (answered < THIN)
    others = np.flatnonzero((missing > 0) & ~thin)
    for m in others[np.argsort(answered[others], kind="stable")]:
        if not thin.any() or answered[thin].sum() >= THIN:
            break
        thin[m] = True
    return thin


def _failing(block: FloatArray) -> FloatArray:
    """Share of the follow-ups of each cell that failed."""
    asked = block[:, PULLS]
    return np.divide(asked - block[:, OBSERVED], asked, out=np.zeros_like(asked), where=asked > 0)


def _rows(moments: tuple[FloatArray, ...], some: npt.NDArray[np.bool_]) -> tuple[FloatArray, ...]:
    return tuple(column[some] for column in moments)


def _together(
    missing: FloatArray,
    seen: tuple[FloatArray, ...],
    later: tuple[FloatArray, ...],
    ends: tuple[float, float] | None,
) -> Group:
    """Levels as one cell: the mean of r1 over their missing outcomes, plus the mean of y - r1 over their answers.

    This is the difference estimator: right if the answers are a fair sample of these missing outcomes, however the
    levels differ, and efficient where r1 tells much of r0. A level without r1 has that of all levels together.
    """
    outcomes, r1 = seen[0], np.where(seen[0] > 0, seen[1], 0.0)
    overall = float(outcomes @ r1 / outcomes.sum()) if outcomes.sum() > 0 else 0.0
    r1 = np.where(outcomes > 0, r1, overall)
    n0, r0, squares, cubes = later
    away = np.where(n0 > 0, r0, 0.0) - r1
    total = n0.sum()
    shift = float(n0 @ away / total)
    apart = np.where(n0 > 0, away - shift, 0.0)  # of a level's answers from the common difference
    mean = float(missing @ r1 / missing.sum()) + shift
    if ends is not None:  # of an outcome with two levels, whose variance follows from the mean
        mean = min(max(mean, ends[0]), ends[1])
    together = (squares + n0 * apart**2).sum(), (cubes + 3 * apart * squares + n0 * apart**3).sum()
    # r1 has an error of its own, as far as answers and missing outcomes are spread differently over the levels
    weight = missing / missing.sum() - n0 / total
    noise = np.divide(seen[2], (outcomes - 1) * outcomes, out=np.zeros_like(r1), where=outcomes > 1)
    together = together[0] + float(weight**2 @ noise) * total * max(total - 1, 1.0), together[1]
    return Group(*(np.array([number]) for number in (missing.sum(), total, mean, *together)))

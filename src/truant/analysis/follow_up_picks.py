"""Which missing outcomes of a running experiment to follow up next: how many of each arm and mediator level.

The shares are those of a plan (`plan_allocation`): follow-ups go where they make the means of the arms that may be
best most precise. Within an arm and level all are alike, so that the caller picks at random, each with the probability
that stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from truant.analysis.direction import Direction
from truant.analysis.follow_up_plan import PlanOptions, Search
from truant.analysis.labels import Labels
from truant.analysis.plan_allocation import Whole, allocate, in_proportion
from truant.analysis.plan_cells import PlanCells, plan_cells
from truant.counts import Counts, needed_counts
from truant.errors import InvalidValue, NotIdentified
from truant.setting import FloatArray, Setting, whole_number


@dataclass(frozen=True, eq=False)
class FollowUpPicks:
    """How many missing outcomes to follow up, by arm and mediator level (the last: mediator missing).

    Parameters
    ----------
    numbers : to pick of each arm and level, shape (arms, K+1).
    available : to pick from, the same shape.
    remark : a sentence on why these are not the shares of a plan; None if they are.
    """

    numbers: Whole
    available: Whole
    remark: str | None = None

    @property
    def total(self) -> int:
        """How many are picked in all."""
        return int(self.numbers.sum())

    @property
    def probabilities(self) -> FloatArray:
        """With which each available outcome is picked; 0 where there is none."""
        return np.asarray(self.numbers / np.maximum(self.available, 1), np.float64)


def pick_follow_ups(
    counts: Counts,
    setting: Setting,
    labels: Labels,
    available: npt.ArrayLike,
    number: int,
    *,
    success: float = 1.0,
) -> FollowUpPicks:
    """How many of the available missing outcomes of each arm and level to follow up, `number` in all if there are.

    Parameters
    ----------
    counts, setting, labels : the settled counts, with the follow-ups that are known so far, and what they are about.
    available : missing outcomes that were never listed for a follow-up, shape (arms, K+1). Those that are neither
        available nor followed up in the counts are taken to be listed, with their answers still to come.
    number : of follow-ups.
    success : share of follow-ups that are answered.
    """
    needed_counts(counts).checked(setting)
    options = PlanOptions(success=success)
    open_ = _checked(available, counts, labels)
    total = min(whole_number("number", number, at_least=0), int(open_.sum()))
    direction = Direction(setting.minimize)
    try:
        cells = plan_cells(direction.counts(counts), direction.setting(setting))
    except NotIdentified as refused:
        arm = "An arm" if refused.arm is None else f"Arm {labels.arms[refused.arm]!r}"
        return _proportional(total, open_, f"{arm} has no observed outcome yet")
    if not cells.outcome_sd > 0:
        return _proportional(total, open_, "All observed outcomes are equal")
    return FollowUpPicks(_planned(cells, open_, total, options), open_)


def _proportional(total: int, open_: Whole, because: str) -> FollowUpPicks:
    """Shares for want of a plan: each missing outcome is picked with about the same probability."""
    numbers = in_proportion(total, open_.astype(np.float64).ravel()).reshape(open_.shape)
    remark = (
        f"{because}, so follow-ups cannot be planned: they are shared out in proportion to what is missing."
    )
    return FollowUpPicks(numbers, open_, remark)


def _planned(cells: PlanCells, open_: Whole, total: int, options: PlanOptions) -> Whole:
    """The shares of a plan that counts on the answers of those that are listed already."""
    importance = Search(cells, options).importance if len(open_) > 1 else np.ones(1)
    listed = cells.available - open_
    expected = replace(cells, asked=cells.asked + listed, answered=cells.answered + options.success * listed)
    return allocate(expected, total, importance, options.success)


def _checked(available: npt.ArrayLike, counts: Counts, labels: Labels) -> Whole:
    """Whole numbers of missing outcomes, no more than the counts have; or raises InvalidValue."""
    given = np.asarray(available)
    most = (counts.missing_by_cell() - counts.follow_ups_by_cell()).astype(np.int64)
    if given.shape != most.shape or given.dtype.kind not in "iu":
        raise InvalidValue(
            f"available must be whole numbers of shape {most.shape}, got {given.dtype} of shape {given.shape}."
        )
    for arm, level in np.argwhere((given < 0) | (given > most)):
        raise InvalidValue(
            f"available must be between 0 and the missing outcomes that were not followed up, {most[arm, level]:,} of "
            f"arm {labels.arms[arm]!r} at {labels.mediator(int(level))}, got {given[arm, level]:,}."
        )
    return given.astype(np.int64)

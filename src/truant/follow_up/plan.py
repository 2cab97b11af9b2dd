"""How many missing outcomes to follow up until the best arm is clear, and from where.

The follow-up estimate is right whatever the reason for missingness. How likely it names a clear leader is not known
before the first call: it is computed in two scenarios, and a plan must reach the chance in both.

Which missing outcomes of a running experiment to follow up next: how many of each arm and mediator level.

The shares are those of a plan (`plan_allocation`): follow-ups go where they make the means of the arms that may be
best most precise. Within an arm and level all are alike, so that the caller picks at random, each with the probability
that stands here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from truant.assumptions.follow_up import FOLLOW_UP
from truant.counts import Counts, needed_counts
from truant.errors import InvalidValue, NotIdentified, named
from truant.estimates.beliefs import Direction, Labels, beliefs
from truant.estimates.differences import best_by_bounds, worst_case
from truant.estimates.ranking import ranking
from truant.follow_up.assurance import (
    LEAST_ANSWERS,
    Draws,
    Whole,
    allocate,
    arm_means,
    clear_probability,
    in_proportion,
    least_follow_ups,
    missing_means,
    simulated_moments,
)
from truant.follow_up.cells import ArmMoments, PlanCells, plan_cells
from truant.follow_up.records import Kind, PlannedCell
from truant.follow_up.result import WORST_CASE, Plan, PlanOptions, PlanPoint
from truant.setting import FloatArray, Setting, whole_number

ALIKE, DIFFER = "alike", "differ"
SCENARIOS = (ALIKE, DIFFER)
CURVE_POINTS = 16
PRECISION = 0.01  # of the number of follow-ups


def plan_counts(counts: Counts, setting: Setting, labels: Labels, options: PlanOptions | None = None) -> Plan:
    """The plan for these counts; or raises InvalidValue or NotIdentified where there is nothing to plan."""
    options = options or PlanOptions()
    if setting.arms < 2:
        raise InvalidValue(
            f"There is only one arm, {named(labels.arms[0])}: a plan compares arms; add another to the table."
        )
    available = int((counts.missing_by_cell() - counts.follow_ups_by_cell()).sum())
    if available == 0:
        left = " that was not followed up" if counts.followed_up is not None else ""
        raise InvalidValue(
            f"No outcome is missing in {named(labels.outcome)}{left}: there is nothing to follow up."
        )
    if options.budget is not None and options.budget > available:
        raise InvalidValue(
            f"budget must be at most the number of missing outcomes that can be followed up, {available:,}, got "
            f"{options.budget:,}."
        )
    _need_range(counts, setting, options)
    direction = Direction(setting.minimize)
    cells = plan_cells(direction.counts(counts), direction.setting(setting))
    search = Search(cells, options)
    leader = _leader_already(counts, setting, labels, options)
    if leader is not None and options.budget is None:
        return _planned(setting.minimize, search, labels, "settled", 0, search.point(0, 1.0), leader)
    needed = search.needed()
    kind: Kind = "settled" if leader is not None else "not-reached" if needed is None else "reached"
    number = options.budget if options.budget is not None else available if needed is None else needed
    return _planned(
        setting.minimize,
        search,
        labels,
        kind,
        0 if leader is not None else needed,
        search.point(number),
        leader,
    )


class Search:
    """Probabilities for numbers of follow-ups, each computed once."""

    def __init__(self, cells: PlanCells, options: PlanOptions) -> None:
        self.cells, self.options = cells, options
        self.draws = Draws.of(cells)
        if not cells.outcome_sd > 0:
            raise InvalidValue(
                "All observed outcomes of an arm are equal, so the number of follow-ups cannot be computed; "
                "follow up ten of each arm first, and plan again with --followed-up."
            )
        spread = options.differ * cells.outcome_sd
        self.missing = {
            name: missing_means(cells, self.draws, differ)
            for name, differ in zip(SCENARIOS, (0.0, spread), strict=True)
        }
        shares = [_among_two_best(arm_means(cells, found)) for found in self.missing.values()]
        self.importance: FloatArray = np.mean(shares, axis=0)
        self.least, self.most = int(least_follow_ups(cells, 1.0).sum()), int(cells.available.sum())
        self.points: dict[int, PlanPoint] = {}

    def allocation(self, number: int) -> Whole:
        """How many from which arm and level."""
        return allocate(self.cells, number, self.importance, self.options.success, self.options.chance)

    def answers(self, number: int) -> tuple[FloatArray, Whole | None]:
        """The answers to so many follow-ups in each simulation; and the follow-ups, if it matters that some fail."""
        calls = self.allocation(number)
        return self.draws.answers_to(calls, self.options.success), calls if self.worst_case else None

    @property
    def worst_case(self) -> bool:
        """Whether outcomes of failed follow-ups may have any value."""
        return self.options.failures == WORST_CASE

    def point(self, number: int, known: float | None = None) -> PlanPoint:
        """The probabilities of a number of follow-ups; `known` if they need not be computed."""
        if known is not None:
            return PlanPoint(number, dict.fromkeys(SCENARIOS, known))
        if number not in self.points:
            answers, calls = self.answers(number)
            few = number < self.least  # an analysis would call no winner clear
            chances = {
                name: 0.0
                if few
                else clear_probability(self.cells, self.draws, found, answers, self.options.level, calls)
                for name, found in self.missing.items()
            }
            self.points[number] = PlanPoint(number, chances)
        return self.points[number]

    def curve(self) -> tuple[PlanPoint, ...]:
        """Along the numbers of follow-ups, from few to all."""
        first = max(min(self.least, self.most), 1)
        numbers = np.unique(np.round(np.geomspace(first, self.most, CURVE_POINTS)).astype(int))
        return tuple(self.point(int(number)) for number in numbers)

    def needed(self) -> int | None:
        """The smallest number whose lower probability reaches the chance; None if there is none."""
        chance, low, high = self.options.chance, 0, None
        for point in self.curve():
            if point.lowest >= chance:
                high = point.follow_ups
                break
            low = point.follow_ups
        if high is None:
            return None
        while high - low > max(1, PRECISION * high):
            middle = (low + high) // 2
            low, high = (low, middle) if self.point(middle).lowest >= chance else (middle, high)
        return high

    def smallest_difference(self, number: int) -> float:
        """Between the two arms that matter most, that so many follow-ups make clear with the chance."""
        moments = self._moments(number)
        kept = 1.0 if moments.failed is None else 1 - moments.failed
        two = np.argsort(-self.importance, kind="stable")[:2]
        variance = np.broadcast_to(kept, moments.variance.shape) ** 2 * moments.variance
        error = math.sqrt(float(np.median(variance[:, two].sum(axis=1))))
        normal = NormalDist()
        return self.left_open(number) + error * (
            normal.inv_cdf(self.options.level) + normal.inv_cdf(self.options.chance)
        )

    def left_open(self, number: int) -> float:
        """The difference between these arms that the failed follow-ups leave open: the first down, the second up."""
        down, up = self._moments(number).widths(self.cells)
        first, second = np.argsort(-self.importance, kind="stable")[:2]
        return float(np.median(down[:, first] + up[:, second]))

    def _moments(self, number: int) -> ArmMoments:
        return simulated_moments(self.cells, self.draws, self.missing[ALIKE], *self.answers(number))


def _planned(
    minimize: bool,
    search: Search,
    labels: Labels,
    kind: Kind,
    needed: int | None,
    point: PlanPoint,
    leader: str | None,
) -> Plan:
    cells, numbers = search.cells, search.allocation(point.follow_ups)
    planned = tuple(
        PlannedCell(
            arm,
            labels.mediator(m),
            *(int(part[a, m]) for part in (cells.rows, cells.missing, cells.asked, numbers)),
        )
        for a, arm in enumerate(labels.arms)
        for m in range(cells.rows.shape[1])
        if m < len(labels.mediators) or cells.rows[a, m]
    )
    difference = search.smallest_difference(point.follow_ups) if point.follow_ups else None
    points = {one.follow_ups: one for one in (*search.curve(), point) if one.follow_ups}
    curve = tuple(points[number] for number in sorted(points))
    return Plan(
        kind,
        search.options,
        labels,
        needed,
        point,
        curve,
        planned,
        difference,
        cells.outcome_sd,
        leader,
        failed=int((cells.asked - cells.answered).sum()),
        left_open=search.left_open(point.follow_ups) if point.follow_ups else 0.0,
        minimize=minimize,
    )


def _among_two_best(means: FloatArray) -> FloatArray:
    """Of each arm, the share of simulations in which it is one of the two best."""
    order = np.argsort(-means, axis=1)[:, :2]
    return np.bincount(order.ravel(), minlength=means.shape[1]) / len(means)


def _need_range(counts: Counts, setting: Setting, options: PlanOptions) -> None:
    """The range must be known if follow-ups fail whose outcomes may have any value; or raises InvalidValue."""
    asked, answered = int(counts.follow_ups.sum()), int(counts.answered.sum())
    if options.failures != WORST_CASE or setting.range_known or (asked == answered and options.success == 1):
        return
    which = (
        f"{asked - answered:,} of {asked:,} follow-ups brought no outcome"
        if asked > answered
        else f"{1 - options.success:.3g} of the follow-ups are expected to fail"
    )
    raise InvalidValue(
        f"{which}; give the range of the outcome (--range LOW,HIGH, in Python range=(low, high)), or say that they "
        "fail for reasons unrelated to the outcome (--failed-follow-ups ignorable, in Python "
        'failed_follow_ups="ignorable").'
    )


def _leader_already(counts: Counts, setting: Setting, labels: Labels, options: PlanOptions) -> str | None:
    """The arm that is clear by worst-case bounds, or by the follow-ups that are there."""
    level = options.level
    if setting.range_known:
        bounds = [worst_case(counts, setting, arm, level) for arm in range(setting.arms)]
        if (best := best_by_bounds(labels.arms, bounds, setting.minimize)) is not None:
            return best
    if counts.followed_up is None:
        return None
    found, _ = beliefs(counts, setting, labels, [FOLLOW_UP], options.failures)
    if not found:
        return None
    ranked = ranking(Direction(setting.minimize).belief(found[0]))
    leading = np.argsort(-np.nan_to_num(ranked.probabilities), kind="stable")[:2]
    enough = np.minimum(LEAST_ANSWERS, counts.missing_by_cell().sum(axis=1))
    if np.any(counts.answered[leading] < enough[leading]):
        return None  # an analysis calls no winner clear
    return labels.arms[ranked.leader] if ranked.probabilities[ranked.leader] >= level else None


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
    return FollowUpPicks(_plan_numbers(cells, open_, total, options), open_)


def _proportional(total: int, open_: Whole, because: str) -> FollowUpPicks:
    """Shares for want of a plan: each missing outcome is picked with about the same probability."""
    numbers = in_proportion(total, open_.astype(np.float64).ravel()).reshape(open_.shape)
    remark = (
        f"{because}, so follow-ups cannot be planned: they are shared out in proportion to what is missing."
    )
    return FollowUpPicks(numbers, open_, remark)


def _plan_numbers(cells: PlanCells, open_: Whole, total: int, options: PlanOptions) -> Whole:
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

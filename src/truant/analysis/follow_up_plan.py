"""How many missing outcomes to follow up so that the best arm becomes the clear winner, and from where.

The follow-up estimate is right whatever the reason for missingness. How likely it names a clear leader is not known
before the first call: it is computed in two scenarios, and a plan must reach the chance in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from truant.analysis.bounds import worst_case
from truant.analysis.direction import Direction
from truant.analysis.estimates import beliefs
from truant.analysis.labels import Labels
from truant.analysis.plan_allocation import (
    CHANCE,
    LEAST_ANSWERS,
    Whole,
    allocate,
    least_follow_ups,
)
from truant.analysis.plan_assurance import (
    Draws,
    arm_means,
    clear_probability,
    missing_means,
    simulated_moments,
)
from truant.analysis.plan_cells import PlanCells, plan_cells
from truant.analysis.plan_curves import ArmMoments
from truant.analysis.ranking import ranking
from truant.analysis.verdict import best_by_bounds
from truant.assumptions.follow_up import FAILURES
from truant.counts import Counts
from truant.errors import InvalidValue, unknown
from truant.setting import FloatArray, Setting, as_float, is_number, positive_number, whole_number
from truant.text import named, quoted

ALIKE, DIFFER = "alike", "differ"
WORST_CASE = "worst-case"
MOST_DIFFERENT = 10  # standard deviations
SCENARIOS = (ALIKE, DIFFER)
DIFFERENCE = 0.5
CURVE_POINTS = 16
PRECISION = 0.01  # of the number of follow-ups

Kind = Literal["reached", "not-reached", "settled"]


@dataclass(frozen=True)
class PlanOptions:
    """What is asked of a plan, checked.

    Parameters
    ----------
    level : probability of being the best from which on the leader is clear.
    chance : probability with which it must become the clear winner.
    differ : standard deviation of the difference between missing and observed outcomes of an arm, as a share of that of
        an outcome; in the second scenario.
    success : share of follow-ups that are answered.
    budget : number of follow-ups; None if the plan is to find it.
    failures : what the analysis will take of follow-ups that fail: "worst-case", that their outcomes may have any value
        in the range; "ignorable", that they are like the answers.
    """

    level: float = 0.95
    chance: float = CHANCE
    differ: float = DIFFERENCE
    success: float = 1.0
    budget: int | None = None
    failures: str = WORST_CASE

    def __post_init__(self) -> None:
        for name, least, most in (("level", 0.5, 1.0), ("chance", 0.0, 1.0)):
            value = getattr(self, name)
            if not is_number(value) or not least <= as_float(value) < most or as_float(value) == 0:
                raise InvalidValue(
                    f"{name} must be {'at least 0.5' if least else 'above 0'} and below 1, got {quoted(value)}."
                )
        if positive_number("differ", self.differ) > MOST_DIFFERENT:
            raise InvalidValue(
                f"differ must be at most {MOST_DIFFERENT} standard deviations, got {self.differ:g}."
            )
        if not is_number(self.success) or not 0 < as_float(self.success) <= 1:
            raise InvalidValue(f"success must be above 0 and at most 1, got {quoted(self.success)}.")
        if self.failures not in FAILURES:
            raise unknown("way to take failed follow-ups", self.failures, FAILURES)
        if self.budget is not None:
            whole_number("budget", self.budget, at_least=1)


@dataclass(frozen=True)
class PlannedCell:
    """The missing outcomes of an arm and mediator level, and how many of them to follow up."""

    arm: str
    mediator: str
    rows: int
    missing: int
    followed_up: int  # before
    follow_ups: int


@dataclass(frozen=True)
class PlanPoint:
    """A number of follow-ups, and the probability that the best arm becomes the clear winner, by scenario."""

    follow_ups: int
    chances: Mapping[str, float]

    @property
    def lowest(self) -> float:
        """In the scenario that is worse."""
        return min(self.chances.values())


@dataclass(frozen=True, eq=False)
class FollowUpPlan:
    """A plan on counts.

    Parameters
    ----------
    kind : `reached`: `needed` follow-ups reach the chance; `not-reached`: not even all missing outcomes do; `settled`:
        the best arm is clear already.
    needed : smallest number of follow-ups that reaches the chance; None if none does.
    point : what is planned: the budget, else what is needed, else all.
    curve : probabilities along the number of follow-ups, the last point with all of them.
    cells : how many from which arm and mediator level.
    smallest_difference : between the two arms that lead, in outcome units, that the planned follow-ups make clear with
        the chance; None if nothing is planned.
    leader : the arm that is clear already; None if there is none.
    failed : follow-ups before that brought no outcome.
    left_open : difference between the two arms that lead, in outcome units, that stays open since failed follow-ups may
        have any outcome, however many others are answered; 0 if none fails or they are like the answers.
    """

    kind: Kind
    options: PlanOptions
    labels: Labels
    needed: int | None
    point: PlanPoint
    curve: tuple[PlanPoint, ...]
    cells: tuple[PlannedCell, ...]
    smallest_difference: float | None
    outcome_sd: float
    leader: str | None = None
    failed: int = 0
    left_open: float = 0.0

    @property
    def follow_ups(self) -> int:
        """How many are planned."""
        return self.point.follow_ups

    @property
    def missing(self) -> int:
        """Missing outcomes that were not followed up yet."""
        return sum(cell.missing - cell.followed_up for cell in self.cells)

    @property
    def followed_up(self) -> int:
        """Outcomes that were followed up before."""
        return sum(cell.followed_up for cell in self.cells)

    def by_arm(self) -> dict[str, int]:
        """Planned follow-ups of each arm."""
        found = dict.fromkeys(self.labels.arms, 0)
        for cell in self.cells:
            found[cell.arm] += cell.follow_ups
        return found


def plan_counts(
    counts: Counts, setting: Setting, labels: Labels, options: PlanOptions | None = None
) -> FollowUpPlan:
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
        return _planned(search, labels, "settled", 0, search.point(0, 1.0), leader)
    needed = search.needed()
    kind: Kind = "settled" if leader is not None else "not-reached" if needed is None else "reached"
    number = options.budget if options.budget is not None else available if needed is None else needed
    return _planned(search, labels, kind, 0 if leader is not None else needed, search.point(number), leader)


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
    search: Search, labels: Labels, kind: Kind, needed: int | None, point: PlanPoint, leader: str | None
) -> FollowUpPlan:
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
    return FollowUpPlan(
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
    found, _ = beliefs(counts, setting, labels, ["follow-up"], options.failures)
    if not found:
        return None
    ranked = ranking(Direction(setting.minimize).belief(found[0]))
    leading = np.argsort(-np.nan_to_num(ranked.probabilities), kind="stable")[:2]
    enough = np.minimum(LEAST_ANSWERS, counts.missing_by_cell().sum(axis=1))
    if np.any(counts.answered[leading] < enough[leading]):
        return None  # an analysis calls no winner clear
    return labels.arms[ranked.leader] if ranked.probabilities[ranked.leader] >= level else None

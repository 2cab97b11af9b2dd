"""What `truant plan` prints with --json and writes; docs/schemas is made from these records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from truant.envelope import Absent, FloatOrNaN

Kind = Literal["reached", "not-reached", "settled"]


@dataclass(frozen=True)
class PlannedCell:
    """The missing outcomes of an arm and mediator level, and how many of them to follow up."""

    arm: str  # name of the arm
    mediator: str  # mediator level; empty without a mediator
    rows: int  # rows of this arm and level
    missing: int  # outcomes that are missing
    followed_up: int  # missing outcomes that were followed up before
    follow_ups: int  # follow-ups that are planned


class PlanColumns(TypedDict):
    """Which column was used for what."""

    arm: str  # the arm
    outcome: str  # the outcome
    mediator: list[str]  # the mediators; empty if there are none
    observed: str | None  # whether the outcome was observed; None if there is no such column
    followed_up: (
        str | None
    )  # whether a missing outcome was followed up before; None if there is no such column
    id: str | None  # the name of each row; None if rows are numbered


class PlanChances(TypedDict):
    """Probability that the best arm becomes clear, in two scenarios."""

    alike: float  # if missing outcomes are like the observed ones of the same arm and level
    # if missing outcomes differ from the observed ones, by `options.differ` standard deviations
    differ: float


class PlanCurvePoint(TypedDict):
    """A number of follow-ups, and what it gives."""

    follow_ups: int  # number of follow-ups
    alike: float  # probability that the best arm gets clear if missing outcomes are like the observed ones
    differ: float  # the same if they differ


@dataclass(frozen=True, kw_only=True)
class PlanTerms:
    """What was asked of a plan."""

    level: float  # probability of being best from which an arm is clear
    chance: float  # probability with which the best arm must get clear
    # in the second scenario: standard deviation of the difference between missing and observed outcomes of an arm, as
    # a share of that of an outcome
    differ: float
    success: float  # share of follow-ups that are expected to obtain an outcome
    budget: int | None  # number of follow-ups that can be made; None if the plan was to find it
    # how outcomes that follow-ups do not obtain are treated: they may have any value in the range, or are like the
    # obtained ones
    failed_follow_ups: Annotated[str, Literal["worst-case", "ignorable"]]


@dataclass(frozen=True, kw_only=True)
class PlanSummary:
    """How many missing outcomes to follow up, and from which arms and mediator levels."""

    schema: ClassVar = "truant/plan/2"
    source: str  # the file, table or database that was read
    rows: int  # rows that were read
    skipped: int  # rows that were left out because they have no arm
    columns: Annotated[dict[str, Any], PlanColumns]  # which column was used for what
    where: str | None  # the condition that all rows meet
    filtered_out: int  # rows that `where` left out
    minimize: bool  # whether the best arm is the one with the lowest mean
    notes: tuple[str, ...]  # how values were read, one sentence each
    # `reached`: `needed` follow-ups reach the probability `options.chance`; `not-reached`: not even all missing
    # outcomes do; `settled`: the best arm is clear already
    kind: Kind
    sentence: str  # the plan in a sentence
    advice: list[str]  # what else to know about the plan, one sentence each
    leader: str | None  # the arm that is clearly the best already; None if there is none
    missing: int  # outcomes that are missing
    followed_up: int  # missing outcomes that were followed up before
    needed: int | None  # smallest number of follow-ups that reaches `options.chance`; None if none does
    follow_ups: int  # follow-ups that are planned
    # probability that the best arm gets clear with the planned follow-ups, in two scenarios
    chances: Annotated[dict[str, float], PlanChances]
    # smallest difference between the two leading arms that the planned follow-ups make clear, in units of the
    # outcome; None if nothing is planned
    smallest_difference: float | None
    outcome_sd: FloatOrNaN  # standard deviation of an outcome
    options: PlanTerms  # what was asked of the plan
    seed: int  # seed with which the rows are drawn
    cells: tuple[PlannedCell, ...]  # one entry for each arm and mediator level
    # the two probabilities along the number of follow-ups
    curve: Annotated[list[dict[str, Any]], list[PlanCurvePoint]]


class PlannedRow(TypedDict):
    """A row to follow up."""

    call: int  # number of the call, from 1
    row: int | Absent  # number of the row, counted from 1 below the header; only without an id column
    id: str | Absent  # name of the row, in the type of the id column; only with an id column
    arm: str  # name of the arm
    mediator: str | Absent  # mediator level; only with a mediator

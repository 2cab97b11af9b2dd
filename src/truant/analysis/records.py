"""Rows of the tables that analyses are saved as, from which docs/schemas is made."""

from __future__ import annotations

from typing import TypedDict

from truant.envelope import Absent


class AnalysisRow(TypedDict):
    """A row of the table of an analysis."""

    arm: str  # name of the arm
    pulls: int  # rows with this arm
    observed: int  # rows with this arm whose outcome was observed
    missing_share: float  # share of its outcomes that are missing
    follow_ups: int | Absent  # missing outcomes that were followed up; only if there are follow-ups
    answered: int | Absent  # follow-ups that obtained an outcome; only if there are follow-ups
    # mean in the worst case; only if the range of the outcome is known, as the next three
    bounds_low: float | Absent
    bounds_high: float | Absent  # mean in the best case
    # lower end of an interval that contains the mean whatever the missing outcomes are
    bounds_low_limit: float | Absent
    bounds_high_limit: float | Absent  # upper end of this interval
    assumption: str  # the assumption; `naive`: missing outcomes dropped
    mean: float  # the estimated mean; None if there is none
    low: float  # lower end of its confidence interval; None if there is none
    high: float  # upper end of its confidence interval; None if there is none
    standard_error: float  # standard error of the mean; None for `naive`
    probability_best: float  # probability that the arm is the best; None for `naive`
    # mean of the arm minus that of the control; only with a control, as the next six, and None for the control
    difference_mean: float | Absent
    difference_low: float | Absent  # lower end of its simultaneous confidence interval
    difference_high: float | Absent  # upper end of its simultaneous confidence interval
    difference_p_value: float | Absent  # p-value of no difference, adjusted for several arms
    # the difference as a share of the control's mean; None if the control's interval contains zero
    lift_mean: float | Absent
    lift_low: float | Absent  # lower end of its confidence interval
    lift_high: float | Absent  # upper end of its confidence interval


class AnalysisByRow(AnalysisRow):
    """A row of the table of an analysis by a column."""

    by: str  # value of the column that the rows were grouped by

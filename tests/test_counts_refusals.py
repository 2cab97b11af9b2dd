"""Pulls, tables and counts that cannot be are refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from truant.counts import Counts
from truant.errors import InvalidValue
from truant.setting import Setting

Pull = tuple[int, int | None, float | None]


REAL = Setting(arms=2, mediators=2)
DISCRETE = Setting(arms=2, mediators=2, levels=(0.0, 0.3, 1.0))


@pytest.mark.parametrize(
    ("arms", "mediators", "outcomes", "sentence"),
    [
        ([0, 2], [0, 0], [1, 1], "arm codes must be from 0 to 1, got 0 to 2."),
        ([0, -1], [0, 0], [1, 1], "arm codes must be from 0 to 1, got -1 to 0."),
        ([0, 1], [0, 2], [1, 1], "mediator codes must be from -1 to 1, got 0 to 2."),
        ([0, 1], [0, -2], [1, 1], "mediator codes must be from -1 to 1, got -2 to 0."),
        ([0.0, 1.0], [0, 0], [1, 1], "arm codes must be whole numbers, got float64."),
        ([0, 1], [0.5, 0], [1, 1], "mediator codes must be whole numbers, got float64."),
        ([True, False], [0, 0], [1, 1], "arm codes must be whole numbers, got bool."),
        (["a", "b"], [0, 0], [1, 1], "arm codes must be whole numbers, got <U1."),
        ([0, 1], [0, 0], [1, np.inf], "Outcomes must be finite numbers or missing, got an infinite one."),
        ([0, 1], [0, 0], [-np.inf, 1], "Outcomes must be finite numbers or missing, got an infinite one."),
        (
            [0, 1],
            [0, 0],
            ["yes", 1],
            "Outcomes must be numbers or missing: could not convert string to float: 'yes'.",
        ),
        ([0, 1], [0], [1, 1], "Columns must have one length, got 2, 1 and 2."),
        ([0, 1], [0, 0], [1], "Columns must have one length, got 2, 2 and 1."),
        ([[0, 1]], [[0, 0]], [[1, 1]], "Columns must have one length, got 2, 2 and 2."),
    ],
)
@pytest.mark.parametrize("setting", [REAL, DISCRETE], ids=["real", "discrete"])
def test_a_table_that_cannot_be_is_refused(setting, arms, mediators, outcomes, sentence):
    with pytest.raises(InvalidValue) as refusal:
        Counts.fold(setting, arms, mediators, outcomes)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("setting", "pull", "sentence"),
    [
        (REAL, (2, 0, 1.0), "arm codes must be from 0 to 1, got 2 to 2."),
        (REAL, (-1, 0, 1.0), "arm codes must be from 0 to 1, got -1 to -1."),
        (REAL, (0, 2, 1.0), "mediator codes must be from 0 to 1, got 2 to 2."),
        (REAL, (0, -1, 1.0), "mediator codes must be from 0 to 1, got -1 to -1."),  # None means missing here
        (REAL, (None, 0, 1.0), "arm codes must be whole numbers, got object."),
        (REAL, (0, 0, -np.inf), "An outcome must be a finite number or missing, got -inf."),
        (DISCRETE, (0, 0, np.inf), "An outcome must be a finite number or missing, got inf."),
        (DISCRETE, (0, 0, 0.5), "Outcome 0.5 is not one of the levels (0.0, 0.3, 1.0)."),
        (DISCRETE, (0, 0, -0.1), "Outcome -0.1 is not one of the levels (0.0, 0.3, 1.0)."),
        (DISCRETE, (0, 0, 2.0), "Outcome 2.0 is not one of the levels (0.0, 0.3, 1.0)."),
    ],
)
def test_a_pull_that_cannot_be_is_refused_and_leaves_no_trace(setting, pull, sentence):
    counts = Counts.empty(setting)
    with pytest.raises(InvalidValue) as refusal:
        counts.update(*pull)
    assert str(refusal.value) == sentence
    assert not counts.table.any()


def test_a_value_beside_a_level_is_shown_with_all_its_digits():
    with pytest.raises(InvalidValue, match=r"Outcome 0\.30000000000000004 is not one of the levels"):
        Counts.fold(DISCRETE, [0, 0], [0, 0], [0.3, 0.1 + 0.2])


@pytest.mark.parametrize(
    "other",
    [
        Setting(arms=3, mediators=2),
        Setting(arms=2, mediators=3),
        Setting(arms=2, mediators=2, levels=(0.0, 0.3, 1.0)),  # a table of the same shape
        Setting(arms=2, mediators=2, levels=(0.0, 1.0)),
    ],
    ids=["arms", "mediators", "levels of the same width", "levels"],
)
def test_different_layouts_are_not_merged(other):
    one, two = Counts.empty(REAL), Counts.empty(other)
    for first, second in ((one, two), (two, one)):
        with pytest.raises(
            InvalidValue, match=r"^Counts of different layouts cannot be merged: \(\d, \d, \d\) with"
        ):
            first.merge(second)


def test_different_levels_are_not_merged():
    other = Setting(arms=2, mediators=2, levels=(0.0, 0.5, 1.0))
    with pytest.raises(InvalidValue, match=r"levels \(0\.0, 0\.3, 1\.0\), .* levels \(0\.0, 0\.5, 1\.0\)\.$"):
        Counts.empty(DISCRETE).merge(Counts.empty(other))


def test_masks_dates_and_numbers_beyond_cubing_are_refused():
    setting = Setting(arms=2, mediators=2)
    for outcomes, match in [
        (np.ma.array([1.0], mask=[True]), "masked array"),
        (np.array(["2020-01-01"], "datetime64[D]"), "must be numbers"),
        ([1e200], "within ±1e\\+100"),
        ([[1.0], [1.0, 2.0]], "plain column"),
    ]:
        with pytest.raises(InvalidValue, match=match):
            Counts.fold(setting, [0], [1], outcomes)
    with pytest.raises(InvalidValue, match="masked array"):
        Counts.fold(setting, [0], np.ma.array([1], mask=[True]), [1.0])


@pytest.mark.parametrize("pull", [([0, 1], 0, 1.0), (0, [0, 1], 1.0), (0, 0, [1.0, 0.0])])
@pytest.mark.parametrize("levels", [None, (0.0, 1.0)])
def test_update_takes_one_pull(pull, levels):
    counts = Counts.empty(Setting(arms=2, mediators=2, levels=levels))
    with pytest.raises(InvalidValue, match="must be a single value"):
        counts.update(*pull)
    assert counts.table.sum() == 0


@pytest.mark.parametrize("outcome", [1e100, -1e100])
def test_the_largest_outcome_is_still_one(outcome):
    setting = Setting(arms=1, low=-1, high=1)
    folded, updated = Counts.fold(setting, [0], [0], [outcome]), Counts.empty(setting)
    updated.update(0, 0, outcome)
    for counts in (folded, updated):
        assert counts.table[0, 0].tolist() == [1, 1, outcome, outcome * outcome, outcome**3]
        assert np.all(np.isfinite(counts.table))

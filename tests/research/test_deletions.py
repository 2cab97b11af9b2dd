"""The study with deleted outcomes analyses what an analyst would, and deletes what it says."""

import numpy as np
import pytest
from research.validation import semi_synthetic
from research.validation.complete_data import NAMES, complete
from research.validation.deletions import ASSUMPTIONS, MECHANISMS, analysed, chance_observed

import truant


@pytest.mark.parametrize("name", NAMES)
def test_the_analysis_is_that_of_the_rows(name):
    data = complete(name)
    rng = np.random.default_rng(1)
    outcomes = np.where(rng.random(len(data.arms)) < chance_observed(data, "mnar"), data.outcomes, np.nan)
    own = analysed(data, data.arms, data.mediators, outcomes)
    table = {"arm": data.arms, "m": data.mediators, "y": outcomes}
    options = {"cut_outcome": data.points} if data.points else {}
    whole = truant.analyze(
        table, arm="arm", mediator="m", outcome="y", assume=ASSUMPTIONS, minimize=data.minimize, **options
    )
    assert own.assumptions == list(ASSUMPTIONS) == whole.assumptions
    for mine, theirs in zip(own.arms, whole.arms, strict=True):
        for assumption in ASSUMPTIONS:
            limits = [
                (found.mean, found.low, found.high)
                for found in (mine.estimates[assumption], theirs.estimates[assumption])
            ]
            assert limits[0] == pytest.approx(limits[1], rel=1e-6)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", NAMES)
def test_what_decides_is_what_the_mechanism_says(name, mechanism):
    data = complete(name)
    assert not np.isnan(data.outcomes).any()
    chance = chance_observed(data, mechanism)
    assert chance.min() >= 0.25
    assert 0.5 < chance.mean() < 0.75
    outcome = np.searchsorted(data.points, data.outcomes) if data.points else data.outcomes
    best = data.arms == data.best

    def decided_by(*causes):
        """Whether the chance is the same in all rows of the best arm with the same causes."""
        _, cell = np.unique(np.stack(causes), axis=1, return_inverse=True)
        return all(np.ptp(chance[best][cell == code]) == 0 for code in np.unique(cell))

    m, y = data.mediators[best], outcome[best]
    found = decided_by(np.zeros_like(m)), decided_by(m), decided_by(y), decided_by(m, y)
    assert (
        found
        == {
            "mcar": (True, True, True, True),
            "mar": (False, True, False, True),
            "mnar": (False, False, True, True),
            "mediator and outcome": (False, False, False, True),
        }[mechanism]
    )


def test_a_row_judges_only_what_holds():
    one = {"errors": [1.0, 0.0, 0.0], "held": [False, True, True], "contradicted": True, "flagged": True}
    found = [{"assumptions": {"mcar": one, "mar": None, "mnar": one}}] * 4
    assert semi_synthetic.row("colon", "mnar", "mnar", found)[-1] == "**no**"
    assert semi_synthetic.row("colon", "mar", "mnar", found)[-1] == "-"
    assert semi_synthetic.row("colon", "mar", "mar", found)[-2:] == ["100%", "-"]


def test_verdicts_are_told_apart():
    kinds = [("clear", True), ("clear", False), ("depends", False), ("unsettled", True)]
    found = [{"verdict": kind, "right": right} for kind, right in kinds] + [
        {"verdict": "clear", "right": True}
    ]
    shares = [float(share.split(" ")[0]) for share in semi_synthetic.shares_of_verdicts(found)]
    assert shares == [0.4, 0.2, 0.2, 0.2]


def test_coverage_below_the_band_is_named():
    def cells(holds, best):
        return ["STAR", "mar", "`mar`", holds, "-", "0.95 ± 0.01", best, "-", "-", "0%", "yes"]

    rows = [cells("yes", "0.930 ± 0.020"), cells("no", "0.100 ± 0.020")]
    assert (
        semi_synthetic.below_the_band(rows)
        == "For every assumption that holds, the coverage of the best arm is at least .92."
    )
    assert "STAR, mar, `mar`: 0.884." in semi_synthetic.below_the_band([*rows, cells("yes", "0.884 ± 0.020")])

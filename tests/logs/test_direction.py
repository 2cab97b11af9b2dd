"""Less is better: the analysis of a column with that direction is the reflection of that of the negated column."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import truant
from tests.documents.pages import analysis_html
from truant.cli import cli
from truant.errors import InvalidValue


def rows(discrete, n=1500, seed=2):
    rng = np.random.default_rng(seed)
    a, m = rng.integers(0, 3, n), rng.integers(0, 2, n)
    if discrete:
        y = (rng.random(n) < 0.25 + 0.12 * a + 0.25 * m).astype(float)
        seen = rng.random(n) < 0.8 - 0.3 * y
    else:
        y = 5 + 0.3 * a + 0.8 * m + rng.gamma(2.0, 1.0, n)
        seen = rng.random(n) < 0.9 - 0.4 * m
    y[~seen] = np.nan
    return pd.DataFrame(
        {"arm": np.array(["x", "y", "z"])[a], "level": np.array(["low", "high"])[m], "cost": y}
    )


OPTIONS = {
    False: {"assume": ["mcar", "mar"], "range": (0.0, 40.0)},
    True: {"assume": ["mcar", "mar", "mnar"], "levels": (0, 1)},
}
NEGATED = {False: {"range": (-40.0, 0.0)}, True: {"levels": (-1, 0)}}


def both(discrete):
    table = rows(discrete)
    given = {"arm": "arm", "outcome": "cost", "mediator": "level", "control": "y"} | OPTIONS[discrete]
    down = truant.analyze(table, **given, minimize=True)
    up = truant.analyze(table.assign(cost=-table["cost"]), **(given | NEGATED[discrete]))
    return down, up


@pytest.mark.parametrize("discrete", [False, True])
def test_the_negated_column_gives_the_reflected_analysis(discrete):
    down, up = both(discrete)
    tolerance = 1e-4 if discrete else 1e-9  # of a likelihood fit, of a formula
    near = {"rel": tolerance, "abs": tolerance}
    assert down.assumptions == up.assumptions == OPTIONS[discrete]["assume"]
    assert down.winner == up.winner
    assert down.expected_loss == pytest.approx(up.expected_loss, **near)
    for one, other in zip(down.arms, up.arms, strict=True):
        assert (one.pulls, one.observed) == (other.pulls, other.observed)
        reflected(one.naive, other.naive, near)
        reflected(one.bounds, other.bounds, near, mean=False)
        for name in down.assumptions:
            mine, theirs = one.estimates[name], other.estimates[name]
            reflected(mine, theirs, near)
            assert mine.probability_best == pytest.approx(theirs.probability_best, **near)
            if mine.difference:
                reflected(mine.difference, theirs.difference, near)
    for mine, theirs in zip(down.sensitivity, up.sensitivity, strict=True):
        assert (mine.winner, mine.runner_up) == (theirs.winner, theirs.runner_up)
        assert (mine.possible, mine.runner_up_possible) == (theirs.possible, theirs.runner_up_possible)
        for field in ("gap", "shift", "shift_in_sd", "runner_up_shift", "runner_up_shift_in_sd"):
            assert getattr(mine, field) == pytest.approx(getattr(theirs, field), **near)
    for name, curve in down.tipping_curves.items():
        for mine, theirs in zip(curve, up.tipping_curves[name], strict=True):
            assert mine.shift == pytest.approx(theirs.shift, **near)
            for key, opposite in (("value", "value"), ("low", "high"), ("runner_up", "runner_up")):
                assert getattr(mine, key) == pytest.approx(-getattr(theirs, opposite), **near)


def reflected(one, other, near, mean=True):
    if mean:
        assert one.mean == pytest.approx(-other.mean, **near)
    assert one.low == pytest.approx(-other.high, **near)
    assert one.high == pytest.approx(-other.low, **near)


def test_the_lowest_wins_and_everyone_says_so(tmp_path):
    table = rows(discrete=False)
    given = {"arm": "arm", "outcome": "cost", "mediator": "level", "assume": ["mcar", "mar"]}
    found, usual = truant.analyze(table, **given, minimize=True), truant.analyze(table, **given)
    means = {arm.arm: arm.estimates["mar"].mean for arm in found.arms}
    assert found.winner["mar"] == min(means, key=means.__getitem__)
    assert usual.winner["mar"] == max(means, key=means.__getitem__)
    assert means == {arm.arm: arm.estimates["mar"].mean for arm in usual.arms}
    best = {arm.arm: arm.estimates["mar"].probability_best for arm in found.arms}
    assert max(best, key=best.__getitem__) == found.winner["mar"]
    assert found.summary()["minimize"] is True
    assert usual.summary()["minimize"] is False
    assert "lower 'cost' is better" in str(found).split("arm ")[0]  # above the table
    assert "higher 'cost' is better (if lower is: --minimize" in str(usual).split("arm ")[0]
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "lower 'cost' is better" in html.unescape(page).split('class="verdict')[0].rpartition("<h1")[2]
    assert "missing outcomes raised by" in page
    assert "missing outcomes lowered by" in usual.report(tmp_path / "usual.html").read_text(encoding="utf-8")
    assert "lower 'cost' is better" in html.unescape(analysis_html(found))


def test_the_chart_stars_the_lowest():
    from truant.charts import estimates_chart

    table = pd.DataFrame(
        {"arm": ["a", "b"], "assumption": "mar", "mean": [1.0, 2.0], "low": 0.0, "high": 3.0}
    )
    for minimize, winner in ((False, "b"), (True, "a")):
        chart = estimates_chart(table, minimize=minimize).to_dict()
        starred = {row["arm"] for data in chart["datasets"].values() for row in data if row.get("best")}
        assert starred == {winner}


def test_the_command_line(tmp_path):
    path = tmp_path / "costs.csv"
    rows(discrete=False).to_csv(path, index=False)
    base = [
        "analyze",
        str(path),
        "--arm",
        "arm",
        "--outcome",
        "cost",
        "--mediator",
        "level",
        "--assume",
        "mar",
    ]
    found = CliRunner().invoke(cli, [*base, "--minimize", "--json"])
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    assert said["minimize"] is True
    assert said["winner"]["mar"] == min(said["arms"], key=lambda arm: arm["estimates"]["mar"]["mean"])["arm"]
    assert "lower 'cost' is better" in CliRunner().invoke(cli, [*base, "--minimize"]).output


def test_minimize_is_true_or_false():
    with pytest.raises(InvalidValue, match="minimize must be true or false, got 'yes'"):
        truant.analyze(rows(False), arm="arm", outcome="cost", minimize="yes")

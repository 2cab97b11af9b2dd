"""Simulations in which missing outcomes can be followed up: costs apart and together, in every output."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import truant
from truant.cli import cli
from truant.errors import InvalidValue
from truant.lab.result import Simulation
from truant.policies.follow_up_rules import FollowUps

from .test_result import made_up

POLICIES = ["naive-ucb", "follow-up-ucb"]


@pytest.fixture(scope="module")
def found():
    return truant.simulate(
        "mnar-hidden", POLICIES, horizon=3_000, runs=6, seed=1, follow_up_cost=0.2, follow_up_success=0.9
    )


def run(*arguments):
    return CliRunner().invoke(cli, arguments, prog_name="truant")


def test_costs_apart_and_together(found):
    assert found.follow_ups.shape == found.regret.shape
    assert (found.follow_ups[0] == 0).all()
    assert (np.diff(found.follow_ups, axis=2) >= 0).all()
    assert np.array_equal(found.total_cost, found.regret + 0.2 * found.follow_ups)
    rows = {row["policy"]: row for row in found.table().to_pylist()}
    own = rows["follow-up-ucb"]
    total = found.total_cost[1, :, -1]
    assert own["total_cost_mean"] == pytest.approx(total.mean())
    assert own["total_cost_median"] == pytest.approx(np.median(total))
    assert own["follow_up_cost_mean"] == pytest.approx(0.2 * own["follow_ups_mean"])
    assert own["regret_mean"] == pytest.approx(found.final[1].mean())
    assert own["difference_mean"] == pytest.approx((total - found.final[0]).mean())
    means = {row["policy"]: row["mean"] for row in found.curves().to_pylist() if row["round"] == 3_000}
    assert means["follow-up-ucb"] == pytest.approx(total.mean())
    assert found.long().column_names[-3:] == ["regret", "follow_up_cost", "total_cost"]


def test_threads_do_not_change_them(found):
    again = truant.simulate(
        "mnar-hidden",
        POLICIES,
        horizon=3_000,
        runs=2,
        seed=1,
        follow_up_cost=0.2,
        follow_up_success=0.9,
        threads=1,
    )
    assert np.array_equal(again.follow_ups, found.follow_ups[:, :2])
    assert np.array_equal(again.regret, found.regret[:, :2])


def test_follow_ups_are_saved_and_loaded(found, tmp_path):
    loaded = Simulation.load(found.save(tmp_path / "runs.parquet"))
    assert loaded.follow_up == FollowUps(0.2, 0.9)
    assert np.array_equal(loaded.follow_ups, found.follow_ups)
    assert loaded.summary() == found.summary()
    plain = made_up()
    assert Simulation.load(plain.save(tmp_path / "plain.parquet")).follow_up is None
    assert "follow_up" not in plain.summary()
    assert "total_cost_mean" not in plain.table().column_names


def test_the_command_line_says_what_python_says(found):
    options = ["--world", "mnar-hidden", "--horizon", "3000", "--runs", "6", "--seed", "1"]
    options += ["--follow-up-cost", "0.2", "--follow-up-success", "0.9"]
    for policy in POLICIES:
        options += ["--policy", policy]
    printed = json.loads(run("simulate", *options, "--json").stdout)
    assert printed["follow_up"] == {"cost": 0.2, "success": 0.9}
    own = printed["policies"][1]
    stated = found.summary()["policies"][1]
    for name in ("regret", "follow_ups", "follow_up_cost", "total_cost"):
        assert own[name] == stated[name]
    shown = run("simulate", *options).stdout
    assert "a follow-up costs 0.2, 90% of them succeed" in shown
    assert "lowest mean total cost (regret and follow-ups)" in shown
    assert "follow-up-ucb ★" in shown


def test_default_policies_follow_up_where_that_is_possible():
    options = ["simulate", "--world", "mar", "--horizon", "200", "--runs", "1", "--json"]
    names = [row["name"] for row in json.loads(run(*options).stdout)["policies"]]
    more = [row["name"] for row in json.loads(run(*options, "--follow-up-cost", "1").stdout)["policies"]]
    assert names == ["naive-ucb", "mar-ucb", "oracle-ucb"]
    assert more == ["naive-ucb", "mar-ucb", "follow-up-ucb", "oracle-ucb"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--follow-up-cost", "-1"], "follow_up_cost must be"),
        (["--follow-up-cost", "nan"], "follow_up_cost must be"),
        (
            ["--follow-up-cost", "1", "--follow-up-success", "0"],
            "follow_up_success must be in (0, 1], got 0.0.",
        ),
        (["--follow-up-success", "0.5"], "follow_up_success is of use with follow_up_cost only"),
        (["--policy", "follow-up-ucb"], "say what a follow-up costs"),
        (["--policy", "mar-ucb:follow_up=often", "--follow-up-cost", "1"], "must be the share of missing"),
    ],
)
def test_refusals_are_one_sentence(options, sentence):
    ended = run("simulate", "--world", "mar", "--horizon", "50", "--runs", "1", *options)
    assert ended.exit_code == 2
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


def test_half_of_the_terms_is_refused():
    with pytest.raises(InvalidValue, match="give both or none"):
        made_up(follow_up=FollowUps(0.1))


def test_calibrated_intervals_hold_with_follow_ups():
    made = truant.simulate(
        "mediator-and-outcome:arms=3",
        "follow-up-ucb",
        horizon=400,
        runs=20,
        seed=2,
        follow_up_cost=0.02,
        intervals=True,
    )
    known = np.isfinite(made.low[0])
    assert known.mean() > 0.9
    # 60 intervals at most: three standard errors below .93
    assert made.coverage[0] > 0.93 - 3 * np.sqrt(0.93 * 0.07 / known.sum())


def test_a_study_refuses_policies_that_follow_up(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text('horizon = 50\nruns = 1\npolicies = ["follow-up-ucb"]\n[[worlds]]\nname = "mar"\n')
    ended = run("sweep", str(study), "--out", str(tmp_path / "sweep"))
    assert ended.exit_code == 2
    assert "A study cannot follow up missing outcomes" in ended.stderr

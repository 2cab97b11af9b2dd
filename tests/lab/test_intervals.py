"""Calibrated intervals of simulations: asked for, saved, and of no cost otherwise."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import truant
from truant.cli import cli
from truant.errors import InvalidValue
from truant.lab.result import Simulation


@pytest.fixture(scope="module")
def found():
    return truant.simulate("mcar:arms=3", ["mcar-ucb", "oracle-ucb"], horizon=150, runs=12, intervals=True)


def test_intervals_hold_the_means_and_oracles_have_none(found):
    assert found.low.shape == found.high.shape == (2, 12, 3)
    assert (found.low[0] <= found.estimates[0]).all()
    assert (found.estimates[0] <= found.high[0]).all()
    assert np.isnan(found.low[1]).all()
    assert np.isnan(found.high[1]).all()
    # 36 intervals: three standard errors below .93
    assert found.coverage[0] > 0.93 - 3 * np.sqrt(0.93 * 0.07 / 36)
    assert np.isnan(found.coverage[1])


def test_threads_do_not_change_them(found):
    again = truant.simulate(
        "mcar:arms=3", ["mcar-ucb", "oracle-ucb"], horizon=150, runs=2, intervals=True, threads=1
    )
    assert np.array_equal(again.low[0], found.low[0, :2])


def test_intervals_are_saved_and_loaded(found, tmp_path):
    loaded = Simulation.load(found.save(tmp_path / "runs.parquet"))
    assert np.array_equal(loaded.low, found.low, equal_nan=True)
    assert np.array_equal(loaded.high, found.high, equal_nan=True)
    assert loaded.summary() == found.summary()


def test_tables_have_them(found):
    rows = found.summary()["policies"]
    assert rows[0]["interval_coverage"] == pytest.approx(found.coverage[0])
    assert rows[1]["interval_coverage"] is None
    assert {"low", "high"} <= set(found.arms().column_names)


def test_nothing_is_there_unless_asked_for(tmp_path):
    plain = truant.simulate("mcar", "mcar-ucb", horizon=50, runs=2)
    assert plain.low is plain.high is plain.coverage is None
    assert "interval_coverage" not in plain.summary()["policies"][0]
    assert "low" not in plain.arms().column_names
    assert Simulation.load(plain.save(tmp_path / "plain.parquet")).low is None


def test_both_ends_or_none(found):
    with pytest.raises(InvalidValue, match="low and high are the two ends"):
        Simulation(**{**vars(found), "high": None})


def test_command_has_a_column_for_them():
    command = [
        "simulate",
        "--world",
        "mcar",
        "--policy",
        "mcar-ucb",
        "--horizon",
        "60",
        "--runs",
        "2",
        "--intervals",
    ]
    assert "covered" in CliRunner().invoke(cli, command).stdout
    printed = json.loads(CliRunner().invoke(cli, [*command, "--json"]).stdout)
    assert 0 <= printed["policies"][0]["interval_coverage"] <= 1


def test_levels_in_the_layout_of_a_real_policy_and_late_outcomes():
    found = truant.simulate("mnar-clear:arms=2", "mar-ucb", horizon=80, runs=2, intervals=True, delay=3)
    known = np.isfinite(found.low)
    assert known.any()
    assert (found.low[known] < found.high[known]).all()

"""What once was swallowed, crashed or lost data, and must be one clear sentence now."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import truant
from truant.assumptions.likelihood import solve_mediator_mnar, solve_mnar
from truant.errors import InvalidValue
from truant.lab.simulate import simulate
from truant.worlds import RealWorld


def test_a_world_far_from_zero_tells_its_range():
    world = RealWorld([[0.5, 0.5]] * 3, [[45, 55], [47, 57], [35, 45]], 0.7, outcome_sd=5.0)
    assert (world.setting.low, world.setting.high) == (35, 57)
    result = simulate(world, "mar-ucb", horizon=5000, runs=5, seed=1, progress=False)
    assert result.best_arm_share.mean() > 0.7
    with pytest.raises(InvalidValue, match="The means must be in the range from low=0 to high=1, got 0 to 3"):
        RealWorld([[0.5, 0.5]], [[0, 3]], low=0, high=1)


def test_a_world_keeps_its_own_copy():
    p = np.array([[0.5, 0.5], [0.2, 0.8]])
    world = RealWorld(p, [[0, 1], [0, 1]])
    p[:] = 0.0
    assert world.mediator_probabilities.sum() == pytest.approx(2)


def test_more_equations_than_unknowns_are_fitted_and_may_be_feasible():
    rng = np.random.default_rng(1)
    joint = np.array([[0.3, 0.05], [0.1, 0.15], [0.05, 0.35]])
    seen = joint * [0.9, 0.5]
    chances = np.append(np.column_stack([seen, joint.sum(1) - seen.sum(1)]).ravel(), 0.0)
    table = np.vstack([rng.multinomial(20_000, chances)[:-1].reshape(3, 3), np.zeros(3)]).astype(float)
    solution = solve_mnar(table, np.array([0.0, 1.0]))
    assert solution.feasible
    assert not solution.exact
    assert solution.mean == pytest.approx(0.55, abs=0.02)
    assert solution.warning == ""


def test_probabilities_that_add_up_to_more_than_one_are_infeasible():
    levels = np.array([0.0, 1.0])
    table = 100 * np.array([[40.0, 10.0, 50.0], [10.0, 40.0, 50.0], [30.0, 30.0, 60.0]])
    possible = solve_mediator_mnar(table, levels)  # odds .6 and .6, p = 1.6 * 100/320 each
    assert possible.odds == pytest.approx([0.6, 0.6])
    assert possible.feasible
    table[2, 2] = 0.0  # no pull with nothing seen: p = 1.6 * 100/260 each
    assert solve_mediator_mnar(table, levels).odds == pytest.approx([0.6, 0.6])
    assert not solve_mediator_mnar(table, levels).feasible


def test_a_bad_condition_is_said_in_words():
    table = np.array([[30.0, 30.1, 20.0], [30.0, 30.0, 20.0], [0.0, 0.0, 0.0]])
    solution = solve_mnar(table, np.array([0.0, 1.0]))
    assert solution.condition_number > 100
    assert "wide intervals" in solution.warning


@pytest.mark.parametrize("value", [10**30, 1e30, 2**64])
def test_numbers_too_large_to_count(value):
    with pytest.raises(InvalidValue, match="seed must be at most"):
        simulate("mar", "mar-ucb", horizon=10, seed=value)


@pytest.mark.parametrize(
    ("world", "policies", "match"),
    [
        (None, "mar-ucb", "world must be a name or a World"),
        ("mar", [None], "A policy must be a name or a Policy"),
        ("mar", 5, "A policy must be a name or a Policy"),
        ("mar", (name for name in ()), "at least one policy"),
    ],
)
def test_wrong_types(world, policies, match):
    with pytest.raises(InvalidValue, match=match):
        simulate(world, policies, horizon=10, progress=False)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "runs.parquet"
    simulate("mar", ["mar-ucb", "naive-ucb"], horizon=300, runs=3, seed=1, progress=False).save(path)
    return path


def test_a_file_with_rows_in_another_order_is_refused(saved):
    table = pq.read_table(saved)
    pq.write_table(table.take([5, 4, 3, 2, 1, 0]), saved)
    with pytest.raises(InvalidValue, match="is damaged"):
        truant.Simulation.load(saved)


@pytest.mark.parametrize("change", [{"policies": []}, {"policies": "ab"}, {"rounds": None}])
def test_a_file_with_other_metadata_is_refused(saved, change):
    changed_metadata(saved, change)
    with pytest.raises(InvalidValue, match="is damaged"):
        truant.Simulation.load(saved)


def changed_metadata(path, change):
    table = pq.read_table(path)
    shared = json.loads(table.schema.metadata[b"truant"])
    pq.write_table(table.replace_schema_metadata({b"truant": json.dumps({**shared, **change})}), path)


def test_a_file_of_another_schema_is_refused_and_further_fields_are_not(saved):
    changed_metadata(saved, {"more": 1})  # within a schema, fields are only added
    assert truant.Simulation.load(saved).runs == 3
    changed_metadata(saved, {"schema": "truant/simulation-runs/2", "truant": "9.1"})
    with pytest.raises(
        InvalidValue, match=r"at most truant/simulation-runs/1, got .*/2' of truant 9\.1; install a"
    ):
        truant.Simulation.load(saved)
    changed_metadata(saved, {"schema": "truant/sweep-runs/1"})
    with pytest.raises(
        InvalidValue, match=r"must be truant/simulation-runs/1, got 'truant/sweep-runs/1'; it is"
    ):
        truant.Simulation.load(saved)


def test_changed_bytes_do_not_pass_for_the_same_result(saved):
    """Of 200 files with three bytes changed none may load with other numbers."""
    content, rng = saved.read_bytes(), np.random.default_rng(3)
    whole = truant.Simulation.load(saved)
    for _ in range(200):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            changed[place] ^= int(rng.integers(1, 256))
        saved.write_bytes(bytes(changed))
        try:
            loaded = truant.Simulation.load(saved)
        except InvalidValue:
            continue
        assert np.array_equal(loaded.regret, whole.regret)
        assert np.array_equal(loaded.pulls, whole.pulls)
        assert np.array_equal(loaded.nanoseconds, whole.nanoseconds)


def test_names_that_cannot_be_files(tmp_path):
    result = simulate("mar", "mar-ucb", horizon=10, runs=1, progress=False)
    for name in ("x" * 300 + ".parquet", "a\0b.parquet"):
        with pytest.raises(InvalidValue, match="cannot be a file name"):
            result.save(tmp_path / name)
    assert result.save(tmp_path / ("x" * 240 + ".parquet")).exists()
    with pytest.raises(InvalidValue, match="A file name is needed"):
        result.save(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_files_are_written_though_printing_fails(tmp_path, encoding):
    """Standard output is closed at once, as by `| true`; an ascii terminal has no star."""
    path = tmp_path / "runs.parquet"
    code = "from truant.cli import main; main()"
    options = [
        "simulate",
        "--world",
        "mar",
        "--policy",
        "mar-ucb",
        "--policy",
        "naive-ucb",
        "--horizon",
        "300",
        "--runs",
        "2",
        "--out",
    ]
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-c", code, *options, str(path)]
    subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=environment, check=False)
    os.close(writing)
    assert truant.Simulation.load(path).runs == 2
    plain = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"mar-ucb" in plain.stdout

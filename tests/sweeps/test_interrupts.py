"""Kills, interrupts and errors: a sweep says what happened, and loses nothing."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

import truant
from tests.sweeps.studies import MANY_TASKS, PAIRS, PARTS, SLOW
from truant import registry
from truant.errors import InvalidValue
from truant.spec import Spec
from truant.sweeps import backend as backend_module
from truant.sweeps import kept_runs
from truant.sweeps import sweep as lab
from truant.sweeps import task as task_module
from truant.sweeps.backend import workers
from truant.sweeps.study import Point
from truant.sweeps.task import Task


def test_ten_kills_and_the_result_is_the_same(tmp_path):
    """SIGKILL at random moments: while it starts, while it works, while it writes."""
    study, chance = tmp_path / "study.toml", random.Random(20)
    study.write_text(MANY_TASKS)
    whole = truant.sweep(study, out=tmp_path / "whole", workers=1)
    folder = tmp_path / "study-results"
    killed = 0
    for number in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW, str(study)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2 * (number % 2)):  # at any moment since it began, or with some tasks behind it
            assert process.stdout.readline() == "at work\n"
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.stdout.close()
        killed += process.wait() == -signal.SIGKILL
        for part in (folder / "parts").rglob("*.parquet"):
            assert pq.read_table(part).num_rows == 100  # none is half-written
        assert not (folder / "results.parquet").exists()
    assert killed == 10
    assert 5 <= len(list((folder / "parts").rglob("*.parquet"))) < 40  # the kills came in the middle
    result = truant.sweep(study)
    assert result.results.read_bytes() == whole.results.read_bytes()
    assert result.rows == whole.rows
    assert [path for path in folder.rglob(".*") if path.name not in (".lock", ".truant")] == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_done(study, sign):
    code = SLOW.replace(
        "sweep.sweep(sys.argv[1], workers=2)", "from truant.cli import cli; cli(['sweep', sys.argv[1]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(study)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(3):
        assert process.stdout.readline() == "at work\n"
    process.send_signal(sign)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + sign
    assert said == "Stopped; what was done is kept, and the same command goes on from there.\n"
    assert 2 <= len(list((study.parent / "study-results" / "parts").rglob("*.parquet"))) < PARTS


ENDLESS = """
runs = 2
horizon = 100_000_000_000
policies = ["naive-ucb"]
worlds = ["mcar"]
"""


@pytest.mark.parametrize("backend", ["threads", "processes"])
@pytest.mark.parametrize(
    ("sign", "wait"), [(signal.SIGINT, 0.3), (signal.SIGINT, 2.0), (signal.SIGTERM, 2.0)]
)
def test_an_interrupt_is_answered_at_once_whatever_the_horizon(tmp_path, backend, sign, wait):
    """Sent to the whole group, as a terminal does; a run of this horizon would take hours."""
    study = tmp_path / "study.toml"
    study.write_text(ENDLESS)
    code = SLOW.replace(
        "sweep.sweep(sys.argv[1], workers=2)",
        "original = sweep._results\n"
        "sweep._results = lambda *given: (print('at work', flush=True), original(*given))[1]\n"
        f"from truant.cli import cli; cli(['sweep', sys.argv[1], '--backend', '{backend}'])",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(study)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "at work\n"
    time.sleep(wait)
    os.killpg(process.pid, sign)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 128 + sign
    assert said == "Stopped; what was done is kept, and the same command goes on from there.\n"


def killed(met, always):
    """Work whose process is killed at the second task, once or always."""

    def work(number, task, stop):
        if number == 1 and (always or not met.exists()):
            met.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task_module.work(number, task, stop)

    return work


def test_a_worker_that_is_killed_is_replaced(study, tmp_path, monkeypatch):
    whole = truant.sweep(study, out=tmp_path / "whole", workers=2)
    monkeypatch.setattr(lab, "work", killed(tmp_path / "met", always=False))
    result = truant.sweep(study, out=tmp_path / "killed", workers=2, backend="processes")
    assert (tmp_path / "met").exists()
    assert result.results.read_bytes() == whole.results.read_bytes()


def test_a_task_whose_workers_are_killed_again_and_again_is_named(study, tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "work", killed(tmp_path / "met", always=True))
    said = r"ended from outside, and so was the one that took its place, at .*mar, arms=3, gamma=0.2, .*fewer workers\."
    with pytest.raises(truant.TruantError, match=said):
        truant.sweep(study, out=tmp_path / "killed", workers=2, backend="processes")
    monkeypatch.undo()
    assert len(truant.sweep(study, out=tmp_path / "killed", workers=2).rows) == PAIRS


def test_a_cluster_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    monkeypatch.setattr(backend_module, "CONNECT_SECONDS", 1)
    with (
        pytest.raises(
            truant.TruantError, match=r"No Ray cluster answers at RAY_ADDRESS='127\.0\.0\.1:9' within"
        ),
        workers("ray", 2),
    ):
        pass


def test_an_interrupt_stops_the_threads_that_are_still_at_work(study, monkeypatch):
    """In a notebook they would go on unseen."""
    flags = []
    original = lab.work

    def watched(number, task, stop):
        flags.append(stop)
        return original(number, task, stop)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "work", watched)
    monkeypatch.setattr(kept_runs.KeptRuns, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        truant.sweep(study, workers=2)
    assert all(stop[0] == 1 for stop in flags)
    point = Point(0, Spec("mcar"), 400)
    stopped = Task(5, point, "", (Spec("naive-ucb"),), 0, 100)
    assert original(3, stopped, np.ones(1, np.int64)) == (3, None)


def test_an_error_in_a_run_is_said_and_loses_nothing(tmp_path, monkeypatch, counted):
    """A world whose 120th instance cannot be built."""
    built = registry._built_in

    def fragile(rng):
        """A world that fails now and then."""
        if rng.integers(1 << 62) == trap:
            raise InvalidValue("this instance cannot be built.")
        return truant.worlds.RealWorld([[1.0]], [[0.5]])

    seeds = np.random.SeedSequence(0, spawn_key=(120,)).spawn(2)
    trap = np.random.default_rng(seeds[0]).integers(1 << 62)
    monkeypatch.setattr(
        registry, "_built_in", lambda kind: built(kind) | ({"fragile": fragile} if kind == "world" else {})
    )
    table = {"runs": 200, "horizon": 50, "policies": ["naive-ucb"], "worlds": ["fragile"]}
    with pytest.raises(InvalidValue, match=r"fragile, horizon=50.*run 120.*this instance cannot be built"):
        truant.sweep(table, out=tmp_path / "out", workers=1)
    assert len(list((tmp_path / "out" / "parts").rglob("*.parquet"))) == 1  # the first hundred

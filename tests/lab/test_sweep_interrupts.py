"""Kills, interrupts and errors: a sweep says what happened, and loses nothing."""

import itertools
import os
import random
import signal
import time
from contextlib import contextmanager

import numpy as np
import pyarrow.parquet as pq
import pytest

import truant
from tests.lab.studies import MANY_TASKS, PAIRS
from truant import registry
from truant.errors import InvalidValue
from truant.lab import study as task_module
from truant.lab import sweep as backend_module
from truant.lab import sweep as lab
from truant.lab import sweep_runs as kept_runs
from truant.lab.study import Point, Task
from truant.lab.sweep import LostWorker, workers
from truant.spec import Spec

pytestmark = pytest.mark.usefixtures("no_page")


# a sweep that says when it is about to keep a task's runs, and with the fourth waits for whatever comes
FOUR_TASKS = """
import itertools, sys, time
from truant.lab import study as task, sweep, sweep_result as result, sweep_runs as kept_runs
result.SweepResult.report = lambda self, path: None
task.RUNS = 10
write, number = kept_runs.KeptRuns.write, itertools.count()
def told(self, *arguments):
    print("at work", flush=True)
    if next(number) == 3:
        time.sleep(600)
    write(self, *arguments)
kept_runs.KeptRuns.write = told
"""


def test_ten_kills_and_the_result_is_the_same(forks, tmp_path):
    """SIGKILL at random moments: while it starts, while it works, while it writes."""
    study, chance = tmp_path / "study.toml", random.Random(20)
    study.write_text(MANY_TASKS)
    whole = truant.sweep(study, out=tmp_path / "whole", workers=1)
    folder = tmp_path / "study-results"
    for number in range(10):
        process = forks.start(FOUR_TASKS + "sweep.sweep(sys.argv[1], workers=2)", study)
        if number % 2:  # with some tasks behind it, while it writes the next
            for _ in range(2):
                assert process.line() == "at work\n"
            time.sleep(chance.uniform(0.0, 0.005))
        else:  # at any moment since it began
            time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        assert process.finished().returncode == -signal.SIGKILL
        for part in (folder / "parts").rglob("*.parquet"):
            assert pq.read_table(part).num_rows == 5  # none is half-written
        assert not (folder / "results.parquet").exists()
    assert 5 <= len(list((folder / "parts").rglob("*.parquet"))) <= 30
    result = truant.sweep(study)
    assert result.results.read_bytes() == whole.results.read_bytes()
    assert result.rows == whole.rows
    assert [path for path in folder.rglob(".*") if path.name not in (".lock", ".truant")] == []


STOPPED = "Stopped; what was done is kept, and the same command goes on from there.\n"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_done(forks, study, sign):
    process = forks.start(FOUR_TASKS + "from truant.cli import cli; cli(['sweep', sys.argv[1]])", study)
    for _ in range(4):
        assert process.line() == "at work\n"
    process.kill(sign)
    done = process.finished()
    assert (done.returncode, done.stderr) == (128 + sign, STOPPED)
    parts = (study.parent / "study-results" / "parts").rglob("*.parquet")
    assert len(list(parts)) == 3 * 3  # of three tasks with three policies each


ENDLESS = """
runs = 2
horizon = 100_000_000_000
policies = ["naive-ucb"]
worlds = ["mcar", "null"]
"""
# a sweep that says when it begins to hand out tasks, or when a worker begins with one
TOLD = """
import os, sys
from truant.cli import cli
from truant.lab import sweep
study, backend, name = sys.argv[1:]
function = getattr(sweep, name)
def told(*arguments):
    os.write(1, b"at work\\n")  # at once: two workers may begin together
    return function(*arguments)
setattr(sweep, name, told)
cli(["sweep", study, "--workers", "2", "--backend", backend])
"""


@pytest.mark.parametrize(
    ("backend", "name", "sign"),
    [
        ("threads", "_results", signal.SIGINT),
        ("threads", "work", signal.SIGINT),
        ("threads", "work", signal.SIGTERM),
        ("processes", "work", signal.SIGINT),
        ("processes", "work", signal.SIGTERM),
    ],
)
def test_an_interrupt_is_answered_whatever_the_horizon(forks, tmp_path, backend, name, sign):
    """Sent to the whole group, as a terminal does; a run of this horizon would take hours."""
    study = tmp_path / "study.toml"
    study.write_text(ENDLESS)
    process = forks.start(TOLD, study, backend, name, own_session=True)
    assert process.line() == "at work\n"
    time.sleep(0.1)  # a worker goes on into the compiled loop
    os.killpg(process.pid, sign)
    done = process.finished()
    assert (done.returncode, done.stderr) == (128 + sign, STOPPED)


STARTING = """
import os, signal, sys, joblib
from truant.cli import cli
call = joblib.Parallel.__call__
def interrupted(self, calls):
    results = call(self, calls)
    os.kill(os.getpid(), signal.SIGINT)
    return results
joblib.Parallel.__call__ = interrupted
cli(["sweep", sys.argv[1], "--workers", "2", "--backend", "processes"])
"""


def test_an_interrupt_while_processes_start_is_answered(forks, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(ENDLESS)
    done = forks.run(STARTING, study)
    assert (done.returncode, done.stderr) == (130, STOPPED)


def test_the_same_bytes_on_processes_of_which_one_is_killed(study, whole, tmp_path, monkeypatch):
    met = tmp_path / "met"

    def work(number, task, stop):
        if number == 1 and not met.exists():
            met.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task_module.work(number, task, stop)

    monkeypatch.setattr(lab, "work", work)
    result = truant.sweep(study, workers=2, backend="processes")
    assert met.exists()
    assert result.results.read_bytes() == whole.results.read_bytes()


def test_tasks_whose_workers_are_lost_again_and_again_are_named(study, monkeypatch, counted):
    @contextmanager
    def losing(backend, count):
        def run(function, arguments):
            while two := list(itertools.islice(arguments, 2)):
                if 3 in (number for number, *_ in two):
                    raise LostWorker("A worker process was ended from outside.")
                for each in two:
                    yield function(*each)

        yield run

    monkeypatch.setattr(lab, "workers", losing)
    point = "mar, arms=3, gamma=0.2, K=3, horizon=400"
    said = f"and so was the one that took its place, at {point}, runs from 0 or {point}, runs from 10; "
    with pytest.raises(
        truant.TruantError, match=rf"ended from outside, {said}.*Finished runs are kept: .* fewer workers\.$"
    ):
        truant.sweep(study)
    assert len(counted) == 2
    monkeypatch.setattr(lab, "workers", workers)
    assert len(truant.sweep(study).rows) == PAIRS
    assert len(counted) == 12


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

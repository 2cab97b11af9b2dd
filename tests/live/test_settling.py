"""A settler of its own: windows close in short transactions, by any number of settlers, and asks stay bounded."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.live.commands import in_a_folder, printed, run, settled_experiment  # noqa: F401
from tests.live.counted import assert_sound, kept
from truant.live import settle, settling
from truant.live.experiment import Experiment
from truant.live.settling import Settling
from truant.live.store.opening import open_store


@pytest.fixture
def due(create, clock):
    """An experiment with 60 decisions whose window is over; a batch holds 10."""
    experiment = create()
    for decision in experiment.ask(60):
        experiment.tell(decision.id, outcome=1)
    clock.advance("8d")
    return experiment


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(settle, "MOST", 10)


def settled(experiment):
    return int(kept(experiment).pulls.sum())


def test_an_ask_settles_one_batch_and_the_next_one_goes_on(due, reopened, small_batches):
    other = reopened()
    for batches in range(1, 4):
        other.ask()
        assert settled(due) == 10 * batches
    assert due.close_windows() == 30
    assert_sound(due)


def test_shares_are_not_computed_anew_after_every_batch(due, reopened, small_batches):
    other = reopened()
    before = other.state.allocation.version
    for _ in range(4):
        other.ask()
    assert other.state.allocation.version - before == 1
    other.close_windows()
    assert other.state.allocation.counts_version == other.refresh().head.counts_version


def test_several_settlers_at_once_count_everything_once(due, clock, store_url, small_batches, monkeypatch):
    monkeypatch.setattr(settling, "PAUSE", 0.01)
    done, counted = threading.Event(), []

    def report(name, decisions):
        counted.append(decisions)
        if sum(counted) >= 60:
            done.set()

    stores = [open_store(store_url) for _ in range(3)]
    settlers = [Settling(store, clock=clock, report=report) for store in stores]
    with settlers[0], settlers[1], settlers[2]:
        assert done.wait(60)
    assert sum(sum(one.decisions.values()) for one in settlers) == 60
    assert [one.error for one in settlers] == [None] * 3
    assert settled(due) == 60
    assert_sound(due)
    for store in stores:
        store.close()


def test_a_settler_finds_experiments_that_are_new(due, create, clock):
    settler = Settling(due.store, clock=clock)
    assert settler.once() == {"mail": 60}
    other = create("other", store=due.store)
    other.ask(3)
    clock.advance("8d")
    assert settler.once() == {"mail": 0, "other": 3}
    assert Settling(due.store, ["other"], clock=clock).once() == {"other": 0}


def test_settle_says_what_it_counted(in_a_folder):  # noqa: F811
    settled_experiment(60)
    assert run("settle").stdout == "mail: 60 decisions were counted.\n"
    assert printed("settle", "mail")["experiments"] == [{"name": "mail", "decisions": 0}]


def test_ctrl_c_ends_a_watch_cleanly(in_a_folder):  # noqa: F811
    settled_experiment(60)
    command = [sys.executable, "-m", "truant", "settle", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "mail: 60 decisions were counted.\n"
        os.kill(process.pid, signal.SIGINT)
        rest, complaints = process.communicate(timeout=60)
    assert (process.returncode, rest, complaints) == (0, "", "")
    experiment = Experiment.open("mail", store="sqlite:///truant.db")
    assert_sound(experiment)
    experiment.store.close()

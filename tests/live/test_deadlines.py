"""A call waits for a store for a while, and then the fallback is used; nobody waits for ever."""

import multiprocessing
import os
import signal
import sqlite3
import threading
from contextlib import closing, contextmanager

import pytest

from tests.live.counted import assert_sound, rows
from tests.postgres import url
from truant.errors import InvalidValue, Unavailable, UnknownName
from truant.live.experiment import Experiment
from truant.live.store import deadline
from truant.live.store.opening import open_store

SETTINGS = {"levels": [0, 1], "assume": "mcar", "window": "7d"}
SHORT = 0.3  # seconds; a store that does not answer at all is found out whatever the load
SILENT = r"does not answer|another process keeps it locked"
FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@contextmanager
def locked(file):
    """Somebody else writes and does not end."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture(params=["sqlite", "postgresql"])
def outage(request, tmp_path):
    """The URL of a store, and what makes it silent for a while."""
    if request.param == "sqlite":
        file = tmp_path / "store.db"
        yield f"sqlite:///{file}", lambda: locked(file)
    else:
        server = request.getfixturevalue("own_server")
        yield url(server.folder), server.paused


def test_ask_and_tell_give_up_and_go_on_later(outage):
    address, silent = outage
    live = Experiment.create("mail", ["a", "b"], store=address, **SETTINGS)
    decision = live.ask(key="anna")
    with silent():
        found = live.ask(key="ben", fallback="b", timeout=SHORT)
        assert (found.arm, found.id, found.fallback) == ("b", None, True)
        assert [one.arm for one in live.ask(3, fallback="a", timeout=SHORT)] == ["a"] * 3
        with pytest.raises(Unavailable, match=SILENT):
            live.ask(timeout=SHORT)
        with pytest.raises(Unavailable, match=SILENT):
            live.tell(decision.id, outcome=1, timeout=SHORT)
    assert live.tell(decision.id, outcome=1).verdict == "accepted"
    assert live.ask(key="ben", fallback="b").fallback is False
    assert len(rows(live)) == 2
    assert_sound(live)
    live.store.close()


def test_threads_that_wait_behind_another_give_up_too(outage):
    address, silent = outage
    live = Experiment.create("mail", ["a", "b"], store=address, **SETTINGS)
    live.ask()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(live.ask(fallback="b", timeout=SHORT))) for _ in range(8)
    ]
    with silent():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.fallback for one in found] == [True] * 8
    assert not live.ask(fallback="b").fallback
    assert len(rows(live)) == 2
    live.store.close()


def test_one_who_can_wait_is_not_refused_with_those_who_cannot(tmp_path):
    file = tmp_path / "store.db"
    live = Experiment.create("mail", ["a", "b"], store=file, **SETTINGS)
    found, given_up = {}, threading.Event()

    def ask(name, timeout):
        found[name] = live.ask(fallback="b", timeout=timeout)
        if name == "in a hurry":
            given_up.set()

    threads = [threading.Thread(target=ask, args=one) for one in (("in a hurry", SHORT), ("patient", 60))]
    with locked(file):
        for thread in threads:
            thread.start()
        assert given_up.wait(60)
    for thread in threads:
        thread.join()
    assert {name: one.fallback for name, one in found.items()} == {"in a hurry": True, "patient": False}
    live.store.close()


def test_a_server_that_is_silent_when_the_experiment_is_opened(own_server):
    address, silent = url(own_server.folder), own_server.paused
    made = Experiment.create("mail", ["a", "b"], store=address, **SETTINGS)
    made.ask()
    made.store.close()
    with silent():
        with pytest.raises(Unavailable, match="does not answer"):
            Experiment.open("mail", store=address, timeout=SHORT)
        live = Experiment.open("mail", store=address, fallback="b", timeout=SHORT)
        assert "not reached yet" in repr(live)
        assert live.ask(key="anna", timeout=SHORT).arm == "b"
        assert [one.fallback for one in live.ask(keys=["x", "y"], timeout=SHORT)] == [True, True]
        with pytest.raises(Unavailable, match="does not answer"):
            live.tell(key="anna", outcome=1, timeout=SHORT)
    assert not live.ask(key="anna").fallback
    assert live.tell(key="anna", outcome=1).verdict == "accepted"
    assert live.name == "mail"
    live.pause()
    assert live.ask().arm == "b"  # the fallback of `open` is also used while it is paused
    live.store.close()


def test_a_server_that_is_not_there_yet(tmp_path, own_server):
    own_server.stop()
    live = Experiment.open("mail", store=url(own_server.folder), fallback="a")
    assert live.ask().fallback
    own_server.start()
    with pytest.raises(UnknownName, match="Unknown experiment 'mail'"):
        live.ask()
    Experiment.create("mail", ["a", "b"], store=url(own_server.folder), **SETTINGS).store.close()
    assert not live.ask().fallback
    live.store.close()


def test_a_fallback_must_be_an_arm_and_a_timeout_a_number_of_seconds(create, reopened):
    live = create()
    with pytest.raises(UnknownName, match="Unknown arm 'c'"):
        live.ask(fallback="c")
    with pytest.raises(UnknownName, match="Unknown arm 'c'"):
        reopened(fallback="c")
    for wrong in (0, -1, "2", True, float("nan"), float("inf")):
        with pytest.raises(InvalidValue, match="timeout must be a positive number of seconds"):
            live.ask(timeout=wrong)
    assert rows(live) == []


def test_what_reads_all_decisions_may_take_long(create, monkeypatch):
    live, found = create(), []
    read = live.store.read
    monkeypatch.setattr(
        live.store, "read", lambda query: (found.append(deadline.limits().silence), read(query))[1]
    )
    live.doctor()
    assert set(found) == {deadline.LONG}
    live.lookup("anna")
    assert found[-1] == deadline.USUAL


def test_limits_of_calls():
    with deadline.within(100):
        outer = deadline.limits().end
        with deadline.within(200):
            assert deadline.limits().end == outer
        with deadline.within(50):
            assert deadline.limits().end < outer
        with deadline.patiently():
            assert deadline.limits() == (outer, deadline.LONG)
    assert deadline.limits() == (float("inf"), deadline.USUAL)
    assert deadline.limits().left == deadline.USUAL


# The host stops one of the processes that share a file


def _hold(file, pipe):
    with open_store(file).transaction():
        pipe.send("locked")
        pipe.recv()


def test_a_process_that_is_stopped_while_it_writes(tmp_path):
    file = tmp_path / "store.db"
    live = Experiment.create("mail", ["a", "b"], store=file, fallback="b", **SETTINGS)
    here, there = FORK.Pipe()
    child = FORK.Process(target=_hold, args=(file, there))
    child.start()
    assert here.recv() == "locked"
    os.kill(child.pid, signal.SIGSTOP)
    assert live.ask(timeout=SHORT).fallback
    os.kill(child.pid, signal.SIGCONT)
    here.send("go on")
    child.join()
    assert not live.ask(timeout=60).fallback
    live.store.close()


def test_settling_that_fails_is_no_reason_to_refuse_a_tell(create, clock, monkeypatch):
    live = create()
    decision = live.ask()
    clock.advance("1d")

    def busy(*_, **__):
        raise Unavailable("Another process does something that takes long.")

    monkeypatch.setattr(type(live._settler), "_due", busy)
    assert live.tell(decision.id, outcome=1).verdict == "accepted"
    clock.advance("1d")
    assert not live.ask().fallback

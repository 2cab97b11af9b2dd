"""Stores of every version open, and are brought up to date once, in one transaction each step."""

import multiprocessing
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.counted import assert_sound, rows
from truant.errors import Unavailable
from truant.live.experiment import Experiment, experiments
from truant.live.store import opening
from truant.live.store.opening import open_store
from truant.live.times import ManualClock

STORES = sorted((Path(__file__).parent / "stores").glob("v*.db"))
STATES = {
    ("observed", None),
    ("observed", "absent"),
    ("missing", "reported"),
    ("missing", "withdrawn"),
    ("pending", None),
    ("missing", "expired"),
}


def test_a_store_of_every_version_is_kept():
    assert [path.stem for path in STORES] == [f"v{i + 1}" for i in range(len(opening.MIGRATIONS))]


@pytest.fixture(params=STORES, ids=lambda path: path.stem)
def old_store(request, tmp_path):
    """A copy of a kept store, whose experiments are `mail` (late and followed up) and `shop` (absent is 0)."""
    return shutil.copyfile(request.param, tmp_path / "store.db")


def test_an_old_store_opens_and_goes_on(old_store):
    assert {one["name"] for one in experiments(old_store)} == {"mail", "shop"}
    found = set()
    for name in ("mail", "shop"):
        clock = ManualClock("2026-03-20 12:00")
        experiment = Experiment.open(name, store=old_store, clock=clock, seed=1)
        assert_sound(experiment)
        before = rows(experiment)
        found |= {(row.state, row.reason) for row in before}
        decision = experiment.ask(key="somebody new")
        assert experiment.tell(decision.id, outcome=1).verdict == "accepted"
        assert experiment.tell(key="customer-0", outcome=1).verdict == "repeated"
        clock.advance("30d")
        assert experiment.close_windows() >= 1
        assert len(rows(experiment)) == len(before) + 1
        assert_sound(experiment)
        experiment.store.close()
    assert found == STATES


def test_an_old_store_keeps_what_was_late_picked_answered_and_corrected(old_store):
    experiment = Experiment.open("mail", store=old_store, clock=ManualClock("2026-03-20 12:00"))
    found = rows(experiment)
    assert any(row.late_outcome is not None for row in found)
    assert any(row.answer is not None and row.answer_settled is not None for row in found)
    assert any(row.listed_at is not None and row.answered_at is None for row in found)
    assert any(row.holdout for row in found)
    kinds = {event["kind"] for event in experiment.events()}
    assert {"corrected", "withdrawn", "listed", "followed_up", "forgotten", "changed", "arm_added"} <= kinds
    assert experiment.follow_up(2).available >= 0
    experiment.store.close()


# A step that is still to come


@pytest.fixture
def one_more(monkeypatch):
    """One more step at the end; how often it was made."""
    made = []

    def step(store, transaction):
        made.append(store)
        transaction.run("CREATE TABLE further (word TEXT)")
        transaction.run("INSERT INTO further VALUES ('done')")

    monkeypatch.setattr(opening, "MIGRATIONS", [*opening.MIGRATIONS, step])
    return made


def version_of(store):
    return store.read(lambda t: t.rows("SELECT value FROM meta WHERE name = 'version'"))[0][0]


def test_a_further_step_is_made_once(create, store_url, request):
    create().ask(key="before")
    made = request.getfixturevalue("one_more")
    for _ in range(2):
        store = open_store(store_url)
        assert version_of(store) == str(len(opening.MIGRATIONS))
        assert store.read(lambda t: t.rows("SELECT word FROM further")) == [("done",)]
        store.close()
    assert len(made) == 1
    experiment = Experiment.open("mail", store=store_url)
    assert experiment.lookup("before") is not None
    experiment.store.close()


def test_a_step_that_fails_is_undone(create, store_url, monkeypatch):
    experiment = create()

    def broken(store, transaction):
        transaction.run("CREATE TABLE further (word TEXT)")
        transaction.run("UPDATE experiments SET name = 'lost'")
        transaction.run("CREATE TABLE further (word TEXT)")

    with monkeypatch.context() as patch:
        patch.setattr(opening, "MIGRATIONS", [*opening.MIGRATIONS, broken])
        with pytest.raises(Unavailable, match="further"):
            open_store(store_url)
    assert version_of(experiment.store) == str(len(opening.MIGRATIONS))
    assert "further" not in experiment.store.read(experiment.store.tables)
    again = Experiment.open("mail", store=store_url)
    assert again.ask().id
    again.store.close()


def test_steps_of_several_versions_are_made_in_order(store_url, monkeypatch):
    order = []

    def step(number):
        def made(store, transaction):
            order.append(number)

        return made

    monkeypatch.setattr(opening, "MIGRATIONS", [*opening.MIGRATIONS, *map(step, range(3))])
    store = open_store(store_url)
    assert version_of(store) == str(len(opening.MIGRATIONS))
    store.close()
    assert order == [0, 1, 2]


def _open(url, barrier, answers):
    barrier.wait(120)
    try:
        store = open_store(url)
        answers.put(store.read(lambda t: t.rows("SELECT value FROM meta WHERE name = 'secret'"))[0][0])
        store.close()
    except BaseException as error:
        answers.put(f"failed: {error}")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_open_a_new_store_at_once(store_url):
    """One makes the tables, the others wait for it: all see the same secret."""
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(16), context.Queue()
    children = [context.Process(target=_open, args=(store_url, barrier, answers)) for _ in range(16)]
    for child in children:
        child.start()
    found = {answers.get(timeout=120) for _ in children}
    for child in children:
        child.join(120)
    assert len(found) == 1
    assert len(found.pop()) == 64


def test_a_kept_store_holds_no_key_in_clear():
    for path in STORES:
        assert b"customer-" not in path.read_bytes()
        with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

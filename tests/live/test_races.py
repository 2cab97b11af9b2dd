"""Two openings of an experiment that do contrary things at the same moment."""

import contextlib
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.live.counted import assert_sound, folded, kept, rows
from truant.errors import Gone
from truant.live import counting
from truant.live.settle import Snapshot
from truant.live.store import decision_statements, sqlite, statements
from truant.live.store.opening import open_store


@pytest.fixture
def meanwhile(monkeypatch):
    """Lets another thread make a call in the midst of one: when a function of truant is called the n-th time."""
    with ThreadPoolExecutor(1) as pool:
        tasks = []

        def meanwhile(module, name, call, times=1):
            inner, calls = getattr(module, name), []

            def wrapped(*arguments, **named):
                calls.append(1)
                if len(calls) == times:
                    task = pool.submit(call)
                    tasks.append(task)
                    _wait(task, 0.5)  # it may have to wait for this transaction
                return inner(*arguments, **named)

            monkeypatch.setattr(module, name, wrapped)
            return tasks

        yield meanwhile


def _wait(task, seconds):
    with contextlib.suppress(TimeoutError):
        task.result(seconds)


@pytest.mark.parametrize("change", ["correct", "withdraw"])
def test_a_correction_while_windows_close_is_counted(create, reopened, clock, meanwhile, change):
    """A decision that is counted is corrected while others of the same day are added to its counts."""
    experiment, other = create(), reopened()
    first = experiment.ask()
    experiment.tell(first.id, outcome=1)
    clock.advance("1h")
    experiment.ask(3)
    clock.advance("6d 23h 30m")
    assert experiment.close_windows() == 1

    def call():
        if change == "correct":
            other.correct(first.id, outcome=0)
        else:
            other.withdraw(first.id)

    clock.advance("1h")
    tasks = meanwhile(counting, "add_rows", call)
    assert experiment.close_windows() == 3
    tasks[0].result(20)
    experiment.close_windows()
    now = 0 if change == "correct" else None
    arms = experiment.configuration.arms
    told = [(arms[row.arm], None, now if row.id == first.id else None) for row in rows(experiment)]
    assert kept(experiment).table.tolist() == folded(experiment, told).table.tolist()
    assert_sound(experiment)


def test_a_pause_in_the_midst_of_a_list_leaves_none_of_it(create, reopened, meanwhile):
    """Decisions that nobody was told of would count as missing."""
    experiment, other = create(), reopened()
    tasks = meanwhile(decision_statements, "insert_decision", other.pause, times=3)
    try:
        asked = len(experiment.ask(keys=["a", "b", "c", "d"]))
    except Gone:
        asked = 0
    tasks[0].result(20)
    assert len(rows(experiment)) == asked


def test_an_allocation_that_was_not_kept_is_not_drawn_from(create, reopened):
    """Reading what a transaction wrote that is undone later must not leave a trace."""
    experiment, other = create(arms=("a", "b")), reopened()
    experiment.ask()  # looks at the store, and then not again for a while

    class Undone(Exception):
        pass

    snapshot = experiment.store.read(lambda t: Snapshot(t, experiment.number, {}, -1))
    row = snapshot.made(snapshot.configuration, 1, experiment.now())

    def operation(transaction):
        statements.insert_allocation(transaction, experiment.number, row._replace(probabilities=[0.25, 0.75]))
        experiment._ask_in(transaction, [None])
        raise Undone

    with pytest.raises(Undone):
        experiment.store.write(operation)
    other.change(minimum_share=0.1)  # makes an allocation of the same version
    experiment.ask(5)
    assert_sound(experiment)


def test_closing_windows_waits_for_another_process_that_does(create, reopened, clock, meanwhile):
    """When the call returns, everything that was due is counted, whoever counted it."""
    experiment, other = create(), reopened()
    experiment.ask(5)
    clock.advance("8d")
    seen = []

    def call():
        other.close_windows()
        seen.append(kept(other).pulls.sum())

    tasks = meanwhile(counting, "add_rows", call)
    experiment.close_windows()
    tasks[0].result(20)
    assert seen == [5]


def test_changes_at_once_are_all_made(create, reopened):
    """Each change is made to the configuration that the one before it left."""
    both = create(), reopened()
    arms = [f"new-{i}" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: both[i % 2].add_arm(arms[i]), range(8)))
    assert set(both[0].configuration.arms) == {"a", "b", *arms}
    assert both[0].state.head.revision == 9
    both[0].ask(20)
    assert_sound(both[1])


def test_a_transaction_that_the_database_gives_up_is_made_again(postgres_url):
    """Two that wait for each other: PostgreSQL ends one of them, and its caller does not notice."""
    stores = open_store(postgres_url), open_store(postgres_url)
    stores[0].write(lambda t: t.many("INSERT INTO meta VALUES (?, '0')", [["a"], ["b"]]))
    both_have_one, attempts = threading.Barrier(2), list[str]()

    def swapped(order):
        def operation(transaction):
            attempts.append(order)
            for name in order:
                transaction.run("UPDATE meta SET value = value || ? WHERE name = ?", [order[0], name])
                if attempts.count(order) == 1 and name == order[0]:
                    both_have_one.wait(20)
            return order

        return operation

    with ThreadPoolExecutor(2) as pool:
        tasks = [
            pool.submit(store.write, swapped(order))
            for store, order in zip(stores, ("ab", "ba"), strict=True)
        ]
        assert [task.result(30) for task in tasks] == ["ab", "ba"]
    # at least one was given up; made again, it may meet the other once more before that has its second row
    assert len(attempts) >= 3
    found = stores[0].read(lambda t: t.rows("SELECT value FROM meta WHERE name IN ('a', 'b')"))
    assert [sorted(value) for (value,) in found] == [["0", "a", "b"]] * 2
    for store in stores:
        store.close()


def test_a_new_file_is_waited_for_where_sqlite_does_not(tmp_path):
    """Switching a file that somebody reads to another journal is refused at once by a connection without patience."""
    path = tmp_path / "new.db"
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("CREATE TABLE something (word TEXT)")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM something").fetchall()
    impatient = sqlite3.connect(path, timeout=0, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        impatient.execute("PRAGMA journal_mode=WAL")
    later = threading.Timer(0.2, reader.execute, ["ROLLBACK"])
    later.start()
    sqlite._use_log(impatient)
    assert impatient.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    later.join()
    for connection in (reader, impatient):
        connection.close()

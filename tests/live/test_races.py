"""Two openings of an experiment that do contrary things at the same moment."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.live.counted import assert_sound, folded, kept, rows
from truant.errors import Gone
from truant.live import counting
from truant.live.allocation import Snapshot
from truant.live.store import statements


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
    tasks = meanwhile(statements, "insert_decision", other.pause, times=3)
    try:
        asked = len(experiment.ask(keys=["a", "b", "c", "d"]))
    except Gone:
        asked = 0
    tasks[0].result(20)
    assert len(rows(experiment)) == asked


def test_an_allocation_that_was_not_kept_is_not_drawn_from(create, reopened):
    """Reading what a transaction wrote that is undone later must not leave a trace."""
    experiment, other = create(arms=("a", "b")), reopened()

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

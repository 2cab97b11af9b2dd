"""Operations of many threads share a transaction, and only those that fail do."""

import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

import pytest

from truant.errors import Conflict, Unavailable
from truant.live.store import store as stores
from truant.live.store.opening import open_store


@pytest.fixture
def store(store_url):
    store = open_store(store_url)
    yield store
    store.close()


class Thread(threading.Thread):
    """A thread that keeps what a call gave or raised."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.call, self.result, self.error = call, None, None
        self.start()

    def run(self):
        try:
            self.result = self.call()
        except BaseException as error:
            self.error = error

    def finished(self):
        self.join(20)
        assert not self.is_alive(), "a thread waits for ever"
        return self.error or self.result


@contextmanager
def held(store):
    """While a first operation holds the lead, others queue up: they become one batch afterwards."""
    begun, go_on = threading.Event(), threading.Event()

    def operation(transaction):
        begun.set()
        assert go_on.wait(20)
        return "first"

    first = Thread(lambda: store.write(operation))
    assert begun.wait(20)
    try:
        yield
    finally:
        go_on.set()
        assert first.finished() == "first"


def queued(store, operations):
    """Threads that wait with an operation each, in this order."""
    threads = []
    for operation in operations:
        threads.append(Thread(lambda operation=operation: store.write(operation)))
        while len(store._group._queue) < len(threads):
            time.sleep(0.001)
    return threads


def inserted(name):
    def operation(transaction):
        transaction.run("INSERT INTO meta VALUES (?, 'x')", [name])
        return name

    return operation


def refused(transaction):
    raise Conflict("No.")


def wrong_statement(transaction):
    transaction.run("INSERT INTO nothing_of_that_name VALUES (1)")


def programming_error(transaction):
    transaction.run("INSERT INTO meta VALUES ('half', 'x')")
    raise ZeroDivisionError


def names_of(store):
    return {name for (name,) in store.read(lambda transaction: transaction.rows("SELECT name FROM meta"))}


@pytest.mark.parametrize(
    ("failing", "kind"),
    [(refused, Conflict), (wrong_statement, Unavailable), (programming_error, ZeroDivisionError)],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_operation_that_fails_does_not_fail_the_others(store, failing, kind, place):
    operations = [inserted("a"), inserted("b")]
    operations.insert(place, failing)
    with held(store):
        threads = queued(store, operations)
    results = [thread.finished() for thread in threads]
    assert isinstance(results.pop(place), kind)
    assert results == ["a", "b"]
    assert {"a", "b"} <= names_of(store)
    assert "half" not in names_of(store)


def test_operations_that_wait_share_a_transaction(store):
    seen = set()

    def numbered(number):
        def operation(transaction):
            seen.add(id(transaction))
            return number

        return operation

    with held(store):
        threads = queued(store, [numbered(i) for i in range(8)])
    assert [thread.finished() for thread in threads] == list(range(8))
    assert len(seen) == 1


@pytest.fixture
def interrupted_soon():
    """The main thread is interrupted in a moment, as by Ctrl-C."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_waiter_that_is_interrupted_leaves_the_others_alone(store, interrupted_soon, place):
    names = ["a", "b"]
    with held(store):
        threads = queued(store, [inserted(name) for name in names[:place]])
        late = Thread(lambda: _after(store, place + 1, names[place:]))
        interrupted_soon()
        with pytest.raises(KeyboardInterrupt):
            store.write(inserted("interrupted"))
    assert [thread.finished() for thread in threads] == names[:place]
    assert late.finished() == names[place:]
    assert "interrupted" not in names_of(store)
    assert store.write(inserted("afterwards")) == "afterwards"


def _after(store, length, names):
    """Queue up once that many wait; what each gave."""
    while len(store._group._queue) < length:
        time.sleep(0.001)
    return [thread.finished() for thread in [Thread(lambda n=n: store.write(inserted(n))) for n in names]]


class InterruptedAtLast(threading.Event):
    """As when Ctrl-C comes just after the thread was woken."""

    def wait(self, timeout=None):
        super().wait(timeout)
        raise KeyboardInterrupt


def test_a_waiter_that_is_interrupted_when_it_shall_lead_hands_over(store, monkeypatch):
    class Waiting(stores._Waiting):
        def __init__(self, operation):
            super().__init__(operation)
            self.woken = InterruptedAtLast()

    with held(store):
        with monkeypatch.context() as patch:
            patch.setattr(stores, "_Waiting", Waiting)
            [interrupted] = queued(store, [inserted("interrupted")])
        following = Thread(lambda: store.write(inserted("following")))
        while len(store._group._queue) < 2:
            time.sleep(0.001)
    assert isinstance(interrupted.finished(), KeyboardInterrupt)
    assert following.finished() == "following"
    assert "interrupted" not in names_of(store)


def test_a_leader_that_is_interrupted_hands_over(store, interrupted_soon):
    def endless(transaction):
        transaction.run("INSERT INTO meta VALUES ('interrupted', 'x')")
        time.sleep(20)

    waiting = Thread(lambda: _after_lead(store))
    interrupted_soon()
    with pytest.raises(KeyboardInterrupt):
        store.write(endless)
    assert waiting.finished() == "waited"
    assert "interrupted" not in names_of(store)
    assert "waited" in names_of(store)


def _after_lead(store):
    while not store._group._led:
        time.sleep(0.001)
    return store.write(inserted("waited"))

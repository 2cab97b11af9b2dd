"""Processes that are killed, connections that are cut, a server that is restarted: what was promised is kept."""

import threading
import time

import psycopg
import pytest
from research.validation.killed_experiment import killed_experiment
from research.validation.live_kills import row

from tests.live.counted import assert_sound, rows
from tests.postgres import url
from truant.errors import Unavailable

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def test_everything_promised_is_there_after_ten_kills(store_url):
    found = killed_experiment(store_url, kills=10, seed=1)
    assert found["asks"] > 50
    assert found["tells"] > 50
    assert found["batches"] > 2
    assert found["unacknowledged"] <= 15  # a kill leaves one at most
    assert (found["lost"], found["miscounted"], found["pending"], found["findings"]) == (0, 0, 0, [])
    assert row("this", found)[-1] == "yes"


def _cut(url):
    """End all other connections to the database, as an administrator can."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def experiment(create, postgres_url, clock):
    return create(store=postgres_url, window="1h")


def tried(call):
    """What a call gives; it may fail, in a sentence."""
    try:
        return call()
    except Unavailable as error:
        text = str(error)
    assert text.startswith("Cannot use the store postgresql://postgres:***@")
    assert "\n" not in text
    return None


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
class TestConnections:
    """Of a PostgreSQL server."""

    def test_a_connection_that_is_cut_is_opened_again(self, experiment, postgres_url, clock):
        decision = experiment.ask(key="before")
        for call in (
            lambda: experiment.ask(key="after"),
            lambda: experiment.tell(decision.id, outcome=1),
            lambda: experiment.lookup("before"),
            lambda: experiment.close_windows(),
            lambda: experiment.add_arm("c"),
        ):
            _cut(postgres_url)
            tried(call)
        assert experiment.ask(key="after").id
        assert experiment.tell(decision.id, outcome=1).verdict in ("accepted", "repeated")
        clock.advance("2h")
        experiment.close_windows()
        assert [one.outcome for one in rows(experiment)] == [1, None]
        assert_sound(experiment)

    def test_a_connection_that_was_cut_while_idle_is_not_noticed(self, experiment, postgres_url):
        with experiment.store.reading(), experiment.store.reading(), experiment.store.reading():
            pass  # three connections, which wait for their next use
        decision = experiment.ask()
        _cut(postgres_url)
        assert experiment.tell(decision.id, outcome=1).verdict == "accepted"
        assert [experiment.lookup(key) for key in ("a", "b", "c", "d")] == [None] * 4

    def test_threads_go_on_after_cuts(self, experiment, postgres_url):
        stop, answers = threading.Event(), []

        def ask():
            while not stop.is_set():
                answers.append(tried(experiment.ask))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for cut in range(5):
            while len(answers) < 6 * (cut + 1):
                time.sleep(0.001)
            _cut(postgres_url)
        while len(answers) < 40:
            time.sleep(0.001)
        stop.set()
        for thread in threads:
            thread.join()
        promised = {decision.id for decision in answers if decision is not None}
        kept = {one.id for one in rows(experiment)}
        assert len(promised) == len(answers) - answers.count(None) >= 40 - 5 * 4
        assert promised <= kept
        assert len(kept - promised) <= 5 * 4  # those of a transaction whose end was not heard of
        assert experiment.ask().id

    def test_a_server_that_is_restarted(self, create, own_server):
        experiment = create(store=url(own_server.folder))
        decision = experiment.ask(key="before")
        experiment.lookup("before")
        own_server.stop()
        with pytest.raises(Unavailable, match="Cannot use the store"):
            experiment.ask()
        with pytest.raises(Unavailable, match="Cannot use the store"):
            experiment.lookup("before")
        own_server.start()
        assert experiment.ask(key="before").id == decision.id  # at once
        assert experiment.lookup("before").id == decision.id
        assert experiment.tell(decision.id, outcome=1).verdict == "accepted"
        assert_sound(experiment)

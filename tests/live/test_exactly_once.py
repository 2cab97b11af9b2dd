"""Threads and processes that ask and tell twice and out of order leave what a single one would have left."""

import multiprocessing
import random
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from tests.live.counted import assert_sound, folded, kept, rows
from tests.live.workers import ask_and_tell, work
from truant.errors import UnknownName
from truant.live.times import ManualClock, host_clock, shown

KEYS = [f"customer-{i}" for i in range(60)]
OUTCOMES = {key: i % 2 for i, key in enumerate(KEYS) if i % 5}  # every fifth is never told


def plan_of(keys):
    """Each key is asked for twice, and each outcome told twice."""
    asks = [(key, None) for key in keys]
    tells = [(key, OUTCOMES[key]) for key in keys if key in OUTCOMES]
    return [*asks, *asks, *tells, *tells]


def check(experiment, found):
    """One decision for each key, each outcome accepted once, and the counts of exactly these."""
    ids: dict[str, set[str]] = {}
    verdicts = Counter()
    for key, result in found:
        if result in ("accepted", "repeated"):
            verdicts[key, result] += 1
        else:
            ids.setdefault(key, set()).add(result)
    assert {key: len(some) for key, some in ids.items()} == dict.fromkeys(KEYS, 1)
    assert all(verdicts[key, "accepted"] == 1 for key in OUTCOMES)
    decisions = {key: experiment.lookup(key) for key in KEYS}
    assert {key: {decision.id} for key, decision in decisions.items()} == ids
    assert experiment.close_windows() == len(KEYS) == len(rows(experiment))
    expected = folded(experiment, [(decisions[key].arm, None, OUTCOMES.get(key)) for key in KEYS])
    assert np.array_equal(kept(experiment).table, expected.table)
    assert_sound(experiment)


def test_threads_that_repeat_and_reorder(create, clock):
    experiment = create()
    with ThreadPoolExecutor(32) as pool:
        parts = list(pool.map(lambda seed: work(experiment, plan_of(KEYS)[seed::32], seed), range(32)))
    clock.advance("8d")
    check(experiment, [one for part in parts for one in part])


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_repeat_and_reorder(create, reopened, store_url, start):
    create(clock=None)
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        # two processes have the same plan: each key is asked for by both
        tasks = [
            pool.submit(ask_and_tell, store_url, plan_of(KEYS)[seed % 2 :: 2], seed) for seed in range(4)
        ]
        found = [one for task in tasks for one in task.result()]
    later = ManualClock(shown(host_clock()))
    later.advance("8d")
    check(reopened(clock=later), found)


def test_windows_that_close_meanwhile(create, clock):
    """What was accepted is counted, what was late is not, whoever closes the windows and when."""
    experiment = create(range=(0, 1), levels=None, window="60s")
    verdicts: dict[str, list[tuple[str, float]]] = {}
    stop = threading.Event()

    def close():
        while not stop.is_set():
            clock.advance("7s")
            experiment.close_windows()

    def tell(seed):
        chance = random.Random(seed)
        for i in range(30):
            decision = experiment.ask(key=f"{seed}-{i}")
            outcome = chance.random()
            for _ in range(chance.randint(1, 3)):
                time.sleep(chance.uniform(0, 0.004))
                told = experiment.tell(decision.id, outcome=outcome)
                verdicts.setdefault(decision.id, []).append((told.verdict, outcome))

    closer = threading.Thread(target=close)
    closer.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(tell, range(8)))
    stop.set()
    closer.join()
    clock.advance("120s")
    experiment.close_windows()
    expected = {name: said[0][1] if said[0][0] == "accepted" else None for name, said in verdicts.items()}
    found = rows(experiment)
    assert {row.id: row.outcome for row in found} == expected
    assert {said[0] for some in verdicts.values() for said in some[1:]} == {"repeated"}
    arms = experiment.configuration.arms
    counted = folded(experiment, [(arms[row.arm], None, expected[row.id]) for row in found])
    table = kept(experiment).table
    assert np.array_equal(table[..., :2], counted.table[..., :2])  # pulls and outcomes seen
    assert table == pytest.approx(counted.table, abs=1e-9)  # sums: another order of additions
    assert_sound(experiment)


def test_one_decision_for_a_key_that_many_ask_for_at_once(create, store_url):
    experiment = create()
    barrier = threading.Barrier(16)

    def ask(_):
        barrier.wait()
        return experiment.ask(key="everybody")

    with ThreadPoolExecutor(16) as pool:
        decisions = list(pool.map(ask, range(16)))
    assert len({decision.id for decision in decisions}) == 1
    assert sum(not decision.repeated for decision in decisions) == 1
    assert len(rows(experiment)) == 1


def test_lists_of_the_same_keys_in_another_order(create, reopened):
    """Two connections that insert the same keys in opposite orders do not wait for each other."""
    first, second = create(), reopened()
    keys = [f"key-{i}" for i in range(200)]
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.ask, keys=keys)
        other = pool.submit(second.ask, keys=keys[::-1])
        assert [d.id for d in one.result()] == [d.id for d in other.result()][::-1]
    assert len(rows(first)) == len(keys)


def test_tells_of_many_in_opposite_orders(create, reopened):
    """Transactions that lock the same decisions in another order are repeated, not refused."""
    first, second = create(), reopened()
    tells = [{"id": decision.id, "outcome": 1} for decision in first.ask(200)]
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.tell_many, tells)
        other = pool.submit(second.tell_many, tells[::-1])
        verdicts = [told.verdict for told in [*one.result(), *other.result()]]
    assert Counter(verdicts) == {"accepted": 200, "repeated": 200}


def test_a_tell_of_an_unknown_key_is_refused_and_others_of_the_list_are_kept(create):
    experiment = create()
    experiment.ask(key="known")
    told, refused = experiment.tell_many([{"key": "known", "outcome": 1}, {"key": "unknown", "outcome": 1}])
    assert told.verdict == "accepted"
    assert isinstance(refused, UnknownName)
    assert rows(experiment)[0].outcome == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_a_forked_child_was_promised_is_kept(create, reopened):
    """A child uses the experiment of its parent, which goes on asking and then closes its own connections."""
    experiment = create()
    experiment.ask(key="before")
    stop = threading.Event()
    asker = threading.Thread(target=lambda: [experiment.ask() for _ in iter(stop.is_set, True)])
    asker.start()
    context = multiprocessing.get_context("fork")
    children = []
    for number in range(5):
        here, there = context.Pipe()
        child = context.Process(target=_forked, args=(experiment, number, there))
        child.start()
        children.append((here, child))
    for number, (here, _) in enumerate(children):
        assert here.recv() == f"asked {number}"
    stop.set()
    asker.join()
    experiment.store.close()  # as when the parent ends: with children that go on
    for here, _ in children:
        here.send("go on")
    for here, child in children:
        assert here.recv() == "done"
        child.join(20)
        assert child.exitcode == 0
    other = reopened()
    assert all(other.lookup(f"{number}-{i}") is not None for number in range(5) for i in range(10))
    assert_sound(other)


def _forked(experiment, number, pipe):
    experiment.ask(key=f"{number}-0")
    pipe.send(f"asked {number}")
    pipe.recv()
    for i in range(1, 10):
        experiment.ask(key=f"{number}-{i}")
    pipe.send("done")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_in_the_midst_of_a_transaction(create):
    """PostgreSQL serves the child; SQLite, which would mix up their locks, refuses it in a sentence."""
    experiment = create()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    with experiment.store.transaction():
        child = context.Process(target=_refused, args=(experiment, there))
        child.start()
        answer = here.recv()
    child.join(20)
    if experiment.store.url.startswith("sqlite"):
        assert "was in use when the process was forked" in answer
    else:
        assert answer == "asked"
    assert experiment.ask().id is not None


def _refused(experiment, pipe):
    try:
        experiment.ask()
        pipe.send("asked")
    except Exception as error:
        pipe.send(str(error))

"""Contract check of stores."""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

from truant.checks.modelling import demand
from truant.errors import Conflict, TruantError
from truant.live.store import Store, Transaction
from truant.live.store.opening import migrate

TABLE = "contract_check"
FLOATS = (0.1, 1 / 3, 0.0, 5e-324, 2.0**-1022, math.nextafter(1.0, 2.0), 1.7976931348623157e308, -1e300)
INTEGERS = (0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
TEXTS = ("", "plain", 'it\'s "quoted" 100% ?', "snow \N{SNOWMAN}, \N{GRINNING FACE}", None)
THREADS, TIMES = 8, 25


class _Undone(Exception):
    """Raised in a transaction to have it undone."""


def check_store(make: Callable[[], Store]) -> None:
    """Transactions are whole and last, readers see one state, writers lose nothing, and values come back as they were.

    Parameters
    ----------
    make : opens the same empty database, with connections of its own, each time that it is called.
    """
    first, second = make(), make()
    demand(isinstance(first, Store), f"A store must be a Store, got {type(first).__name__}.")
    try:
        demand(not first.read(first.tables), "check_store needs an empty database.")
        migrate(first)
        found = first.read(first.tables)
        demand("decisions" in found, f"tables must name the tables that are there, got {sorted(found)}.")
        first.write(lambda transaction: _create(first, transaction))
        _check_values(first)
        _check_statements(first)
        _check_transactions(first)
        _check_one_state(first, second)
        _check_writers(first, second)
        _check_errors(first)
        _check_reopened(first, make)
        first.write(lambda transaction: transaction.run(f"DROP TABLE {TABLE}"))
        _check_experiment(first)
    finally:
        first.close()
        second.close()


def _create(store: Store, transaction: Transaction) -> None:
    transaction.run(
        f"CREATE TABLE {TABLE} (number {store.identity}, name TEXT UNIQUE, whole BIGINT, share {store.real})"
    )


def _insert(name: str | None, whole: int = 0, share: float | None = None) -> Callable[[Transaction], int]:
    statement = f"INSERT INTO {TABLE} (name, whole, share) VALUES (?, ?, ?)"
    return lambda transaction: transaction.run(statement, [name, whole, share])


def _names(store: Store) -> set[str]:
    return {name for (name,) in store.read(lambda t: t.rows(f"SELECT name FROM {TABLE}"))}


def _emptied(store: Store) -> None:
    store.write(lambda transaction: transaction.run(f"DELETE FROM {TABLE}"))


def _check_values(store: Store) -> None:
    """What is read is what was written, to the bit."""
    for column, values in (("share", FLOATS), ("whole", INTEGERS), ("name", TEXTS)):
        statement = f"INSERT INTO {TABLE} ({column}) VALUES (?)"
        store.write(lambda transaction, s=statement, v=values: transaction.many(s, [[one] for one in v]))  # type: ignore[misc]
        rows = store.read(lambda t, c=column: list(t.stream(f"SELECT {c} FROM {TABLE} ORDER BY number")))  # type: ignore[misc]
        for (found,), wanted in zip(rows, values, strict=True):
            same = type(found) is type(wanted) and (
                struct.pack("d", found) == struct.pack("d", wanted) if column == "share" else found == wanted
            )
            demand(same, f"a value must come back as it was written, got {found!r} for {wanted!r}.")
        _emptied(store)


def _check_statements(store: Store) -> None:
    """The SQL that stores share: RETURNING, ON CONFLICT, numbers of changed rows, numbers that count up."""
    insert = f"INSERT INTO {TABLE} (name) VALUES (?) ON CONFLICT (name) DO NOTHING RETURNING number"
    numbers = [store.write(lambda t: t.rows(insert, ["once"])) for _ in range(2)]
    demand(len(numbers[0]) == 1, "RETURNING must give the row that was inserted.")
    demand(numbers[1] == [], "ON CONFLICT DO NOTHING must give no row for a name that is there.")
    later = store.write(lambda t: t.rows(insert, ["twice"]))
    demand(later > numbers[0], "the identity must count up.")
    update = f"UPDATE {TABLE} SET whole = 1 WHERE name = ?"
    changed = [store.write(lambda t, n=name: t.run(update, [n])) for name in ("once", "nobody")]  # type: ignore[misc]
    demand(changed == [1, 0], f"run must give the number of changed rows, got {changed} for [1, 0].")
    upsert = f"INSERT INTO {TABLE} (name, whole) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET whole = excluded.whole"
    store.write(lambda t: t.many(upsert, [["once", 5], ["new", 6]]))
    rows = store.read(lambda t: t.rows(f"SELECT name, whole FROM {TABLE} WHERE whole > ? ORDER BY name", [4]))
    demand(rows == [("new", 6), ("once", 5)], f"ON CONFLICT DO UPDATE must replace the row, got {rows}.")
    _emptied(store)


def _check_transactions(store: Store) -> None:
    """Whole or not at all."""

    def undone(transaction: Transaction) -> None:
        _insert("undone")(transaction)
        raise _Undone

    with suppress(_Undone):
        store.write(undone)
    demand(_names(store) == set(), "a transaction that raises must be undone.")

    def half(transaction: Transaction) -> None:
        _insert("before")(transaction)
        with suppress(Conflict), transaction.all_or_none():
            _insert("refused")(transaction)
            raise Conflict("No.")

    store.write(half)
    demand(_names(store) == {"before"}, "all_or_none must undo its own statements, and no others.")
    _emptied(store)


def _check_one_state(store: Store, other: Store) -> None:
    """A reader does not see what is written meanwhile, and afterwards it does."""
    count = f"SELECT count(*) FROM {TABLE}"
    with store.reading() as transaction:
        before = transaction.rows(count)
        other.write(_insert("meanwhile"))
        demand(transaction.rows(count) == before, "a reader must see one state of the database throughout.")
    demand(_names(store) == {"meanwhile"}, "what is written must be seen by transactions that begin later.")
    _emptied(store)


def _check_writers(*stores: Store) -> None:
    """Threads that add 1 to the same number, and insert the same names."""
    stores[0].write(_insert("sum"))
    errors: list[Exception] = []

    def add(transaction: Transaction) -> None:
        lock = stores[0].for_update
        [(whole,)] = transaction.rows(f"SELECT whole FROM {TABLE} WHERE name = 'sum'{lock}")
        transaction.run(f"UPDATE {TABLE} SET whole = ? WHERE name = 'sum'", [whole + 1])

    def work(store: Store) -> None:
        insert = f"INSERT INTO {TABLE} (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
        try:
            for i in range(TIMES):
                store.write(add)
                store.write(lambda transaction, name=f"name-{i}": transaction.run(insert, [name]))  # type: ignore[misc]
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=[stores[i % len(stores)]]) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    demand(not errors, f"threads must be able to write at the same time, got {errors[:1]}.")
    [(total,)] = stores[0].read(lambda t: t.rows(f"SELECT whole FROM {TABLE} WHERE name = 'sum'"))
    demand(total == THREADS * TIMES, f"no write may be lost, got {total} of {THREADS * TIMES}.")
    demand(len(_names(stores[0])) == TIMES + 1, "a name that many insert must be there once.")
    _emptied(stores[0])


def _check_errors(store: Store) -> None:
    """What the database refuses is an error of truant, and the store can be used afterwards."""
    refused = 0
    for call in (
        lambda: store.write(lambda t: t.run("INSERT INTO no_such_table VALUES (1)")),
        lambda: store.read(lambda t: t.rows("SELECT * FROM no_such_table")),
    ):
        try:
            call()
        except TruantError:
            refused += 1
        except Exception as error:
            demand(False, f"sentence_of must make an error of truant of a database's, got {error!r}.")
    demand(refused == 2, "a statement that is wrong must be refused.")
    demand(store.sentence_of(ValueError()) is None, "sentence_of must give None for errors of others.")
    store.write(_insert("afterwards"))
    demand(_names(store) == {"afterwards"}, "a store must work after a refused statement.")
    _emptied(store)


def _check_reopened(store: Store, make: Callable[[], Store]) -> None:
    """What was written is there for another opening, and after the store was closed."""
    store.write(_insert("kept", whole=7, share=0.1))
    store.close()
    again = make()
    try:
        for one in (again, store):
            rows = one.read(lambda t: t.rows(f"SELECT name, whole, share FROM {TABLE}"))
            demand(rows == [("kept", 7, 0.1)], f"what was written must be there after reopening, got {rows}.")
        demand(store.problems() == [], "a sound database must have no problems.")
    finally:
        again.close()


def _check_experiment(store: Store) -> None:
    """A short experiment runs in it, and a new count of its decisions differs in nothing."""
    from truant.live.experiment import Experiment
    from truant.live.times import ManualClock

    clock = ManualClock("2026-03-02 09:00")
    experiment = Experiment.create(
        "contract check",
        ["a", "b"],
        store=store,
        levels=[0, 1],
        assume="mcar",
        window="1d",
        clock=clock,
        seed=1,
    )
    decisions = [*experiment.ask(60), experiment.ask(key="one"), experiment.ask(key="one")]
    demand(decisions[-1].id == decisions[-2].id, "the same key must get the same decision.")
    told = experiment.tell_many([{"id": one.id, "outcome": i % 2} for i, one in enumerate(decisions[:40])])
    demand(
        all(getattr(one, "verdict", "") == "accepted" for one in told),
        f"tells must be accepted, got {told[:1]}.",
    )
    clock.advance("2d")
    demand(experiment.close_windows() == 61, "all windows that are over must close.")
    experiment.correct(decisions[0].id, outcome=1)
    experiment.close_windows()
    diagnosis = experiment.doctor()
    demand(diagnosis.healthy, f"a new count must differ in nothing: {diagnosis}.")

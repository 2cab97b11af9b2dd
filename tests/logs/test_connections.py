"""Connections that users bring: the same counts, and afterwards the connection is as it was."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import contextmanager

import duckdb
import pytest
import sqlalchemy
import sqlalchemy.orm

import truant
from tests.logs.places import as_duckdb, as_sqlite, check_everything, frame, in_postgres
from truant.errors import InvalidValue, UnknownName
from truant.logs.read import read

DRIVER = "postgresql+psycopg"


@contextmanager
def of_sqlite3(url):
    with sqlite3.connect(url) as connection:
        connection.row_factory, connection.text_factory = sqlite3.Row, bytes
        yield connection
        assert connection.execute("SELECT 'a' AS b").fetchone()["b"] == b"a"
    connection.close()


@contextmanager
def of_duckdb(url):
    with duckdb.connect(url) as connection:
        yield connection
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


@contextmanager
def of_psycopg(url):
    import psycopg
    from psycopg.pq import TransactionStatus
    from psycopg.rows import dict_row

    with psycopg.connect(url, row_factory=dict_row) as connection:
        yield connection
        assert connection.info.transaction_status == TransactionStatus.IDLE
        assert connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}


@contextmanager
def of_adbc(url):
    import adbc_driver_postgresql.dbapi

    with adbc_driver_postgresql.dbapi.connect(url) as connection:
        yield connection
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]


@contextmanager
def of_engine(url):
    engine = sqlalchemy.create_engine(url)
    yield engine
    assert engine.pool.checkedout() == 0
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1
    engine.dispose()


@contextmanager
def of_connection(url):
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        yield connection
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1
    engine.dispose()


@contextmanager
def of_session(url):
    engine = sqlalchemy.create_engine(url)
    with sqlalchemy.orm.Session(engine) as session:
        yield session
        assert session.scalar(sqlalchemy.text("SELECT 1")) == 1
    engine.dispose()


WAYS = {
    "sqlite3": (of_sqlite3, as_sqlite, str),
    "duckdb": (of_duckdb, as_duckdb, str),
    "psycopg": (of_psycopg, in_postgres, str),
    "ADBC": (of_adbc, in_postgres, str),
    "engine of SQLite": (of_engine, as_sqlite, "sqlite:///{}".format),
    "connection to SQLite": (of_connection, as_sqlite, "sqlite:///{}".format),
    "engine of PostgreSQL": (of_engine, in_postgres, lambda url: url.replace("postgresql", DRIVER, 1)),
    "connection to PostgreSQL": (
        of_connection,
        in_postgres,
        lambda url: url.replace("postgresql", DRIVER, 1),
    ),
    "session of PostgreSQL": (of_session, in_postgres, lambda url: url.replace("postgresql", DRIVER, 1)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("discrete", [False, True], ids=["real", "discrete"])
def test_the_same_counts_and_the_connection_stays_as_it_was(way, discrete, tmp_path, request):
    opened, kind, url = WAYS[way]
    table = frame(discrete=discrete)
    if kind is in_postgres:
        place = in_postgres(request.getfixturevalue("postgres"), table, "brought")
    else:
        place = kind(table, tmp_path).split(":///")[1]
    file, _, name = place.rpartition("::")
    with opened(url(file)) as connection:
        check_everything(connection, table, table=name)
        log = read(
            connection, table=name, arm="arm", outcome="y", where="site = 2 and dose >= 9.5", time="dose"
        )
        assert log.rows == ((table["site"] == 2) & (table["dose"] >= 9.5)).sum()
        with pytest.raises(UnknownName, match="Unknown table 'nowhere'"):
            read(connection, table="nowhere", arm="arm", outcome="y")


def test_decimals_as_arms_are_numbers_by_any_driver(postgres):
    import adbc_driver_postgresql.dbapi
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE TABLE doses AS SELECT CASE WHEN i % 2 = 0 THEN 1 ELSE 2.50 END::numeric(6, 2) AS arm, "
            "i % 3 AS y, date '2024-01-01' + i % 4 AS day FROM generate_series(1, 60) i"
        )
        connection.commit()
        with adbc_driver_postgresql.dbapi.connect(postgres) as other:
            for one in (connection, other):
                log = read(one, table="doses", arm="arm", outcome="y", mediator="day")
                assert log.arms == (1, 2.5)
                assert log.counts.pulls.tolist() == [30, 30]
                assert log.mediators[0] == "2024-01-01"
                assert read(one, table="doses", arm="day", outcome="arm").counts.levels == (1, 2.5)


def test_an_error_leaves_the_transaction_of_the_user_alive(postgres):
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE kept (x int)")
        connection.execute(
            "CREATE VIEW broken AS SELECT 'a' AS arm, 1 / (i - 3) AS y FROM generate_series(1, 5) i"
        )
        with pytest.raises(InvalidValue, match="Cannot read table 'broken': division by zero"):
            read(connection, table="broken", arm="arm", outcome="y")
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        connection.rollback()


def test_nothing_is_written(tmp_path):
    place = as_sqlite(frame(), tmp_path).removeprefix("sqlite:///").removesuffix("::visits")
    with sqlite3.connect(place) as connection:
        before, changes = list(connection.iterdump()), connection.total_changes
        truant.analyze(
            connection, table="visits", arm="arm", outcome="y", unit="dose", where="dose is not null"
        )
        assert (list(connection.iterdump()), connection.total_changes) == (before, changes)
        assert not connection.in_transaction
    connection.close()


def test_databases_that_are_not_read_by_adbc_are_refused():
    import adbc_driver_sqlite.dbapi

    with (
        adbc_driver_sqlite.dbapi.connect() as connection,
        pytest.raises(
            InvalidValue, match="truant cannot read SQLite by ADBC; pass a connection of its own driver"
        ),
    ):
        read(connection, table="visits", arm="arm", outcome="y")


def test_connections_that_one_must_wait_for_are_refused(postgres):
    import psycopg

    async def refused():
        async with await psycopg.AsyncConnection.connect(postgres) as connection:
            with pytest.raises(
                InvalidValue, match=r"psycopg's AsyncConnection; pass one that is not asynchronous\."
            ):
                read(connection, table="visits", arm="arm", outcome="y")

    asyncio.run(refused())

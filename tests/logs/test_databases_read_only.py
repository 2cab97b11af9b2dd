"""A database file is read, in every spelling of its URL, and neither it nor anything beside it is changed."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading

import duckdb
import pytest

from tests.logs.places import as_duckdb, as_sqlite, frame
from tests.logs.test_unreadable import assert_refused
from truant.logs.places import inputs_of
from truant.logs.read import read
from truant.tables.engine import private_folder


def contents(folder):
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(os.listdir(folder))
    }


SPELLINGS = ["sqlite:{}", "sqlite://{}", "sqlite:///{}", "SQLITE:///{}", "SQLite:{}", "sqlite:////{}"]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_every_spelling_reads_and_writes_nothing(tmp_path, monkeypatch, spelling, kind):
    monkeypatch.chdir(tmp_path)
    table = frame(50)
    place = (as_sqlite if kind == "sqlite" else as_duckdb)(table, tmp_path)
    file, _, name = place.partition(":///")[2].partition("::")
    os.rename(file, tmp_path / "my shop.db")
    spelling = (
        spelling.replace("sqlite", kind).replace("SQLITE", kind.upper()).replace("SQLite", kind.title())
    )
    before = contents(tmp_path)
    paths = [f"{tmp_path}/my shop.db", f"{tmp_path}/my%20shop.db"]
    paths += [] if "////" in spelling else ["my shop.db"]
    for path in paths:
        log = read(
            f"{spelling.format(path.removeprefix('/') if '////' in spelling else path)}::{name}",
            arm="arm",
            outcome="y",
        )
        assert log.rows == 50
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "url", ["SQLITE:///new.db", "DuckDB:///new.db", "sqlite://", "duckdb://:memory:", "duckdb:md:x"]
)
def test_no_database_is_made(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    assert_refused(f"{url}::visits", "The database file ")
    assert not os.path.exists("/new.db")
    assert os.listdir(tmp_path) == []


def test_options_of_a_file_are_refused(tmp_path):
    url, table = as_sqlite(frame(10), tmp_path).split("::")
    assert_refused(f"{url}?mode=rwc::{table}", "A sqlite file is opened read-only and takes no options")
    assert_refused(f"sqlite:file:{tmp_path}/log.db?mode=rwc::visits", "The database file ")


WRITER = """
import os, sqlite3, sys
shop = sqlite3.connect(sys.argv[1])
shop.execute("PRAGMA journal_mode = wal")
shop.execute("CREATE TABLE visits (arm, y)")
shop.commit()
shop.execute("PRAGMA wal_checkpoint(truncate)")
shop.executemany("INSERT INTO visits VALUES (?, ?)", [("ab"[i % 2], i % 3) for i in range(1000)])
shop.commit()
os._exit(0) if sys.argv[2] == "killed" else shop.close()
"""


@pytest.mark.parametrize("end", ["killed", "closed"])
def test_a_write_ahead_log_is_read_and_stays(tmp_path, end):
    path = tmp_path / "shop.db"
    subprocess.run([sys.executable, "-c", WRITER, str(path), end], check=True)
    before = contents(tmp_path)
    assert ("shop.db-wal" in before) == (end == "killed")
    assert read(f"sqlite:///{path}::visits", arm="arm", outcome="y").rows == 1000
    after = contents(tmp_path)
    assert after.keys() == before.keys()
    # -shm is the memory that readers share, and holds no data
    assert {n: h for n, h in after.items() if n != "shop.db-shm"} == {
        n: h for n, h in before.items() if n != "shop.db-shm"
    }


def test_a_copied_log_is_read_and_nothing_is_left(tmp_path):
    path = tmp_path / "shop.db"
    subprocess.run([sys.executable, "-c", WRITER, str(path), "killed"], check=True)
    (tmp_path / "shop.db-shm").unlink()
    before = contents(tmp_path)
    assert read(f"sqlite:///{path}::visits", arm="arm", outcome="y").rows == 1000
    assert contents(tmp_path) == before
    assert not [
        name for _, _, names in os.walk(private_folder()) for name in names if name.startswith("copy.db")
    ]


def test_a_table_whose_name_holds_colons(tmp_path):
    with duckdb.connect(tmp_path / "shop.duckdb") as shop:
        shop.execute(
            'CREATE TABLE "a.b::c" AS SELECT chr(97 + (i % 2)::int) AS arm, i % 3 AS y FROM range(30) t(i)'
        )
    place = f"duckdb:///{tmp_path}/shop.duckdb::a.b::c"
    assert read(place, arm="arm", outcome="y").rows == 30
    assert str(tmp_path / "shop.duckdb") in inputs_of(place)


def test_a_log_in_a_closed_folder_is_explained(tmp_path):
    path = tmp_path / "shop.db"
    subprocess.run([sys.executable, "-c", WRITER, str(path), "killed"], check=True)
    (tmp_path / "shop.db-shm").unlink()
    (tmp_path / "shop.db-shm").symlink_to(tmp_path / "no" / "where")  # not even root can make it
    said = assert_refused(f"sqlite:///{path}::visits", "Cannot read ")
    assert "write-ahead log, and its folder is not writable; copy it and 'shop.db-wal'" in said


def test_sqlite_views_call_no_function_that_could_do_harm(tmp_path):
    with sqlite3.connect(tmp_path / "bad.db") as shop:
        shop.execute("CREATE TABLE t (arm, y)")
        shop.execute("CREATE VIEW visits AS SELECT arm, load_extension('evil') AS y FROM t")
        shop.execute("INSERT INTO t VALUES ('a', 1)")
    shop.close()
    assert_refused(f"sqlite:///{tmp_path}/bad.db::visits", "Cannot read ")


@pytest.mark.parametrize(
    "view",
    [
        "FROM read_csv('{}/secret.csv')",
        "FROM '{}/secret.csv'",
        "SELECT 'a' AS arm, content AS y FROM read_text('{}/secret.csv')",
        "SELECT 'a' AS arm, file AS y FROM glob('{}/*')",
        "FROM reading('{}/secret.csv')",
    ],
)
def test_a_view_of_a_duckdb_file_reads_no_other_file(tmp_path, view):
    (tmp_path / "secret.csv").write_text("arm,y\na,1\nb,2\nb,3\n")
    with duckdb.connect(tmp_path / "shop.duckdb") as shop:
        shop.execute("CREATE MACRO reading(path) AS TABLE FROM read_csv(path)")
        shop.execute(f"CREATE VIEW visits AS {view.format(tmp_path)}")
    before = contents(tmp_path)
    assert_refused(f"duckdb:///{tmp_path}/shop.duckdb::visits", "Cannot read ")
    assert contents(tmp_path) == before


def test_a_view_of_a_duckdb_file_finds_no_variable(tmp_path):
    import pandas as pd

    stray = pd.DataFrame({"arm": ["a", "b"], "y": [1, 2]})
    with duckdb.connect(tmp_path / "shop.duckdb") as shop:
        shop.execute(
            "CREATE TABLE stray (arm TEXT, y INT); CREATE VIEW visits AS FROM stray; DROP TABLE stray"
        )
    assert len(stray) == 2
    assert_refused(f"duckdb:///{tmp_path}/shop.duckdb::visits", "Cannot read ")


def test_several_threads_read_one_duckdb_file(tmp_path):
    place = as_duckdb(frame(2000), tmp_path)
    rows = []
    threads = [
        threading.Thread(target=lambda: rows.append(read(place, arm="arm", outcome="y").rows))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows == [2000] * 4


def test_what_a_database_says_is_put_in_our_words(tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute('CREATE TABLE "a.b" (arm, y)')
        shop.executemany('INSERT INTO "a.b" VALUES (?, ?)', [("a", 1), ("b", 0)])
    shop.close()
    for name in ("a.b", "main.a.b"):
        assert read(f"sqlite:{tmp_path}/shop.db::{name}", arm="arm", outcome="y").rows == 2
    assert "or is a SQLite file (sqlite:)" in assert_refused(
        f"duckdb:{tmp_path}/shop.db::a.b", "Cannot read "
    )
    place = as_duckdb(frame(10), tmp_path)
    assert "a DuckDB file is written duckdb:" in assert_refused(
        place.replace("duckdb:///", "sqlite:///"), "Cannot read "
    )
    with duckdb.connect(tmp_path / "log.duckdb"):
        assert "this program has it open" in assert_refused(place, "Cannot read ")


def test_locks_of_the_same_program_stay(tmp_path):
    """To close a file drops the locks that the same process holds on it, also those of SQLite."""
    place = as_sqlite(frame(10), tmp_path)
    shop = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    shop.execute("BEGIN IMMEDIATE")
    assert read(place, arm="arm", outcome="y").rows == 10
    code = (
        f"import sqlite3; sqlite3.connect({str(tmp_path / 'log.db')!r}, timeout=0).execute('BEGIN IMMEDIATE')"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr
    shop.close()

"""Housekeeping: the log beside an SQLite file stays short, and connections written in keywords keep their password."""

import pytest

from truant.errors import InvalidValue, TruantError
from truant.live.settling import Settling
from truant.live.store import sqlite
from truant.live.store.opening import open_store


def test_a_settler_writes_a_long_log_back(sqlite_url, tmp_path, monkeypatch):
    """Also where a reader was in the way when windows closed."""
    store = open_store(sqlite_url)
    log = tmp_path / "store.db-wal"
    with store.reading() as reader:
        reader.rows("SELECT * FROM meta")
        store.write(lambda t: t.run("INSERT INTO meta VALUES ('long', ?)", ["x" * 200_000]))
        long = log.stat().st_size
        store.tidy()
    assert log.stat().st_size == long > 200_000  # not yet longer than it may be
    monkeypatch.setattr(sqlite, "LONGEST_LOG", 100_000)
    Settling(store).once()
    assert log.stat().st_size == 0
    assert store.read(lambda t: t.rows("SELECT length(value) FROM meta WHERE name = 'long'")) == [(200_000,)]
    store.close()


def test_keywords_of_a_connection_are_understood(postgres_url):
    from psycopg import conninfo

    keywords = conninfo.make_conninfo(**conninfo.conninfo_to_dict(postgres_url), application_name="a b")
    store = open_store(keywords)
    assert store.read(lambda t: t.rows("SELECT current_setting('application_name')")) == [("a b",)]
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "host=/nowhere dbname=mails password=hush",
        "host=/nowhere dbname=mails password='hush",
        "password=hush host",
    ],
)
def test_keywords_never_show_their_password(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TruantError) as error:
        open_store(text)
    assert "hush" not in str(error.value)
    assert not list(tmp_path.iterdir())
    if "dbname" not in text:
        assert isinstance(error.value, InvalidValue)

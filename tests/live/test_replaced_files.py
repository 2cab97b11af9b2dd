"""A file that is deleted, replaced or restored while it is open: refused, and used after `reopen`."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from tests.live.counted import assert_sound, rows
from tests.live.test_faults import in_child, said
from truant.errors import Unavailable, UnknownName
from truant.live.exchange import backup
from truant.live.experiment import Experiment
from truant.live.store import sqlite_file

SETTINGS = {"levels": [0, 1], "assume": "mcar", "window": "7d"}
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def live(file):
    live = Experiment.create("mail", ["a", "b"], store=file, **SETTINGS)
    live.ask(key="before")
    yield live
    live.store.close()


def refused(live, words):
    for call in (live.ask, lambda: live.tell(key="before", outcome=1), lambda: live.lookup("before")):
        with pytest.raises(Unavailable, match=words) as error:
            call()
        assert "reopen" in said(error)


def removed(file):
    for one in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        one.unlink(missing_ok=True)


@pytest.mark.parametrize("fork", [False, True])
def test_a_file_that_was_deleted(live, file, fork):
    removed(file)
    if fork:  # connections are opened anew
        assert "was deleted while it was in use" in in_child(lambda: live.ask().id)
    refused(live, "was deleted while it was in use")
    assert not file.exists()
    with pytest.raises(Unavailable, match="it cannot be opened"):
        live.reopen()
    assert not file.exists()


def test_a_file_that_was_replaced_by_a_backup(live, file, tmp_path):
    copy = backup(live.store, tmp_path / "copy.db")
    live.ask(key="lost with the old file")
    os.replace(copy, file)
    Path(f"{file}-wal").unlink()
    refused(live, "was replaced by another one while it was in use")
    live.reopen()
    assert live.lookup("lost with the old file") is None
    assert live.tell(key="before", outcome=1).verdict == "accepted"
    kept = live.ask(key="after").id
    other = Experiment.open("mail", store=file)
    assert other.lookup("after").id == kept
    assert len(rows(other)) == 2
    assert_sound(other)
    other.store.close()


def test_a_file_that_was_replaced_by_another_store(live, file, tmp_path):
    other = Experiment.create("shop", ["a", "b"], store=tmp_path / "other.db", **SETTINGS)
    other.store.close()
    removed(file)
    os.replace(tmp_path / "other.db", file)
    refused(live, "was replaced by another one")
    with pytest.raises(UnknownName, match="Unknown experiment 'mail'"):
        live.reopen()


def test_a_log_that_was_deleted(live, file):
    Path(f"{file}-wal").unlink()
    refused(live, "a part of the store, was deleted or replaced")
    live.reopen()
    live.ask()
    assert_sound(live)


def test_a_file_that_is_replaced_during_a_commit_is_not_acknowledged(live, file, tmp_path, monkeypatch):
    live.ask()
    check, calls = sqlite_file.StoreFile.check, []

    def checked(self):
        check(self)
        calls.append(self)
        if len(calls) == 1:  # before the commit all was well
            os.replace(backup(file, tmp_path / "copy.db"), file)
            Path(f"{file}-wal").unlink()

    monkeypatch.setattr(sqlite_file.StoreFile, "check", checked)
    with pytest.raises(Unavailable, match="was replaced by another one"):
        live.ask()
    monkeypatch.undo()
    live.reopen()
    assert len(rows(live)) == 2


def test_the_current_folder_may_change(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    live = Experiment.create("mail", ["a", "b"], store="store.db", **SETTINGS)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    live.ask()
    live.status()
    live.store.close()
    live.ask()
    assert list((tmp_path / "other").iterdir()) == []
    live.store.close()


def _while_it_is_read_only(file):
    """What asking says before, while and after the file may only be read; as a user whom this concerns."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    live = Experiment.create("mail", ["a", "b"], store=file, **SETTINGS)
    live.ask()
    live.store.close()
    file.chmod(0o444)
    try:
        live.ask()
    except Unavailable as error:
        text = str(error)
    file.chmod(0o600)
    return text, live.ask().fallback


def test_a_file_that_is_read_only_for_a_moment():
    folder = Path(tempfile.mkdtemp())
    folder.chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
    found = in_child(_while_it_is_read_only, folder / "store.db")
    assert len(found) == 2, found
    text, fallback = found
    shutil.rmtree(folder)
    assert "it is read-only for this user" in text
    assert not fallback

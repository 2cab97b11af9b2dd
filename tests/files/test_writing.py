"""Files are written whole or not at all, and what killed writers left is removed."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from truant.errors import InvalidValue
from truant.files import remove_unfinished, written_whole

WRITER = """
import sys
from pathlib import Path
from truant.files import written_whole
with written_whole(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    """A process in the middle of writing."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "out.csv")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "at work\n"
    yield process
    process.kill()
    process.communicate()


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_a_killed_writer_leaves_the_old_file_and_is_swept_up_after(tmp_path, writer):
    target = tmp_path / "out.csv"
    target.write_text("old")
    other = tmp_path / "other.csv"
    with written_whole(other) as temporary:  # another writes into the folder meanwhile
        temporary.write_text("other")
    assert len(leftovers(tmp_path)) == 1
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert (target.read_text(), len(leftovers(tmp_path))) == ("old", 1)
    with written_whole(other) as temporary:
        temporary.write_text("another")
    assert (leftovers(tmp_path), other.read_text()) == ([], "another")


def test_a_living_writer_finishes(tmp_path, writer):
    remove_unfinished(tmp_path)
    writer.communicate("")
    assert (writer.returncode, (tmp_path / "out.csv").read_text()) == (0, "half")
    assert leftovers(tmp_path) == []


def test_only_own_names_are_swept(tmp_path):
    names = [f".truant-{'0' * 31}.part", f".{'0a' * 16}.part", f".truant-{'0' * 32}.part2"]
    for name in names:
        (tmp_path / name).touch()
    link = tmp_path / f".truant-{'1' * 32}.part"
    link.symlink_to(names[0])
    os.mkfifo(tmp_path / f".truant-{'2' * 32}.part")
    before = sorted(os.listdir(tmp_path))
    remove_unfinished(tmp_path)
    assert sorted(os.listdir(tmp_path)) == before


def test_where_nothing_can_be_locked_only_old_ones_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr("truant.files.fcntl", None)
    young, old = (tmp_path / f".truant-{digit * 32}.part" for digit in "01")
    young.touch()
    old.touch()
    os.utime(old, (0, 0))
    with written_whole(tmp_path / "out.csv") as temporary:
        temporary.write_text("new")
    assert leftovers(tmp_path) == [young.name]


def test_modes_are_those_of_the_umask_and_of_the_file_before(tmp_path):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    before = os.umask(0o027)
    try:
        for name, chosen in (("new", None), ("private", 0o600), ("open", 0o664)):
            target = tmp_path / name
            if chosen is not None:
                target.touch()
                target.chmod(chosen)
            with written_whole(target) as temporary:
                assert chosen is None or mode(temporary) == 0o600
                temporary.write_text("new")
            assert mode(target) == (0o640 if chosen is None else chosen)
    finally:
        os.umask(before)


def test_it_is_flushed_before_it_is_renamed(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, name=name, real=real: (calls.append(name), real(*a)))
    with written_whole(tmp_path / "out.csv") as temporary:
        temporary.write_text("new")
    assert calls == ["fsync", "replace", "fsync"]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    """A limit on the size of files, as a full disk or a quota would be."""
    target = tmp_path / "out.csv"
    target.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with (
            pytest.raises(
                InvalidValue, match=r"out\.csv': File too large; nothing was changed: choose another place"
            ),
            written_whole(target) as temporary,
        ):
            temporary.write_text("new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert (os.listdir(tmp_path), target.read_text()) == (["out.csv"], "old")


def test_an_error_of_the_writer_leaves_what_was_there(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def write():
        with written_whole(target) as temporary:
            temporary.write_text("new")
            raise KeyError("its own")

    with pytest.raises(KeyError, match="its own"):
        write()
    assert (os.listdir(tmp_path), target.read_text()) == (["out.csv"], "old")


def test_a_link_that_came_in_between_is_not_followed(tmp_path):
    target, far = tmp_path / "out.csv", tmp_path / "far.csv"
    far.write_text("far")
    with written_whole(target) as temporary:
        temporary.write_text("new")
        target.symlink_to(far)
    assert (far.read_text(), target.is_symlink(), target.read_text()) == ("far", False, "new")


@pytest.mark.parametrize(("number", "room"), [(errno.ENOSPC, True), (errno.EPERM, False)])
def test_room_helps_only_where_it_is_wanting(tmp_path, number, room):
    with pytest.raises(InvalidValue) as refused, written_whole(tmp_path / "a"):
        raise OSError(number, os.strerror(number))
    assert str(refused.value).endswith(
        "choose another place, or make room." if room else "choose another place."
    )

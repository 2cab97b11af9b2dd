"""The store of compiled code: whatever happens to its files, code works and gives the same numbers."""

import json
import os
import stat
import time
import warnings
from pathlib import Path

import pytest

from truant.compile import store

PARTS = """
from truant.compile import heavy, link
from truant.compile.marks import NUMBER


@heavy(NUMBER(NUMBER))
def one_more(x):
    return x + 1.0


def template(x):
    return one_more(x) * 2.0
"""
PROGRAM = """
import json, sys, warnings
from numba.core import event

sys.path.insert(0, sys.argv[1])
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import parts_of_test_store as parts
    value = parts.link(parts.template)(1.0)
count = sum(1 for _, one in compiled.buffer if one.is_start)
print(json.dumps({"value": value, "compiled": count, "warnings": [str(one.message) for one in said]}))
"""


@pytest.fixture(scope="module")
def start(forks, tmp_path_factory):
    """Starts a process that calls two compiled functions, each in a file of its own."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "parts_of_test_store.py").write_text(PARTS)
    return lambda cache: forks.start(PROGRAM, folder, TRUANT_CACHE_DIR=cache, PYTHONDONTWRITEBYTECODE=1)


def said(process):
    """What a process reports at its end."""
    done = process.finished()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def called(start):
    """Calls them with a cache, in a process of its own."""
    return lambda cache: said(start(cache))


@pytest.fixture(scope="module")
def filled(called, tmp_path_factory):
    """A cache after a first process."""
    cache = tmp_path_factory.mktemp("cache")
    first = called(cache)
    assert first["value"] == VALUE
    assert first["compiled"] > 0
    assert first["warnings"] == []
    return cache


VALUE = 4.0
NOTHING_NEW = {"value": VALUE, "compiled": 0, "warnings": []}


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of it, to be damaged."""
    copy = tmp_path / "cache"
    (copy / "compiled").mkdir(parents=True, mode=0o700)
    for path in files(filled):
        (copy / "compiled" / path.name).write_bytes(path.read_bytes())
        (copy / "compiled" / path.name).chmod(0o600)
    return copy


def files(cache):
    return sorted((cache / "compiled").glob("*.bin"))


def test_a_second_process_compiles_nothing(called, cache):
    assert len(files(cache)) == 2
    assert called(cache) == NOTHING_NEW


def test_the_folder_and_its_files_are_for_their_owner_only(filled):
    folder = filled / "compiled"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(filled)} == {0o600}
    assert not list(folder.glob("*.part"))


def emptied(path):
    path.write_bytes(b"")


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-100])


def one_bit_flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def another_kind(path):
    path.write_bytes(b"not compiled code at all")


def writable_by_others(path):
    path.chmod(0o666)


def somebody_elses(path):
    os.chown(path, 12345, -1)


def a_link(path):
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


DAMAGES = [emptied, cut_off, one_bit_flipped, another_kind, writable_by_others, a_link]
if hasattr(os, "getuid") and os.getuid() == 0:  # nobody else may give files away
    DAMAGES.append(somebody_elses)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_files_are_made_anew(called, cache, damage):
    for path in files(cache):
        damage(path)
    first = called(cache)
    assert first["value"] == VALUE
    assert first["compiled"] > 0
    assert called(cache) == NOTHING_NEW


@pytest.mark.parametrize("file", range(2))
def test_a_single_damaged_file_costs_only_itself(called, cache, file):
    one_bit_flipped(files(cache)[file])
    assert called(cache)["value"] == VALUE
    assert called(cache) == NOTHING_NEW


def test_a_folder_that_others_can_write_to_is_not_used(called, cache):
    (cache / "compiled").chmod(0o777)
    before = [path.read_bytes() for path in files(cache)]
    found = called(cache)
    assert found["value"] == VALUE
    assert found["compiled"] > 0
    assert len(found["warnings"]) == 1
    assert "others can write to it" in found["warnings"][0]
    assert [path.read_bytes() for path in files(cache)] == before


@pytest.mark.parametrize("place", ["/dev/null", "/proc/truant"], ids=["a file", "a read-only place"])
def test_where_nothing_can_be_kept_all_is_compiled_in_memory(called, place):
    found = called(place)
    assert found["value"] == VALUE
    assert found["compiled"] > 0
    assert len(found["warnings"]) == 1
    assert "TRUANT_CACHE_DIR" in found["warnings"][0]


def test_a_full_disk_is_said_once(tmp_path, monkeypatch):
    store._warned.clear()

    def no_space(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "replace", no_space)
    with pytest.warns(store.CacheWarning, match="No space left on device"):
        store.write(tmp_path / "one.bin", b"content")
    store.write(tmp_path / "two.bin", b"content")  # a second warning would be an error here
    assert list(tmp_path.iterdir()) == []  # nothing half-written stays
    store._warned.clear()


def test_processes_at_once(start, called, tmp_path):
    several = [start(tmp_path / "shared") for _ in range(3)]
    found = [said(process) for process in several]
    assert [one["value"] for one in found] == [VALUE] * 3
    assert [one["warnings"] for one in found] == [[]] * 3
    assert called(tmp_path / "shared") == NOTHING_NEW


def test_what_is_written_is_read_under_its_own_name_only(tmp_path):
    path = tmp_path / "code.bin"
    assert store.read(path) is None
    store.write(path, b"some code")
    assert store.read(path) == b"some code"
    path.rename(tmp_path / "other.bin")
    assert store.read(tmp_path / "other.bin") is None


def test_old_and_abandoned_files_are_evicted(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MOST_BYTES", 5000)
    now = time.time()
    for name, size, age in (
        ("ancient.bin", 10, store.LONGEST_UNUSED + 60),
        ("older.bin", 3000, 600),
        ("newer.bin", 3000, 300),
        ("killed.part", 10, 7200),
        ("at-work.part", 10, 10),
    ):
        (tmp_path / name).write_bytes(b"x" * size)
        os.utime(tmp_path / name, (now - age, now - age))
    store.write(tmp_path / "new.bin", b"y" * 100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["at-work.part", "new.bin", "newer.bin"]


def test_use_keeps_a_file_young(tmp_path):
    path = tmp_path / "code.bin"
    store.write(path, b"some code")
    long_ago = time.time() - 2 * store.TOUCHED
    os.utime(path, (long_ago, long_ago))
    assert store.read(path) == b"some code"
    assert time.time() - path.stat().st_mtime < 60


def test_the_users_own_cache_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("TRUANT_CACHE_DIR", raising=False)
    monkeypatch.setattr(
        store.platformdirs, "user_cache_dir", lambda *names, **options: str(tmp_path / "home")
    )
    store.cache_folder.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.cache_folder() == Path(tmp_path / "home" / "compiled")
    store.cache_folder.cache_clear()


def test_a_file_larger_than_all_may_be_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "huge.bin"
    store.write(path, b"x" * 200)
    assert store.read(path) is not None
    monkeypatch.setattr(store, "MOST_BYTES", 200)
    assert store.read(path) is None

"""The store of compiled code: whatever happens to its files, a simulation works and gives the same numbers."""

import json
import os
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from truant.compile import store

PROGRAM = """
import json, sys, warnings
from numba.core import event

compiled = event.RecordingListener()
event.register("numba:compile", compiled)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from truant.lab.simulate import simulate
    value = simulate("mcar:arms=2", "mcar-greedy", horizon=60, runs=1, seed=1, progress=False).final[0, 0]
count = sum(1 for _, one in compiled.buffer if one.is_start)
print(json.dumps({"value": value, "compiled": count, "warnings": [str(one.message) for one in said]}))
"""


def start(cache, **environment):
    """A fresh process that simulates."""
    names = {**os.environ, "TRUANT_CACHE_DIR": str(cache), **environment}
    names["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def simulated(cache, **environment):
    process = start(cache, **environment)
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache after a first simulation, and what that gave."""
    cache = tmp_path_factory.mktemp("cache")
    first = simulated(cache)
    assert first["compiled"] > 0
    assert first["warnings"] == []
    return cache, first["value"]


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of it, to be damaged."""
    copy = tmp_path / "cache"
    (copy / "compiled").mkdir(parents=True, mode=0o700)
    for path in files(filled[0]):
        (copy / "compiled" / path.name).write_bytes(path.read_bytes())
        (copy / "compiled" / path.name).chmod(0o600)
    return copy


def files(cache):
    return sorted((cache / "compiled").glob("*.bin"))


def test_a_second_process_compiles_nothing(filled, cache):
    again = simulated(cache)
    assert again == {"value": filled[1], "compiled": 0, "warnings": []}


def test_the_folder_and_its_files_are_for_their_owner_only(filled):
    folder = filled[0] / "compiled"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(filled[0])} == {0o600}
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
def test_damaged_files_are_made_anew(filled, cache, damage):
    for path in files(cache):
        damage(path)
    first = simulated(cache)
    assert first["value"] == filled[1]
    assert first["compiled"] > 0
    assert simulated(cache) == {"value": filled[1], "compiled": 0, "warnings": []}


@pytest.mark.parametrize("file", range(2))
def test_a_single_damaged_file_costs_only_itself(filled, cache, file):
    one_bit_flipped(files(cache)[file])
    assert simulated(cache)["value"] == filled[1]
    assert simulated(cache)["compiled"] == 0


def test_a_folder_that_others_can_write_to_is_not_used(filled, cache):
    (cache / "compiled").chmod(0o777)
    before = [path.read_bytes() for path in files(cache)]
    found = simulated(cache)
    assert found["value"] == filled[1]
    assert found["compiled"] > 0
    assert len(found["warnings"]) == 1
    assert "others can write to it" in found["warnings"][0]
    assert [path.read_bytes() for path in files(cache)] == before


@pytest.mark.parametrize("place", ["/dev/null", "/proc/truant"], ids=["a file", "a read-only place"])
def test_where_nothing_can_be_kept_all_is_compiled_in_memory(filled, place):
    found = simulated(place)
    assert found["value"] == filled[1]
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


def test_two_processes_at_once(filled, tmp_path):
    several = [start(tmp_path / "shared") for _ in range(3)]
    found = [json.loads(process.communicate(timeout=300)[0]) for process in several]
    assert [one["value"] for one in found] == [filled[1]] * 3
    assert [one["warnings"] for one in found] == [[]] * 3
    assert simulated(tmp_path / "shared")["compiled"] == 0


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

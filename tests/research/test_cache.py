"""The cache: a result is computed anew when what decides it has changed, and only then."""

import importlib
import json
import subprocess
import sys

import pytest
from research.cache import Cache, NotKept
from research.workbench import Workbench

from truant import fingerprint

TOP = "from example_pieces import low\n\n\ndef work(number):\n    return {'twice': (2 * number, low.unit)}\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: top imports low, and nobody imports apart."""
    folder = tmp_path / "example_pieces"
    folder.mkdir()
    for name, text in {"__init__": "", "top": TOP, "low": "unit = 1\n", "apart": "unit = 1\n"}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    forget()


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "kept")


def forget():
    """As in a new process: modules and fingerprints are read again."""
    for name in [name for name in sys.modules if name.startswith("example_pieces")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    for function in vars(fingerprint).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def computed(cache, number=3):
    """How often the result had to be computed; it is always the same."""
    work, calls = importlib.import_module("example_pieces.top").work, []

    def compute():
        calls.append(number)
        return work(number)

    kept = cache.kept("piece", {"number": number}, ["example_pieces.top"], compute)
    assert kept.result["twice"][0] == 2 * number
    return len(calls)


def test_a_result_is_kept_with_its_date(package, cache):
    first = cache.kept("piece: of it", {"number": 3}, ["example_pieces.top"], lambda: {"figures": (1.0, 2.0)})
    again = cache.kept("piece: of it", {"number": 3}, ["example_pieces.top"], pytest.fail)
    assert first == again
    assert again.result == {"figures": [1.0, 2.0]}
    assert len(again.date) == len("2026-01-01")


@pytest.mark.parametrize(("changed", "anew"), [("top", 1), ("low", 1), ("apart", 0)])
def test_a_change_of_code_that_is_reached_makes_it_anew(package, cache, changed, anew):
    assert computed(cache) == 1
    path = package / f"{changed}.py"
    path.write_text(path.read_text() + "\nother = 2\n")
    forget()
    assert computed(cache) == anew


def test_other_parameters_are_another_result(package, cache):
    assert [computed(cache, number) for number in (3, 4, 3)] == [1, 1, 0]


@pytest.mark.parametrize("damage", ["bit", "cut", "empty", "gone", "record cut", "record gone"])
def test_a_damaged_file_is_made_anew(package, cache, damage):
    assert computed(cache) == 1
    [path] = cache.folder.glob("*.json")
    record = path.with_name(f"{path.name}.record")
    target = record if "record" in damage else path
    if "gone" in damage:
        target.unlink()
    elif damage == "bit":
        content = target.read_text()
        target.write_text(content.replace("6", "7"))  # still JSON
        assert target.read_text() != content
    else:
        target.write_bytes(b"" if damage == "empty" else target.read_bytes()[:-5])
    assert computed(cache) == 1
    assert computed(cache) == 0


def test_nothing_is_computed_where_only_what_is_kept_is_wanted(package, cache):
    only = Cache(cache.folder, only_kept=True)
    with pytest.raises(NotKept, match="number"):
        computed(only)
    computed(cache)
    assert computed(only) == 0


def test_what_was_done_before_a_kill_is_not_done_again(package, tmp_path):
    """A process that is killed at its third piece; the next one computes the third only."""
    program = """
import os, signal, sys
from pathlib import Path
from research.cache import Cache

done = []
for number in (1, 2, 3):
    def compute():
        if number == 3 and sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(number)
        return number
    Cache(Path("kept")).kept("piece", {"number": number}, ["example_pieces.top"], compute)
Path("done.json").write_text(str(done))
"""
    paths = [str(tmp_path), *sys.path]
    environment = {"PYTHONPATH": ":".join(path for path in paths if path)}

    def run(word):
        command = [sys.executable, "-c", program, word]
        return subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL).returncode

    assert run("kill") == -9
    assert not (tmp_path / "done.json").exists()
    assert run("finish") == 0
    assert json.loads((tmp_path / "done.json").read_text()) == [3]


def test_a_simulation_is_kept_whole_and_named_by_what_decides_it(tmp_path):
    bench = Workbench(tmp_path, Cache(tmp_path / "kept"), quick=True)
    first = bench.simulated("mcar", ["mcar-ucb", "naive-ucb"], 50, 2)
    only = Workbench(tmp_path, Cache(tmp_path / "kept", only_kept=True), quick=True)
    again = only.simulated("mcar", ["mcar-ucb", "naive-ucb"], 50, 2)
    assert (first.regret == again.regret).all()
    assert again.policies == ["mcar-ucb", "naive-ucb"]
    others = [("mcar:gamma=0.9", 50, 2, 0), ("mcar", 51, 2, 0), ("mcar", 50, 3, 0), ("mcar", 50, 2, 5)]
    for world, horizon, runs, delay in others:
        with pytest.raises(NotKept):
            only.simulated(world, ["mcar-ucb", "naive-ucb"], horizon, runs, delay)
    [path] = (tmp_path / "kept").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(NotKept):
        only.simulated("mcar", ["mcar-ucb", "naive-ucb"], 50, 2)


def count(number):
    CALLS.append(number)
    return len(CALLS)


CALLS: list[int] = []


def test_a_measurement_is_made_whenever_it_is_asked_for(tmp_path):
    CALLS.clear()
    bench = Workbench(tmp_path, Cache(tmp_path / "kept"))
    assert [bench.piece(count, number=1) for _ in range(2)] == [1, 1]
    assert [bench.measured(count, number=1) for _ in range(2)] == [2, 3]
    assert bench.measurement.startswith("Measured 20")
    only = Workbench(tmp_path, Cache(tmp_path / "kept", only_kept=True))
    assert only.measured(count, number=1) == 3
    assert only.measurement == bench.measurement

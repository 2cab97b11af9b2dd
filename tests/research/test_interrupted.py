"""Commands that are killed or find the disk full, in small: outputs are old or new, and never in between."""

import resource

import pyarrow as pa
import pyarrow.parquet as pq
from research.validation import interrupted


def test_an_analysis_that_is_killed_while_it_writes():
    found = interrupted.killed("analyze", kills=1, seed=1)
    assert found["half"] == found["left"] == 0
    assert found["same"]


def test_half_a_file_is_noticed(tmp_path):
    expected = {0: {"table.csv": b"old"}, 1: {"table.csv": b"new"}}
    command = interrupted.Command("analyze", tmp_path, expected, [])
    for text, mixed in (("old", 0), ("new", 0), ("ne", 1), ("", 1)):
        (tmp_path / "table.csv").write_text(text)
        assert command.mixed(tmp_path) == mixed


def test_times_of_the_clock_are_left_out(tmp_path):
    paths = [tmp_path / f"{n}.parquet" for n in (1, 2, 3)]
    for path, regret, time in zip(paths, (float("nan"), float("nan"), 1.0), (1, 2, 1), strict=True):
        pq.write_table(pa.table({"regret": [regret], "nanoseconds": [time]}), path)
    first, second, third = map(interrupted.content, paths)
    assert first == second != third


def test_a_disk_that_cannot_be_mounted_is_a_limit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    limits = []
    monkeypatch.setattr(resource, "setrlimit", lambda *limit: limits.append(limit))
    with interrupted.small_disk(4096) as (folder, options, grow):
        assert folder.is_dir()
        options["preexec_fn"]()
        grow()
    assert limits == [(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))]

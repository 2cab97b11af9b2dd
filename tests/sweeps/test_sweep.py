"""Sweeps: the numbers of `simulate`, the same wherever they are made, and nothing lost or made twice."""

import errno
import importlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import truant
from truant import registry
from truant.cli import cli
from truant.errors import InvalidValue, MissingExtra, UnknownName
from truant.policies import named
from truant.sweeps import sweep as lab
from truant.sweeps import task as task_module
from truant.sweeps.backend import workers
from truant.sweeps.folder import locked, results_folder
from truant.sweeps.study import Point
from truant.sweeps.study_file import read_study
from truant.sweeps.table import world_column
from truant.sweeps.task import RUNS, Task, chunks

TEXT = """
title = "A small one"
runs = 210
seed = 5
horizon = 400
policies = ["naive-ucb", "mar-ucb", "oracle-ucb"]

[[worlds]]
name = "mar"
set = { arms = 3 }
vary = { gamma = [0.2, [0.5, 1.0]], K = [2, 3] }

[[worlds]]
name = "mcar"
policies = ["naive-ucb", { name = "mcar-ucb", vary = { level = [0.5, 1] } }]
horizon = [200, 300]
"""
PAIRS = 4 * 3 + 2 * 3  # of a point and a policy
PARTS = 2 * PAIRS


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The uninterrupted result, on one thread."""
    path = tmp_path_factory.mktemp("whole") / "study.toml"
    path.write_text(TEXT)
    return truant.sweep(path, workers=1)


@pytest.fixture
def counted(monkeypatch):
    """The tasks that are handed out."""
    handed = []
    original = lab.work

    def counting(number, task, stop):
        handed.append(task)
        return original(number, task, stop)

    monkeypatch.setattr(lab, "work", counting)
    return handed


def test_chunks_have_a_hundred_runs_or_more():
    assert chunks(1) == [(0, 1)]
    assert chunks(99) == [(0, 99)]
    for runs in (100, 199, 200, 250, 1000, 1099):
        parts = chunks(runs)
        assert [first for first, _ in parts] == [i * RUNS for i in range(len(parts))]
        assert sum(size for _, size in parts) == runs
        assert all(size >= RUNS for _, size in parts)
        assert all(first + size == after for (first, size), (after, _) in itertools.pairwise(parts))


def test_numbers_are_those_of_simulate(whole):
    runs = pd.read_parquet(whole.results)
    part = runs[
        (runs["world"] == "mar") & (runs["gamma"] == "0.5–1") & (runs["K"] == 3) & (runs["horizon"] == 400)
    ]
    policies = ["naive-ucb", "mar-ucb", "oracle-ucb"]
    same = truant.simulate(
        "mar",
        policies,
        horizon=400,
        runs=210,
        seed=5,
        parameters={"arms": 3, "K": 3, "gamma": (0.5, 1.0)},
    )
    for number, policy in enumerate(policies):
        rows = part[part["policy"] == policy]
        assert list(rows["run"]) == list(range(210))
        np.testing.assert_array_equal(rows["regret"], same.final[number])
        half = same.regret[number][:, list(same.rounds).index(200)]
        np.testing.assert_array_equal(rows["regret_first_half"], half)
        np.testing.assert_allclose(rows["best_arm_share"], same.best_arm_share[number], rtol=1e-12)


def test_one_tidy_table(whole):
    runs = pd.read_parquet(whole.results)
    figures = ["regret", "regret_first_half", "best_arm_share"]
    places = ["block", "world", "arms", "gamma", "K", "policy_level", "horizon", "delay"]
    places += ["policy", "seed", "run"]
    assert list(runs.columns) == places + figures
    assert len(runs) == 210 * PAIRS
    assert not runs.duplicated(places).any()
    assert runs[figures].notna().all().all()
    assert set(runs[runs["world"] == "mcar"]["policy_level"].dropna()) == {0.5, 1.0}
    assert runs[runs["world"] == "mcar"][["gamma", "K", "arms"]].isna().all().all()
    assert pq.read_schema(whole.results).metadata[b"truant.study"].decode() == TEXT


def test_the_summary_is_that_of_the_runs(whole):
    runs = pd.read_parquet(whole.results)
    keys = ["world", "gamma", "K", "horizon"]
    by_point = dict(list(runs.fillna(-1).groupby(keys)))
    table = whole.table()
    assert len(table) == PAIRS
    for key, rows in table.fillna({"gamma": -1, "K": -1}).groupby(keys):
        finals = {policy: part["regret"].to_numpy() for policy, part in by_point[key].groupby("policy")}
        contest = {policy: final for policy, final in finals.items() if policy != "oracle-ucb"}
        best = min(contest, key=lambda policy: contest[policy].mean())
        assert list(rows[rows["best"]]["policy"]) == [best]
        for row in rows.to_dict("records"):
            final = finals[row["policy"]]
            assert row["runs"] == 210
            assert row["regret_mean"] == pytest.approx(final.mean(), rel=1e-12)
            assert row["regret_sd"] == pytest.approx(final.std(ddof=1), rel=1e-12)
            assert row["regret_se"] == pytest.approx(final.std(ddof=1) / 210**0.5, rel=1e-12)
            assert row["regret_median"] == pytest.approx(np.median(final), rel=1e-12)
            assert row["regret_p90"] == pytest.approx(np.quantile(final, 0.9), rel=1e-12)
            assert row["share_above_10x_median"] == (final > 10 * np.median(final)).mean()
            if row["policy"] == "oracle-ucb":
                assert np.isnan(row["behind_mean"])
                assert not row["as_good"]
                continue
            behind = final - finals[best]
            assert row["behind_mean"] == pytest.approx(behind.mean(), rel=1e-9, abs=1e-12)
            assert row["behind_se"] == pytest.approx(behind.std(ddof=1) / 210**0.5, rel=1e-9, abs=1e-12)
            close = behind.mean() <= 2 * behind.std(ddof=1) / 210**0.5
            assert row["as_good"] == (row["policy"] == best or close)
    kept = json.loads((whole.folder / "summary.json").read_text())
    assert kept["rows"] == json.loads(json.dumps(whole.rows, default=list))
    assert kept["kernel_seconds"] > 0


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_the_same_bytes_wherever_it_runs(study, whole, backend):
    result = truant.sweep(study, backend=backend, workers=2)
    assert result.results.read_bytes() == whole.results.read_bytes()


def test_the_same_bytes_on_a_ray_cluster(study, whole):
    """In a process of its own: Ray changes classes of joblib and of multiprocessing."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "truant.cli",
            "sweep",
            str(study),
            "--backend",
            "ray",
            "--workers",
            "2",
            "--json",
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": ""},
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["rows"] == json.loads(json.dumps(whole.rows, default=list))
    assert (study.parent / "study-results" / "results.parquet").read_bytes() == whole.results.read_bytes()


def test_what_is_done_is_not_done_again(study, whole, counted):
    first = truant.sweep(study)
    assert sum(len(task.policies) * task.runs for task in counted) == 210 * PAIRS
    counted.clear()
    again = truant.sweep(study)
    assert counted == []
    assert again.rows == first.rows == whole.rows
    assert again.results.read_bytes() == whole.results.read_bytes()


def test_only_what_is_new_is_done(study, counted):
    truant.sweep(study)
    counted.clear()
    more = TEXT.replace('"oracle-ucb"]', '"oracle-ucb", "zero-ucb"]').replace("K = [2, 3]", "K = [2, 3, 4]")
    study.write_text(more)
    truant.sweep(study)
    old = [task for task in counted if task.point.parameters.get("K") in (2, 3)]
    assert {task.policies for task in old} == {("zero-ucb",)}
    assert len(old) == 4 * 2
    new = [task for task in counted if task.point.parameters.get("K") == 4]
    assert {task.policies for task in new} == {("naive-ucb", "mar-ucb", "oracle-ucb", "zero-ucb")}
    assert len(old) + len(new) == len(counted)
    counted.clear()
    study.write_text(more.replace("runs = 210", "runs = 320"))
    truant.sweep(study)
    assert {(task.first, task.runs) for task in counted} == {(100, 100), (200, 120)}


def test_a_damaged_part_is_made_again(study, whole, counted):
    result = truant.sweep(study)
    parts = sorted((result.folder / "parts").rglob("*.parquet"))
    parts[0].write_bytes(parts[0].read_bytes()[:-20])
    damaged = bytearray(parts[1].read_bytes())
    damaged[len(damaged) // 4] ^= 0xFF
    parts[1].write_bytes(damaged)
    counted.clear()
    assert truant.sweep(study).results.read_bytes() == whole.results.read_bytes()
    assert 1 <= len(counted) <= 2
    assert sum(len(task.policies) for task in counted) == 2


def test_a_part_with_a_damaged_name_of_a_column_is_made_again(study, whole, counted):
    """Checksums are kept for pages, not for what stands about them."""
    result = truant.sweep(study)
    first, second = sorted((result.folder / "parts").rglob("*.parquet"))[:2]
    first.write_bytes(first.read_bytes().replace(b"regret_first", b"regret_worst"))
    second.write_bytes(second.read_bytes().replace(b"nanoseconds", b"nano\xffeconds"))
    counted.clear()
    assert truant.sweep(study).results.read_bytes() == whole.results.read_bytes()
    assert sum(len(task.policies) for task in counted) == 2


def test_data_that_change_while_a_sweep_is_at_work(tmp_path, monkeypatch):
    """The numbers of the new rows are not kept under the name of the old ones."""
    data = tmp_path / "rows.csv"

    def write(best):
        data.write_text("arm,y\n" + "".join(f"a,{y}\nb,{y + best}\n" for y in range(20)))

    def changing(number, task, stop):
        write(best=5)
        return work(number, task, stop)

    work = lab.work
    monkeypatch.setattr(lab, "work", changing)
    table = {"data": str(data), "arm": "arm", "outcome": "y"}
    study = {
        "runs": 100,
        "horizon": 50,
        "policies": ["naive-ucb"],
        "worlds": [{"name": "table", "set": table}],
    }
    write(best=0.5)
    with pytest.raises(InvalidValue, match=r"table, data=.*no longer what it was.*Run the sweep again\.$"):
        truant.sweep(study, out=tmp_path / "out")
    assert list((tmp_path / "out" / "parts").rglob("*.parquet")) == []
    result = truant.sweep(study, out=tmp_path / "out")
    world = truant.worlds.from_table(data, arm="arm", outcome="y")
    same = truant.simulate(world, ["naive-ucb"], horizon=50, runs=100, seed=0)
    assert result.rows[0]["regret_mean"] == pytest.approx(same.final[0].mean())


def test_an_oracle_by_another_name_takes_no_part(tmp_path, monkeypatch):
    built = registry._built_in

    def seer():
        """Sees all."""
        return named("oracle-ucb")

    monkeypatch.setattr(
        registry, "_built_in", lambda kind: built(kind) | ({"seer": seer} if kind == "policy" else {})
    )
    study = {"runs": 100, "horizon": 100, "policies": ["naive-ucb", "seer"], "worlds": ["mcar"]}
    result = truant.sweep(study, out=tmp_path / "out")
    assert [row["best"] for row in result.rows] == [True, False]


def test_columns_of_a_world_do_not_take_the_place_of_others():
    names = {"gamma": "gamma", "runs": "world_runs", "block": "world_block"}
    names |= {"regret_mean": "world_regret_mean", "policy_level": "world_policy_level"}
    assert {key: world_column(key) for key in names} == names


def test_parts_of_another_package_are_named_by_all_of_its_modules(tmp_path, monkeypatch):
    package = tmp_path / "truant_elsewhere"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import functools\nfrom .help import build\npart = functools.partial(build)"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def code(text):
        (package / "help.py").write_text(text)
        kept.cache_clear()
        return kept(package_of(importlib.import_module("truant_elsewhere").part))

    kept, package_of = task_module._package_code, task_module._package
    try:
        first = code("def build(): return 1")
        assert code("def build(): return 1") == first
        assert code("def build(): return 2") != first
    finally:
        kept.cache_clear()
        sys.modules.pop("truant_elsewhere")
        sys.modules.pop("truant_elsewhere.help")


def test_a_part_is_named_by_all_that_decides_its_numbers():
    point = Point(0, "mar", {"K": 3}, 400)
    task = Task(5, point, "instance", ("naive-ucb", "mar-ucb"), 0, 100)
    others = [
        replace(task, seed=6),
        replace(task, fingerprint="another"),
        replace(task, first=100),
        replace(task, runs=110),
        replace(task, point=replace(point, horizon=401)),
        replace(task, point=replace(point, delay=1)),
        replace(task, point=replace(point, minimize=True)),
        replace(task, point=replace(point, world="mar-low")),
        replace(task, point=replace(point, parameters={"K": 4})),
    ]
    keys = [task.key("naive-ucb"), task.key("mar-ucb"), *(other.key("naive-ucb") for other in others)]
    assert len(set(keys)) == 11
    assert replace(task, policies=("naive-ucb",)).key("naive-ucb") == keys[0]  # whoever else takes part
    assert (
        replace(task, point=replace(point, block=1)).key("naive-ucb") == keys[0]
    )  # wherever it is asked for


def test_other_code_other_parts(study, counted, monkeypatch):
    truant.sweep(study)
    counted.clear()
    monkeypatch.setattr("truant.sweeps.task._code", lambda: "another version")
    truant.sweep(study)
    assert sum(len(task.policies) * task.runs for task in counted) == 210 * PAIRS


def test_ten_kills_and_the_result_is_the_same(tmp_path):
    """SIGKILL at random moments: while it starts, while it works, while it writes."""
    study, chance = tmp_path / "study.toml", random.Random(20)
    study.write_text(MANY_TASKS)
    whole = truant.sweep(study, out=tmp_path / "whole", workers=1)
    folder = tmp_path / "study-results"
    killed = 0
    for number in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW, str(study)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2 * (number % 2)):  # at any moment since it began, or with some tasks behind it
            assert process.stdout.readline() == "at work\n"
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.stdout.close()
        killed += process.wait() == -signal.SIGKILL
        for part in (folder / "parts").rglob("*.parquet"):
            assert pq.read_table(part).num_rows == 100  # none is half-written
        assert not (folder / "results.parquet").exists()
    assert killed == 10
    assert 5 <= len(list((folder / "parts").rglob("*.parquet"))) < 40  # the kills came in the middle
    result = truant.sweep(study)
    assert result.results.read_bytes() == whole.results.read_bytes()
    assert result.rows == whole.rows
    assert [path for path in folder.rglob(".*") if path.name != ".lock"] == []


MANY_TASKS = """
runs = 100
horizon = 50
policies = ["naive-ucb"]
worlds = [{ name = "mcar", vary = { gamma = { from = 0.025, to = 1.0, steps = 40 } } }]
"""

# a sweep that takes its time over each part, so that a kill finds it in the middle
SLOW = """
import sys, time
from truant.sweeps import sweep, task
write = task.Parts.write
def slowly(self, *arguments):
    print("at work", flush=True)
    time.sleep(0.1)
    write(self, *arguments)
task.Parts.write = slowly
sweep.sweep(sys.argv[1], workers=2)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_done(study, sign):
    code = SLOW.replace(
        "sweep.sweep(sys.argv[1], workers=2)", "from truant.cli import cli; cli(['sweep', sys.argv[1]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(study)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(3):
        assert process.stdout.readline() == "at work\n"
    process.send_signal(sign)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said == "Stopped; what was done is kept, and the same command goes on from there.\n"
    assert 2 <= len(list((study.parent / "study-results" / "parts").rglob("*.parquet"))) < PARTS


def test_a_worker_that_is_killed_is_said_in_a_sentence():
    said = "ended from outside, perhaps for want of memory; what was done is kept"
    with pytest.raises(truant.TruantError, match=said), workers("processes", 2) as run:
        list(run(os._exit, [(1,)]))


def test_no_more_workers_than_tasks(study, monkeypatch):
    asked = []
    original = lab.workers

    def asking(backend, count):
        asked.append(count)
        return original(backend, count)

    monkeypatch.setattr(lab, "workers", asking)
    truant.sweep(study, workers=10_000)
    assert asked == [12]


def test_an_interrupt_stops_the_threads_that_are_still_at_work(study, monkeypatch):
    """In a notebook they would go on unseen."""
    flags = []
    original = lab.work

    def watched(number, task, stop):
        flags.append(stop)
        return original(number, task, stop)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "work", watched)
    monkeypatch.setattr(task_module.Parts, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        truant.sweep(study, workers=2)
    assert all(stop[0] == 1 for stop in flags)
    point = Point(0, "mcar", {}, 400)
    stopped = Task(5, point, "", ("naive-ucb",), 0, 100)
    assert original(3, stopped, np.ones(1, np.int64)) == (3, None)


def test_one_sweep_at_a_time_in_a_folder(study):
    with (
        locked(results_folder(read_study(study), None)),
        pytest.raises(InvalidValue, match="Another sweep is at work in"),
    ):
        truant.sweep(study)


def test_bad_folders_and_backends(study, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidValue, match="it is a file; choose another"):
        truant.sweep(study, out=tmp_path / "file")
    with pytest.raises(UnknownName, match="did you mean 'threads'"):
        truant.sweep(study, backend="thread")
    with pytest.raises(InvalidValue, match="workers must be a whole number of at least 1, got 0"):
        truant.sweep(study, workers=0)
    with pytest.raises(InvalidValue, match="it has no name; choose another"):
        truant.sweep(study, out="")
    with pytest.raises(InvalidValue, match="File name too long; choose another"):
        truant.sweep(study, out=tmp_path / ("a" * 300))
    with pytest.raises(InvalidValue, match="null byte; choose another"):
        truant.sweep(study, out="a\0b")
    for name in (".lock", "parts"):
        odd = tmp_path / f"with a {name}"
        odd.mkdir()
        (odd / name).touch() if name == "parts" else (odd / name).mkdir()
        with pytest.raises(InvalidValue, match=rf"as the folder of results: .* \({name}\); choose another"):
            truant.sweep(study, out=odd)


def test_what_is_there_already_is_not_overwritten(study, counted):
    """Another's page or study in the folder is refused; the study itself, and what a sweep made, are not."""
    page = study.parent / "index.html"
    page.write_text("mine")
    with pytest.raises(InvalidValue, match=r"it has a file index\.html that no sweep made; choose another"):
        truant.sweep(study, out=study.parent)
    assert (page.read_text(), counted) == ("mine", [])
    assert sorted(path.name for path in study.parent.iterdir()) == ["index.html", "study.toml"]
    page.unlink()
    other = study.parent / "other.toml"
    other.write_text(TEXT)
    with pytest.raises(InvalidValue, match=r"it has a file study\.toml that no sweep made"):
        truant.sweep(other, out=study.parent)
    stamp = study.stat().st_mtime_ns
    truant.sweep(study, out=study.parent)
    truant.sweep(study, out=study.parent)
    assert study.stat().st_mtime_ns == stamp


def test_a_second_sweep_changes_nothing(study, tmp_path):
    result = truant.sweep(study)
    other = tmp_path / "other.toml"
    other.write_text(MANY_TASKS)
    with locked(result.folder), pytest.raises(InvalidValue, match="Another sweep is at work"):
        truant.sweep(other, out=result.folder)
    assert (result.folder / "study.toml").read_text() == TEXT


def test_half_written_files_are_removed_and_no_others(study):
    result = truant.sweep(study)
    part = next((result.folder / "parts").glob("*/*.parquet"))
    strays = [place / f".{'0a' * 16}.part" for place in (result.folder, part.parent)]
    own = result.folder / ".my.part"
    for path in (*strays, own):
        path.write_text("half")
    truant.sweep(study)
    assert [path.exists() for path in (*strays, own)] == [False, False, True]


def test_a_full_disk_is_said_and_nothing_is_lost(study, monkeypatch):
    real = Path.mkdir

    def full(self, *arguments, **named):
        if self.parent.name == "parts":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(InvalidValue, match=r"Cannot write '.*\.parquet': No space left on device\."):
        truant.sweep(study)


def test_ray_is_an_extra(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'pip install "truant\[ray\]"'):
        truant.sweep(study, backend="ray")


def test_nothing_runs_if_a_point_is_impossible(tmp_path, counted):
    path = tmp_path / "study.toml"
    path.write_text('policies = ["mnar-ucb"]\n[[worlds]]\nname = "mnar"\nvary = { K = [5, 4] }\n')
    with pytest.raises(truant.TruantError, match="K=4"):
        truant.sweep(path)
    assert counted == []
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]


def test_an_error_in_a_run_is_said_and_loses_nothing(tmp_path, monkeypatch, counted):
    """A world whose 120th instance cannot be built."""
    built = registry._built_in

    def fragile(rng):
        """A world that fails now and then."""
        if rng.integers(1 << 62) == trap:
            raise InvalidValue("this instance cannot be built.")
        return truant.worlds.RealWorld([[1.0]], [[0.5]])

    seeds = np.random.SeedSequence(0, spawn_key=(120,)).spawn(2)
    trap = np.random.default_rng(seeds[0]).integers(1 << 62)
    monkeypatch.setattr(
        registry, "_built_in", lambda kind: built(kind) | ({"fragile": fragile} if kind == "world" else {})
    )
    table = {"runs": 200, "horizon": 50, "policies": ["naive-ucb"], "worlds": ["fragile"]}
    with pytest.raises(InvalidValue, match=r"fragile, horizon=50.*run 120.*this instance cannot be built"):
        truant.sweep(table, out=tmp_path / "out", workers=1)
    assert len(list((tmp_path / "out" / "parts").rglob("*.parquet"))) == 1  # the first hundred


def test_on_the_command_line(study):
    checked = CliRunner().invoke(cli, ["sweep", str(study), "--check"])
    assert checked.exit_code == 0
    rounds = 210 * (3 * 4 * 400 + 3 * (200 + 300))
    assert checked.output == (
        f"The study is sound: 6 points, 3 policies at most, 210 runs of each, 12 tasks, {rounds:,} rounds.\n"
    )
    assert not (study.parent / "study-results").exists()
    out = study.parent / "elsewhere"
    done = CliRunner().invoke(cli, ["sweep", str(study), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f"Page: {out / 'index.html'}" in done.output
    assert "of 6 points" in done.output
    assert tomllib.loads((out / "study.toml").read_text()) == tomllib.loads(TEXT)
    refused = CliRunner().invoke(cli, ["sweep", str(study.parent / "no.toml"), "--json"])
    assert refused.exit_code == 2
    assert json.loads(refused.stderr)["title"] == "Invalid value"

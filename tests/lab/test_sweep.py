"""Sweeps: the numbers of `simulate`, the same wherever they are made."""

import json
import os
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import truant
from tests.lab.studies import PAIRS, RUNS, TEXT
from truant import registry
from truant.cli import cli
from truant.errors import MissingExtra
from truant.lab import sweep as lab
from truant.lab.sweep_result import world_column
from truant.policies import named


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
        runs=RUNS,
        seed=5,
        parameters={"arms": 3, "K": 3, "gamma": (0.5, 1.0)},
    )
    for number, policy in enumerate(policies):
        rows = part[part["policy"] == policy]
        assert list(rows["run"]) == list(range(RUNS))
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
    assert len(runs) == RUNS * PAIRS
    assert not runs.duplicated(places).any()
    assert runs[figures].notna().all().all()
    assert set(runs[runs["world"] == "mcar"]["policy_level"].dropna()) == {0.5, 1.0}
    assert runs[runs["world"] == "mcar"][["gamma", "K", "arms"]].isna().all().all()
    assert pq.read_schema(whole.results).metadata[b"truant.study"].decode() == TEXT


def test_the_summary_is_that_of_the_runs(whole):
    runs = pd.read_parquet(whole.results)
    keys = ["world", "gamma", "K", "horizon"]
    by_point = dict(list(runs.fillna(-1).groupby(keys)))
    table = whole.table().to_pandas()
    assert len(table) == PAIRS
    for key, rows in table.fillna({"gamma": -1, "K": -1}).groupby(keys):
        finals = {policy: part["regret"].to_numpy() for policy, part in by_point[key].groupby("policy")}
        contest = {policy: final for policy, final in finals.items() if policy != "oracle-ucb"}
        best = min(contest, key=lambda policy: contest[policy].mean())
        assert list(rows[rows["best"]]["policy"]) == [best]
        for row in rows.to_dict("records"):
            final = finals[row["policy"]]
            assert row["runs"] == RUNS
            assert row["regret_mean"] == pytest.approx(final.mean(), rel=1e-12)
            assert row["regret_sd"] == pytest.approx(final.std(ddof=1), rel=1e-12)
            assert row["regret_se"] == pytest.approx(final.std(ddof=1) / RUNS**0.5, rel=1e-12)
            assert row["regret_median"] == pytest.approx(np.median(final), rel=1e-12)
            assert row["regret_p90"] == pytest.approx(np.quantile(final, 0.9), rel=1e-12)
            assert row["share_above_10x_median"] == (final > 10 * np.median(final)).mean()
            if row["policy"] == "oracle-ucb":
                assert np.isnan(row["behind_mean"])
                assert not row["as_good"]
                continue
            behind = final - finals[best]
            assert row["behind_mean"] == pytest.approx(behind.mean(), rel=1e-9, abs=1e-12)
            assert row["behind_se"] == pytest.approx(behind.std(ddof=1) / RUNS**0.5, rel=1e-9, abs=1e-12)
            close = behind.mean() <= 2 * behind.std(ddof=1) / RUNS**0.5
            assert row["as_good"] == (row["policy"] == best or close)
    kept = json.loads((whole.folder / "summary.json").read_text())
    assert kept["rows"] == json.loads(json.dumps(whole.rows, default=list))
    assert kept["kernel_seconds"] > 0


def test_the_same_bytes_on_threads(study, whole):
    """Processes: tests/lab/test_interrupts.py, where one of them is killed."""
    result = truant.sweep(study, workers=2)
    assert result.results.read_bytes() == whole.results.read_bytes()


ON_RAY = """
import sys
from ray.util.multiprocessing import Pool
from truant.cli import main
terminate = Pool.terminate
def reporting(self):
    print(len(self._actor_deletion_ids), "workers had not ended", file=sys.stderr)
    terminate(self)
Pool.terminate = reporting
main()
"""


def test_the_same_bytes_on_a_ray_cluster(study, whole):
    """In a process of its own: Ray changes classes of joblib and of multiprocessing."""
    words = ["sweep", str(study), "--backend", "ray", "--workers", "2", "--json"]
    environment = os.environ | {"PYTHONWARNINGS": ""}
    done = subprocess.run(
        [sys.executable, "-c", ON_RAY, *words], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["rows"] == json.loads(json.dumps(whole.rows, default=list))
    assert (study.parent / "study-results" / "results.parquet").read_bytes() == whole.results.read_bytes()
    assert "0 workers had not ended" in done.stderr  # Ray reports one as lost if it is killed while it ends


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


def test_no_more_workers_than_tasks(study, monkeypatch):
    def asked(backend, count):
        raise KeyError(count)

    monkeypatch.setattr(lab, "workers", asked)
    with pytest.raises(KeyError, match=r"^12$"):
        truant.sweep(study, workers=10_000)


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


def test_on_the_command_line(study):
    checked = CliRunner().invoke(cli, ["sweep", str(study), "--check"])
    assert checked.exit_code == 0
    rounds = RUNS * (3 * 4 * 400 + 3 * (200 + 300))
    assert checked.output == (
        f"The study is valid: 6 points, 3 policies at most, {RUNS} runs of each, 12 tasks, {rounds:,} rounds.\n"
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

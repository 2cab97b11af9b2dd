"""A log read from anywhere is the counts that folding its rows gives."""

from __future__ import annotations

import importlib.resources
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests.logs.places import KINDS, as_csv, as_parquet, check_everything, frame, in_postgres
from truant.assumptions.mar import Mar
from truant.assumptions.mcar import Mcar
from truant.logs.read import read


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discrete", [False, True], ids=["real", "discrete"])
def test_every_kind_of_table_is_folded(kind, discrete, put):
    table = frame(discrete=discrete)
    check_everything(put(kind, table), table)


def test_actg175_comes_out_as_published():
    """DATA.md: complete-case 287.6 341.3 354.8 328.8, MAR 270.6 324.7 335.1 313.5."""
    trial = importlib.resources.files("lifelines") / "datasets" / "ACTG175.csv"
    log = read(str(trial), arm="arms", outcome="cd496", mediator=["offtrt", "cd420:3"], missing_values=["NA"])
    assert log.arms == (0, 1, 2, 3)
    assert log.counts.pulls.tolist() == [532, 522, 524, 561]
    assert len(log.mediators) == 6
    assert log.mediators[1] == "offtrt=0, 296 < cd420 <= 420"
    mar = [Mar().estimate(log.counts, arm, log.setting).at(0) for arm in range(4)]
    mcar = [Mcar().estimate(log.counts, arm, log.setting).at(0) for arm in range(4)]
    assert np.round(mar, 1).tolist() == [270.6, 324.7, 335.1, 313.5]
    assert np.round(mcar, 1).tolist() == [287.6, 341.3, 354.8, 328.8]


def test_a_table_of_postgres_with_its_schema(postgres):
    place = in_postgres(postgres, frame(), "visits")
    check_everything(place.replace("::visits", "::public.visits"), frame())


def test_names_that_differ_in_case_only_are_different_columns(tmp_path):
    """For DuckDB they are not."""
    table = pd.DataFrame(
        {"Y": [5, 6, 7, 8], "y": [0, 1, 1, 1], "ARM": [1, 1, 1, 1], "arm": ["a", "b", "a", "b"]}
    )
    for place in (table, as_csv(table, tmp_path), as_parquet(table, tmp_path)):
        log = read(place, arm="arm", outcome="y", mediator="Y")
        assert (log.arms, log.counts.levels, log.mediators) == (("a", "b"), (0, 1), ("5", "6", "7", "8"))


def test_engines_are_loaded_only_when_a_log_is_read():
    code = (
        "import sys, truant.cli, truant.logs.read; sys.exit(bool({'duckdb', 'pyspark'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_folders_that_were_typed_are_not_hidden(tmp_path, monkeypatch):
    for place in ("_proj/a", "_proj/_tmp", "_proj/.git", "work"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "log.csv").write_text("arm,y\na,1\nb,0\n")
    (tmp_path / "_proj" / "a" / "_tmp.csv").write_text("arm,y\na,1\nb,0\n")
    monkeypatch.chdir(tmp_path / "work")
    places = ["../_proj/**/*.csv", f"{tmp_path}/_proj/**/*.csv", "../_proj/*/*.csv", "../_proj/a/*.csv"]
    for place in [*places, "../_proj", "../_proj/a"]:
        assert read(place, arm="arm", outcome="y").rows == 2, place
    for place in ("../_proj/a/_*.csv", "../_proj/a/_tmp.csv", "../_proj/_tmp/*.csv", "../**/_tmp/*.csv"):
        assert read(place, arm="arm", outcome="y").rows == 2, place
